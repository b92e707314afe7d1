"""Comparisons, logic, bits, casts, and choices by a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sessrun.adapters.onnxruntime.onnx_graph import ENUMS
from sessrun.adapters.onnxruntime.table import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Call,
    translates,
    translates_by_name,
)
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.shapes import ShapeError, broadcast_shapes

__all__: list[str] = []

_BOOL: Final = frozenset({"bool"})
#: The dtypes that ONNX Runtime chooses between.
_CHOSEN: Final = FLOATS | {"int8", "int32", "int64", "uint8", "uint32"}

#: Operations that ONNX has too, with the dtypes its operator has kernels for.
_SAME: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "BitwiseAnd": ("BitwiseAnd", INTEGERS),
    "BitwiseOr": ("BitwiseOr", INTEGERS),
    "BitwiseXor": ("BitwiseXor", INTEGERS),
    "Greater": ("Greater", NUMBERS),
    "GreaterEqual": ("GreaterOrEqual", NUMBERS),
    "Invert": ("BitwiseNot", INTEGERS),
    "IsInf": ("IsInf", FLOATS),
    "IsNan": ("IsNaN", FLOATS),
    "Less": ("Less", NUMBERS),
    "LessEqual": ("LessOrEqual", NUMBERS),
    "LogicalAnd": ("And", _BOOL),
    "LogicalNot": ("Not", _BOOL),
    "LogicalOr": ("Or", _BOOL),
    "SelectV2": ("Where", _CHOSEN),
}

translates_by_name(_SAME)


@translates("Equal", "NotEqual", kernels=NUMBERS | _BOOL)
def _equal(call: Call) -> str:
    """Of shapes that do not broadcast, where that is allowed, one value for the whole tensors."""
    if not call.attrs["incompatible_shape_error"] and not _broadcast(call.shape(0), call.shape(1)):
        return call.constant(call.op == "NotEqual", "bool")
    equal = call.emit("Equal", *call.names)
    return equal if call.op == "Equal" else call.emit("Not", equal)


def _broadcast(*shapes: tuple[int, ...]) -> bool:
    try:
        broadcast_shapes(*shapes)
    except ShapeError:
        return False
    return True


@translates("ApproximateEqual", kernels=FLOATS)
def _approximate_equal(call: Call) -> str:
    distance = call.emit("Abs", call.emit("Sub", *call.names))
    return call.emit("LessOrEqual", distance, call.constant(call.attrs["tolerance"], call.dtype))


@translates("IsFinite", kernels=FLOATS)
def _is_finite(call: Call) -> str:
    (x,) = call.names
    return call.emit("Not", call.emit("Or", call.emit("IsNaN", x), call.emit("IsInf", x)))


@translates("LeftShift", "RightShift", kernels=INTEGERS)
def _shift(call: Call) -> str:
    """A count beyond the width is held at the width less one."""
    x, count = call.names
    width = BY_NAME[call.dtype].itemsize * 8
    low, high = call.constant(0), call.constant(width - 1)
    held = call.emit("Min", call.emit("Max", call.cast(count, "int64"), low), high)
    direction = "LEFT" if call.op == "LeftShift" else "RIGHT"
    return call.emit("BitShift", x, call.cast(held, call.dtype), direction=direction)


@translates("Select", kernels=_CHOSEN)
def _select(call: Call) -> str:
    """A vector of conditions chooses rows."""
    condition, x, y = call.names
    if call.rank(0) == 1 and call.rank(1) > 1:
        sizes = call.constant([-1, *[1] * (call.rank(1) - 1)])
        condition = call.emit("Reshape", condition, sizes)
    return call.emit("Where", condition, x, y)


@translates("Cast", kernels=ALL)
def _cast(call: Call) -> str:
    target = call.attrs["DstT"]
    if target not in ENUMS:
        raise call.declined(f"no cast to {target}")
    if call.attrs["Truncate"] and target in {"float16", "bfloat16", "float32"}:
        raise call.declined("floats are rounded, not truncated")
    return call.cast(call.names[0], target)


@translates("Where", kernels=NUMBERS | _BOOL)
def _where(call: Call) -> str:
    """The indices of the elements that are not 0, a row each."""
    (x,) = call.names
    if not call.rank():
        raise call.declined("of a scalar")
    if call.dtype != "bool":
        x = call.emit("Not", call.emit("Equal", x, call.constant(0, call.dtype)))
    return call.emit("Transpose", call.emit("NonZero", x), perm=[1, 0])
