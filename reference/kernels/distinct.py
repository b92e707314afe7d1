"""Kernels of distinct elements, and of distinct slices along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of, ints
from sessrun.reference.kernels.registry import Bind, binder

__all__: list[str] = []


def _distinct(items: Iterable[Hashable]) -> tuple[list[int], list[int], list[int]]:
    """First places of the distinct items, each item's number, how often each occurs."""
    numbers: dict[Hashable, int] = {}
    first: list[int] = []
    which: list[int] = []
    count: list[int] = []
    for place, item in enumerate(items):
        number = numbers.setdefault(item, len(first))
        if number == len(first):
            first.append(place)
            count.append(0)
        count[number] += 1
        which.append(number)
    return first, which, count


@binder("Unique", "UniqueWithCounts", devices=("CPU",))
def unique(bind: Bind) -> Callable[..., Any]:
    """The distinct elements as they first occur, where each is, and how often."""
    xp, dtype = bind.xp, dtype_of(bind.attrs["out_idx"])
    counted = bind.node.type == "UniqueWithCounts"

    def compute(x: Any) -> Any:
        if x.ndim != 1:
            raise InvalidArgument("unique expects a 1D vector.")
        first, which, count = _distinct(x.tolist())
        found = (x[xp.asarray(first, dtype="int64")], xp.asarray(which, dtype=dtype))
        return (*found, xp.asarray(count, dtype=dtype)) if counted else found

    return compute


@binder("UniqueV2", "UniqueWithCountsV2", devices=("CPU",), host_inputs=("axis",))
def unique_along(bind: Bind) -> Callable[..., Any]:
    """The distinct slices along an axis as they first occur, where each is, and how often."""
    xp, dtype = bind.xp, dtype_of(bind.attrs["out_idx"])
    counted = bind.node.type == "UniqueWithCountsV2"

    def compute(x: Any, axis: Any) -> Any:
        place = _axis(x, axis)
        moved = xp.moveaxis(x, place, 0)
        # a slice as a key: its elements, so that 0.0 and -0.0 are one, as in TensorFlow
        flat = moved.reshape(moved.shape[0], math.prod(moved.shape[1:])).tolist()
        first, which, count = _distinct(map(tuple, flat))
        kept = xp.moveaxis(moved[xp.asarray(first, dtype="int64")], 0, place)
        found = (xp.ascontiguousarray(kept), xp.asarray(which, dtype=dtype))
        return (*found, xp.asarray(count, dtype=dtype)) if counted else found

    return compute


def _axis(x: Any, axis: Any) -> int:
    """The axis; of a vector it need not be said."""
    if axis.ndim != 1 or axis.shape[0] > 1:
        raise InvalidArgument("axis expects a 1D vector of one element at most.")
    if not axis.shape[0]:
        if x.ndim != 1:
            raise InvalidArgument("unique expects a 1D vector.")
        return 0
    place: int = ints(axis)[0]
    if not -x.ndim <= place < x.ndim:
        raise InvalidArgument(f"axis has to be between 0 and {x.ndim}")
    return place % int(x.ndim)
