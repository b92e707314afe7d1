"""Definitions of quantized numbers: integers that stand for evenly spaced numbers of a range.

Byte `q` of a range from `low` to `high` stands for the number `q` steps above `low`, a step being
`(high - low) / 255`; 0 is one of the levels, so `low` is moved to the nearest multiple of a step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide
from sessrun.spec.definitions.convolutions import convolved
from sessrun.spec.definitions.poolings import blocks_of
from sessrun.spec.definitions.windows import Window

__all__: list[str] = []

Ints = Sequence[int]
Ranged = tuple[Array, Array, Array]
_BYTES, _WORDS = 255, 2.0**31 - 1


def _away(x: Array) -> Array:
    """The nearest whole number, halves away from 0."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _integers(x: Array) -> Array:
    """The integers that quantized elements are stored as."""
    return x if x.dtype.names is None else x.view(x.dtype[0])


def _level(number: float, low: Array, high: Array) -> int:
    """The byte that stands for a number; below 0 or above 255 for numbers beyond the range."""
    scale = _BYTES / float(np.float32(high) - np.float32(low))
    return int(_away(number * scale) - _away(float(low) * scale))


def _centered(x: Array, low: Array, high: Array) -> Array:
    """How many steps above 0 the numbers are."""
    return _integers(x).astype(np.int64) - _level(0.0, low, high)


def _product_range(ends: Sequence[Array]) -> tuple[Array, Array]:
    """The range of 32-bit integers whose step is the product of the steps of two ranges."""
    low_a, high_a, low_b, high_b = (np.float32(end) for end in ends)
    step = (high_a - low_a) / np.float32(_BYTES) * ((high_b - low_b) / np.float32(_BYTES))
    return np.float32(step * np.float32(-(2.0**31))), np.float32(step * np.float32(_WORDS))


@definition("QuantizedMatMul")
def _mat_mul(
    a: Array,
    b: Array,
    low_a: Array,
    high_a: Array,
    low_b: Array,
    high_b: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
) -> Ranged:
    left, right = _centered(a, low_a, high_a), _centered(b, low_b, high_b)
    product = (left.T if transpose_a else left) @ (right.T if transpose_b else right)
    return product, *_product_range((low_a, high_a, low_b, high_b))


@definition("QuantizedMul")
def _mul(x: Array, y: Array, low_x: Array, high_x: Array, low_y: Array, high_y: Array) -> Ranged:
    product = _centered(x, low_x, high_x) * _centered(y, low_y, high_y)
    return product, *_product_range((low_x, high_x, low_y, high_y))


@definition("QuantizedConv2D")
def _conv2d(
    x: Array,
    filters: Array,
    low_x: Array,
    high_x: Array,
    low_f: Array,
    high_f: Array,
    *,
    strides: Ints,
    padding: str,
    dilations: Ints,
) -> Ranged:
    """Padding is the number 0."""
    images, kernels = _centered(x, low_x, high_x), _centered(filters, low_f, high_f)
    window = Window.of(images.shape[1:-1], kernels.shape[:-2], strides, padding, rates=dilations)
    return convolved(images, kernels, window), *_product_range((low_x, high_x, low_f, high_f))


@definition("QuantizedReshape")
def _reshape(x: Array, shape: Array, low: Array, high: Array) -> Ranged:
    return _integers(x).reshape(tuple(map(int, shape))), low, high


def _limited(x: Array, low: Array, high: Array, most: int) -> Ranged:
    zero = min(max(_level(0.0, low, high), 0), _BYTES)
    return np.minimum(np.maximum(_integers(x), zero), most), low, high


@definition("QuantizedRelu")
def _relu(x: Array, low: Array, high: Array) -> Ranged:
    return _limited(x, low, high, _BYTES)


@definition("QuantizedRelu6")
def _relu6(x: Array, low: Array, high: Array) -> Ranged:
    return _limited(x, low, high, min(max(_level(6.0, low, high), 0), _BYTES))


def _pooled(x: Array, ksize: Ints, strides: Ints, padding: str, *, mean: bool) -> Array:
    """The largest integer of each block, or its mean without the fraction."""
    images = _integers(x).astype(np.int64)
    window = Window.of(images.shape[1:-1], ksize[1:-1], strides, padding)
    result = np.empty((len(images), *window.out, images.shape[-1]), np.int64)
    for position, block in blocks_of(window).items():
        numbers = np.stack([images[:, at[0], at[1]] for at in block])
        pooled = numbers.sum(axis=0) // len(block) if mean else numbers.max(axis=0)
        result[:, position[0], position[1]] = pooled
    return result


@definition("QuantizedMaxPool")
def _max_pool(
    x: Array, low: Array, high: Array, *, ksize: Ints, strides: Ints, padding: str
) -> Ranged:
    return _pooled(x, ksize, strides, padding, mean=False), low, high


@definition("QuantizedAvgPool")
def _avg_pool(
    x: Array, low: Array, high: Array, *, ksize: Ints, strides: Ints, padding: str
) -> Ranged:
    return _pooled(x, ksize, strides, padding, mean=True), low, high


def _reach(low: Array, high: Array) -> Array:
    """The larger end of each channel's range, without its sign."""
    return np.maximum(np.abs(low), np.abs(high)).astype(np.float64)


@definition("RequantizationRangePerChannel")
def _channel_range(
    x: Array, low: Array, high: Array, *, clip_value_max: float
) -> tuple[Array, Array]:
    """How far the numbers of any channel reach, on both sides if one is negative."""
    channels = _integers(x).reshape(-1, x.shape[-1]).astype(np.float64)
    reached = np.max(np.abs(channels).max(axis=0) * _reach(low, high) / _WORDS)
    end = min(reached, clip_value_max)
    return np.array(-end if (channels < 0).any() else 0.0), np.array(end)


