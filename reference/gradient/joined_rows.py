"""The gradient of joined tensors where it is rows of the whole. Source: TF 2.21."""

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
from sessrun.reference.build.static_values import constant_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["joined_rows"]


def joined_rows(grad: IndexedSlices, values: list[Tensor], axis: Tensor) -> list[IndexedSlices]:
    """The gradient of each of the values.

    Args:
      grad: that of the whole.
      values: what was joined, at least two.
      axis: along which dimension, a scalar.

    Raises:
      ValueError: the axis is not known while the graph is built.

    """
    place, number = axis % rank(values[0]), constant_value(axis)
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
    return _columns(grad, shapes, place) if number > 0 else _pieces(grad, shapes, place)


def _columns(grad: IndexedSlices, shapes: list[Tensor], place: Tensor) -> list[IndexedSlices]:
    """Of what was joined along another dimension than the first: a part of each row."""
    sizes = shape(shapes[0])
    before = zeros(expand_dims(place, 0), dtypes.int32)
    mask = concat([before, [1], zeros(sizes - place - 1, dtypes.int32)], 0)
    begin = zeros(sizes, dtypes.int32)
    found = []
    for each in shapes:
        rows = slice_(grad.values, begin, concat([[-1], slice_(each, [1], [-1])], 0))
        found.append(IndexedSlices(rows, grad.indices, each))
        begin = add(begin, each * mask)
    return found


def _pieces(grad: IndexedSlices, shapes: list[Tensor], place: Tensor) -> list[IndexedSlices]:
    """Of what was joined along the first dimension: the rows that are of each."""
    start, found = constant(0, grad.indices.dtype), []
    for each in shapes:
        count = gather(each, place)
        if count.dtype != grad.indices.dtype:
            count = cast(count, grad.indices.dtype)
        end = start + count
        within = node("LogicalAnd", grad.indices >= start, grad.indices < end)
        chosen = squeeze(node("Where", within), axis=[1])
        indices = gather(grad.indices, chosen) - start
        found.append(IndexedSlices(gather(grad.values, chosen), indices, each))
        start = end
    return found
