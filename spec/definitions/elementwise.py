"""Definitions of arithmetic, element by element.

Floats are computed in float64 and rounded once to their dtype; where an operation has two steps,
such as the square of a difference, each step is rounded. Integers wrap around modulo 2**n.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from sessrun.spec.definitions.base import Array, definition, is_integer, rounded, wide

__all__ = ["in_wide", "stepwise"]

Function = Callable[..., Array]


def in_wide(function: Callable[..., Array], *tensors: Array) -> Array:
    """A function of numbers, computed in float64 or complex128, in the first one's dtype."""
    return rounded(function(*map(wide, tensors)), tensors[0].dtype)


def stepwise(function: Callable[..., Array], *tensors: Array) -> Array:
    """As `in_wide`; integers and strings in their own dtype."""
    if is_integer(tensors[0]) or tensors[0].dtype == object:
        return np.asarray(function(*tensors), tensors[0].dtype)
    return in_wide(function, *tensors)


@definition("Add", "AddV2")
def _add(x: Array, y: Array) -> Array:
    """Sums; strings are joined."""
    return stepwise(np.add, x, y)


@definition("Sub")
def _sub(x: Array, y: Array) -> Array:
    return stepwise(np.subtract, x, y)


@definition("Mul")
def _mul(x: Array, y: Array) -> Array:
    return stepwise(np.multiply, x, y)


@definition("MulNoNan")
def _mul_no_nan(x: Array, y: Array) -> Array:
    """0 where `y` is 0, whatever `x` is there."""
    return np.where(y == 0, np.zeros((), x.dtype), stepwise(np.multiply, x, y))


