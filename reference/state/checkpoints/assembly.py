"""Parts of tensors, assembled from the slices that a checkpoint has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sessrun.reference.base.host_arrays import HostArray
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
    load: Callable[[TensorSlice], HostArray],
) -> HostArray:
    """The values of a slice of a tensor, from the slices that were saved.

    Args:
      name: the name of the tensor.
      dtype: the spec name of the tensor's dtype.
      shape: the full shape of the tensor.
      wanted: the part.
      bounds: the bounds of the part.
      parts: the slices in the checkpoint.
      load: reads the values of a slice.

    Raises:
      InvalidArgument: the slices do not make up the part.
      Internal: two slices overlap.
      KernelError: what `load` raises.

    """
    bounded = [(part, bounds_of(part, shape)) for part in parts]
    _check_apart(bounded)
    pieces = [
        (part, part_bounds, shared)
        for part, part_bounds in bounded
        if (shared := _overlap(part_bounds, bounds)) is not None
    ]
    if sum(_size(shared) for _, _, shared in pieces) != _size(bounds):
        raise InvalidArgument(
            "Does not have sufficient slices for partitioned tensor "
            f"{name.decode(errors='replace')} to restore in slice_spec: {wanted}"
        )
    result = np.empty([end - start for start, end in bounds], BY_NAME[dtype].numpy)
    for part, part_bounds, shared in pieces:
        result[_within(shared, bounds)] = load(part)[_within(shared, part_bounds)]
    return result


def _size(bounds: Bounds) -> int:
    return math.prod(end - start for start, end in bounds)


def _overlap(left: Bounds, right: Bounds) -> Bounds | None:
    """The bounds of the intersection of two parts; None if it is empty."""
    shared = tuple(
        (max(one[0], other[0]), min(one[1], other[1]))
        for one, other in zip(left, right, strict=True)
    )
    return shared if all(start < end for start, end in shared) else None


def _within(shared: Bounds, outer: Bounds) -> tuple[slice, ...]:
    """The index of a part in the array of a larger one."""
    return tuple(
        slice(start - base, end - base)
        for (start, end), (base, _) in zip(shared, outer, strict=True)
    )


def _check_apart(bounded: Sequence[tuple[TensorSlice, Bounds]]) -> None:
    for index, (part, bounds) in enumerate(bounded):
        for other, other_bounds in bounded[:index]:
            if _overlap(bounds, other_bounds) is not None:
                raise Internal(f"Overlapping slices: existing slice = {other}, new slice = {part}")
