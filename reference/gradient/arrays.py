"""Gradients of operations that move elements: shapes, slices, concatenations. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.control_flow.context import output_context
from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    pad,
    reshape,
    reverse_sequence,
    slice_,
    squeeze,
    stack,
    transpose,
    unstack,
)
from sessrun.reference.api.ops.array_ops import split as split_up
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import add, range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import invert_permutation
from sessrun.reference.build.gradient_nodes import constants, gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["concatenated_slices_gradients"]

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
#: With more inputs than these the gradient of a concatenation is split, and not sliced.
_MAX_SLICES = 16

constants(
    (
        "BroadcastGradientArgs",
        "ConcatOffset",
        "Const",
        "InvertPermutation",
        "LinSpace",
        "OneHot",
        "OnesLike",
        "RandomShuffle",
        "RandomStandardNormal",
        "RandomUniform",
        "Range",
        "Rank",
        "Shape",
        "ShapeN",
        "Size",
        "StopGradient",
        "TruncatedNormal",
        "ZerosLike",
    )
)

gradient("Identity", "RefIdentity", "PlaceholderWithDefault", "EnsureShape")(lambda op, grad: grad)
gradient("IdentityN")(lambda op, *grads: grads)
gradient("Fill")(lambda op, grad: (None, reduce_sum(grad)))


def dense(grad: Tensor | IndexedSlices) -> Tensor:
    """The gradient as a tensor."""
    return convert_to_tensor(grad) if isinstance(grad, IndexedSlices) else grad


@gradient("PreventGradient")
def _prevented(op: Operation, _grad: Tensor) -> Gradients:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')!r}")


@gradient("CheckNumerics")
def _check_numerics(op: Operation, grad: Tensor) -> Gradients:
    text = op.get_attr("message")
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {text!r}"
    return node("CheckNumerics", grad, message=message)


@gradient("CheckNumericsV2")
def _check_numerics_v2(op: Operation, grad: Tensor) -> Gradients:
    text = op.get_attr("message").decode()
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {text}"
    return node("CheckNumericsV2", grad, message=message)


def _in_input_shape(op: Operation, grad: Tensor | IndexedSlices) -> Tensor:
    return reshape(dense(grad), shape(op.inputs[0]))


@gradient("Reshape")
def _reshape(op: Operation, grad: Tensor | IndexedSlices) -> Gradients:
    known = op.inputs[0].shape
    sizes = known.as_list() if known.rank is not None else []
    if sizes.count(None) == 1 and 0 not in sizes:
        return [reshape(dense(grad), [-1 if size is None else size for size in sizes]), None]
    return [_in_input_shape(op, grad), None]


gradient("ExpandDims")(lambda op, grad: [_in_input_shape(op, grad), None])
gradient("Squeeze")(_in_input_shape)
gradient("Transpose")(lambda op, grad: [transpose(grad, invert_permutation(op.inputs[1])), None])
gradient("ConjugateTranspose")(
    lambda op, grad: [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]
)
gradient("Reverse")(lambda op, grad: (node("Reverse", grad, op.inputs[1]), None))
gradient("ReverseV2")(lambda op, grad: (node("ReverseV2", grad, op.inputs[1]), None))
gradient("Roll")(lambda op, grad: (node("Roll", grad, -op.inputs[1], op.inputs[2]), None, None))


@gradient("ReverseSequence")
def _reverse_sequence(op: Operation, grad: Tensor) -> Gradients:
    return [
        reverse_sequence(
            grad, op.inputs[1], batch_axis=op.get_attr("batch_dim"), seq_axis=op.get_attr("seq_dim")
        ),
        None,
    ]


@gradient("Pack")
def _pack(op: Operation, grad: Tensor) -> Gradients:
    gradients: list[Tensor] = unstack(grad, num=op.get_attr("N"), axis=op.get_attr("axis"))
    return gradients


@gradient("Unpack")
def _unpack(op: Operation, *grads: Tensor) -> Gradients:
    return stack(grads, axis=op.get_attr("axis"))


@gradient("Split")
def _split(op: Operation, *grads: Tensor) -> Gradients:
    return None, concat(list(grads), op.inputs[0])


@gradient("SplitV")
def _split_v(op: Operation, *grads: Tensor) -> Gradients:
    return [concat(list(grads), op.inputs[2]), None, None]


def _concatenation(
    grad: Tensor | IndexedSlices, values: list[Tensor], axis: Tensor
) -> Sequence[Tensor | IndexedSlices]:
    """The gradients of tensors that were concatenated: the parts of the result's gradient."""
    if isinstance(grad, IndexedSlices):
        return concatenated_slices_gradients(grad, values, axis)
    if axis.op.type == "Const" and output_context(axis.op) is not output_context(grad.op):
        axis = constant(constant_value(axis), axis.dtype)  # a constant needs no Enter
    positive_axis = axis % rank(values[0])
    shapes: list[Tensor] = []
    for value in values:
        shapes.append(shape(value))
        if shapes[-1].op.type != "Const":
            shapes = nodes("ShapeN", values)
            break
    if len(shapes) > _MAX_SLICES:
        sizes = squeeze(slice_(stack(shapes, axis=1), [positive_axis, 0], [1, -1]))
        return list(split_up(grad, sizes, positive_axis))
    starts = nodes("ConcatOffset", positive_axis, shapes)
    return [slice_(grad, start, sizes) for start, sizes in zip(starts, shapes, strict=True)]


