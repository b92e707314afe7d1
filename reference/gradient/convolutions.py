"""Gradients of convolutions, of poolings and of blocks of images. Source: TF 2.21."""

from __future__ import annotations

import math

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, transpose, unstack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones, zeros_like
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.ops.sparse_array_ops import sparse_slice
from sessrun.reference.api.ops.sparse_math_ops import sparse_tensor_dense_matmul
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

_WINDOW = ("strides", "padding", "data_format", "dilations")
_CHANNELWISE = (*_WINDOW, "explicit_paddings")
_PLANE = (*_CHANNELWISE, "use_cudnn_on_gpu")


def _attrs(op: Operation, names: tuple[str, ...]) -> AttrValues:
    return {name: op.get_attr(name) for name in names}


def _family(forward: str, by_input: str, by_filter: str, names: tuple[str, ...]) -> None:
    """Register the gradients of the two gradient operations of a convolution."""

    @gradient(by_input)
    def of_input(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        _, filters, above = op.inputs
        return (
            None,
            node(by_filter, grad, shape(filters), above, **attrs),
            node(forward, grad, filters, **attrs),
        )

    @gradient(by_filter)
    def of_filter(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        x, _, above = op.inputs
        return (
            node(by_input, shape(x), grad, above, **attrs),
            None,
            node(forward, x, grad, **attrs),
        )


def _convolution(forward: str, by_input: str, by_filter: str, names: tuple[str, ...]) -> None:
    """As `_family`, with the gradient of the convolution itself, which has one ShapeN."""
    _family(forward, by_input, by_filter, names)

    @gradient(forward)
    def of_convolution(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        x, filters = op.inputs
        sizes = nodes("ShapeN", [x, filters])
        return (
            node(by_input, sizes[0], filters, grad, **attrs),
            node(by_filter, x, sizes[1], grad, **attrs),
        )


_convolution("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", _PLANE)
_convolution("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", _WINDOW)
_family(
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    _CHANNELWISE,
)


@gradient("DepthwiseConv2dNative")
def _depthwise(op: Operation, grad: Tensor) -> Gradients:
    attrs = _attrs(op, _CHANNELWISE)
    x, filters = op.inputs
    return (
        node("DepthwiseConv2dNativeBackpropInput", shape(x), filters, grad, **attrs),
        node("DepthwiseConv2dNativeBackpropFilter", x, shape(filters), grad, **attrs),
    )


@gradient("Dilation2D")
def _dilation(op: Operation, grad: Tensor) -> Gradients:
    attrs = _attrs(op, ("strides", "rates", "padding"))
    inputs = (*op.inputs, grad)
    return (
        node("Dilation2DBackpropInput", *inputs, **attrs),
        node("Dilation2DBackpropFilter", *inputs, **attrs),
    )


def _window(op: Operation, *more: str) -> AttrValues:
    return {name: op.get_attr(name) for name in ("ksize", "strides", "padding", *more)}


@gradient("MaxPool")
def _max_pool(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "explicit_paddings", "data_format")
    return node("MaxPoolGrad", op.inputs[0], op.outputs[0], grad, **attrs)


@gradient("MaxPoolV2")
def _max_pool_v2(op: Operation, grad: Tensor) -> Gradients:
    x, ksize, strides = op.inputs
    attrs = {name: op.get_attr(name) for name in ("padding", "data_format")}
    return node("MaxPoolGradV2", x, op.outputs[0], grad, ksize, strides, **attrs), None, None


def _zeros(op: Operation) -> tuple[Tensor, Tensor]:
    return zeros_like(op.inputs[0]), zeros_like(op.inputs[1])


@gradient("MaxPoolGrad", "MaxPool3DGrad")
def _max_pool_grad(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    return *_zeros(op), node(f"{op.type}Grad", op.inputs[0], op.inputs[1], grad, **attrs)


@gradient("MaxPoolGradV2")
def _max_pool_grad_v2(op: Operation, grad: Tensor) -> Gradients:
    x, y, _, ksize, strides = op.inputs
    attrs = {name: op.get_attr(name) for name in ("padding", "data_format")}
    zeros = _zeros(op)
    return *zeros, node("MaxPoolGradGradV2", x, y, grad, ksize, strides, **attrs), None, None


@gradient("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    once = op.type.removesuffix("Grad")
    return *_zeros(op), node(once, op.inputs[0], op.inputs[1], grad, **attrs)


@gradient("AvgPool", "AvgPool3D")
def _average_pool(op: Operation, grad: Tensor) -> Gradients:
    return node(f"{op.type}Grad", shape(op.inputs[0]), grad, **_window(op, "data_format"))


@gradient("AvgPoolGrad", "AvgPool3DGrad")
def _average_pool_grad(op: Operation, grad: Tensor) -> Gradients:
    kept = node("StopGradient", op.inputs[0])
    return kept, node(op.type.removesuffix("Grad"), grad, **_window(op, "data_format"))


@gradient("MaxPool3D")
def _max_pool_of_volumes(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    return node("MaxPool3DGrad", op.inputs[0], op.outputs[0], grad, **attrs)


@gradient("MaxPoolWithArgmax")
def _max_pool_with_argmax(op: Operation, grad: Tensor, _: Tensor) -> Gradients:
    attrs = _window(op, "include_batch_in_index")
    return node("MaxPoolGradWithArgmax", op.inputs[0], grad, op.outputs[1], **attrs)


@gradient("FractionalMaxPool")
def _fractional_max_pool(op: Operation, grad: Tensor, *_: Tensor) -> Gradients:
    pooled, rows, columns = op.outputs
    return node(
        "FractionalMaxPoolGrad",
        op.inputs[0],
        pooled,
        grad,
        rows,
        columns,
        overlapping=op.get_attr("overlapping"),
    )


@gradient("FractionalAvgPool")
def _fractional_average_pool(op: Operation, grad: Tensor, *_: Tensor) -> Gradients:
    rows, columns = op.outputs[1:]
    return node(
        "FractionalAvgPoolGrad",
        op.inputs[0].shape,
        grad,
        rows,
        columns,
        overlapping=op.get_attr("overlapping"),
    )


def _square_blocks(op_type: str, x: Tensor, pads: Tensor, size: int) -> Tensor:
    """SpaceToBatchND or its inverse with square blocks, for a tensor of rank 4."""
    blocks = np.array([size, size], np.int64)
    moved = node(op_type, x, blocks, pads)
    moved.set_shape(moved.shape.with_rank(4))
    return moved


@gradient("SpaceToBatch")
def _space_to_batch(op: Operation, grad: Tensor) -> Gradients:
    return _square_blocks("BatchToSpaceND", grad, op.inputs[1], op.get_attr("block_size")), None


@gradient("BatchToSpace")
def _batch_to_space(op: Operation, grad: Tensor) -> Gradients:
    return _square_blocks("SpaceToBatchND", grad, op.inputs[1], op.get_attr("block_size")), None


@gradient("SpaceToBatchND")
def _space_to_batch_nd(op: Operation, grad: Tensor) -> Gradients:
    return node("BatchToSpaceND", grad, *op.inputs[1:]), None, None


@gradient("BatchToSpaceND")
def _batch_to_space_nd(op: Operation, grad: Tensor) -> Gradients:
    return node("SpaceToBatchND", grad, *op.inputs[1:]), None, None


@gradient("SpaceToDepth")
def _space_to_depth(op: Operation, grad: Tensor) -> Gradients:
    attrs = {name: op.get_attr(name) for name in ("block_size", "data_format")}
    return node("DepthToSpace", grad, **attrs)


@gradient("DepthToSpace")
def _depth_to_space(op: Operation, grad: Tensor) -> Gradients:
    attrs = {name: op.get_attr(name) for name in ("block_size", "data_format")}
    return node("SpaceToDepth", grad, **attrs)


@gradient("ExtractImagePatches")
def _image_patches(op: Operation, grad: Tensor) -> Gradients:
    """The gradient's elements are summed by pixel.

    The patches of an image whose pixels are their numbers are the pixels of the elements.
    """
    batch, rows, columns, channels = unstack(shape(op.inputs[0], out_type=dtypes.int64))
    out_rows, out_columns = unstack(shape(op.outputs[0], out_type=dtypes.int64)[1:3])
    _, height, width, _ = op.get_attr("ksizes")
    count = rows * columns
    numbers = reshape(range_(1, count + 1, dtype=dtypes.float32), (1, rows, columns, 1))
    attrs = {name: op.get_attr(name) for name in ("ksizes", "strides", "rates", "padding")}
    sources = cast(node("ExtractImagePatches", numbers, **attrs), dtypes.int64)
    windows = (batch, out_rows, out_columns, height, width, channels)
    by_window = transpose(reshape(convert_to_tensor(grad), windows), (1, 2, 3, 4, 0, 5))
    flat = reshape(by_window, (-1, batch * channels))
    segments = reshape(sources, [-1]) - 1
    by_pixels = reshape(
        node("UnsortedSegmentSum", flat, segments, count), (rows, columns, batch, channels)
    )
    return transpose(by_pixels, (2, 0, 1, 3))


@gradient("ExtractVolumePatches")
def _volume_patches(op: Operation, grad: Tensor) -> Gradients:
    """The gradient's elements are summed by voxel, by a product with a sparse matrix."""
    inner = [size or 0 for size in op.inputs[0].shape.as_list()[1:-1]]
    sizes = shape(op.inputs[0])
    batch, channels = sizes[0], sizes[4]
    count = 1 + math.prod(inner)
    numbers = reshape(range_(1, count, dtype=dtypes.int64), (1, *inner, 1))
    attrs = {name: op.get_attr(name) for name in ("ksizes", "strides", "padding")}
    sources = node("ExtractVolumePatches", numbers, **attrs)
    out_sizes = [size or 0 for size in op.outputs[0].shape.as_list()[1:-1]]
    _, *window, _ = op.get_attr("ksizes")
    window_size = math.prod(window)
    total = math.prod(out_sizes) * window_size
    targets = reshape(range_(total, dtype=dtypes.int64), (1, *out_sizes, window_size))
    pairs = concat([expand_dims(sources, axis=-1), expand_dims(targets, axis=-1)], axis=-1)
    rows = reshape(pairs, (-1, 2))
    with_zero = SparseTensor(rows, ones([total], dtype=grad.dtype), (count, total))
    matrix = sparse_slice(with_zero, (1, 0), (count - 1, total))
    windows = (batch, *out_sizes, *window, channels)
    by_window = transpose(reshape(convert_to_tensor(grad), windows), (1, 2, 3, 4, 5, 6, 0, 7))
    flat = reshape(by_window, (-1, batch * channels))
    by_voxels = reshape(sparse_tensor_dense_matmul(matrix, flat), (*inner, batch, channels))
    return transpose(by_voxels, (3, 0, 1, 2, 4))
