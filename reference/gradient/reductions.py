"""Gradients of reductions and running sums, and of reductions by segments. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sessrun.reference.api.ops.array_ops import concat, gather, reshape, transpose
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.fill_ops import ones, ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan, divide, equal, range_, truediv
from sessrun.reference.api.ops.reduce_ops import (
    cumprod,
    cumsum,
    cumulative_logsumexp,
    reduce_prod,
    reduce_sum,
)
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    broadcast_to,
    exp,
    greater,
    greater_equal,
    invert_permutation,
    less,
    log,
    maximum,
    select_v2,
    tile,
)
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["kept_shape"]

_Sizes = tuple[int, ...]
_Scaling = tuple[_Sizes, _Sizes]
#: The results of `_scaling` in each graph, by its arguments.
_SCALINGS: Final[WeakKeyDictionary[Graph, dict[tuple[_Sizes, _Sizes], _Scaling]]] = (
    WeakKeyDictionary()
)

gradient("ArgMax", "ArgMin")(lambda op, grad: [None, None])


def kept_shape(input_shape: Tensor, axes: TensorLike) -> NDArray[np.int32] | Tensor:
    """The shape of the result of a reduction that keeps its axes, as sizes of 1.

    Args:
      input_shape: the shape of the reduced tensor.
      axes: a tensor or a list of integers.

    Returns:
      An array if both are known, else a tensor.

    """
    sizes, known = get_static_value(input_shape), get_static_value(axes)
    if sizes is not None and known is not None:
        sizes = np.array(sizes, np.int32)
        sizes[np.asarray(known, np.int32)] = 1
        return sizes
    axes = convert_to_tensor(axes)
    dimensions = size(input_shape, out_type=axes.dtype)
    positive_axes = (axes + dimensions) % dimensions
    count = shape(positive_axes)
    all_axes = range_(dimensions)
    single = ones(count, input_shape.dtype)
    return node("DynamicStitch", [all_axes, positive_axes], [input_shape, single])


def _scaling(sizes: _Sizes, axes: _Sizes) -> _Scaling:
    """The shape of a sum over some axes that keeps them, and the multiples of its Tile.

    TensorFlow divides the sizes by operations whose results are not used, once in a graph for each
    shape and axes. They are made here too: the seed of a random operation depends on the number of
    operations before it.
    """
    known = _SCALINGS.setdefault(default_graph.get_default_graph(), {})
    if (sizes, axes) not in known:
        kept = np.array(sizes, np.int32)
        kept[list(axes)] = 1
        multiples = np.array(sizes, np.int32) // np.maximum(kept, 1)
        _ = sizes // maximum(kept, 1)
        known[sizes, axes] = tuple(kept.tolist()), tuple(multiples.tolist())
    return known[sizes, axes]


def _of_sum(op: Operation, grad: Tensor) -> Tensor:
    """The gradient of a Sum by its first input: repeated along the axes of the sum."""
    x, axes = op.inputs
    known, sizes = constant_value(axes), x.sizes
    if known is not None and sizes is not None:
        if np.array_equal(known, np.arange(len(sizes))):
            grad_of_rank = reshape(grad, [1] * len(sizes))
            is_known = None not in sizes
            return tile(grad_of_rank, constant(sizes, dtypes.int32) if is_known else shape(x))
        if None not in sizes:
            known_sizes = tuple(length for length in sizes if length is not None)
            kept, multiples = _scaling(known_sizes, tuple(known.reshape(-1).tolist()))
            return tile(reshape(grad, kept), multiples)
    x_shape = shape(x)
    if not op.get_attr("keep_dims"):
        with default_graph.get_default_graph().colocate_with(x_shape):
            kept_dims = kept_shape(x_shape, axes)
        grad = reshape(grad, kept_dims)
    return broadcast_to(grad, x_shape)


gradient("Sum")(lambda op, grad: [_of_sum(op, grad), None])


@gradient("Mean")
def _mean(op: Operation, grad: Tensor) -> Gradients:
    summed = _of_sum(op, grad)
    x, y = op.inputs[0].shape, op.outputs[0].shape
    if x.is_fully_defined() and y.is_fully_defined():
        count = (x.num_elements() or 0) // max(y.num_elements() or 0, 1)
        factor = constant(count, dtype=summed.dtype)
    else:
        x_shape = shape(op.inputs[0])
        dimensions = size(x_shape)
        axes = (cast(op.inputs[1], dimensions.dtype) + dimensions) % dimensions
        factor = reduce_prod(gather(x_shape, axes))
    return truediv(summed, cast(factor, summed.dtype)), None


@gradient("Max", "Min")
def _extreme(op: Operation, grad: Tensor) -> Gradients:
    """The gradient in equal parts for the elements that equal the extreme."""
    x_shape, y = shape(op.inputs[0]), op.outputs[0]
    kept: NDArray[np.int32] | Tensor
    if op.get_attr("keep_dims"):
        kept = shape(y)
    else:
        kept = kept_shape(x_shape, op.inputs[1])
        y, grad = reshape(y, kept), reshape(grad, kept)
    chosen = cast(equal(y, op.inputs[0]), grad.dtype)
    count = reshape(reduce_sum(chosen, op.inputs[1]), kept)
    return divide(chosen, count) * grad, None


@gradient("EuclideanNorm")
def _euclidean_norm(op: Operation, grad: Tensor) -> Gradients:
    norm = op.outputs[0]
    if not op.get_attr("keep_dims"):
        kept = kept_shape(shape(op.inputs[0]), op.inputs[1])
        norm, grad = reshape(norm, kept), reshape(grad, kept)
    return truediv(op.inputs[0], norm / grad), None


@gradient("Prod")
def _prod(op: Operation, grad: Tensor) -> Gradients:
    """The product of all other elements, without division: of those before and of those after."""
    x = op.inputs[0]
    x_shape, axes = shape(x), reshape(op.inputs[1], [-1])
    if not op.get_attr("keep_dims"):
        grad = reshape(grad, kept_shape(x_shape, op.inputs[1]))
    grad = broadcast_to(grad, x_shape)
    with default_graph.get_default_graph().device("/cpu:0"):
        dimensions = rank(x)
        reduced = (cast(axes, dimensions.dtype) + dimensions) % dimensions
        others = nodes("ListDiff", range_(0, dimensions), reduced, out_idx=reduced.dtype)[0]
        order = concat([reduced, others], 0)
        counts = reduce_prod(gather(x_shape, reduced)), reduce_prod(gather(x_shape, others))
    ordered = transpose(x, order)
    ordered_shape = shape(ordered)
    flat = reshape(ordered, counts)
    before = cumprod(flat, axis=0, exclusive=True)
    after = cumprod(flat, axis=0, exclusive=True, reverse=True)
    product = reshape(conj(before) * conj(after), ordered_shape)
    result = grad * transpose(product, invert_permutation(order))
    return reshape(result, x_shape), None


@gradient("Cumsum")
def _of_cumsum(op: Operation, grad: Tensor) -> Gradients:
    return [
        cumsum(
            grad,
            op.inputs[1],
            exclusive=op.get_attr("exclusive"),
            reverse=not op.get_attr("reverse"),
        ),
        None,
    ]


@gradient("Cumprod")
def _of_cumprod(op: Operation, grad: Tensor) -> Gradients:
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    summed = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [div_no_nan(summed, x), None]


@gradient("CumulativeLogsumexp")
def _of_cumulative_logsumexp(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    """Computed by logarithms: of the gradient's positive elements, and of its negative ones."""
    x, axis = op.inputs
    lowest = grad.dtype.min
    log_positive = select_v2(greater(grad, 0), log(grad), lowest)
    log_negative = select_v2(less(grad, 0), log(-grad), lowest)
    of_positive, of_negative = (
        exp(
            cumulative_logsumexp(
                logarithm - op.outputs[0],
                axis=axis,
                reverse=not op.get_attr("reverse"),
                exclusive=op.get_attr("exclusive"),
            )
            + x
        )
        for logarithm in (log_positive, log_negative)
    )
    return of_positive - of_negative, None


