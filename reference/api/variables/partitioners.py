"""Partitioners, which say how many parts a variable has, and `create_partitioned_variables`.

Source: TF 2.21.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.partition_layout import Partitioner
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import get_partitioned_variable
from sessrun.reference.api.variables.variable_store import Reuse
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.public import public


def _element_size(dtype: DTypeLike, of_string: int) -> int:
    base = dtypes.as_dtype(dtype).base_dtype
    return of_string if base == dtypes.string else base.size


def _known(size: int | None) -> int:
    """A size that is to be cut.

    Raises:
      TypeError: the size is not known statically.

    """
    if size is None:
        raise TypeError("A variable is cut by its sizes, which must be known")
    return size


def _along(axis: int, count: int, shape: TensorShape) -> list[int]:
    """`count` parts along one axis, one along all others."""
    partitions = [1] * len(shape)
    partitions[axis] = count
    return partitions


@public("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """A partitioner that keeps parts below a size, as far as slices along one axis allow.

    Args:
      max_shard_bytes: how large a part may be.
      axis: along which variables are cut.
      bytes_per_string_element: what a string counts.
      max_shards: the greatest number of parts.

    Raises:
      ValueError: a number is not positive.

    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive, not "
            f"{max_shard_bytes} and {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")  # noqa: TRY004 - as TensorFlow
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        size = _known(shape.as_list()[axis])
        slice_bytes = _known(shape.num_elements()) / size
        slice_bytes *= _element_size(dtype, bytes_per_string_element)
        slices = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = math.ceil(size / slices)
        return _along(axis, min(max_shards, count) if max_shards else count, shape)

    return partitioner


@public("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """A partitioner that makes as many parts as possible, up to a limit, of at least a given size.

    Args:
      max_partitions: how many parts there may be.
      axis: along which variables are cut.
      min_slice_size: the least size of a part in bytes.
      bytes_per_string_element: what a string counts.

    The partitioner raises ValueError for a shape that lacks the axis.

    """

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Cannot partition variable along axis {axis} when shape is only {shape}"
            )
        total = _known(shape.num_elements()) * _element_size(dtype, bytes_per_string_element)
        wanted = math.ceil(total / min_slice_size)
        size = _known(shape.as_list()[axis])
        return _along(axis, max(1, min(size, max_partitions, wanted)), shape)

    return partitioner


@public("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner with a fixed number of parts along an axis, fewer where it is shorter."""

    def partitioner(shape: TensorShape, **_: object) -> list[int]:
        return _along(axis, min(num_shards, _known(shape.as_list()[axis])), shape)

    return partitioner


@public("create_partitioned_variables")
def create_partitioned_variables(
    shape: TensorShape,
    slicing: Sequence[int],
    initializer: object,
    dtype: DTypeLike = dtypes.float32,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    name: str | None = None,
    reuse: Reuse = None,
) -> list[Variable]:
    """Create the parts of a variable that is partitioned as `slicing` says.

    Args:
      shape: the shape of the partitioned variable.
      slicing: how many parts there are along each axis; more than 1 along one axis only.
      initializer: the full value, or a function that is called for each part.
      dtype: the dtype, where the initializer is no tensor.
      trainable: as for `tf.Variable`.
      collections: as for `tf.Variable`.
      name: the name in the open variable scope; `PartitionedVariable` by default,
        made unique.
      reuse: as for `tf.variable_scope`.

    Raises:
      ValueError: shape and slicing have different ranks, a part would be empty, or as
        `tf.get_variable`.

    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the "
            f"length: shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        partitioned = get_partitioned_variable(
            None,
            shape,
            dtype,
            initializer,
            trainable=trainable,
            collections=collections,
            partitioner=lambda **_: slicing,
        )
        return list(partitioned)
