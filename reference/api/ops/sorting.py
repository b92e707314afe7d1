"""Sorting along an axis, searching sorted rows, and tests of order."""

from __future__ import annotations

import numpy as np

from sessrun.reference.api.nn.top_k import top_k
from sessrun.reference.api.ops.array_ops import (
    reshape,
    transpose,
)
from sessrun.reference.api.ops.gathering import tensor_scatter_update
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.reduce_ops import reduce_all
from sessrun.reference.api.ops.shape_ops import rank, shape, shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    greater,
    greater_equal,
)
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _sorted(values: TensorLike, axis: TensorLike, direction: str, *, gives_indices: bool) -> Tensor:
    if direction not in {"ASCENDING", "DESCENDING"}:
        raise bad_value(
            "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
            f"direction={direction}"
        )
    given = convert_to_tensor(axis, name="axis")
    known = constant_value(given)
    if given.shape.ndims not in {None, 0} or known is None:
        raise bad_value(f"Argument `axis` must be a constant scalar. Received: axis={given}.")
    value = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _sorted_descending(value, int(known), gives_indices=gives_indices)
    if value.dtype.is_unsigned:
        most = value.dtype.max
        ordered = _sorted_descending(most - value, int(known), gives_indices=gives_indices)
        return ordered if gives_indices else most - ordered
    if value.dtype.is_integer:  # the least one has no negative
        ordered = _sorted_descending(-value - 1, int(known), gives_indices=gives_indices)
        return ordered if gives_indices else -ordered - 1
    ordered = _sorted_descending(-value, int(known), gives_indices=gives_indices)
    return ordered if gives_indices else -ordered


def _sorted_descending(value: Tensor, axis: int, *, gives_indices: bool) -> Tensor:
    """The elements along an axis in descending order, or their indices."""
    length = shape(value)[axis]
    count = rank(value)
    ndims = value.shape.ndims
    order = None
    if axis != -1 and axis + 1 != ndims:
        if ndims is not None:
            sorted_axis = axis + ndims if axis < 0 else axis
            swapped = np.arange(ndims)
            swapped[[sorted_axis, ndims - 1]] = swapped[[ndims - 1, sorted_axis]]
            order = constant(swapped, name="transposition")
        else:
            position = axis + count if axis < 0 else axis
            order = tensor_scatter_update(
                range_(count), [[position], [count - 1]], [count - 1, position]
            )
    last = value if order is None else transpose(value, order)
    ordered: Tensor = top_k(last, length)[1 if gives_indices else 0]
    return ordered if order is None else transpose(ordered, order)


@public("sort")
def sort(
    values: TensorLike, axis: TensorLike = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """Sort the elements along an axis.

    Args:
      values: a tensor of numbers.
      axis: the axis, a constant scalar.
      direction: `ASCENDING` or `DESCENDING`.
      name: the operations' scope.

    Raises:
      ValueError: the axis is not a constant scalar, or the direction is unknown.

    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, gives_indices=False)


@public("argsort")
def argsort(
    values: TensorLike,
    axis: TensorLike = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that sort elements along an axis; arguments and errors as for `sort`."""
    del stable  # it is, always
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, gives_indices=True)


@public("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The indices at which values would be inserted into sorted rows.

    Args:
      sorted_sequence: a tensor, sorted along the last dimension.
      values: a tensor of the same dtype and, except for the last dimension, the same shape.
      side: `left` for the first such index, `right` for the last.
      out_type: int32 or int64.
      name: the operation's name.

    Raises:
      ValueError: `side` is neither.

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


def _neighbours(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The flattened elements without the first, and without the last."""
    flat = reshape(x, [-1])
    return flat[1:], flat[:-1]


@public("debugging.is_non_decreasing", "is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element is less than the one before it: a bool scalar."""
    with name_scope(name, "is_non_decreasing", [x]):
        return reduce_all(greater_equal(*_neighbours(x)))


@public("debugging.is_strictly_increasing", "is_strictly_increasing", "math.is_strictly_increasing")
def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is greater than the one before it: a bool scalar."""
    with name_scope(name, "is_strictly_increasing", [x]):
        return reduce_all(greater(*_neighbours(x)))
