"""Gradients of reductions and running sums, and of reductions by segments. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, gather, reshape, transpose
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.fill_ops import ones, ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan, divide, equal, range_, truediv
from sessrun.reference.api.ops.reduce_ops import cumprod, cumsum, reduce_prod, reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    broadcast_to,
    greater,
    greater_equal,
    invert_permutation,
    maximum,
    select_v2,
    tile,
)
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.seen_values import get_static_value
from sessrun.reference.build.static_values import constant_value
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["kept_shape"]

_Scaling = tuple[tuple[int, ...], tuple[int, ...]]
#: By graph, and by a shape and axes: what `_scaling` found.
_SCALINGS: Final[WeakKeyDictionary[Any, dict[Any, _Scaling]]] = WeakKeyDictionary()

gradient("ArgMax", "ArgMin")(lambda op, grad: [None, None])


def kept_shape(whole: Tensor, axes: Any) -> Any:
    """The shape of the result of a reduction that keeps its axes, as sizes of 1."""
    sizes, known = get_static_value(whole), get_static_value(axes)
    if sizes is not None and known is not None:
        sizes = np.array(sizes, np.int32)
        sizes[np.asarray(known, np.int32)] = 1
        return sizes
    axes = convert_to_tensor(axes)
    dimensions = size(whole, out_type=axes.dtype)
    places = (axes + dimensions) % dimensions
    count = shape(places)
    every = range_(dimensions)
    one = ones(count, whole.dtype)
    return node("DynamicStitch", [every, places], [whole, one])


def _scaling(sizes: tuple[Any, ...], axes: tuple[int, ...]) -> _Scaling:
    """The shape of a sum over some axes that keeps them, and how often it is repeated.

    TensorFlow divides the sizes by nodes that nothing needs afterwards, once in a graph for each
    shape and axes. They are built here too: a random operation's seed counts the nodes before it.
    """
    known = _SCALINGS.setdefault(stacks.get_default_graph(), {})
    if (sizes, axes) not in known:
        kept = np.array(sizes, np.int32)
        kept[list(axes)] = 1
        times = np.array(sizes, np.int32) // np.maximum(kept, 1)
        _ = sizes // maximum(kept, 1)
        known[sizes, axes] = tuple(kept.tolist()), tuple(times.tolist())
    return known[sizes, axes]


def _of_sum(op: Operation, grad: Any) -> Any:
    x, axes = op.inputs
    known, sizes = constant_value(axes), x.sizes
    if known is not None and sizes is not None:
        if np.array_equal(known, np.arange(len(sizes))):
            one = reshape(grad, [1] * len(sizes))
            is_whole = None not in sizes
            return tile(one, constant(sizes, dtypes.int32) if is_whole else shape(x))
        if None not in sizes:
            kept, times = _scaling(sizes, tuple(known.reshape(-1).tolist()))
            return tile(reshape(grad, kept), times)
    whole = shape(x)
    if not op.get_attr("keep_dims"):
        with stacks.get_default_graph().colocate_with(whole):
            kept_dims = kept_shape(whole, axes)
        grad = reshape(grad, kept_dims)
    return broadcast_to(grad, whole)


gradient("Sum")(lambda op, grad: [_of_sum(op, grad), None])


@gradient("Mean")
def _mean(op: Operation, grad: Any) -> Any:
    summed = _of_sum(op, grad)
    x, y = op.inputs[0].shape, op.outputs[0].shape
    if x.is_fully_defined() and y.is_fully_defined():
        count = (x.num_elements() or 0) // max(y.num_elements() or 0, 1)
        factor = constant(count, dtype=summed.dtype)
    else:
        whole = shape(op.inputs[0])
        dimensions = size(whole)
        axes = (cast(op.inputs[1], dimensions.dtype) + dimensions) % dimensions
        factor = reduce_prod(gather(whole, axes))
    return truediv(summed, cast(factor, summed.dtype)), None


@gradient("Max", "Min")
def _extreme(op: Operation, grad: Any) -> Any:
    """Those that are the extreme share the gradient."""
    whole, y = shape(op.inputs[0]), op.outputs[0]
    if op.get_attr("keep_dims"):
        kept = shape(y)
    else:
        kept = kept_shape(whole, op.inputs[1])
        y, grad = reshape(y, kept), reshape(grad, kept)
    chosen = cast(equal(y, op.inputs[0]), grad.dtype)
    count = reshape(reduce_sum(chosen, op.inputs[1]), kept)
    return divide(chosen, count) * grad, None


@gradient("EuclideanNorm")
def _euclidean_norm(op: Operation, grad: Any) -> Any:
    norm = op.outputs[0]
    if not op.get_attr("keep_dims"):
        kept = kept_shape(shape(op.inputs[0]), op.inputs[1])
        norm, grad = reshape(norm, kept), reshape(grad, kept)
    return truediv(op.inputs[0], norm / grad), None


@gradient("Prod")
def _prod(op: Operation, grad: Any) -> Any:
    """The product of all others, found without a division: of those before and those after."""
    x = op.inputs[0]
    whole, axes = shape(x), reshape(op.inputs[1], [-1])
    if not op.get_attr("keep_dims"):
        grad = reshape(grad, kept_shape(whole, op.inputs[1]))
    grad = broadcast_to(grad, whole)
    with stacks.get_default_graph().device("/cpu:0"):
        dimensions = rank(x)
        reduced = (cast(axes, dimensions.dtype) + dimensions) % dimensions
        others = node("ListDiff", range_(0, dimensions), reduced, out_idx=reduced.dtype)[0]
        order = concat([reduced, others], 0)
        counts = reduce_prod(gather(whole, reduced)), reduce_prod(gather(whole, others))
    turned = transpose(x, order)
    turned_shape = shape(turned)
    flat = reshape(turned, counts)
    before = cumprod(flat, axis=0, exclusive=True)
    after = cumprod(flat, axis=0, exclusive=True, reverse=True)
    product = reshape(conj(before) * conj(after), turned_shape)
    found = grad * transpose(product, invert_permutation(order))
    return reshape(found, whole), None


@gradient("Cumsum")
def _of_cumsum(op: Operation, grad: Any) -> Any:
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
def _of_cumprod(op: Operation, grad: Any) -> Any:
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    summed = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [div_no_nan(summed, x), None]


gradient("SegmentSum")(lambda op, grad: [gather(grad, op.inputs[1]), None])


@gradient("SegmentMean")
def _segment_mean(op: Operation, grad: Any) -> Any:
    data, ids = op.inputs
    dimensions, count = rank(data), shape(ids)
    rest = ones(node("ExpandDims", dimensions - 1, 0), count.dtype)
    each = ones(concat([count, rest], 0), grad.dtype)
    return gather(divide(grad, node("SegmentSum", each, ids)), ids), None


@gradient("SegmentMax", "SegmentMin")
def _segment_extreme(op: Operation, grad: Any) -> Any:
    data, ids = op.inputs
    zero = zeros_like(data)
    chosen = equal(data, gather(op.outputs[0], ids))
    count = node("SegmentSum", cast(chosen, grad.dtype), ids)
    shared = gather(divide(grad, count), ids)
    return select_v2(chosen, shared, zero), None


def _by_zeros(
    op: Operation, grad: Any, summed: Callable[[Any], Any], multiplied: Callable[[Any], Any]
) -> tuple[Any, Any, Any, Any]:
    """For a product by segments: where zeros are, the gradient, the rest, and its product.

    The gradient is zero where a segment has several zeros.
    """
    data = op.inputs[0]
    is_zero = equal(data, 0)
    zeros = summed(cast(is_zero, dtypes.int32))
    left = select_v2(greater(zeros, 1), zeros_like(grad), grad)
    rest = select_v2(is_zero, ones_like(data), data)
    return is_zero, left, rest, multiplied(rest)


@gradient("SegmentProd")
def _segment_prod(op: Operation, grad: Any) -> Any:
    ids = op.inputs[1]
    is_zero, left, rest, product = _by_zeros(
        op,
        grad,
        lambda value: node("SegmentSum", value, ids),
        lambda value: node("SegmentProd", value, ids),
    )
    whole, without = gather(op.outputs[0], ids), gather(product, ids)
    others = select_v2(is_zero, without, whole / rest)
    return gather(left, ids) * others, None


def _places(ids: Any) -> Any:
    """The segments of elements; those below zero are in none, and read the first."""
    return maximum(ids, zeros_like(ids))


def _or_zero(is_chosen: Any, found: Any) -> Any:
    zero = zeros_like(found)
    return select_v2(is_chosen, found, zero)


def _of_segments(values: Any, ids: Any, places: Any) -> tuple[Any, Any]:
    """For each element that of its segment, zero where it has none; and which have one.

    Args:
      values: one for each segment.
      ids: of the elements; those below zero are in no segment.
      places: the ids from zero on.

    """
    found = gather(values, places)
    inside = greater_equal(ids, 0)
    outer = shape(inside)
    rest = ones([rank(found) - rank(inside)], outer.dtype)
    spread = reshape(inside, concat([outer, rest], 0))
    is_inside = spread & ones_like(found, "bool")
    return _or_zero(is_inside, found), is_inside


@gradient("UnsortedSegmentSum")
def _unsorted_sum(op: Operation, grad: Any) -> Any:
    ids = op.inputs[1]
    return _of_segments(grad, ids, _places(ids))[0], None, None


@gradient("UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_extreme(op: Operation, grad: Any) -> Any:
    data, ids, count = op.inputs
    places = _places(ids)
    extremes, is_inside = _of_segments(op.outputs[0], ids, places)
    chosen = node("LogicalAnd", equal(data, extremes), is_inside)
    many = node("UnsortedSegmentSum", cast(chosen, grad.dtype), ids, count)
    shared = _or_zero(is_inside, gather(divide(grad, many), places))
    return _or_zero(chosen, shared), None, None


@gradient("UnsortedSegmentProd")
def _unsorted_prod(op: Operation, grad: Any) -> Any:
    data, ids, count = op.inputs
    is_zero, left, _, product = _by_zeros(
        op,
        grad,
        lambda value: node("UnsortedSegmentSum", value, ids, count),
        lambda value: node("UnsortedSegmentProd", value, ids, count),
    )
    places = _places(ids)
    whole, without = gather(op.outputs[0], places), gather(product, places)
    # Not a number where an element is zero, and not chosen there.
    others = select_v2(is_zero, without, whole / data)
    return _of_segments(left, ids, places)[0] * others, None, None
