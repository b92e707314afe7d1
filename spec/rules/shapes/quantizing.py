"""Shape rules of quantized numbers, which come with the two ends of their range."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.arrays import concatenated, reshaped
from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    Value,
    at_least,
    broadcast_shapes,
    merge,
    merge_dims,
    rule,
    with_rank,
)
from sessrun.spec.rules.shapes.images import resized
from sessrun.spec.rules.shapes.matrices import matmul
from sessrun.spec.rules.shapes.nn import bias_add
from sessrun.spec.rules.shapes.windows import convolution, pooling

__all__: list[str] = []

_SCALARS: list[Shape] = [(), ()]


def _scalars(*shapes: Shape) -> None:
    for shape in shapes:
        with_rank(shape, 0)


def _ends(shape: Shape, low: Shape, high: Shape, axis: int) -> Shape:
    """The shape of each end of the range: a scalar, or a vector of an axis' size."""
    if axis < -1:
        raise ShapeError(f"axis should be at least -1, got {axis}")
    if axis == -1:
        _scalars(low, high)
        return ()
    size: Dim = merge_dims(with_rank(low, 1)[0], with_rank(high, 1)[0])
    dims = at_least(shape, axis + 1)
    return (merge_dims(size, None if dims is None else dims[axis]),)


@rule
def quantized(shape: Shape, low: Shape, high: Shape, axis: int) -> list[Shape]:
    """The input's shape, and that of each end of the range, of one for each slice of an axis."""
    ends = _ends(shape, low, high, axis)
    return [shape, ends, ends]


@rule
def dequantized(shape: Shape, low: Shape, high: Shape, axis: int, needs_rank: bool) -> list[Shape]:
    """The input's shape, which the ends of its range fit; perhaps an axis needs a known rank."""
    known = -1 if shape is None else len(shape)
    if needs_rank and axis >= 0 and axis >= known:
        raise ShapeError(f"Axis must be less than input dimension({known}), got {axis}")
    _ends(shape, low, high, axis)
    return [shape]


@rule
def dequantized_grad(grads: Shape, shape: Shape, low: Shape, high: Shape, axis: int) -> list[Shape]:
    """The input's shape, which the gradient has too, and that of each end of the range."""
    ends = merge(merge(low, high), () if _ends(shape, low, high, axis) == () else (None,))
    return [merge(grads, shape), ends, ends]


@rule
def with_scalars(shape: Shape, *scalars: Shape) -> list[Shape]:
    """The first input's shape; the others are scalars."""
    _scalars(*scalars)
    return [shape]


@rule
def with_channels(shape: Shape, low: Shape, high: Shape) -> list[Shape]:
    """The first input's shape; the others are vectors of its last dimension's size."""
    dims = at_least(shape, 1)
    last = None if dims is None else dims[-1]
    for end in (low, high):
        last = merge_dims(last, with_rank(end, 1)[0])
    return [dims]


@rule
def faked_grad(grads: Shape, shape: Shape, low: Shape, high: Shape) -> list[Shape]:
    """The one shape of gradients and numbers, and two scalars."""
    dims = merge(grads, shape)
    _scalars(low, high)
    return [dims, *_SCALARS]


@rule
def faked_grad_channels(grads: Shape, shape: Shape, low: Shape, high: Shape) -> list[Shape]:
    """The one shape of gradients and numbers, and two vectors of its last dimension's size."""
    dims = at_least(merge(grads, shape), 1)
    ends = merge(with_rank(low, 1), with_rank(high, 1))
    last = merge_dims(None if dims is None else dims[-1], with_rank(ends, 1)[0])
    return [dims, (last,), (last,)]


@rule
def with_range(shape: Shape, *scalars: Shape) -> list[Shape]:
    """The first input's shape and two scalars; the other inputs are scalars."""
    _scalars(*scalars)
    return [shape, *_SCALARS]


@rule
def range_of_channels(_: Shape, low: Shape, high: Shape) -> list[Shape]:
    """Two scalars, of vectors."""
    for end in (low, high):
        with_rank(end, 1)
    return list(_SCALARS)


@rule
def narrowed_channels(shape: Shape, low: Shape, high: Shape, *scalars: Shape) -> list[Shape]:
    """The first input's shape and two scalars, of two vectors and scalars."""
    _scalars(*scalars)
    return [shape, *range_of_channels(shape, low, high)]


@rule
def range_alone(_: Shape, *scalars: Shape) -> list[Shape]:
    """Two scalars, of scalars."""
    _scalars(*scalars)
    return list(_SCALARS)


@rule
def ranged_broadcast(x: Shape, y: Shape, *scalars: Shape) -> list[Shape]:
    """The shape that both broadcast to, and two scalars."""
    _scalars(*scalars)
    return [broadcast_shapes(x, y), *_SCALARS]


@rule
def ranged_matmul(
    a: Shape, b: Shape, transpose_a: bool, transpose_b: bool, *scalars: Shape
) -> list[Shape]:
    """A matrix product's shape and two scalars."""
    shapes = matmul(a, b, transpose_a, transpose_b)
    _scalars(*scalars)
    return [*shapes, *_SCALARS]


@rule
def ranged_bias(x: Shape, bias: Shape, *scalars: Shape) -> list[Shape]:
    """The shape of numbers to which a bias is added, and two scalars."""
    shapes = bias_add(x, bias, "NHWC")
    _scalars(*scalars)
    return [*shapes, *_SCALARS]


@rule
def ranged_reshaped(x: Shape, shape: Shape, low: Shape, high: Shape) -> list[Shape]:
    """The requested shape and two scalars."""
    shapes = reshaped(x, shape)
    _scalars(low, high)
    return [*shapes, *_SCALARS]


@rule
def ranged_joined(shapes: Sequence[Shape], axis: Value, *ends: Sequence[Shape]) -> list[Shape]:
    """The shape of tensors joined along an axis, and two scalars."""
    joined = concatenated(shapes, axis)
    for scalars in ends:
        _scalars(*scalars)
    return [*joined, *_SCALARS]


@rule
def ranged_convolution(
    x: Shape, filters: Shape, strides: Sequence[int], padding: str, *scalars: Shape
) -> list[Shape]:
    """A convolution's shape and two scalars."""
    shapes = convolution(x, filters, strides, padding, "", "NHWC", [1] * 4, 2)
    _scalars(*scalars)
    return [*shapes, *_SCALARS]


@rule
def ranged_pooling(
    x: Shape, ksize: Sequence[int], strides: Sequence[int], padding: str, *scalars: Shape
) -> list[Shape]:
    """A pooling's shape and two scalars."""
    shapes = pooling(x, ksize, strides, padding, "", "NHWC", False, 4)
    _scalars(*scalars)
    return [*shapes, *_SCALARS]


@rule
def ranged_pictures(x: Shape, low: Shape, high: Shape) -> list[Shape]:
    """The pictures' shape, of rank 4, and two scalars."""
    _scalars(low, high)
    return [with_rank(x, 4) if x is not None else None, *_SCALARS]


@rule
def ranged_resized(images: Shape, size: Known, low: Shape, high: Shape) -> list[Shape]:
    """The shape of resized pictures and two scalars."""
    shapes = resized(images, size)
    _scalars(low, high)
    return [*shapes, *_SCALARS]
