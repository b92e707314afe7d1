"""Definitions of fake quantization: floats rounded to the levels of a range, and gradients."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide

__all__: list[str] = []


def _nudged(low: Array, high: Array, bits: int, *, narrow: bool) -> tuple[Array, Array, Array]:
    """The ends of a range moved so that 0 is a level, and the distance of two levels, float32.

    Levels are `2**bits - 1`, or one less if `narrow`, steps apart.
    """
    least, most = np.float32(1 if narrow else 0), np.float32(2**bits - 1)
    scale = (high - low) / (most - least)
    exact = least - low / scale
    zero = np.where(exact < least, least, np.where(exact > most, most, np.floor(exact + 0.5)))
    return (least - zero) * scale, (most - zero) * scale, scale


def _faked(x: Array, low: Array, high: Array, bits: int, *, narrow: bool) -> Array:
    """Numbers cut to the range and rounded, half up, to one of its levels."""
    first, last, scale = _nudged(np.float32(low), np.float32(high), bits, narrow=narrow)
    levels = np.floor((np.clip(x, first, last) - first) / scale + np.float32(0.5))
    return levels * scale + first


@definition("FakeQuantWithMinMaxArgs")
def _fake_args(
    x: Array,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Array:
    return _faked(x, np.float32(min), np.float32(max), num_bits, narrow=narrow_range)


@definition("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def _fake_vars(x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool) -> Array:
    """With a range for all, or for each place of the last dimension."""
    return _faked(x, low, high, num_bits, narrow=narrow_range)


@definition("FakeQuantWithMinMaxArgsGradient")
def _fake_args_grad(
    grads: Array,
    x: Array,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Array:
    """The gradient of numbers within the range, else 0."""
    low, high, _ = _nudged(np.float32(min), np.float32(max), num_bits, narrow=narrow_range)
    return np.where((x >= low) & (x <= high), grads, np.float32(0))


def _parts(
    grads: Array, x: Array, low: Array, high: Array, bits: int, *, narrow: bool
) -> tuple[Array, Array, Array]:
    """The gradients of numbers within the range, below it, and above it; each 0 elsewhere."""
    first, last, _ = _nudged(np.float32(low), np.float32(high), bits, narrow=narrow)
    masks = ((x >= first) & (x <= last), x < first, x > last)
    inside, below, above = (np.where(mask, grads, np.float32(0)) for mask in masks)
    return inside, below, above


@definition("FakeQuantWithMinMaxVarsGradient")
def _fake_vars_grad(
    grads: Array, x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Array, Array, Array]:
    """And the sums of the gradients of what is below, for the lower end, and of what is above."""
    inside, below, above = _parts(grads, x, low, high, num_bits, narrow=narrow_range)
    return inside, np.sum(wide(below)), np.sum(wide(above))


@definition("FakeQuantWithMinMaxVarsPerChannelGradient")
def _fake_channels_grad(
    grads: Array, x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Array, Array, Array]:
    inside, below, above = _parts(grads, x, low, high, num_bits, narrow=narrow_range)
    over = tuple(range(x.ndim - 1))
    return inside, np.sum(wide(below), axis=over), np.sum(wide(above), axis=over)