@definition("RequantizePerChannel")
def _requantize_channels(
    x: Array, low: Array, high: Array, new_low: Array, new_high: Array, *, out_type: str
) -> Ranged:
    """Rounded to the nearest, of two the even one, and cut to the bytes of the dtype."""
    least, most = (-128, 127) if out_type == "qint8" else (0, 255)
    widest = max(abs(float(new_low)), abs(float(new_high)))
    scale = np.float32(most) * (
        np.float32(_reach(low, high)) / np.float32(widest) / np.float32(_WORDS)
    )
    return np.clip(np.rint(np.float32(_integers(x)) * scale), least, most), new_low, new_high


def _scales(low: Array, high: Array, bounds: tuple[int, int]) -> tuple[Array, Array]:
    """The largest factor from numbers to integers with which both ends fit, and its inverse.

    An end that is 0, or whose sign differs from that of its bound, does not limit the factor, which
    is the largest finite number if neither end limits it.
    """
    largest = np.finfo(low.dtype).max
    least, most = low.dtype.type(bounds[0]), low.dtype.type(bounds[1])
    by_low = np.where(least * low > 0, least / np.where(low == 0, 1, low), largest)
    by_high = np.where(most * high > 0, most / np.where(high == 0, 1, high), largest)
    is_low = by_low < by_high
    inverse = np.where(is_low, low / (least or 1), high / most).astype(low.dtype)
    return np.minimum(by_low, by_high).astype(low.dtype), inverse


def _roundtrip(
    x: Array,
    ends: tuple[Array, Array] | None,
    bits: int,
    *,
    signed: bool,
    narrow: bool,
    axis: int,
    half_up: bool = False,
) -> Array:
    """Numbers as whole multiples of a step; cut to the range where one is given."""
    bounds = (-(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    over = tuple(i for i in range(x.ndim) if i != axis) if axis >= 0 else None
    shape = tuple(n if i == axis else 1 for i, n in enumerate(x.shape)) if axis >= 0 else ()
    if ends is None:
        low, high = (np.asarray(f(x, axis=over)).reshape(shape) for f in (np.min, np.max))
    else:
        low, high = (np.asarray(end).reshape(shape) for end in ends)
    scale, inverse = _scales(low, high, bounds)
    least, most = (x.dtype.type(bound) * inverse for bound in bounds)
    scaled = (np.clip(x, least, most) if ends is not None else x) * scale
    steps = np.floor(scaled + x.dtype.type(0.5)) if half_up else np.rint(scaled)
    return steps * inverse


@definition("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def _roundtrip_v2(
    x: Array,
    low: Array,
    high: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
    axis: int,
) -> Array:
    ends = (low, high) if range_given else None
    half_up = round_mode == "HALF_UP"
    return _roundtrip(
        x, ends, num_bits, signed=signed_input, narrow=narrow_range, axis=axis, half_up=half_up
    )


@definition("QuantizeAndDequantizeV3")
def _roundtrip_v3(
    x: Array,
    low: Array,
    high: Array,
    num_bits: Array,
    *,
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
    axis: int,
) -> Array:
    ends = (low, high) if range_given else None
    return _roundtrip(x, ends, int(num_bits), signed=signed_input, narrow=narrow_range, axis=axis)


@definition("QuantizeAndDequantize")
def _roundtrip_v1(
    x: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    input_min: float,
    input_max: float,
) -> Array:
    ends = (x.dtype.type(input_min), x.dtype.type(input_max)) if range_given else None
    return _roundtrip(x, ends, num_bits, signed=signed_input, narrow=False, axis=-1)


@definition("QuantizeAndDequantizeV4Grad")
def _roundtrip_grad(grads: Array, x: Array, low: Array, high: Array, *, axis: int) -> Ranged:
    """The gradients of numbers within the range; nothing for its ends."""
    shape = tuple(n if i == axis else 1 for i, n in enumerate(x.shape)) if axis >= 0 else ()
    inside = (x >= low.reshape(shape)) & (x <= high.reshape(shape))
    return wide(grads) * inside, np.zeros_like(low), np.zeros_like(high)


def _standing_for(x: Array, low: Array, high: Array) -> Array:
    """The numbers that 32-bit integers stand for; the least integer stands for `low`."""
    step = (float(high) - float(low)) / (2.0**32 - 1)
    return float(low) + (_integers(x).astype(np.float64) + 2.0**31) * step


@definition("RequantizationRange")
def _range(x: Array, low: Array, high: Array) -> list[Array]:
    numbers = _standing_for(x, low, high)
    return [np.minimum(numbers.min(), 0), numbers.max()]


@definition("Dequantize")
def _dequantize(
    x: Array, low: Array, high: Array, *, mode: str, narrow_range: bool, axis: int
) -> Array:
    """With MIN_COMBINED, MIN_FIRST or SCALED, of one range or of one for each place of an axis."""
    levels = _integers(x).astype(np.float64)
    info = np.iinfo(_integers(x).dtype)
    shape = [-1 if dimension == axis else 1 for dimension in range(x.ndim)] if axis >= 0 else ()
    low, high = (end.astype(np.float64).reshape(shape) for end in (low, high))
    count = float(info.max) - float(info.min)
    if mode == "MIN_COMBINED":
        middle = (count + 1) / 2 if info.min < 0 else 0
        return (levels + middle) * (high - low) / count + low
    if mode == "MIN_FIRST":
        step = (high - low) / count
        return np.round(low / step) * step + (levels - info.min) * step
    scale = high / info.max
    return levels * (np.maximum(low / (info.min + narrow_range), scale) if info.min < 0 else scale)
