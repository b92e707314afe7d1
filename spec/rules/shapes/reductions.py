"""Shape rules of reductions, running sums and segments."""

from __future__ import annotations

from typing import Final

from sessrun.spec.rules.shapes.base import (
    Shape,
    ShapeError,
    Value,
    at_least,
    axis_index,
    merge,
    rule,
)

__all__: list[str] = []


#: What is said of an axis that there is not.
_NOT_AMONG: Final = (
    "Dimension ({axis}) must be in the range [-{rank}, {rank}), where {rank} is the number of "
    "dimensions in the input."
)


@rule
def reduced(shape: Shape, axes: Value, keep_dims: bool) -> list[Shape]:
    """The input's shape without the reduced axes, or with 1 in their place."""
    if shape is None:
        return [None]
    if axes is None:
        return [(None,) * len(shape) if keep_dims else None]
    gone = set()
    for axis in axes.reshape(-1).tolist():
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"Invalid reduction dimension {axis} for input with {len(shape)} dimensions."
            )
        gone.add(axis % len(shape))
    if keep_dims:
        return [tuple(1 if i in gone else dim for i, dim in enumerate(shape))]
    return [tuple(dim for i, dim in enumerate(shape) if i not in gone)]


@rule
def arg_reduced(shape: Shape, axis: Value) -> list[Shape]:
    """The input's shape without one axis."""
    if shape is None:
        return [None]
    if len(shape) < 2:
        return [()]
    if axis is None:
        return [(None,) * (len(shape) - 1)]
    gone = axis_index(int(axis), len(shape), _NOT_AMONG)
    return [shape[:gone] + shape[gone + 1 :]]


@rule
def along_axes(shape: Shape, axes: Value) -> list[Shape]:
    """The input's shape; the axes must be different axes of the input."""
    if shape is not None and axes is not None:
        seen: set[int] = set()
        for index, axis in enumerate(axes.reshape(-1).tolist()):
            position = axis + len(shape) if axis < 0 else axis
            if not 0 <= position < len(shape):
                raise ShapeError(
                    f"'axis'[{index}] = {axis} is out of valid range [0, {len(shape) - 1}]"
                )
            if position in seen:
                raise ShapeError(f"axis {position} specified more than once.")
            seen.add(position)
    return [shape]


@rule
def segments(data: Shape, segment_ids: Shape) -> list[Shape]:
    """[segments] and the shape of one row; how many segments depends on the ids."""
    merge(segment_ids, (None,))
    dims = at_least(data, 1)
    return [None if dims is None else (None, *dims[1:])]


@rule
def unsorted_segments(data: Shape, segment_ids: Shape, num_segments: Value) -> list[Shape]:
    """[num_segments] and the data's shape after the dimensions of the ids."""
    count = None if num_segments is None else int(num_segments)
    if count is not None and count < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input 2, must be non-negative but is {count}"
        )
    if data is None or segment_ids is None:
        return [None]
    if len(data) < len(segment_ids):
        raise ShapeError(f"data of shape {list(data)} does not start with segment_ids' shape")
    merge(data[: len(segment_ids)], segment_ids)
    return [(count, *data[len(segment_ids) :])]


@rule
def counts(size: Value) -> list[Shape]:
    """A vector of `size` elements."""
    if size is not None and int(size) < 0:
        raise ShapeError(f"size ({int(size)}) must be non-negative")
    return [(None if size is None else int(size),)]