def _truncated_quotient(x: Array, y: Array) -> Array:
    """Quotients of integers without their fractions; the divisors are not 0."""
    floor, rest = np.floor_divide(x, y), np.mod(x, y)
    return floor + ((rest != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


@definition("Div", "RealDiv")
def _div(x: Array, y: Array) -> Array:
    """Quotients, of integers towards 0; floats over 0 are infinite, 0 / 0 is NaN."""
    if is_integer(x):
        return _truncated_quotient(x, y)
    return in_wide(np.divide, x, y)


@definition("TruncateDiv")
def _truncate_div(x: Array, y: Array) -> Array:
    """The quotient, which is rounded before, without its fraction."""
    if is_integer(x):
        return _truncated_quotient(x, y)
    return in_wide(np.trunc, in_wide(np.divide, x, y))


@definition("DivNoNan")
def _div_no_nan(x: Array, y: Array) -> Array:
    """0 where `y` is 0."""
    return np.where(y == 0, np.zeros((), x.dtype), in_wide(np.divide, x, y))


@definition("Xdivy")
def _xdivy(x: Array, y: Array) -> Array:
    """0 where `x` is 0, whatever `y` is there."""
    return np.where(x == 0, np.zeros((), x.dtype), in_wide(np.divide, x, y))


@definition("FloorDiv")
def _floor_div(x: Array, y: Array) -> Array:
    """The floor of the quotient, which is rounded before."""
    if is_integer(x):
        return np.floor_divide(x, y)
    return in_wide(np.floor, in_wide(np.divide, x, y))


@definition("Mod", "TruncateMod")
def _truncate_mod(x: Array, y: Array) -> Array:
    """What is left of `x`, with its sign."""
    return stepwise(np.fmod, x, y)


@definition("FloorMod")
def _floor_mod(x: Array, y: Array) -> Array:
    """What is left, with the sign of `y`: `y` is added to the truncated rest if they differ."""
    rest = stepwise(np.fmod, x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), stepwise(np.add, rest, y), rest)


@definition("Pow")
def _pow(x: Array, y: Array) -> Array:
    """Powers; of integers by non-negative exponents, modulo 2**n."""
    if is_integer(x):
        bases, exponents = np.broadcast_arrays(x, y)
        bits = x.dtype.itemsize * 8
        powers = [pow(int(b), int(e), 2**bits) for b, e in zip(bases.flat, exponents.flat)]  # noqa: B905
        unsigned = np.array(powers, np.dtype(f"u{x.dtype.itemsize}"))
        return unsigned.astype(x.dtype).reshape(bases.shape)
    return in_wide(np.power, x, y)


@definition("Maximum")
def _maximum(x: Array, y: Array) -> Array:
    """The larger of two, NaN if either is."""
    return stepwise(np.maximum, x, y)


@definition("Minimum")
def _minimum(x: Array, y: Array) -> Array:
    return stepwise(np.minimum, x, y)


@definition("SquaredDifference")
def _squared_difference(x: Array, y: Array) -> Array:
    """The rounded difference times its conjugate."""
    difference = stepwise(np.subtract, x, y)
    return stepwise(lambda d: d * np.conj(d), difference)


@definition("Xlogy")
def _xlogy(x: Array, y: Array) -> Array:
    """`x log y`, 0 where `x` is 0."""
    return np.where(x == 0, np.zeros((), x.dtype), in_wide(lambda a, b: a * np.log(b), x, y))


@definition("Xlog1py")
def _xlog1py(x: Array, y: Array) -> Array:
    """`x log(1 + y)`, 0 where `x` is 0."""
    return np.where(x == 0, np.zeros((), x.dtype), in_wide(lambda a, b: a * np.log1p(b), x, y))


@definition("Atan2")
def _atan2(y: Array, x: Array) -> Array:
    return in_wide(np.arctan2, y, x)


@definition("NextAfter")
def _next_after(x1: Array, x2: Array) -> Array:
    """The number of the dtype that comes next after `x1` on the way to `x2`."""
    return np.nextafter(x1, x2)


@definition("Neg")
def _neg(x: Array) -> Array:
    """Minus `x`; the least integer stays."""
    return stepwise(np.negative, x)


@definition("Abs")
def _abs(x: Array) -> Array:
    """Without the sign; the least integer stays."""
    return stepwise(np.abs, x)


@definition("ComplexAbs")
def _complex_abs(x: Array) -> Array:
    """The distance from 0, without overflow in between."""
    return np.hypot(x.real.astype(np.float64), x.imag.astype(np.float64))


@definition("Sign")
def _sign(x: Array) -> Array:
    """1, 0, -1, or NaN; of complex numbers `x / |x|`, 0 at 0."""
    if x.dtype.kind != "c":
        return stepwise(np.sign, x)
    values = wide(x)
    sizes = np.hypot(values.real, values.imag)
    return rounded(np.where(sizes == 0, 0, values / np.where(sizes == 0, 1, sizes)), x.dtype)


@definition("Square")
def _square(x: Array) -> Array:
    return stepwise(lambda a: a * a, x)


@definition("Floor")
def _floor(x: Array) -> Array:
    return in_wide(np.floor, x)


@definition("Ceil")
def _ceil(x: Array) -> Array:
    return in_wide(np.ceil, x)


@definition("Round", "Rint")
def _round(x: Array) -> Array:
    """The nearest whole number, of two the even one."""
    return stepwise(np.rint, x)


@definition("Reciprocal", "Inv")
def _reciprocal(x: Array) -> Array:
    return in_wide(lambda a: 1 / a, x)


@definition("AddN", "AccumulateNV2")
def _add_n(inputs: list[Array]) -> Array:
    """The sum of all, rounded once."""
    return stepwise(lambda *tensors: reduce(np.add, tensors), *inputs)


@definition("Complex")
def _complex(real: Array, imag: Array) -> Array:
    parts = np.broadcast_arrays(real, imag)
    value = np.empty(parts[0].shape, np.result_type(real.dtype, np.complex64))
    value.real, value.imag = parts
    return value


@definition("Real")
def _real(x: Array) -> Array:
    return x.real


@definition("Imag")
def _imag(x: Array) -> Array:
    return x.imag


@definition("Conj")
def _conj(x: Array) -> Array:
    return np.conj(x)


@definition("Angle")
def _angle(x: Array) -> Array:
    return np.arctan2(x.imag.astype(np.float64), x.real.astype(np.float64))


@definition("ClipByValue")
def _clip(t: Array, low: Array, high: Array) -> Array:
    """The lesser of `t` and the upper bound, then the larger of that and the lower one.

    Of complex numbers both parts for themselves.
    """
    if t.dtype.kind != "c":
        return np.maximum(np.minimum(t, high), low)
    clipped = np.empty(t.shape, t.dtype)
    clipped.real = np.maximum(np.minimum(t.real, high.real), low.real)
    clipped.imag = np.maximum(np.minimum(t.imag, high.imag), low.imag)
    return clipped


@definition("BitwiseAnd")
def _and(x: Array, y: Array) -> Array:
    return x & y


@definition("BitwiseOr")
def _or(x: Array, y: Array) -> Array:
    return x | y


@definition("BitwiseXor")
def _xor(x: Array, y: Array) -> Array:
    return x ^ y


@definition("Invert")
def _invert(x: Array) -> Array:
    return ~x


@definition("LeftShift")
def _left(x: Array, y: Array) -> Array:
    """`x * 2**y` modulo 2**n; counts are below the width."""
    return np.left_shift(x, y)


@definition("RightShift")
def _right(x: Array, y: Array) -> Array:
    """The floor of `x / 2**y`: the sign's bit comes in from the left."""
    return np.right_shift(x, y)


@definition("PopulationCount")
def _ones(x: Array) -> Array:
    """How many bits are 1, of negative numbers in two's complement."""
    mask = 2 ** (x.dtype.itemsize * 8) - 1
    counts = [(int(value) & mask).bit_count() for value in x.flat]
    return np.array(counts, np.uint8).reshape(x.shape)
