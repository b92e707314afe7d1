"""Space to batch, space to depth, their inverses, and image patches. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.api.nn.window_arguments import SizesLike, window_op
from sessrun.reference.api.ops.array_ops import stack
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import batch_to_space_nd, space_to_batch_nd
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["batch_to_space", "required_space_to_batch_paddings", "space_to_batch"]


def _square(size: int | None) -> np.ndarray:
    return np.array([size, size], dtype=np.int64)


@public("nn.space_to_batch", "space_to_batch")
def space_to_batch(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """Move square blocks of padded images into the batch dimension.

    Args:
      input: [batch, height, width, channels].
      paddings: [2, 2], the zeros before and after rows and columns.
      block_size: the side of a block.
      name: the operation's name.
      block_shape: the newer name of `block_size`.

    Raises:
      ValueError: the size is given under both names, or the shapes do not fit.

    """
    size = chosen(block_shape, block_size, "block_shape", "block_size")
    moved = space_to_batch_nd(input, _square(size), paddings, name)
    moved.set_shape(moved.shape.with_rank(4))
    return moved


@public("batch_to_space")
def batch_to_space(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    crops: TensorLike,
    block_size: int,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """The inverse of `space_to_batch`; `crops` is cut off the result.

    Raises:
      ValueError: the size is given under both names, or the shapes do not fit.

    """
    size = chosen(block_shape, block_size, "block_shape", "block_size")
    moved = batch_to_space_nd(input, _square(size), crops, name)
    moved.set_shape(moved.shape.with_rank(4))
    return moved


@public("nn.space_to_depth", "space_to_depth")
def space_to_depth(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",
) -> Tensor:
    """Move square blocks of images into the channels."""
    return window_op(
        "SpaceToDepth", {"input": input}, name, block_size=block_size, data_format=data_format
    )


@public("depth_to_space", "nn.depth_to_space")
def depth_to_space(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",
) -> Tensor:
    """The inverse of `space_to_depth`."""
    return window_op(
        "DepthToSpace", {"input": input}, name, block_size=block_size, data_format=data_format
    )


@public("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Paddings that make blocks divide a shape, and the crops that undo them.

    Args:
      input_shape: [dimensions], the sizes of the spatial dimensions.
      block_shape: [dimensions], the sizes of a block; its length is static.
      base_paddings: [dimensions, 2], the least paddings.
      name: the operations' scope.

    Returns:
      Paddings and crops, int32 of shape [dimensions, 2].

    Raises:
      ValueError: the lengths differ, or are unknown.

    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        blocks: Any = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        blocks.shape.assert_is_fully_defined()
        blocks.shape.assert_has_rank(1)
        count = blocks.shape.dims[0].value
        if count == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        sizes.shape.assert_is_compatible_with([count])
        base: Any
        if base_paddings is not None:
            base = convert_to_tensor(base_paddings, dtypes.int32, name="base_paddings")
            base.shape.assert_is_compatible_with([count, 2])
        else:
            base = zeros([count, 2], dtypes.int32)
        values = [constant_value(tensor) for tensor in (blocks, sizes, base)]
        if all(value is not None for value in values):
            blocks, sizes, base = values
        start, end = base[:, 0], base[:, 1]
        padded_sizes = sizes + start + end
        more = (blocks - padded_sizes % blocks) % blocks
        behind = end + more
        paddings = stack([[start[i], behind[i]] for i in range(count)], name="paddings")
        return paddings, stack([[0, more[i]] for i in range(count)], name="crops")


@public("extract_image_patches", "image.extract_image_patches")
def extract_image_patches(
    images: TensorLike,
    ksizes: SizesLike | None = None,
    strides: SizesLike | None = None,
    rates: SizesLike | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: SizesLike | None = None,
) -> Tensor:
    """The patches (windows) of images, put into the channels.

    Args:
      images: [batch, height, width, channels].
      ksizes: the window's sizes, four.
      strides: the strides of the window, four numbers.
      rates: the dilation rates of the window, four numbers.
      padding: `SAME` or `VALID`.
      name: the operation's name.
      sizes: the newer name of `ksizes`.

    Raises:
      ValueError: the sizes are given under both names.

    """
    window = chosen(sizes, ksizes, "sizes", "ksizes")
    return extract_patches(images, window, strides, rates, padding, name)


@public("image.extract_patches")
def extract_patches(
    images: TensorLike,
    sizes: SizesLike | None,
    strides: SizesLike | None,
    rates: SizesLike | None,
    padding: str | None,
    name: str | None = None,
) -> Tensor:
    """As `extract_image_patches`, under the newer names."""
    return window_op(
        "ExtractImagePatches",
        {"images": images},
        name,
        ksizes=sizes,
        strides=strides,
        rates=rates,
        padding=padding,
    )
