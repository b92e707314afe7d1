"""Kernels of fake quantization and its gradients, on float32 numbers.

Numbers are rounded to 2**num_bits levels at equal distances between the ends of a range, which is
shifted so that 0 is a level.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import kernel


def _nudged(
    xp: ArrayModule, low: Array, high: Array, num_bits: int, narrow: bool
) -> tuple[Array, Array, Array]:
    """The ends of the shifted range, and the distance between levels: float32."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgument(f"num_bits must be between 2 and 16, inclusive: {num_bits}")
    kind = low.dtype.type
    least, most = kind(1 if narrow else 0), kind((1 << num_bits) - 1)
    step = (high - low) / (most - least)
    zero = least - low / xp.where(step == 0, kind(1), step)
    rounded = xp.floor(xp.minimum(xp.maximum(zero, least), most) + kind(0.5))
    return (least - rounded) * step, (most - rounded) * step, step


def _quantized(
    xp: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    num_bits: int,
    narrow: bool,
    is_divided: bool = False,
) -> Array:
    """The numbers rounded to the levels of the range; zeros for an empty range.

    With 16 bits the rounding of float32 can decide on the level. So this does as TensorFlow: it
    divides by the distance between levels if the range is a pair of scalar tensors (`is_divided`),
    and multiplies by its inverse otherwise.
    """
    least, most, step = _nudged(xp, low, high, num_bits, narrow)
    kind = x.dtype.type
    apart = xp.where(step == 0, kind(1), step)
    many = kind((1 << num_bits) - 1 - narrow) / xp.where(step == 0, kind(1), high - low)
    half = kind(0.5)
    zero = xp.floor(half - least * (kind(1) / apart if is_divided else many))
    levels = xp.minimum(x, most)
    levels = xp.maximum(levels, least)
    levels -= least
    if is_divided:
        levels /= apart
    else:
        levels *= many
    levels += half - zero
    levels = xp.floor(levels)
    levels *= step
    return levels


def _scalars(xp: ArrayModule, low: float, high: float) -> tuple[Array, Array]:
    if not low < high:
        raise InvalidArgument(f"min has to be smaller than max, was: {low} >= {high}")
    return xp.asarray(low, dtype="float32"), xp.asarray(high, dtype="float32")


def _check_channels(x: Array, low: Array, high: Array) -> None:
    if x.ndim < 1 or low.shape != x.shape[-1:] or high.shape != x.shape[-1:]:
        raise InvalidArgument(
            f"min and max must have the size of the last dimension: "
            f"{low.shape}, {high.shape}, {x.shape}"
        )


@kernel("FakeQuantWithMinMaxArgs")
def fake_quant_args(
    xp: ArrayModule,
    x: Array,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Array:
    """The numbers rounded to the levels of the range [min, max], two attributes."""
    return _quantized(xp, x, *_scalars(xp, min, max), num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxVars")
def fake_quant_vars(
    xp: ArrayModule, x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool
) -> Array:
    """The numbers rounded to the levels of the range [low, high], two scalars."""
    require_rank(0, low=low, high=high)
    ends = xp.asarray(low), xp.asarray(high)
    return _quantized(xp, x, *ends, num_bits, narrow_range, is_divided=True)


@kernel("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_channels(
    xp: ArrayModule, x: Array, low: Array, high: Array, *, num_bits: int, narrow_range: bool
) -> Array:
    """The numbers rounded to the levels of their channel's range; `low` and `high` are vectors."""
    _check_channels(x, low, high)
    return _quantized(xp, x, low, high, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxArgsGradient")
def fake_quant_args_gradient(
    xp: ArrayModule,
    gradients: Array,
    x: Array,
    *,
    min: float,  # noqa: A002
    max: float,  # noqa: A002
    num_bits: int,
    narrow_range: bool,
) -> Array:
    """The gradient with respect to the numbers: zero outside of the range."""
    require_same_shape(gradients=gradients, x=x)
    least, most, _ = _nudged(xp, *_scalars(xp, min, max), num_bits, narrow_range)
    return gradients * ((x >= least) & (x <= most)).astype("float32")


def _gradients(
    xp: ArrayModule,
    gradients: Array,
    x: Array,
    ends: tuple[Array, Array],
    quantization: tuple[int, bool],
    axes: tuple[int, ...] | None,
) -> tuple[Array, ...]:
    """The gradients with respect to the numbers and to the ends of the range.

    Args:
      xp: the array module.
      gradients: the gradient of the quantized numbers, of the shape of `x`.
      x: the numbers.
      ends: the least and the greatest number of the range: scalars, or vectors with a number for
        each channel.
      quantization: the number of bits, and whether the lowest level is left out (narrow range).
      axes: the axes over which the gradients of the ends are summed; None for all.

    """
    low, high = ends
    least, most, _ = _nudged(xp, low, high, *quantization)
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
    xp: ArrayModule,
    gradients: Array,
    x: Array,
    low: Array,
    high: Array,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[Array, ...]:
    """The gradients with respect to the numbers and to the ends of the range."""
    require_same_shape(gradients=gradients, x=x)
    require_rank(0, low=low, high=high)
    ends = (xp.asarray(low), xp.asarray(high))
    return _gradients(xp, gradients, x, ends, (num_bits, narrow_range), None)


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quant_channels_gradient(
    xp: ArrayModule,
    gradients: Array,
    x: Array,
    low: Array,
    high: Array,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[Array, ...]:
    """The gradients with respect to the numbers and to the ends of the channels' ranges."""
    require_same_shape(gradients=gradients, x=x)
    _check_channels(x, low, high)
    axes = tuple(range(x.ndim - 1))
    return _gradients(xp, gradients, x, (low, high), (num_bits, narrow_range), axes)
