"""Definitions of colours, of contrast, of boxes that are chosen, and of sounds."""

from __future__ import annotations

import math

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide

__all__: list[str] = []


def _hsv(rgb: Array) -> Array:
    """Hue, saturation and value: 0 for the hue of a grey, and for the saturation of black."""
    red, green, blue = (wide(rgb)[..., i] for i in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    span = value - np.minimum(np.minimum(red, green), blue)
    safe = np.where(span > 0, span, 1)
    hue = np.where(
        value == red,
        (green - blue) / safe,
        np.where(value == green, 2 + (blue - red) / safe, 4 + (red - green) / safe),
    )
    hue = np.where(span > 0, hue / 6 % 1, 0)
    saturation = np.where(value > 0, span / np.where(value > 0, value, 1), 0)
    return np.stack([hue, saturation, value], axis=-1)


def _rgb(hsv: Array) -> Array:
    hue, saturation, value = (wide(hsv)[..., i] for i in range(3))
    sixth = hue * 6
    parts = [np.abs(sixth - 3) - 1, 2 - np.abs(sixth - 2), 2 - np.abs(sixth - 4)]
    return np.stack(
        [((1 - saturation) + saturation * np.clip(part, 0, 1)) * value for part in parts], axis=-1
    )


@definition("RGBToHSV")
def _rgb_to_hsv(images: Array) -> Array:
    return _hsv(images)


@definition("HSVToRGB")
def _hsv_to_rgb(images: Array) -> Array:
    return _rgb(images)


@definition("AdjustHue")
def _adjust_hue(images: Array, delta: Array) -> Array:
    """The hue turned by `delta`, around the end."""
    hsv = _hsv(images)
    hsv[..., 0] = (hsv[..., 0] + float(delta)) % 1
    return _rgb(hsv)


@definition("AdjustSaturation")
def _adjust_saturation(images: Array, scale: Array) -> Array:
    """The saturation times `scale`, 1 at most."""
    hsv = _hsv(images)
    hsv[..., 1] = np.clip(hsv[..., 1] * float(scale), 0, 1)
    return _rgb(hsv)


def _contrast(images: Array, factor: Array) -> Array:
    """How far a pixel is from the mean of its channel in its image, times the factor."""
    values = images.astype(np.float64)
    pixels = max(images.shape[-3] * images.shape[-2], 1)
    mean = values.sum(axis=(-3, -2), keepdims=True) / pixels
    return (values - mean) * float(factor) + mean


@definition("AdjustContrastv2")
def _adjust_contrast(images: Array, factor: Array) -> Array:
    return _contrast(images, factor)


@definition("AdjustContrast")
def _adjust_contrast_v1(images: Array, factor: Array, low: Array, high: Array) -> Array:
    """Cut off below and above."""
    return np.clip(_contrast(images, factor), float(low), float(high))


def _overlap(a: Array, b: Array) -> float:
    """The area that two boxes have in common over that which either has; 0 for one without."""
    ends = [(min(x[0], x[2]), min(x[1], x[3]), max(x[0], x[2]), max(x[1], x[3])) for x in (a, b)]
    areas = [(bottom - top) * (right - left) for top, left, bottom, right in ends]
    if min(areas) <= 0:
        return 0.0
    high = max(min(ends[0][2], ends[1][2]) - max(ends[0][0], ends[1][0]), 0)
    broad = max(min(ends[0][3], ends[1][3]) - max(ends[0][1], ends[1][1]), 0)
    return float(high * broad / (sum(areas) - high * broad))


def _chosen(overlaps: Array, scores: Array, most: int, bound: float, least: float) -> list[int]:
    """From the highest score on (of equal ones the first) what overlaps none that is chosen.

    Args:
      overlaps: of each two.
      scores: only what is above `least` is chosen.
      most: how many at most.
      bound: what overlaps by more is left out.
      least: the least score.

    """
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    chosen: list[int] = []
    for i in order:
        if scores[i] > least and all(overlaps[i][j] <= bound for j in chosen):
            chosen.append(i)
    return chosen[: max(most, 0)]


def _suppressed(
    boxes: Array, scores: Array, most: Array, bound: float, least: float = -math.inf
) -> Array:
    numbers = wide(boxes)
    overlaps = [[_overlap(a, b) for b in numbers] for a in numbers]
    kept = _chosen(np.array(overlaps), wide(scores), int(most), bound, least)
    return np.array(kept, np.int32)


@definition("NonMaxSuppression")
def _nms(boxes: Array, scores: Array, most: Array, *, iou_threshold: float) -> Array:
    return _suppressed(boxes, scores, most, float(np.float32(iou_threshold)))


@definition("NonMaxSuppressionV2")
def _nms_v2(boxes: Array, scores: Array, most: Array, bound: Array) -> Array:
    return _suppressed(boxes, scores, most, float(wide(bound)))


@definition("NonMaxSuppressionV3")
def _nms_v3(boxes: Array, scores: Array, most: Array, bound: Array, least: Array) -> Array:
    return _suppressed(boxes, scores, most, float(wide(bound)), float(wide(least)))


@definition("NonMaxSuppressionV4")
def _nms_v4(
    boxes: Array,
    scores: Array,
    most: Array,
    bound: Array,
    least: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Array, Array]:
    """And how many; filled up with zeros if asked for."""
    kept = _suppressed(boxes, scores, most, float(wide(bound)), float(wide(least)))
    more = max(int(most) - len(kept), 0) if pad_to_max_output_size else 0
    return np.concatenate([kept, np.zeros(more, np.int32)]), np.array(len(kept))


@definition("NonMaxSuppressionWithOverlaps")
def _nms_with_overlaps(
    overlaps: Array, scores: Array, most: Array, bound: Array, least: Array
) -> Array:
    kept = _chosen(overlaps, scores, int(most), float(bound), float(least))
    return np.array(kept, np.int32)


@definition("AudioSpectrogram")
def _spectrogram(x: Array, *, window_size: int, stride: int, magnitude_squared: bool) -> Array:
    """The sizes of the Fourier transform of each frame, times a Hann window, zeros behind it.

    For each channel and frame the first half of a spectrum of the next power of two.
    """
    length = 1 << max(window_size - 1, 0).bit_length()
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    count = max((len(x) - window_size) // stride + 1, 0)
    result = np.zeros((x.shape[1], count, length // 2 + 1))
    times = np.arange(window_size)
    for channel, frame, k in np.ndindex(result.shape):
        part = x[frame * stride : frame * stride + window_size, channel] * window
        wave = np.sum(part * np.exp(-2j * np.pi * k * times / length))
        result[channel, frame, k] = abs(wave) ** (2 if magnitude_squared else 1)
    return result
