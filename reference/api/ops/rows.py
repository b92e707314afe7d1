"""Searching, repeating and comparing rows of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import boolean_mask, concat, expand_dims, gather, shape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.grids import sequence_mask
from sessrun.reference.api.ops.reduce_ops import reduce_all
from sessrun.reference.api.ops.shape_ops import rank, shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to, greater, greater_equal, reshape, tile
from sessrun.reference.build.seen_values import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__: list[str] = []


@public("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where in sorted rows values may be put in.

    Args:
      sorted_sequence: rows along the last dimension.
      values: of the same dtype and the same dimensions but for the last.
      side: `left` for the first place there is, `right` for the last.
      out_type: int32 or int64.
      name: the operation's name.

    Raises:
      ValueError: `side` is none of these.

    """
    rows, wanted = shape_internal(sorted_sequence)[-1], shape_internal(values)[-1]
    inputs = {
        "sorted_inputs": reshape(sorted_sequence, [-1, rows]),
        "values": reshape(values, [-1, wanted]),
    }
    op_type = {"left": "LowerBound", "right": "UpperBound"}.get(side)
    if op_type is None:
        raise bad_value(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    positions = apply_op(op_type, inputs, {"out_type": out_type}, name).outputs[0]
    return reshape(positions, shape_internal(values))


@public("batch_gather")
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Elements of the last dimension but one of batches: the older form of `gather`.

    Raises:
      ValueError: the rank of the indices is not known.

    """
    with name_scope(name, "BatchGather", [params, indices]):
        index_tensor = convert_to_tensor(indices, name="indices")
        value = convert_to_tensor(params, name="params")
        if index_tensor.shape.ndims is None:
            raise bad_value("batch_gather does not allow indices with unknown shape.")
        return gather(value, index_tensor, batch_dims=index_tensor.shape.ndims - 1)


@public("repeat")
def repeat(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    repeats: TensorLike,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Elements along an axis, each as often as is said.

    Args:
      input: a tensor.
      repeats: how often: a number, or one for each element.
      axis: the axis; None for all elements as a vector.
      name: the operations' scope.

    Raises:
      TypeError: the axis is no int, or the numbers are no integers.
      ValueError: there is no such axis, or another number of repeats.

    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0  # noqa: A001 - the same
    if not isinstance(axis, int):
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype}")
        counts = cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        data = _with_axes(data)
        axis_number = _axis_of(data, axis)
        if counts.shape.num_elements() == 1:
            return _repeated(data, reshape(counts, []), axis_number)
        if counts.shape.ndims == 1 and data.shape.ndims is not None:
            data.shape[axis_number : axis_number + 1].assert_is_compatible_with(counts.shape)
        if counts.shape.ndims is None:
            counts = broadcast_to(counts, [shape(data)[axis_number]])
        # As TensorFlow masks copies: gradients of gathered rows would be IndexedSlices.
        mask = sequence_mask(counts)
        repeated = boolean_mask(_copies(data, shape(mask)[1], axis_number), mask, axis=axis_number)
        known = (
            get_static_value(counts) if axis_number else None
        )  # as TensorFlow is seen to know it
        if known is not None and data.shape.ndims is not None:
            sizes = data.shape.as_list()
            repeated.set_shape([*sizes[:axis_number], int(known.sum()), *sizes[axis_number + 1 :]])
        return repeated


def _with_axes(data: Tensor) -> Tensor:
    """The data; a number as a vector of it."""
    if data.shape.ndims is None:
        sizes = concat([[1], shape(data)], axis=0)
        return reshape(data, sizes[-rank(data) :])
    return data if data.shape.ndims else reshape(data, [1])


def _axis_of(data: Tensor, axis: int) -> int:
    ndims = data.shape.ndims
    if ndims is None:
        if axis < 0:
            raise bad_value(f"axis={axis} may only be negative if rank(data) is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise bad_value(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def _repeated(data: Tensor, count: Tensor, axis: int) -> Tensor:
    """Each element equally often."""
    sizes = shape(data, out_type=count.dtype)
    full_shape = concat([sizes[:axis], [count * sizes[axis]], sizes[axis + 1 :]], axis=0)
    return reshape(_copies(data, count, axis), full_shape)


def _copies(data: Tensor, count: Tensor, axis: int) -> Tensor:
    """So many copies of each element, in a dimension behind the axis."""
    wide, ndims = expand_dims(data, axis + 1), data.shape.ndims
    multiples: TensorLike
    if ndims is None:
        ones_of_rank = ones([rank(wide)], dtypes.int32)
        multiples = concat([ones_of_rank[: axis + 1], [count], ones_of_rank[axis + 2 :]], axis=0)
    else:
        multiples = [*[1] * (axis + 1), count, *[1] * (ndims - axis - 1)]
    return tile(wide, multiples)


@public("parallel_stack")
def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Tensors of one fully known shape in a new first dimension."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        full_shape = [len(values), *first.shape.as_list()]
        parts = [expand_dims(value, 0) for value in values]
        return apply_op("ParallelConcat", {"values": parts}, {"shape": full_shape}).outputs[0]


def _steps(x: TensorLike) -> tuple[Tensor, Tensor]:
    """All elements but the first, and all but the last."""
    flat = reshape(x, [-1])
    return flat[1:], flat[:-1]


@public("debugging.is_non_decreasing", "is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element is below the one before it: a bool scalar."""
    with name_scope(name, "is_non_decreasing", [x]):
        return reduce_all(greater_equal(*_steps(x)))


@public("debugging.is_strictly_increasing", "is_strictly_increasing", "math.is_strictly_increasing")
def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is above the one before it: a bool scalar."""
    with name_scope(name, "is_strictly_increasing", [x]):
        return reduce_all(greater(*_steps(x)))


_FUNCTIONS: Final[Sequence[Any]] = (
    batch_gather,
    is_non_decreasing,
    is_strictly_increasing,
    parallel_stack,
    repeat,
    searchsorted,
)
