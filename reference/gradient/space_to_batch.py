"""Gradients of SpaceToBatch, SpaceToDepth, their inverses, and of patches. Source: TF 2.21."""

from __future__ import annotations

import math

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, transpose, unstack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.ops.sparse_array_ops import sparse_slice
from sessrun.reference.api.ops.sparse_math_ops import sparse_tensor_dense_matmul
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


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
