"""Elementwise arithmetic, rounding, and functions of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.adapters.onnxruntime.table import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    SINGLE,
    WIDE,
    Call,
    translates,
    translates_by_name,
)

__all__: list[str] = []

#: Operations that ONNX has too, with the dtypes its operator has kernels for.
_SAME: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "Abs": ("Abs", NUMBERS),
    "Acos": ("Acos", SINGLE),
    "Acosh": ("Acosh", SINGLE),
    "Add": ("Add", NUMBERS),
    "AddV2": ("Add", NUMBERS),
    "Asin": ("Asin", SINGLE),
    "Asinh": ("Asinh", SINGLE),
    "Atan": ("Atan", SINGLE),
    "Atanh": ("Atanh", SINGLE),
    "Ceil": ("Ceil", FLOATS),
    "Cos": ("Cos", FLOATS),
    "Cosh": ("Cosh", SINGLE),
    "Div": ("Div", NUMBERS),
    "Erf": ("Erf", SINGLE),
    "Exp": ("Exp", FLOATS),
    "Floor": ("Floor", FLOATS),
    "Inv": ("Reciprocal", FLOATS),
    "Log": ("Log", FLOATS),
    "Maximum": ("Max", NUMBERS - {"int16", "uint16"}),
    "Minimum": ("Min", NUMBERS - {"int16", "uint16"}),
    "Mul": ("Mul", NUMBERS),
    "Neg": ("Neg", FLOATS | {"int8", "int16", "int32", "int64"}),
    "Pow": ("Pow", WIDE),
    "RealDiv": ("Div", FLOATS),
    "Reciprocal": ("Reciprocal", FLOATS),
    "Rint": ("Round", FLOATS),
    "Sign": ("Sign", NUMBERS),
    "Sin": ("Sin", FLOATS),
    "Sinh": ("Sinh", SINGLE),
    "Sqrt": ("Sqrt", FLOATS),
    "Sub": ("Sub", NUMBERS),
    "Tan": ("Tan", SINGLE),
    "Tanh": ("Tanh", FLOATS),
    "TruncateDiv": ("Div", INTEGERS),
}

translates_by_name(_SAME)


@translates("AddN", "AccumulateNV2", kernels=NUMBERS)
def _add_n(call: Call) -> str:
    if len({tensor.shape for tensor in call.inputs if tensor.shape is not None}) > 1:
        raise call.invalid("its inputs have several shapes")
    total, *rest = call.names
    for name in rest:
        total = call.emit("Add", total, name)
    return total


@translates("Square", kernels=NUMBERS)
def _square(call: Call) -> str:
    (x,) = call.names
    return call.emit("Mul", x, x)


@translates("SquaredDifference", kernels=NUMBERS)
def _squared_difference(call: Call) -> str:
    difference = call.rounded(call.emit("Sub", *call.names))
    return call.emit("Mul", difference, difference)


@translates("Rsqrt", kernels=FLOATS)
def _rsqrt(call: Call) -> str:
    return call.emit("Reciprocal", call.emit("Sqrt", *call.names))


@translates("Round", kernels=FLOATS | INTEGERS)
def _round(call: Call) -> str:
    return call.emit("Round" if call.dtype in FLOATS else "Identity", *call.names)


@translates("DivNoNan", kernels=FLOATS)
def _div_no_nan(call: Call) -> str:
    x, y = call.names
    return _unless_zero(call, y, call.emit("Div", x, y))


@translates("MulNoNan", kernels=FLOATS)
def _mul_no_nan(call: Call) -> str:
    x, y = call.names
    return _unless_zero(call, y, call.emit("Mul", x, y))


@translates("Xdivy", kernels=FLOATS)
def _xdivy(call: Call) -> str:
    x, y = call.names
    return _unless_zero(call, x, call.emit("Div", x, y))


@translates("Xlogy", kernels=FLOATS)
def _xlogy(call: Call) -> str:
    x, y = call.names
    return _unless_zero(call, x, call.emit("Mul", x, call.emit("Log", y)))


def _unless_zero(call: Call, x: str, value: str) -> str:
    """The value, but 0 where x is 0."""
    zero = call.constant(0, call.dtype)
    return call.emit("Where", call.emit("Equal", x, zero), zero, value)


@translates("FloorDiv", kernels=FLOATS | {"int8", "int32", "int64", "uint8", "uint32"})
def _floor_div(call: Call) -> str:
    """Integers: the truncated quotient, less one where a remainder has not the divisor's sign."""
    x, y = call.names
    quotient = call.emit("Div", x, y)
    if call.dtype in FLOATS:
        return call.emit("Floor", call.rounded(quotient))
    if call.dtype.startswith("uint"):
        return quotient
    remainder = call.emit("Sub", x, call.emit("Mul", quotient, y))
    lower = call.emit("Sub", quotient, call.constant(1, call.dtype))
    return call.emit("Where", _is_of_other_sign(call, remainder, y), lower, quotient)