gradient("Concat")(
    lambda op, grad: [None, *_concatenation(grad, list(op.inputs[1:]), op.inputs[0])]
)
gradient("ConcatV2")(
    lambda op, grad: [*_concatenation(grad, list(op.inputs[:-1]), op.inputs[-1]), None]
)


@gradient("Slice")
def _slice(op: Operation, grad: Tensor) -> Gradients:
    x, begin, _ = op.inputs
    dimensions, taken = rank(x), shape(op.outputs[0], out_type=begin.dtype)
    column = stack([dimensions, 1])
    before = reshape(begin, column)
    after = reshape(shape(x, out_type=begin.dtype) - taken - begin, column)
    return pad(grad, concat([before, after], 1)), None, None


@gradient("StridedSlice")
def _strided_slice(op: Operation, grad: Tensor) -> Gradients:
    x, *limits = op.inputs
    known = [shape(x, out_type=limits[0].dtype), *limits]
    values = [constant_value(limit) for limit in known]
    operands = [
        limit if value is None else value for limit, value in zip(known, values, strict=True)
    ]
    masks = {mask: op.get_attr(mask) for mask in _MASKS}
    return node("StridedSliceGrad", *operands, grad, **masks), None, None, None


@gradient("StridedSliceGrad")
def _strided_slice_grad(op: Operation, grad: Tensor) -> Gradients:
    masks = {mask: op.get_attr(mask) for mask in _MASKS}
    taken = node("StridedSlice", grad, *op.inputs[1:4], **masks)
    return None, None, None, None, taken


@gradient("TensorStridedSliceUpdate")
def _tensor_strided_slice_update(op: Operation, grad: Tensor) -> Gradients:
    limits = op.inputs[1:4]
    masks = {mask: op.get_attr(mask) for mask in _MASKS}
    taken = node("StridedSlice", grad, *limits, **masks)
    by_input = node("TensorStridedSliceUpdate", grad, *limits, zeros_like(taken), **masks)
    taken_shape = shape(taken, out_type=limits[0].dtype)
    value_shape = shape(op.inputs[4], out_type=taken_shape.dtype)
    axes = nodes("BroadcastGradientArgs", taken_shape, value_shape)[1]
    by_value = reshape(reduce_sum(taken, axes, keepdims=True), value_shape)
    return [by_input, None, None, None, by_value]


@gradient("Tile")
def _tile(op: Operation, grad: Tensor | IndexedSlices) -> Gradients:
    x, multiples = op.inputs
    interleaved = reshape(transpose(stack([multiples, shape(x, out_type=multiples.dtype)])), [-1])
    axes = range_(0, size(interleaved), 2)
    summed = reduce_sum(reshape(dense(grad), interleaved), axes)
    summed.set_shape(x.shape)
    return [summed, None]


@gradient("BroadcastTo")
def _broadcast_to(op: Operation, grad: Tensor) -> Gradients:
    x = op.inputs[0]
    x_shape, result_shape = shape(x, out_type=op.inputs[1].dtype), op.inputs[1]
    known = constant_value(result_shape)
    if known is not None:
        result_shape = constant(known.tolist(), result_shape.dtype)
    axes = nodes("BroadcastGradientArgs", result_shape, x_shape)[1]
    return [reshape(reduce_sum(grad, axes, keepdims=True), x_shape), None]


gradient("MirrorPad")(
    lambda op, grad: [node("MirrorPadGrad", grad, op.inputs[1], mode=op.get_attr("mode")), None]
)
gradient("MirrorPadGrad")(
    lambda op, grad: [node("MirrorPad", grad, op.inputs[1], mode=op.get_attr("mode")), None]
)


@gradient("Pad", "PadV2")
def _pad(op: Operation, grad: Tensor) -> Gradients:
    x, paddings, *rest = op.inputs
    before = slice_(paddings, [0, 0], stack([rank(x), 1]))
    begin = reshape(before, [-1])
    taken = slice_(grad, begin, shape(x, out_type=begin.dtype))
    return [taken, None, *(None for _ in rest)]


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
