"""Kernels of distinct elements, and of distinct slices along an axis."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of, ints
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, kernel


def _distinct(items: Iterable[Hashable]) -> tuple[list[int], list[int], list[int]]:
    """The first positions of the distinct items, the number of each item, and their counts."""
    numbers: dict[Hashable, int] = {}
    first: list[int] = []
    which: list[int] = []
    count: list[int] = []
    for position, item in enumerate(items):
        number = numbers.setdefault(item, len(first))
        if number == len(first):
            first.append(position)
            count.append(0)
        count[number] += 1
        which.append(number)
    return first, which, count


@kernel("Unique", "UniqueWithCounts", devices=("CPU",))
def unique(
    bind: Bind, x: Array, *, out_idx: str
) -> tuple[Array, Array, Array] | tuple[Array, Array]:
    """The distinct elements in order of occurrence, the index of each element, and the counts."""
    xp, dtype, counted = bind.xp, dtype_of(out_idx), bind.node.type == "UniqueWithCounts"
    require_rank(1, x=x)
    first, which, count = _distinct(x.tolist())
    outputs = (x[xp.asarray(first, dtype="int64")], xp.asarray(which, dtype=dtype))
    return (*outputs, xp.asarray(count, dtype=dtype)) if counted else outputs


@kernel("UniqueV2", "UniqueWithCountsV2", devices=("CPU",), host_inputs=("axis",))
def unique_along(
    bind: Bind, x: Array, axis: Array, *, out_idx: str
) -> tuple[Array, Array, Array] | tuple[Array, Array]:
    """The distinct slices along an axis in order of occurrence, indices, and counts."""
    xp, dtype, counted = bind.xp, dtype_of(out_idx), bind.node.type == "UniqueWithCountsV2"
    along = _axis(x, axis)
    moved = xp.moveaxis(x, along, 0)
    # a slice as a key: its elements, so that 0.0 and -0.0 are one, as in TensorFlow
    flat = moved.reshape(moved.shape[0], math.prod(moved.shape[1:])).tolist()
    first, which, count = _distinct(map(tuple, flat))
    kept = xp.moveaxis(moved[xp.asarray(first, dtype="int64")], 0, along)
    outputs = (xp.ascontiguousarray(kept), xp.asarray(which, dtype=dtype))
    return (*outputs, xp.asarray(count, dtype=dtype)) if counted else outputs


def _axis(x: Array, axis: Array) -> int:
    """The axis, which may be left out for a vector."""
    if axis.ndim != 1 or axis.shape[0] > 1:
        raise InvalidArgument("axis expects a 1D vector of one element at most.")
    if not axis.shape[0]:
        require_rank(1, x=x)
        return 0
    number: int = ints(axis)[0]
    if not -x.ndim <= number < x.ndim:
        raise InvalidArgument(f"axis has to be between 0 and {x.ndim}")
    return number % int(x.ndim)
