"""Kernels of colours: contrast, hue and saturation, and conversion between RGB and HSV.

Every step is a pass over arrays with a stride of 3; TensorFlow takes a pixel through all steps
at once: HSVToRGB takes four times its time, AdjustContrastv2 four to six, AdjustHue three to seven.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import FailedPrecondition, InvalidArgument, KernelError
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.input_shapes import require_rank, require_rank_at_least
from sessrun.reference.kernels.registry import kernel

#: The number of sectors of the circle of hues.
_PARTS: Final = 6


def _check_colours(images: Array, kind: type[KernelError] = InvalidArgument) -> None:
    require_rank_at_least(1, images=images)
    if images.shape[-1] != 3:
        raise kind(f"input must have 3 channels but instead has {images.shape}")


def _contrasted(xp: ArrayModule, images: Array, factor: Array) -> Array:
    """(x - mean) * factor + mean, with the mean of every picture and channel."""
    shape = images.shape
    flat = images.reshape(-1, shape[-3] * shape[-2], shape[-1])
    mean = xp.add.reduce(flat, axis=1, keepdims=True, dtype="float32") / max(flat.shape[1], 1)
    mean = mean.astype("float32")
    contrasted = flat - mean
    contrasted *= factor
    contrasted += mean
    return contrasted.reshape(shape)


@kernel("AdjustContrastv2")
def adjust_contrast(xp: ArrayModule, images: Array, factor: Array) -> Array:
    """Pictures of more or less contrast, computed in float32."""
    require_rank_at_least(3, images=images)
    require_rank(0, contrast_factor=factor)
    if not images.size:
        return images
    return _contrasted(xp, images.astype("float32"), factor).astype(images.dtype)


@kernel("AdjustContrast", devices=("CPU",))
def adjust_and_cut(xp: ArrayModule, images: Array, factor: Array, low: Array, high: Array) -> Array:
    """As `AdjustContrastv2` in float32, the results clipped to [low, high]."""
    require_rank_at_least(3, images=images)
    for name, value in (("contrast_factor", factor), ("min_value", low), ("max_value", high)):
        require_rank(0, **{name: value})
    wide = images.astype("float32")
    return xp.clip(_contrasted(xp, wide, factor), low, high) if wide.size else wide


def _extremes(xp: ArrayModule, images: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Red, green, blue, and their maximum and minimum for each pixel."""
    red, green, blue = (images[..., channel] for channel in range(3))
    greatest = xp.maximum(xp.maximum(red, green), blue)
    least = xp.minimum(xp.minimum(red, green), blue)
    return red, green, blue, greatest, least


@kernel("RGBToHSV")
@widened
def rgb_to_hsv(xp: ArrayModule, images: Array) -> Array:
    """Hue, saturation and value of each pixel's red, green and blue."""
    _check_colours(images, FailedPrecondition)
    red, green, blue, value, least = _extremes(xp, images)
    span = value - least
    some = xp.where(span > 0, span, xp.ones((), images.dtype))
    turned = xp.where(
        red == value,
        (green - blue) / some,
        xp.where(green == value, (blue - red) / some + 2, (red - green) / some + 4),
    )
    hue = xp.where(span > 0, turned / _PARTS, xp.zeros((), images.dtype))
    hue = xp.where(hue < 0, hue + 1, hue)
    bright = xp.where(value > 0, value, xp.ones((), images.dtype))
    saturation = xp.where(value > 0, span / bright, xp.zeros((), images.dtype))
    return xp.stack([hue, saturation, value], axis=-1).astype(images.dtype)


@kernel("HSVToRGB")
@widened
def hsv_to_rgb(xp: ArrayModule, images: Array) -> Array:
    """Red, green and blue of each pixel's hue, saturation and value."""
    _check_colours(images, FailedPrecondition)
    hue, saturation, value = (images[..., channel] for channel in range(3))
    turned = hue * _PARTS
    shares = (xp.absolute(turned - 3) - 1, 2 - xp.absolute(turned - 2), 2 - xp.absolute(turned - 4))
    rest = 1 - saturation
    colours = [(rest + saturation * xp.clip(share, 0, 1)) * value for share in shares]
    return xp.stack(colours, axis=-1).astype(images.dtype)


@kernel("AdjustSaturation")
def adjust_saturation(xp: ArrayModule, images: Array, scale: Array) -> Array:
    """Pictures whose saturation is multiplied by the scale and clipped to [0, 1].

    A pixel whose maximum is not positive has no saturation, and becomes grey.
    """
    require_rank_at_least(3, images=images)
    _check_colours(images)
    require_rank(0, scale=scale)
    wide = images.astype("float32")
    *_, greatest, least = _extremes(xp, wide)
    span = greatest - least
    is_coloured = (span > 0) & (greatest > 0)
    one = xp.ones((), "float32")
    saturation = xp.where(is_coloured, span / xp.where(is_coloured, greatest, one), 0 * one)
    wanted = greatest * xp.clip(saturation * scale, 0, 1)
    ratio = xp.where(is_coloured, wanted / xp.where(is_coloured, span, one), 0 * one)
    adjusted = greatest[..., None] - wide
    adjusted *= -ratio[..., None]
    adjusted += greatest[..., None]
    return adjusted.astype(images.dtype)


@kernel("AdjustHue")
def adjust_hue(xp: ArrayModule, images: Array, delta: Array) -> Array:
    """Pictures whose hues are rotated by `delta` of the circle."""
    require_rank_at_least(3, images=images)
    _check_colours(images)
    require_rank(0, delta=delta)
    wide = images.astype("float32")
    red, green, blue, greatest, least = _extremes(xp, wide)
    span = greatest - least
    some = xp.where(span > 0, span, xp.ones((), "float32"))
    hue = xp.where(
        red == greatest,
        (green - blue) / some,
        xp.where(green == greatest, (blue - red) / some + 2, (red - green) / some + 4),
    )
    hue = xp.where(span > 0, hue, xp.zeros((), "float32")) + delta * _PARTS
    adjusted = xp.empty(wide.shape, "float32")
    for channel, offset in enumerate((5, 3, 1)):
        # The farther the hue is from the channel's own, the more is taken off the maximum.
        far = xp.mod(hue + offset, _PARTS)
        missing = xp.clip(xp.minimum(far, 4 - far), 0, 1)
        missing *= span
        adjusted[..., channel] = greatest - missing
    return adjusted.astype(images.dtype)