@translates("FloorMod", kernels=NUMBERS)
def _floor_mod(call: Call) -> str:
    """Floats: C's remainder, and the divisor more where that has not the divisor's sign."""
    x, y = call.names
    if call.dtype not in FLOATS:
        return call.emit("Mod", x, y)
    remainder = call.emit("Mod", x, y, fmod=1)
    moved = call.emit("Add", remainder, y)
    return call.emit("Where", _is_of_other_sign(call, remainder, y), moved, remainder)


def _is_of_other_sign(call: Call, remainder: str, divisor: str) -> str:
    zero = call.constant(0, call.dtype)
    signs = [call.emit("Less", name, zero) for name in (remainder, divisor)]
    nonzero = call.emit("Not", call.emit("Equal", remainder, zero))
    return call.emit("And", nonzero, call.emit("Xor", *signs))


@translates("Mod", "TruncateMod", kernels=NUMBERS)
def _truncate_mod(call: Call) -> str:
    return call.emit("Mod", *call.names, fmod=1)


@translates("Expm1", kernels=SINGLE)
def _expm1(call: Call) -> str:
    """2 exp(x / 2) sinh(x / 2), which is exact near 0; -1 where that would be 0 times infinity."""
    (x,) = call.names
    half = call.emit("Mul", x, call.constant(0.5, call.dtype))
    sinh = call.emit("Mul", call.emit("Sinh", half), call.constant(2, call.dtype))
    product = call.emit("Mul", call.emit("Exp", half), sinh)
    is_low = call.emit("Less", x, call.constant(-50, call.dtype))
    return call.emit("Where", is_low, call.constant(-1, call.dtype), product)


@translates("Log1p", kernels=SINGLE)
def _log1p(call: Call) -> str:
    """2 atanh(x / (x + 2)), which is exact near 0; log(x + 1) above."""
    (x,) = call.names
    ratio = call.emit("Div", x, call.emit("Add", x, call.constant(2, call.dtype)))
    small = call.emit("Mul", call.emit("Atanh", ratio), call.constant(2, call.dtype))
    large = call.emit("Log", call.emit("Add", x, call.constant(1, call.dtype)))
    return call.emit("Where", call.emit("Greater", x, call.constant(1, call.dtype)), large, small)


@translates("Atan2", kernels=SINGLE)
def _atan2(call: Call) -> str:
    """The angle of y / x, half a turn more where x is negative; two infinities count as ones."""
    y, x = call.names
    are_infinite = call.emit("And", *(call.emit("IsInf", name) for name in (y, x)))
    y, x = (call.emit("Where", are_infinite, call.emit("Sign", name), name) for name in (y, x))
    zero = call.constant(0, call.dtype)
    are_zero = call.emit("And", *(call.emit("Equal", name, zero) for name in (y, x)))
    angle = call.emit("Where", are_zero, zero, call.emit("Atan", call.emit("Div", y, x)))
    turn, back = call.constant(np.pi, call.dtype), call.constant(-np.pi, call.dtype)
    moved = call.emit("Add", angle, call.emit("Where", _is_negative(call, y), back, turn))
    return call.emit("Where", _is_negative(call, x), moved, angle)


def _is_negative(call: Call, x: str) -> str:
    """Whether a number has a minus, -0.0 among them."""
    zero = call.constant(0, call.dtype)
    shown = call.emit("Where", call.emit("Equal", x, zero), call.emit("Reciprocal", x), x)
    return call.emit("Less", shown, zero)


@translates("ClipByValue", kernels=NUMBERS - {"int16", "uint16"})
def _clip_by_value(call: Call) -> str:
    """The bounds are scalars, or have the shape of the values that they bound."""
    if any(call.shape(index) not in {(), call.shape()} for index in (1, 2) if call.rank(index)):
        raise call.invalid("its bounds have another shape")
    x, low, high = call.names
    return call.emit("Max", call.emit("Min", x, high), low)
