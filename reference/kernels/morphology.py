"""Kernels of greyscale dilation, the largest sum of each window and a filter, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.kernels.pooling import lowest
from sessrun.reference.kernels.registry import Bind, KernelError, binder
from sessrun.reference.kernels.windows import geometry, offsets, places
from sessrun.spec.rules.windows import Axis

__all__: list[str] = []


def _along(bind: Bind, x: Any, filters: Any, grad: Any = None) -> tuple[Axis, ...]:
    """The window along rows and columns.

    Raises:
      KernelError: attributes or shapes do not fit.

    """
    strides, rates = bind.attrs["strides"], bind.attrs["rates"]
    for what, values in (("Stride", strides), ("Rate", rates)):
        if len(values) != 4:
            raise KernelError(3, f"{what}s must have 4 elements, got {len(values)}")
        if values[0] != 1 or values[3] != 1:
            raise KernelError(12, f"{what}s in the batch and depth dimensions must be 1")
        if min(values) < 1:
            raise KernelError(3, f"{what}s must be positive")
    if x.ndim != 4 or filters.ndim != 3:
        raise KernelError(3, f"input must be 4-dimensional and filter 3-dimensional: {x.shape}, "
                          f"{filters.shape}")  # fmt: skip
    if x.shape[3] != filters.shape[2]:
        raise KernelError(3, "input and filter must have the same depth: "
                          f"{x.shape[3]} vs {filters.shape[2]}")  # fmt: skip
    along = geometry(x.shape[1:3], filters.shape[:2], strides, rates, bind.attrs["padding"])
    wanted = (x.shape[0], *(axis.out for axis in along), x.shape[3])
    if grad is not None and grad.shape != wanted:
        raise KernelError(3, f"out_backprop must be of shape {wanted}, not {grad.shape}")
    return along


def _largest(xp: Any, x: Any, filters: Any, along: tuple[Axis, ...]) -> tuple[Any, Any]:
    """The largest sums, and the number of the element of the window that has the first of them."""
    shape = (x.shape[0], *(axis.out for axis in along), x.shape[3])
    best = xp.full(shape, lowest(xp, x.dtype), x.dtype)
    which = xp.zeros(shape, "int32")
    for number, offset in enumerate(offsets(along)):
        here, there = places(along, offset)
        sums = x[there] + filters[offset]
        more = sums > best[here]
        best[here] = xp.where(more, sums, best[here])
        which[here] = xp.where(more, number, which[here])
    return best, which


@binder("Dilation2D")
def dilation(bind: Bind) -> Callable[..., Any]:
    """The largest sum of each window and the filter of its channel."""

    def compute(x: Any, filters: Any) -> Any:
        return _largest(bind.xp, x, filters, _along(bind, x, filters))[0]

    return compute


@binder("Dilation2DBackpropInput")
def dilation_by_input(bind: Bind) -> Callable[..., Any]:
    """Each gradient where its window has its largest sum first."""

    def compute(x: Any, filters: Any, grad: Any) -> Any:
        along = _along(bind, x, filters, grad)
        which = _largest(bind.xp, x, filters, along)[1]
        out = bind.xp.zeros(x.shape, x.dtype)
        for number, offset in enumerate(offsets(along)):
            here, there = places(along, offset)
            out[there] += grad[here] * (which[here] == number).astype(x.dtype)
        return out

    return compute


@binder("Dilation2DBackpropFilter")
def dilation_by_filter(bind: Bind) -> Callable[..., Any]:
    """For each element of the filters the gradients of the windows that have it, summed."""

    def compute(x: Any, filters: Any, grad: Any) -> Any:
        along = _along(bind, x, filters, grad)
        which = _largest(bind.xp, x, filters, along)[1]
        out = bind.xp.zeros(filters.shape, x.dtype)
        for number, offset in enumerate(offsets(along)):
            found = grad * (which == number).astype(x.dtype)
            out[offset] = bind.xp.add.reduce(found, axis=(0, 1, 2), dtype=x.dtype)
        return out

    return compute
