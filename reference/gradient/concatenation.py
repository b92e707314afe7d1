"""The gradient of a concatenation where it comes as IndexedSlices. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, expand_dims, gather, slice_, squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import add
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["concatenated_slices_gradients"]


def concatenated_slices_gradients(
    grad: IndexedSlices, values: list[Tensor], axis: Tensor
) -> list[IndexedSlices]:
    """The gradient of each of the values.

    Args:
      grad: the gradient of the result.
      values: the tensors that were concatenated, at least two.
      axis: the axis of the concatenation, a scalar.

    Raises:
      ValueError: the axis is not known while the graph is built.

    """
    positive_axis, number = axis % rank(values[0]), constant_value(axis)
    if number is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if number < 0:
        dimensions = constant_value(rank(values[0]))
        if dimensions is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first "
                "value rank is statically-known."
            )
        number = number % dimensions
    shapes = [shape(value) for value in values]
    return (
        _parts_of_rows(grad, shapes, positive_axis)
        if number > 0
        else _rows_by_index(grad, shapes, positive_axis)
    )


def _parts_of_rows(grad: IndexedSlices, shapes: list[Tensor], axis: Tensor) -> list[IndexedSlices]:
    """Split each row, which is a concatenation itself: the axis is not the first."""
    sizes = shape(shapes[0])
    before = zeros(expand_dims(axis, 0), dtypes.int32)
    mask = concat([before, [1], zeros(sizes - axis - 1, dtypes.int32)], 0)
    begin = zeros(sizes, dtypes.int32)
    gradients = []
    for value_shape in shapes:
        rows = slice_(grad.values, begin, concat([[-1], slice_(value_shape, [1], [-1])], 0))
        gradients.append(IndexedSlices(rows, grad.indices, value_shape))
        begin = add(begin, value_shape * mask)
    return gradients


def _rows_by_index(grad: IndexedSlices, shapes: list[Tensor], axis: Tensor) -> list[IndexedSlices]:
    """Give each value the rows whose indices are its own: the axis is the first."""
    start = constant(0, grad.indices.dtype)
    gradients = []
    for value_shape in shapes:
        count = gather(value_shape, axis)
        if count.dtype != grad.indices.dtype:
            count = cast(count, grad.indices.dtype)
        end = start + count
        is_own = node("LogicalAnd", grad.indices >= start, grad.indices < end)
        rows = squeeze(node("Where", is_own), axis=[1])
        indices = gather(grad.indices, rows) - start
        gradients.append(IndexedSlices(gather(grad.values, rows), indices, value_shape))
        start = end
    return gradients
