"""Kernels of greyscale dilation, the largest sum of each window and a filter, and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.pooling import lowest
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.windows import blocks, geometry, offsets, places
from sessrun.spec.rules.windows import Axis

__all__: list[str] = []

#: How many times smaller blocks are than those of convolutions: several arrays are at work.
_CACHED = 8


def _along(bind: Bind, x: Any, filters: Any, grad: Any = None) -> tuple[Axis, ...]:
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


def _largest(xp: Any, x: Any, filters: Any, along: tuple[Axis, ...]) -> Any:
    """The largest sum of each window and the filter of its channel."""
    best = xp.full(
        (x.shape[0], *(axis.out for axis in along), x.shape[3]), lowest(xp, x.dtype), x.dtype
    )
    for offset in offsets(along):
        here, there = places(along, offset)
        best[here] = xp.maximum(best[here], x[there] + filters[offset])
    return best


def _shares(
    xp: Any, x: Any, filters: Any, grad: Any, along: tuple[Axis, ...]
) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """For each element of the window the gradients of the windows that have it first.

    Yields:
      The element's index, the slices of the images, and the gradients there.

    """
    best = _largest(xp, x, filters, along)
    left = xp.ones(best.shape, "bool")
    for offset in offsets(along):
        here, there = places(along, offset)
        found = (x[there] + filters[offset] == best[here]) & left[here]
        left[here] ^= found
        yield offset, there, grad[here] * found


def _blocks(xp: Any, x: Any) -> list[slice]:
    """The images in blocks of which each fits the cache."""
    return list(blocks(xp, x.shape[0], _CACHED * x[:1].size))


@binder("Dilation2D")
def dilation(bind: Bind) -> Callable[..., Any]:
    """The largest sum of each window and the filter of its channel."""
    xp = bind.xp

    def compute(x: Any, filters: Any) -> Any:
        along = _along(bind, x, filters)
        parts = [_largest(xp, x[block], filters, along) for block in _blocks(xp, x)]
        return xp.concatenate(parts) if parts else _largest(xp, x, filters, along)

    return compute


@binder("Dilation2DBackpropInput")
def dilation_by_input(bind: Bind) -> Callable[..., Any]:
    """Each gradient where its window has its largest sum first."""

    def compute(x: Any, filters: Any, grad: Any) -> Any:
        along = _along(bind, x, filters, grad)
        out = bind.xp.zeros(x.shape, x.dtype)
        for block in _blocks(bind.xp, x):
            shares = _shares(bind.xp, x[block], filters, grad[block], along)
            for _, there, share in shares:
                out[(block, *there[1:])] += share
        return out

    return compute


@binder("Dilation2DBackpropFilter")
def dilation_by_filter(bind: Bind) -> Callable[..., Any]:
    """For each element of the filters the gradients of the windows that have it, summed."""

    def compute(x: Any, filters: Any, grad: Any) -> Any:
        along = _along(bind, x, filters, grad)
        out = bind.xp.zeros(filters.shape, x.dtype)
        for block in _blocks(bind.xp, x):
            shares = _shares(bind.xp, x[block], filters, grad[block], along)
            for offset, _, share in shares:
                out[offset] += bind.xp.add.reduce(share, axis=(0, 1, 2), dtype=x.dtype)
        return out

    return compute
