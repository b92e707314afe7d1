"""Kernels of greyscale dilation, max(window + filter) for each window, and of its gradients."""

from __future__ import annotations

from collections.abc import Iterator

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.pooling import lowest
from sessrun.reference.kernels.registry import Bind, kernel
from sessrun.reference.kernels.windows import Slices, blocks, geometry, offsets, window_slices
from sessrun.spec.rules.windows import Axis

#: By how much blocks are smaller than those of convolutions: several arrays must fit the cache.
_CACHED = 8


def _along(bind: Bind, x: Array, filters: Array, grad: Array | None = None) -> tuple[Axis, ...]:
    """The window along rows and columns.

    Raises:
      KernelError: attributes or shapes do not fit.

    """
    strides, rates = bind.attrs["strides"], bind.attrs["rates"]
    for what, values in (("Stride", strides), ("Rate", rates)):
        if len(values) != 4:
            raise InvalidArgument(f"{what}s must have 4 elements, got {len(values)}")
        if values[0] != 1 or values[3] != 1:
            raise Unimplemented(f"{what}s in the batch and depth dimensions must be 1")
        if min(values) < 1:
            raise InvalidArgument(f"{what}s must be positive")
    if x.ndim != 4 or filters.ndim != 3:
        raise InvalidArgument(
            f"input must be 4-dimensional and filter 3-dimensional: {x.shape}, {filters.shape}"
        )
    if x.shape[3] != filters.shape[2]:
        raise InvalidArgument(
            f"input and filter must have the same depth: {x.shape[3]} vs {filters.shape[2]}"
        )
    along = geometry(x.shape[1:3], filters.shape[:2], strides, rates, bind.attrs["padding"])
    wanted = (x.shape[0], *(axis.out for axis in along), x.shape[3])
    if grad is not None and grad.shape != wanted:
        raise InvalidArgument(f"out_backprop must be of shape {wanted}, not {grad.shape}")
    return along


def _largest(xp: ArrayModule, x: Array, filters: Array, along: tuple[Axis, ...]) -> Array:
    """The maximum of window + filter for each window and channel."""
    best = xp.full(
        (x.shape[0], *(axis.out for axis in along), x.shape[3]), lowest(xp, x.dtype), x.dtype
    )
    for offset in offsets(along):
        here, there = window_slices(along, offset)
        best[here] = xp.maximum(best[here], x[there] + filters[offset])
    return best


def _shares(
    xp: ArrayModule, x: Array, filters: Array, grad: Array, along: tuple[Axis, ...]
) -> Iterator[tuple[tuple[int, ...], Slices, Array]]:
    """For each offset in a window, the gradients of the windows whose first maximum is there.

    Yields:
      The offset, the slices of the images at it, and the gradients, zero for other windows.

    """
    best = _largest(xp, x, filters, along)
    left = xp.ones(best.shape, "bool")
    for offset in offsets(along):
        here, there = window_slices(along, offset)
        is_first = (x[there] + filters[offset] == best[here]) & left[here]
        left[here] ^= is_first
        yield offset, there, grad[here] * is_first


def _blocks(xp: ArrayModule, x: Array) -> list[slice]:
    """Slices of the batch that fit the cache."""
    return list(blocks(xp, x.shape[0], _CACHED * x[:1].size))


@kernel("Dilation2D")
def dilation(bind: Bind, x: Array, filters: Array) -> Array:
    """The maximum of window + filter for each window and channel."""
    xp = bind.xp
    along = _along(bind, x, filters)
    parts = [_largest(xp, x[block], filters, along) for block in _blocks(xp, x)]
    return xp.concatenate(parts) if parts else _largest(xp, x, filters, along)


@kernel("Dilation2DBackpropInput")
def dilation_by_input(bind: Bind, x: Array, filters: Array, grad: Array) -> Array:
    """Adds each gradient to the first maximum of its window."""
    xp = bind.xp
    along = _along(bind, x, filters, grad)
    out = xp.zeros(x.shape, x.dtype)
    for block in _blocks(xp, x):
        shares = _shares(xp, x[block], filters, grad[block], along)
        for _, there, share in shares:
            out[(block, *there[1:])] += share
    return out


@kernel("Dilation2DBackpropFilter")
def dilation_by_filter(bind: Bind, x: Array, filters: Array, grad: Array) -> Array:
    """For each element of the filters, the sum of gradients of windows whose maximum it gives."""
    xp = bind.xp
    along = _along(bind, x, filters, grad)
    out = xp.zeros(filters.shape, x.dtype)
    for block in _blocks(xp, x):
        shares = _shares(xp, x[block], filters, grad[block], along)
        for offset, _, share in shares:
            out[offset] += xp.add.reduce(share, axis=(0, 1, 2), dtype=x.dtype)
    return out
