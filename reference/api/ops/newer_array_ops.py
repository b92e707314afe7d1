"""Functions of arrays with the arguments of TensorFlow 2; its own modules call them by `_v2`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.api.nn import space
from sessrun.reference.api.ops import array_ops, fill_ops, gathering, rows, shape_ops
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import batch_to_space_nd, space_to_batch_nd
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "batch_to_space_v2",
    "boolean_mask_v2",
    "depth_to_space_v2",
    "expand_dims_v2",
    "extract_image_patches_v2",
    "gather_nd_v2",
    "gather_v2",
    "ones_like_v2",
    "pad_v2",
    "repeat_with_axis",
    "reverse_sequence_v2",
    "shape_v2",
    "size_v2",
    "space_to_batch_v2",
    "space_to_depth_v2",
    "squeeze_v2",
    "transpose_v2",
    "zeros_like_v2",
]


def gather_v2(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """As `gather`."""
    return array_ops.gather(params, indices, validate_indices, name, axis, batch_dims)


def gather_nd_v2(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """As `gather_nd`."""
    return gathering.gather_nd(params, indices, name, batch_dims, bad_indices_policy)


def boolean_mask_v2(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """As `boolean_mask`."""
    return array_ops.boolean_mask(tensor, mask, name, axis)


def expand_dims_v2(input: Any, axis: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """As `expand_dims`."""
    return array_ops.expand_dims(input, axis, name)


def squeeze_v2(input: Any, axis: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """As `squeeze`."""
    return array_ops.squeeze(input, axis, name)


def transpose_v2(
    a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose"
) -> Tensor:
    """As `transpose`."""
    return array_ops.transpose(a, perm, name, conjugate)


def pad_v2(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """As `pad`."""
    return array_ops.pad(tensor, paddings, mode, name, constant_values)


def reverse_sequence_v2(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """As `reverse_sequence`."""
    return array_ops.reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


def shape_v2(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """As `shape`."""
    return shape_ops.shape(input, name, dtypes.int32 if out_type is None else out_type)


def size_v2(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """As `size`."""
    return shape_ops.size(input, name, dtypes.int32 if out_type is None else out_type)


def zeros_like_v2(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """As `zeros_like`."""
    return fill_ops.zeros_like(input, dtype, name)


def ones_like_v2(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Ones in a tensor's shape."""
    return fill_ops.ones_like_v2(input, dtype, name)


def repeat_with_axis(data: Any, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """As `repeat` along an axis."""
    return rows.repeat(data, repeats, axis, name)


def space_to_batch_v2(
    input: Any,  # noqa: A002
    block_shape: Any,
    paddings: Any,
    name: str | None = None,
) -> Tensor:
    """As `space_to_batch_nd`."""
    return space_to_batch_nd(input, block_shape, paddings, name)


def batch_to_space_v2(
    input: Any,  # noqa: A002
    block_shape: Any,
    crops: Any,
    name: str | None = None,
) -> Tensor:
    """As `batch_to_space_nd`; one number is that of both dimensions of an image."""
    if isinstance(block_shape, int):
        block_shape = np.full(2, block_shape, np.int64)
    return batch_to_space_nd(input, block_shape, crops, name)


def space_to_depth_v2(
    input: Any,  # noqa: A002
    block_size: int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """As `space_to_depth`."""
    return space.space_to_depth(input, block_size, name, data_format)


def depth_to_space_v2(
    input: Any,  # noqa: A002
    block_size: int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """As `depth_to_space`."""
    return space.depth_to_space(input, block_size, name, data_format)


def extract_image_patches_v2(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """As `extract_image_patches`."""
    return space.extract_image_patches(images, sizes, strides, rates, padding, name)
