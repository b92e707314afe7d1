"""Sequence masks, grids of coordinates, and evenly spaced numbers."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import (
    broadcast_dynamic_shape,
    concat,
    expand_dims,
    size,
    stack,
)
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import ones, zeros_like
from sessrun.reference.api.ops.math_ops import equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_max
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to, maximum, reshape, select_v2
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["linspace"]


@public("sequence_mask")
def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = dtypes.bool_,
    name: str | None = None,
) -> Tensor:
    """Masks of sequences: row i is true at the first `lengths[i]` positions.

    Args:
      lengths: an integer tensor of any shape.
      maxlen: a scalar, the length of the rows; by default the greatest length.
      dtype: the dtype of the mask.
      name: the operations' scope.

    Raises:
      ValueError: `maxlen` is not a scalar.

    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        counts = convert_to_tensor(lengths)
        if maxlen is None:
            longest = reduce_max(counts)
            limit = maximum(constant(0, longest.dtype), longest)
        else:
            limit = convert_to_tensor(maxlen)
        if limit.shape.ndims not in {None, 0}:
            raise bad_value(
                f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {limit} "
                f"with shape '{limit.shape}' instead"
            )
        positions = one(
            "Range",
            {"start": constant(0, limit.dtype), "limit": limit, "delta": constant(1, limit.dtype)},
        )
        rows = one("Cast", {"x": expand_dims(counts, -1)}, DstT=limit.dtype.base_dtype)
        mask: Tensor = positions < rows
        return mask if dtype is None else cast(mask, dtype)


@public("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of the points of a grid, a tensor for each axis.

    Args:
      *args: vectors, the coordinates along each axis.
      **kwargs: `indexing`, "xy" (the default: the first two axes are swapped) or "ij", and
        `name`.

    Raises:
      TypeError: a keyword argument is unknown.
      ValueError: the indexing is unknown.

    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"meshgrid() got an unexpected keyword argument {next(iter(kwargs))!r}")
    if indexing not in {"xy", "ij"}:
        raise bad_value(f"Argument `indexing` must be 'xy' or 'ij', but got {indexing!r}")
    with name_scope(name, "meshgrid", list(args)):
        if not args:
            return []
        axes = [[1] * i + [-1] + [1] * (len(args) - i - 1) for i in range(len(args))]
        grid = [reshape(stack(arg), axis) for arg, axis in zip(args, axes, strict=True)]
        sizes = [size(arg) for arg in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and len(args) > 1:
            grid[0], grid[1] = reshape(grid[0], axes[1]), reshape(grid[1], axes[0])
            sizes[0], sizes[1] = sizes[1], sizes[0]
        unit = ones(sizes, dtype)
        return [coordinates * unit for coordinates in grid]


@public("lin_space", "linspace")
def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: TensorLike,
    name: str | None = None,
    axis: int | Tensor = 0,
) -> Tensor:
    """Evenly spaced numbers from `start` to `stop` (included), along a new axis.

    Args:
      start: a tensor of floating point numbers.
      stop: a tensor that broadcasts with it.
      num: the number of numbers, an integer.
      name: the operations' scope.
      axis: the position of the new axis; -1 is the last.

    Raises:
      TypeError: `num` is not an integer.

    """
    with name_scope(name, "linspace", [start, stop]):
        first = convert_to_tensor(start, name="start")
        last = convert_to_tensor(stop, name="stop", dtype=first.dtype)
        count = convert_to_tensor(num, name="num", preferred_dtype=dtypes.int32)
        if not count.dtype.is_integer:
            raise bad_type(
                "Argument `tensor` (name: num) must be of type integer. "
                f"Received `tensor` = {count} of dtype: {count.dtype!r}"
            )
        count = one("Cast", {"x": count}, None, DstT=dtypes.int32)
        cast(count, first.dtype)  # a node that TensorFlow's graphs have, too
        broadcast_shape = broadcast_dynamic_shape(shape(first), shape(last))
        first, last = broadcast_to(first, broadcast_shape), broadcast_to(last, broadcast_shape)
        first, last = expand_dims(first, axis=axis), expand_dims(last, axis=axis)
        sizes = shape(first)
        return _spaced(first, last, count, sizes, axis)


def _spaced(
    first: Tensor, last: Tensor, count: Tensor, sizes: Tensor, axis: int | Tensor
) -> Tensor:
    """The numbers from `first` to `last`, both of size 1 along the axis; one for a count of 1."""
    ndims = shape(sizes)[0]
    axis = select_v2(axis >= 0, axis, ndims + axis)
    between = maximum(count - 2, 0)
    steps = maximum(count - 1, 1)
    step = (last - first) / cast(steps, last.dtype)
    first, last = cast(first, step.dtype), cast(last, step.dtype)
    # a negative count makes the range fail
    end = select_v2(count >= 0, steps, -1)
    numbers = cast(range_(1, end, dtype=dtypes.int64), step.dtype)
    is_axis = equal(axis, range_(ndims))
    numbers = reshape(numbers, select_v2(is_axis, between, 1))
    points = concat((first, first + step * numbers, last), axis=axis)
    begin = zeros_like(sizes)
    size_ = concat((sizes[0:axis], reshape(count, [1]), sizes[axis + 1 :]), axis=0)
    return one("Slice", {"input": points, "begin": begin, "size": size_})
