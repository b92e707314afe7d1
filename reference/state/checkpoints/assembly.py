"""A part of a tensor, put together from the slices of it that a checkpoint has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.state.checkpoints.tensor_slices import Bounds, bounds_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.tensor_slices import TensorSlice

__all__ = ["assembled"]


def assembled(
    name: bytes,
    dtype: str,
    shape: tuple[int, ...],
    wanted: TensorSlice,
    bounds: Bounds,
    parts: Sequence[TensorSlice],
    load: Callable[[TensorSlice], Any],
) -> Any:
    """The values of a part of a tensor.

    Args:
      name: the tensor's.
      dtype: the spec name of its dtype.
      shape: its shape.
      wanted: the part.
      bounds: where that is.
      parts: the slices that there are.
      load: reads the values of one.

    Raises:
      InvalidArgument: the slices do not make up the part.
      Internal: two have an element in common.
      KernelError: what `load` raises.

    """
    placed = [(part, bounds_of(part, shape)) for part in parts]
    _check_apart(placed)
    pieces = [
        (part, has, shared) for part, has in placed if (shared := _overlap(has, bounds)) is not None
    ]
    if sum(_size(shared) for _, _, shared in pieces) != _size(bounds):
        raise InvalidArgument(
            "Does not have sufficient slices for partitioned tensor "
            f"{name.decode(errors='replace')} to restore in slice_spec: {wanted}"
        )
    result = np.empty([end - start for start, end in bounds], BY_NAME[dtype].numpy)
    for part, has, shared in pieces:
        result[_within(shared, bounds)] = load(part)[_within(shared, has)]
    return result


def _size(bounds: Bounds) -> int:
    return math.prod(end - start for start, end in bounds)


def _overlap(left: Bounds, right: Bounds) -> Bounds | None:
    """What two parts have in common, or None."""
    shared = tuple(
        (max(one[0], other[0]), min(one[1], other[1]))
        for one, other in zip(left, right, strict=True)
    )
    return shared if all(start < end for start, end in shared) else None


def _within(shared: Bounds, whole: Bounds) -> tuple[slice, ...]:
    """Where a part is in the array of a larger one."""
    return tuple(
        slice(start - base, end - base)
        for (start, end), (base, _) in zip(shared, whole, strict=True)
    )


def _check_apart(placed: Sequence[tuple[TensorSlice, Bounds]]) -> None:
    for index, (part, bounds) in enumerate(placed):
        for other, has in placed[:index]:
            if _overlap(bounds, has) is not None:
                raise Internal(f"Overlapping slices: existing slice = {other}, new slice = {part}")
