"""Measures of images: total variation, gradients, peak signal-to-noise ratio."""

from __future__ import annotations

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.images.converting import convert_image_dtype
from sessrun.reference.api.ops.array_ops import concat, reshape, stack, unstack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import absolute, equal
from sessrun.reference.api.ops.reduce_ops import reduce_all, reduce_mean, reduce_sum
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import greater_equal, log, shape_n, squared_difference
from sessrun.reference.build.generated import sub as subtract
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["compatible_shapes"]


@public("image.total_variation")
def total_variation(images: Tensor, name: str | None = None) -> Tensor:
    """The total variation of images: the sum of the absolute differences of neighbouring pixels.

    Args:
      images: one image [height, width, channels], or images [batch, height, width, channels].
      name: the operations' scope.

    Returns:
      A scalar for one image, else a tensor [batch]; in the dtype of the images.

    Raises:
      ValueError: the rank is neither 3 nor 4.

    """
    with name_scope(name, "total_variation"):
        ndims = images.shape.ndims
        if ndims == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            across = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif ndims == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise bad_value("'images' must be either 3 or 4-dimensional.")
        return reduce_sum(absolute(down), axes) + reduce_sum(absolute(across), axes)


@public("image.image_gradients")
def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """The differences between a pixel and its neighbours below and to the right.

    Args:
      image: images [batch, height, width, channels].

    Returns:
      The vertical and the horizontal differences, each of the images' shape and dtype. The last
      row of the former and the last column of the latter are 0.

    Raises:
      ValueError: the rank is not 4.

    """
    if image.shape.ndims != 4:
        raise bad_value(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    image_shape = shape(image)
    batch, height, width, depth = unstack(image_shape)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    across = image[:, :, 1:, :] - image[:, :, :-1, :]
    edge = stack([batch, 1, width, depth])
    down = reshape(concat([down, zeros(edge, image.dtype)], 1), image_shape)
    edge = stack([batch, height, 1, depth])
    across = reshape(concat([across, zeros(edge, image.dtype)], 2), image_shape)
    return down, across


def compatible_shapes(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor, list[Operation]]:
    """Check that two images, or batches of images, have compatible shapes.

    Returns:
      The two shapes, int32 vectors, and Assert operations that check them when the graph runs.

    Raises:
      ValueError: the static shapes are not compatible.

    """
    first, second = pair = [image.shape.with_rank_at_least(3) for image in (one, other)]
    first[-3:].assert_is_compatible_with(second[-3:])
    outer = [list(image.dims or ())[:-3][::-1] for image in pair]
    if first.ndims is not None and second.ndims is not None:
        for a, b in zip(*outer, strict=False):
            if not (a == 1 or b == 1 or a.is_compatible_with(b)):
                raise bad_value(f"Two images are not compatible: {first} and {second}")
    shapes = one_shape, other_shape = shape_n([one, other])
    rank_check = assert_(greater_equal(size(one_shape), 3), list(shapes), summarize=10)
    is_equal = reduce_all(equal(one_shape[-3:], other_shape[-3:]))
    return one_shape, other_shape, [rank_check, assert_(is_equal, list(shapes), summarize=10)]


@public("image.psnr")
def psnr(a: Tensor, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two images, in decibels.

    Args:
      a: images [..., height, width, channels].
      b: images of the same shape.
      max_val: the difference between the largest and the smallest value that the dtype allows.
      name: the operations' scope.

    Returns:
      One number for each pair of images, float32.

    Raises:
      ValueError: the shapes of `a` and `b` are not compatible.

    """
    with name_scope(name, "PSNR", [a, b]):
        value_range = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
        one = convert_image_dtype(a, dtypes.float32)
        other = convert_image_dtype(b, dtypes.float32)
        error = reduce_mean(squared_difference(one, other), [-3, -2, -1])
        ratio = subtract(
            20 * log(value_range) / log(10.0), np.float32(10 / np.log(10)) * log(error), name="psnr"
        )
        _, _, checks = compatible_shapes(one, other)
        with control_dependencies(checks):
            return identity(ratio)
