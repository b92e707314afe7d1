"""Structural similarity (SSIM) of images, and Sobel edges: both by convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.images.converting import convert_image_dtype
from sessrun.reference.api.images.measures import compatible_shapes
from sessrun.reference.api.nn.activations import softmax
from sessrun.reference.api.nn.depthwise import depthwise_conv2d
from sessrun.reference.api.nn.poolings import avg_pool
from sessrun.reference.api.ops.array_ops import concat, expand_dims, pad, reshape, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import not_equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_all, reduce_any, reduce_mean, reduce_prod
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import greater_equal, relu, shape_n, square, tile
from sessrun.reference.build.generated import pow as power
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The weights of the scales, as in the paper on multi-scale SSIM.
_POWERS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
#: The factor by which images shrink from scale to scale.
_SHRINK: Final = [1, 2, 2, 1]
_SOBEL: Final = (((-1, -2, -1), (0, 0, 0), (1, 2, 1)), ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)))


def _ssim_factors(
    x: Tensor,
    y: Tensor,
    filtered: Callable[[Tensor], Tensor],
    value_range: Any,
    k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:
    """The two factors of SSIM: that of luminance, and that of contrast and structure.

    Args:
      x: images.
      y: images of the same shape.
      filtered: the filter that computes local means.
      value_range: as `max_val` of `ssim`, scaled like the images.
      k1: as for `ssim`.
      k2: as for `ssim`.

    """
    c1, c2 = (k1 * value_range) ** 2, (k2 * value_range) ** 2
    mean_x, mean_y = filtered(x), filtered(y)
    product = mean_x * mean_y * 2.0
    squares = square(mean_x) + square(mean_y)
    luminance = (product + c1) / (squares + c1)
    mean_product = filtered(x * y) * 2.0
    mean_squares = filtered(square(x) + square(y))
    c2 *= 1.0  # TensorFlow's compensation factor, a node of its graphs
    return luminance, (mean_product - product + c2) / (mean_squares - squares + c2)


def _gaussian_filter(size: TensorLike, sigma: Tensor) -> Tensor:
    """The Gaussian filter [size, size, 1, 1] of standard deviation `sigma`, whose sum is 1."""
    count, width = convert_to_tensor(size, dtypes.int32), convert_to_tensor(sigma)
    positions = cast(range_(count), width.dtype)
    positions -= cast(count - 1, width.dtype) / 2.0
    heights = square(positions)
    heights *= -0.5 / square(width)
    both = reshape(heights, [1, -1]) + reshape(heights, [-1, 1])
    weights = softmax(reshape(both, [1, -1]))
    return reshape(weights, [count, count, 1, 1])


def _per_channel(
    image_1: Tensor,
    image_2: Tensor,
    value_range: Any,
    size: TensorLike,
    sigma: TensorLike,
    k1: float,
    k2: float,
    keeps_windows: bool = False,
) -> tuple[Tensor, Tensor]:
    """SSIM and its factor of contrast and structure, [..., channels].

    Both are means over the windows, or with `keeps_windows` [..., height, width, channels] with a
    value for every window.
    """
    window = constant(size, dtype=dtypes.int32)
    width = constant(sigma, dtype=image_1.dtype)
    shape_1, shape_2 = shape_n([image_1, image_2])
    checks = [
        assert_(
            reduce_all(greater_equal(image_shape[-3:-1], window)),
            [image_shape, window],
            summarize=8,
        )
        for image_shape in (shape_1, shape_2)
    ]
    with control_dependencies(checks):
        image_1 = identity(image_1)
    kernel = tile(_gaussian_filter(window, width), [1, 1, shape_1[-1], 1])

    def filtered(x: Tensor) -> Tensor:
        sizes = shape(x)
        flat = reshape(x, concat([[-1], sizes[-3:]], 0))
        convolved = depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return reshape(convolved, concat([sizes[:-3], shape(convolved)[1:]], 0))

    luminance, contrast_structure = _ssim_factors(image_1, image_2, filtered, value_range, k1, k2)
    if keeps_windows:
        return luminance * contrast_structure, contrast_structure
    axes = constant([-3, -2], dtype=dtypes.int32)
    return reduce_mean(luminance * contrast_structure, axes), reduce_mean(contrast_structure, axes)


def _floats(image_1: Tensor, image_2: Tensor, max_val: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
    """`max_val` and the images as float32, scaled as `convert_image_dtype` does."""
    value_range = convert_image_dtype(cast(max_val, image_1.dtype), dtypes.float32)
    floats = [convert_image_dtype(image, dtypes.float32) for image in (image_1, image_2)]
    return value_range, floats[0], floats[1]


@public("image.ssim")
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of images, at most 1.

    Args:
      img1: images [..., height, width, channels].
      img2: images of the same shape.
      max_val: the difference between the largest and the smallest value that the dtype allows.
      filter_size: the height and width of the Gaussian filter.
      filter_sigma: the standard deviation of the Gaussian filter.
      k1: the constant, times `max_val`, whose square is added to the divisor of the luminance.
      k2: the same for the divisor of contrast and structure.
      return_index_map: whether the SSIM of every window is returned, not their mean.

    Raises:
      ValueError: their shapes are not compatible.

    """
    with name_scope(None, "SSIM", [img1, img2]):
        image_1, image_2 = (
            convert_to_tensor(img1, name="img1"),
            convert_to_tensor(img2, name="img2"),
        )
        _, _, checks = compatible_shapes(image_1, image_2)
        with control_dependencies(checks):
            image_1 = identity(image_1)
        value_range, image_1, image_2 = _floats(image_1, image_2, max_val)
        similarities, _ = _per_channel(
            image_1, image_2, value_range, filter_size, filter_sigma, k1, k2, return_index_map
        )
        return reduce_mean(similarities, [-1])


