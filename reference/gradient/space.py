"""Gradients of blocks of space moved into batch or channels, and of windows. Source: TF 2.21."""

from __future__ import annotations

import math
from typing import Any

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
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__: list[str] = []


def _square(op_type: str, x: Any, pads: Any, size: int) -> Tensor:
    """Square blocks moved, as the functions of version 1 do it."""
    blocks = np.array([size, size], np.int64)
    moved: Tensor = node(op_type, x, blocks, pads)
    moved.set_shape(moved.shape.with_rank(4))
    return moved


@gradient("SpaceToBatch")
def _space_to_batch(op: Operation, grad: Any) -> Any:
    return _square("BatchToSpaceND", grad, op.inputs[1], op.get_attr("block_size")), None


@gradient("BatchToSpace")
def _batch_to_space(op: Operation, grad: Any) -> Any:
    return _square("SpaceToBatchND", grad, op.inputs[1], op.get_attr("block_size")), None


@gradient("SpaceToBatchND")
def _space_to_batch_nd(op: Operation, grad: Any) -> Any:
    return node("BatchToSpaceND", grad, *op.inputs[1:]), None, None


@gradient("BatchToSpaceND")
def _batch_to_space_nd(op: Operation, grad: Any) -> Any:
    return node("SpaceToBatchND", grad, *op.inputs[1:]), None, None


@gradient("SpaceToDepth")
def _space_to_depth(op: Operation, grad: Any) -> Any:
    attrs = {name: op.get_attr(name) for name in ("block_size", "data_format")}
    return node("DepthToSpace", grad, **attrs)


@gradient("DepthToSpace")
def _depth_to_space(op: Operation, grad: Any) -> Any:
    attrs = {name: op.get_attr(name) for name in ("block_size", "data_format")}
    return node("SpaceToDepth", grad, **attrs)


@gradient("ExtractImagePatches")
def _image_patches(op: Operation, grad: Any) -> Any:
    """Patches of the numbers of all pixels tell where each number of the gradient belongs."""
    batch, rows, columns, channels = unstack(shape(op.inputs[0], out_type=dtypes.int64))
    out_rows, out_columns = unstack(shape(op.outputs[0], out_type=dtypes.int64)[1:3])
    _, height, width, _ = op.get_attr("ksizes")
    count = rows * columns
    numbers = reshape(range_(1, count + 1, dtype=dtypes.float32), (1, rows, columns, 1))
    attrs = {name: op.get_attr(name) for name in ("ksizes", "strides", "rates", "padding")}
    places = cast(node("ExtractImagePatches", numbers, **attrs), dtypes.int64)
    windows = (batch, out_rows, out_columns, height, width, channels)
    above = transpose(reshape(convert_to_tensor(grad), windows), (1, 2, 3, 4, 0, 5))
    flat = reshape(above, (-1, batch * channels))
    segments = reshape(places, [-1]) - 1
    found = reshape(
        node("UnsortedSegmentSum", flat, segments, count), (rows, columns, batch, channels)
    )
    return transpose(found, (2, 0, 1, 3))


@gradient("ExtractVolumePatches")
def _volume_patches(op: Operation, grad: Any) -> Any:
    """As that of images, by a sparse matrix from all numbers of the gradient to all voxels."""
    inner = [size or 0 for size in op.inputs[0].shape.as_list()[1:-1]]
    sizes = shape(op.inputs[0])
    batch, channels = sizes[0], sizes[4]
    count = 1 + math.prod(inner)
    numbers = reshape(range_(1, count, dtype=dtypes.int64), (1, *inner, 1))
    attrs = {name: op.get_attr(name) for name in ("ksizes", "strides", "padding")}
    sources = node("ExtractVolumePatches", numbers, **attrs)
    places = [size or 0 for size in op.outputs[0].shape.as_list()[1:-1]]
    _, *window, _ = op.get_attr("ksizes")
    each = math.prod(window)
    total = math.prod(places) * each
    targets = reshape(range_(total, dtype=dtypes.int64), (1, *places, each))
    pairs = concat([expand_dims(sources, axis=-1), expand_dims(targets, axis=-1)], axis=-1)
    rows = reshape(pairs, (-1, 2))
    whole = SparseTensor(rows, ones([total], dtype=grad.dtype), (count, total))
    matrix = sparse_slice(whole, (1, 0), (count - 1, total))
    above = transpose(reshape(convert_to_tensor(grad), (batch, *places, *window, channels)),
                      (1, 2, 3, 4, 5, 6, 0, 7))  # fmt: skip
    flat = reshape(above, (-1, batch * channels))
    found = reshape(sparse_tensor_dense_matmul(matrix, flat), (*inner, batch, channels))
    return transpose(found, (3, 0, 1, 2, 4))
