"""How a variable is partitioned: what a partitioner returns, and the offsets of the parts.

Source: TF 2.21, `get_variable` with a partitioner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.errors import bad_value

__all__ = ["PartitionInfo", "Partitioner", "partitions_of", "places"]

#: From the shape and the dtype of a variable to the number of parts along each axis.
Partitioner = Callable[..., Sequence[int]]

_SEQUENCES: Final = (list, tuple)


class PartitionInfo:
    """The offset of a part in the partitioned variable, for the part's initializer.

    Args:
      full_shape: the shape of the partitioned variable.
      var_offset: the offset of the part along every axis.

    Raises:
      TypeError: an argument is not a list or tuple.
      ValueError: the lists have different lengths, or the offset is outside of the full shape.

    """

    __slots__ = ("_full_shape", "_var_offset")

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        for what, given in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(given, _SEQUENCES):
                raise TypeError(f"`{what}` must be a list or tuple, not {type(given).__name__}")
        if len(full_shape) != len(var_offset):
            raise ValueError(
                f"`var_offset` {var_offset} and `full_shape` {full_shape} must be of one length"
            )
        if any(not 0 <= at < size for at, size in zip(var_offset, full_shape, strict=True)):
            raise ValueError(f"`var_offset` {var_offset} lies outside of `full_shape` {full_shape}")
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Sequence[int]:
        """The shape of the partitioned variable."""
        return self._full_shape

    @property
    def var_offset(self) -> Sequence[int]:
        """The offset of the part along every axis."""
        return self._var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset of a part of this shape along the partitioned axis; 0 without one.

        Raises:
          TypeError, ValueError: as `single_slice_dim`.

        """
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The only axis along which a part of this shape is smaller than the full shape, or None.

        Raises:
          TypeError: `shape` is no list or tuple.
          ValueError: the shape has another rank, is too large, or is smaller along several axes.

        """
        if not isinstance(shape, _SEQUENCES):
            raise TypeError(f"`shape` must be a list or tuple, not {type(shape).__name__}")
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"`shape` {shape} and the whole {self._full_shape} must be of one length"
            )
        places = list(zip(shape, self._var_offset, self._full_shape, strict=True))
        if any(at + size > full_size for size, at, full_size in places):
            raise ValueError(
                f"A part of shape {shape} at {self._var_offset} is not inside of {self._full_shape}"
            )
        cut = [axis for axis, (size, _, full_size) in enumerate(places) if size != full_size]
        if len(cut) > 1:
            raise ValueError(
                f"A part of shape {shape} of {self._full_shape} is cut along the axes "
                f"{cut}, not one"
            )
        return cut[0] if cut else None


def partitions_of(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> Sequence[int]:
    """Call a partitioner for a new variable and check its result.

    Raises:
      ValueError: the shape is not known or a scalar's, or the partitioner gives no positive
        number for each axis, or cuts along several axes.

    """
    if not shape.is_fully_defined():
        raise bad_value(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if not shape.ndims:
        raise bad_value(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")  # noqa: TRY004 - as TensorFlow
    if len(partitions) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{partitions} vs. {shape}"
        )
    if any(count < 1 for count in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: "
            f"{partitions}"
        )
    return partitions


def places(
    shape: Sequence[int], partitions: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first ones are larger by one where it does not divide."""
    axis = next((axis for axis, count in enumerate(partitions) if count > 1), 0)
    count = partitions[axis]
    size, excess = divmod(shape[axis], count)
    begin = 0
    for number in range(count):
        length = size + (number < excess)
        offset, part = [0] * len(shape), list(shape)
        offset[axis], part[axis] = begin, length
        yield offset, part
        begin += length