def _padded(images: Sequence[Tensor], excess: Tensor) -> list[Tensor]:
    """Images with their last rows and columns repeated, so that their sizes are even."""
    around = pad(expand_dims(excess, -1), [[1, 0], [1, 0]])
    return [pad(image, around, mode="SYMMETRIC") for image in images]


def _halved(
    images: list[Tensor], heads: list[Tensor], tails: list[Tensor], divisor: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """Images of half the size, and the ends of their shapes."""
    flat = [
        reshape(image, concat([[-1], tail], 0)) for image, tail in zip(images, tails, strict=True)
    ]
    excess = tails[0] % divisor
    is_odd = reduce_any(not_equal(excess, 0))
    even = cond(is_odd, lambda: _padded(flat, excess), lambda: flat)
    small = [avg_pool(image, ksize=_SHRINK, strides=_SHRINK, padding="VALID") for image in even]
    ends = [sizes[1:] for sizes in shape_n(small)]
    return [
        reshape(image, concat([head, end], 0))
        for image, head, end in zip(small, heads, ends, strict=True)
    ], ends


@public("image.ssim_multiscale")
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _POWERS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of images at several scales; arguments as for `ssim`.

    Args:
      img1: images of rank 3 at least.
      img2: others of the same shape.
      max_val: the largest number less the least.
      power_factors: a power for each scale.
      filter_size: the size of the window.
      filter_sigma: the width of the bell within it.
      k1: a factor that keeps the denominator of the luminance term away from 0.
      k2: the same for contrast.

    Raises:
      ValueError: their shapes are not compatible.

    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        image_1, image_2 = (
            convert_to_tensor(img1, name="img1"),
            convert_to_tensor(img2, name="img2"),
        )
        shape_1, shape_2, checks = compatible_shapes(image_1, image_2)
        with control_dependencies(checks):
            image_1 = identity(image_1)
        value_range, image_1, image_2 = _floats(image_1, image_2, max_val)
        images, shapes = [image_1, image_2], [shape_1, shape_2]
        heads, tails = [sizes[:-3] for sizes in shapes], [sizes[-3:] for sizes in shapes]
        divisor = constant(_SHRINK[1:], dtype=dtypes.int32)
        parts: list[Tensor] = []
        similarity: Tensor | None = None
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale:
                    images, tails = _halved(images, heads, tails, divisor)
                image_1, image_2 = images
                similarity, contrast_structure = _per_channel(
                    image_1, image_2, value_range, filter_size, filter_sigma, k1, k2
                )
                parts.append(relu(contrast_structure))
        parts.pop()  # SSIM of the last scale has this factor already
        factors = stack([*parts, relu(similarity)], axis=-1)
        return reduce_mean(reduce_prod(power(factors, power_factors), [-1]), [-1])


@public("image.sobel_edges")
def sobel_edges(image: Tensor) -> Tensor:
    """The Sobel gradients down and to the right, in a new last dimension of size 2.

    Args:
      image: a batch of images.

    """
    static, sizes = image.shape, shape(image)
    filters = np.expand_dims(np.transpose(np.asarray(_SOBEL), (1, 2, 0)), -2)
    kernels = tile(constant(filters, dtype=image.dtype), [1, 1, sizes[-1], 1], name="sobel_filters")
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    gradients = reshape(edges, concat([sizes, [len(_SOBEL)]], 0))
    gradients.set_shape(static.concatenate([len(_SOBEL)]))
    return gradients