gradient("SegmentSum")(lambda op, grad: [gather(grad, op.inputs[1]), None])


@gradient("SegmentMean")
def _segment_mean(op: Operation, grad: Tensor) -> Gradients:
    data, ids = op.inputs
    dimensions, count = rank(data), shape(ids)
    rest = ones(node("ExpandDims", dimensions - 1, 0), count.dtype)
    single = ones(concat([count, rest], 0), grad.dtype)
    return gather(divide(grad, node("SegmentSum", single, ids)), ids), None


@gradient("SegmentMax", "SegmentMin")
def _segment_extreme(op: Operation, grad: Tensor) -> Gradients:
    data, ids = op.inputs
    zero = zeros_like(data)
    chosen = equal(data, gather(op.outputs[0], ids))
    count = node("SegmentSum", cast(chosen, grad.dtype), ids)
    shared = gather(divide(grad, count), ids)
    return select_v2(chosen, shared, zero), None


def _by_zeros(
    op: Operation,
    grad: Tensor,
    summed: Callable[[Tensor], Tensor],
    multiplied: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What the gradient of a product by segments needs, whose elements may be zero.

    Args:
      op: the operation.
      grad: its gradient.
      summed: sums a tensor by segments.
      multiplied: multiplies a tensor by segments.

    Returns:
      Which elements are zero; the gradient, zero for segments with several zeros; the elements with
      ones for zeros; and the products of these.

    """
    data = op.inputs[0]
    is_zero = equal(data, 0)
    zeros = summed(cast(is_zero, dtypes.int32))
    left = select_v2(greater(zeros, 1), zeros_like(grad), grad)
    rest = select_v2(is_zero, ones_like(data), data)
    return is_zero, left, rest, multiplied(rest)


@gradient("SegmentProd")
def _segment_prod(op: Operation, grad: Tensor) -> Gradients:
    ids = op.inputs[1]
    is_zero, left, rest, product = _by_zeros(
        op,
        grad,
        lambda value: node("SegmentSum", value, ids),
        lambda value: node("SegmentProd", value, ids),
    )
    products, products_without_zeros = gather(op.outputs[0], ids), gather(product, ids)
    others = select_v2(is_zero, products_without_zeros, products / rest)
    return gather(left, ids) * others, None


def _segments(ids: Tensor) -> Tensor:
    """The ids of segments; zero where an id is negative, so that the element is in no segment."""
    return maximum(ids, zeros_like(ids))


def _or_zero(is_chosen: Tensor, values: Tensor) -> Tensor:
    """The values where the mask is true, else zeros."""
    zero = zeros_like(values)
    return select_v2(is_chosen, values, zero)


def _of_segments(values: Tensor, ids: Tensor, segments: Tensor) -> tuple[Tensor, Tensor]:
    """For each element the value of its segment, zero if it is in none; and a mask of the others.

    Args:
      values: a value for each segment.
      ids: the ids of the elements; negative ones are in no segment.
      segments: the ids, negative ones replaced by zero.

    """
    of_elements = gather(values, segments)
    inside = greater_equal(ids, 0)
    outer = shape(inside)
    rest = ones([rank(of_elements) - rank(inside)], outer.dtype)
    spread = reshape(inside, concat([outer, rest], 0))
    is_inside = spread & ones_like(of_elements, "bool")
    return _or_zero(is_inside, of_elements), is_inside


@gradient("UnsortedSegmentSum")
def _unsorted_sum(op: Operation, grad: Tensor) -> Gradients:
    ids = op.inputs[1]
    return _of_segments(grad, ids, _segments(ids))[0], None, None


@gradient("UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_extreme(op: Operation, grad: Tensor) -> Gradients:
    data, ids, count = op.inputs
    segments = _segments(ids)
    extremes, is_inside = _of_segments(op.outputs[0], ids, segments)
    chosen = node("LogicalAnd", equal(data, extremes), is_inside)
    many = node("UnsortedSegmentSum", cast(chosen, grad.dtype), ids, count)
    shared = _or_zero(is_inside, gather(divide(grad, many), segments))
    return _or_zero(chosen, shared), None, None


@gradient("UnsortedSegmentProd")
def _unsorted_prod(op: Operation, grad: Tensor) -> Gradients:
    data, ids, count = op.inputs
    is_zero, left, _, product = _by_zeros(
        op,
        grad,
        lambda value: node("UnsortedSegmentSum", value, ids, count),
        lambda value: node("UnsortedSegmentProd", value, ids, count),
    )
    segments = _segments(ids)
    products, products_without_zeros = gather(op.outputs[0], segments), gather(product, segments)
    # The quotient is not a number where an element is zero; it is not selected there.
    others = select_v2(is_zero, products_without_zeros, products / data)
    return _of_segments(left, ids, segments)[0] * others, None, None
