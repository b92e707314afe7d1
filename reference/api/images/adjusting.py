"""Brightness, contrast, gamma, hue and saturation of images, adjusted by numbers or at random."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.images.checks import is_tensor, unless
from sessrun.reference.api.images.converting import convert_image_dtype
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add
from sessrun.reference.api.ops.random_ops import random_uniform
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "adjust_contrast",
    "adjust_saturation",
    "between",
    "brightened",
    "stored",
    "turned",
]

#: The dtypes that adjustments compute in; other images are converted to float32 and back.
_FLOATS: Final = (dtypes.float16, dtypes.float32)


def _floats(image: Tensor) -> Tensor:
    return image if image.dtype in _FLOATS else convert_image_dtype(image, dtypes.float32)


@public("image.adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Images with a number added, which counts as if their numbers went from 0 to 1."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        value = convert_to_tensor(image, name="image")
        floats = _floats(value)
        adjusted = add(floats, cast(delta, floats.dtype), name=scope)
        return convert_image_dtype(adjusted, value.dtype, saturate=True)


@public("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Images with the distances to the channels' means multiplied by a factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        value = convert_to_tensor(images, name="images")
        adjusted = node("AdjustContrastv2", _floats(value), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, value.dtype, saturate=True)


@public("image.adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: float | Tensor = 1, gain: TensorLike = 1) -> Tensor:
    """Images raised to a power and multiplied.

    Raises:
      ValueError: the power is negative.

    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        value = convert_to_tensor(image, name="image")
        floats = _floats(value)
        checks = unless(gamma >= 0, "Gamma should be a non-negative real number.")
        power = after(checks, gamma) if checks else gamma
        return convert_image_dtype(gain * floats**power, value.dtype, saturate=True)


@public("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """RGB images whose hues are turned by a part of the circle."""
    with name_scope(name, "adjust_hue", [image]):
        value = convert_to_tensor(image, name="image")
        return convert_image_dtype(node("AdjustHue", _floats(value), delta), value.dtype)


@public("image.adjust_saturation")
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """RGB images whose saturation is multiplied."""
    with name_scope(name, "adjust_saturation", [image]):
        value = convert_to_tensor(image, name="image")
        adjusted = node("AdjustSaturation", _floats(value), saturation_factor)
        return convert_image_dtype(adjusted, value.dtype)


@public("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> Tensor:
    """An image as it looks once it has been a JPEG file.

    Args:
      image: of rank 3.
      jpeg_quality: from 0 to 100.
      dct_method: how the file is decoded.
      name: the operations' scope.

    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        value = convert_to_tensor(image, name="image")
        channels = value.shape.as_list()[-1]
        pixels = convert_image_dtype(value, dtypes.uint8, saturate=True)
        quality = jpeg_quality
        if not is_tensor(quality):
            quality = convert_to_tensor(quality, dtype=dtypes.int32)
        file = node("EncodeJpegVariableQuality", pixels, quality)
        decoded = node("DecodeJpeg", file, channels=channels, dct_method=dct_method)
        return convert_image_dtype(decoded, value.dtype, saturate=True)


#: What draws numbers evenly, of a shape and two ends.
Draw = Callable[..., Tensor]


def brightened(image: TensorLike, max_delta: Any, draw: Draw) -> Tensor:
    """Images with a number from [-max_delta, max_delta) added.

    Raises:
      ValueError: the bound is negative.

    """
    if max_delta < 0:
        raise bad_value("max_delta must be non-negative.")
    return adjust_brightness(image, draw([], minval=-max_delta, maxval=max_delta))


def between(
    adjust: Callable[..., Tensor],
    image: TensorLike,
    lower: Any,
    upper: TensorLike,
    draw: Draw,
) -> Tensor:
    """Images adjusted by a number from [lower, upper).

    Raises:
      ValueError: the first bound is not below the second, or is negative.

    """
    if upper <= lower:
        raise bad_value("upper must be > lower.")
    if lower < 0:
        raise bad_value("lower must be non-negative.")
    return adjust(image, draw([], minval=lower, maxval=upper))


def turned(image: TensorLike, max_delta: Any, draw: Draw) -> Tensor:
    """Images whose hues are turned by a part of the circle from [-max_delta, max_delta).

    Raises:
      ValueError: the bound is not within [0, 0.5].

    """
    if max_delta > 0.5:
        raise bad_value("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise bad_value("max_delta must be non-negative.")
    return adjust_hue(image, draw([], minval=-max_delta, maxval=max_delta))


def stored(image: TensorLike, least: int, most: int, draw: Draw) -> Tensor:
    """An image as it looks once it has been a JPEG file of a quality within bounds.

    Raises:
      ValueError: a bound is not within [0, 100], or the first is not below the second.

    """
    if not (0 <= least <= 100 and 0 <= most <= 100):
        raise bad_value("jpeg encoding range must be between 0 and 100.")
    if least >= most:
        raise bad_value("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return adjust_jpeg_quality(image, draw([], minval=least, maxval=most, dtype=dtypes.int32))


@public("image.random_brightness")
def random_brightness(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """`brightened` by the seed of an operation."""
    return brightened(image, max_delta, partial(random_uniform, seed=seed))


@public("image.random_contrast")
def random_contrast(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None
) -> Tensor:
    """Images of a contrast from [lower, upper)."""
    return between(adjust_contrast, image, lower, upper, partial(random_uniform, seed=seed))


@public("image.random_saturation")
def random_saturation(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None
) -> Tensor:
    """Images of a saturation from [lower, upper)."""
    return between(adjust_saturation, image, lower, upper, partial(random_uniform, seed=seed))


@public("image.random_hue")
def random_hue(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """`turned` by the seed of an operation."""
    return turned(image, max_delta, partial(random_uniform, seed=seed))


@public("image.random_jpeg_quality")
def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """`stored` by the seed of an operation."""
    return stored(image, min_jpeg_quality, max_jpeg_quality, partial(random_uniform, seed=seed))
