"""Kernels of numbers as they were quantized, and their gradients: the range is moved to hold 0."""

from __future__ import annotations

from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []


def _nudged(xp: Any, low: Any, high: Any, num_bits: int, narrow: bool) -> tuple[Any, Any, Any]:
    """The range whose levels have 0 among them, and how far two levels are apart: float32."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgument(f"num_bits must be between 2 and 16, inclusive: {num_bits}")
    kind = low.dtype.type
    least, most = kind(1 if narrow else 0), kind((1 << num_bits) - 1)
    step = (high - low) / (most - least)
    zero = least - low / xp.where(step == 0, kind(1), step)
    rounded = xp.floor(xp.minimum(xp.maximum(zero, least), most) + kind(0.5))
    return (least - rounded) * step, (most - rounded) * step, step


def _quantized(
    xp: Any, x: Any, low: Any, high: Any, num_bits: int, narrow: bool, is_divided: bool = False
) -> Any:
    """The numbers' levels; zeros where the range is nothing but 0.

    Of 16 bits the last of a float32 decides on a level here and there: TensorFlow divides by how
    far levels are apart where the range is a pair of tensors, and multiplies by how many there are
    in 1 otherwise.
    """
    least, most, step = _nudged(xp, low, high, num_bits, narrow)
    kind = x.dtype.type
    apart = xp.where(step == 0, kind(1), step)
    many = kind((1 << num_bits) - 1 - narrow) / xp.where(step == 0, kind(1), high - low)
    half = kind(0.5)
    zero = xp.floor(half - least * (kind(1) / apart if is_divided else many))
    found = xp.minimum(x, most)
    found = xp.maximum(found, least)
    found -= least
    if is_divided:
        found /= apart
    else:
        found *= many
    found += half - zero
    found = xp.floor(found)
    found *= step
    return found


def _scalars(xp: Any, low: float, high: float) -> tuple[Any, Any]:
    if not low < high:
        raise InvalidArgument(f"min has to be smaller than max, was: {low} >= {high}")
    return xp.asarray(low, dtype="float32"), xp.asarray(high, dtype="float32")


def _check_scalars(low: Any, high: Any) -> None:
    if low.ndim or high.ndim:
        raise InvalidArgument(f"`min` and `max` must be rank 0: {low.shape}, {high.shape}")


def _check_channels(x: Any, low: Any, high: Any) -> None:
    if x.ndim < 1 or low.shape != x.shape[-1:] or high.shape != x.shape[-1:]:
        raise InvalidArgument(
            f"min and max must have the size of the last dimension: "
            f"{low.shape}, {high.shape}, {x.shape}"
        )


def _check_pair(gradients: Any, x: Any) -> None:
    if gradients.shape != x.shape:
        raise InvalidArgument(
            f"gradient and input must be the same size: {gradients.shape}, {x.shape}"
        )


@kernel("FakeQuantWithMinMaxArgs")
def fake_quant_args(
    xp: Any,
    x: Any,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Any:
    """The levels of numbers in a range of attributes."""
    return _quantized(xp, x, *_scalars(xp, min, max), num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxVars")
def fake_quant_vars(
    xp: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """The levels of numbers in a range."""
    _check_scalars(low, high)
    ends = xp.asarray(low), xp.asarray(high)
    return _quantized(xp, x, *ends, num_bits, narrow_range, is_divided=True)


@kernel("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_channels(
    xp: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """The levels of numbers in a range of each channel."""
    _check_channels(x, low, high)
    return _quantized(xp, x, low, high, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxArgsGradient")
def fake_quant_args_gradient(
    xp: Any,
    gradients: Any,
    x: Any,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Any:
    """The gradient where the range holds the number."""
    _check_pair(gradients, x)
    least, most, _ = _nudged(xp, *_scalars(xp, min, max), num_bits, narrow_range)
    return gradients * ((x >= least) & (x <= most)).astype("float32")


def _gradients(
    xp: Any, gradients: Any, x: Any, ends: tuple[Any, Any], how: tuple[int, bool], axes: Any
) -> Any:
    """The gradients by the numbers and by the range's ends."""
    low, high = ends
    least, most, _ = _nudged(xp, low, high, *how)
    none = (low == 0) & (high == 0)
    below, above = (x < least) & ~none, (x > most) & ~none
    inner = gradients * (~(below | above)).astype("float32")
    outer = [
        xp.asarray(xp.add.reduce(gradients * part.astype("float32"), axis=axes, dtype="float32"))
        for part in (below, above)
    ]
    return inner, *outer


@kernel("FakeQuantWithMinMaxVarsGradient")
def fake_quant_vars_gradient(
    xp: Any, gradients: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """The gradients by the numbers and by a range."""
    _check_pair(gradients, x)
    _check_scalars(low, high)
    ends = (xp.asarray(low), xp.asarray(high))
    return _gradients(xp, gradients, x, ends, (num_bits, narrow_range), None)


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quant_channels_gradient(
    xp: Any, gradients: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """The gradients by the numbers and by a range of each channel."""
    _check_pair(gradients, x)
    _check_channels(x, low, high)
    axes = tuple(range(x.ndim - 1))
    return _gradients(xp, gradients, x, (low, high), (num_bits, narrow_range), axes)
