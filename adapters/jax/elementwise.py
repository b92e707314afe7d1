"""Translations of arithmetic, comparisons, logic, bits and casts, element by element."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from sessrun.adapters.jax.rules import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    Array,
    Node,
    plain,
    rule,
)

__all__ = ["is_integer", "rounded"]


def is_integer(x: Array) -> bool:
    """Whether the elements are integers."""
    return bool(jnp.issubdtype(x.dtype, jnp.integer))


def rounded(x: Array) -> Array:
    """The numbers as their dtype holds them: XLA may keep a half in float32 between operations."""
    info = jnp.finfo(x.dtype)
    return lax.reduce_precision(x, info.nexp, info.nmant)


def _sign(x: Array) -> Array:
    return jnp.sign(x)


def _reciprocal(x: Array) -> Array:
    return jnp.ones((), x.dtype) / x


def _squared_difference(x: Array, y: Array) -> Array:
    difference = x - y
    return difference * jnp.conj(difference)


def _divide_no_nan(x: Array, y: Array) -> Array:
    zero = y == 0
    return jnp.where(zero, jnp.zeros((), x.dtype), x / jnp.where(zero, jnp.ones((), y.dtype), y))


def _multiply_no_nan(x: Array, y: Array) -> Array:
    return jnp.where(y == 0, jnp.zeros((), x.dtype), x * y)


plain(
    {
        "Abs": jnp.abs,
        "Neg": jnp.negative,
        "Reciprocal": _reciprocal,
        "Inv": _reciprocal,
        "Sign": _sign,
        "Square": lambda x: x * x,
        "Sqrt": jnp.sqrt,
        "Rsqrt": lax.rsqrt,
        "Add": jnp.add,
        "AddV2": jnp.add,
        "Sub": jnp.subtract,
        "Mul": jnp.multiply,
        "RealDiv": jnp.divide,
        "Pow": jnp.power,
        "SquaredDifference": _squared_difference,
        "DivNoNan": _divide_no_nan,
        "MulNoNan": _multiply_no_nan,
        "Conj": jnp.conj,
    },
    NUMBERS,
)
plain({"Maximum": jnp.maximum, "Minimum": jnp.minimum}, REALS)
plain(
    {
        "Ceil": jnp.ceil,
        "Floor": jnp.floor,
        "Rint": jnp.round,
        "Round": jnp.round,
        "IsFinite": jnp.isfinite,
        "IsInf": jnp.isinf,
        "IsNan": jnp.isnan,
        "NextAfter": jnp.nextafter,
    },
    FLOATS,
)
plain(
    {
        "LogicalAnd": jnp.logical_and,
        "LogicalNot": jnp.logical_not,
        "LogicalOr": jnp.logical_or,
    },
    BOOL,
)
plain(
    {
        "Greater": jnp.greater,
        "GreaterEqual": jnp.greater_equal,
        "Less": jnp.less,
        "LessEqual": jnp.less_equal,
    },
    REALS,
)
plain(
    {
        "BitwiseAnd": jnp.bitwise_and,
        "BitwiseOr": jnp.bitwise_or,
        "BitwiseXor": jnp.bitwise_xor,
        "Invert": jnp.invert,
        "LeftShift": jnp.left_shift,
        "RightShift": jnp.right_shift,
        "PopulationCount": lambda x: lax.population_count(x).astype(jnp.uint8),
    },
    INTEGERS,
)
plain({"Real": jnp.real, "Imag": jnp.imag, "Angle": jnp.angle, "ComplexAbs": jnp.abs}, NUMBERS)


@rule("Complex", dtypes=NUMBERS)
def _complex(_node: Node, real: Array, imag: Array) -> Array:
    return lax.complex(*jnp.broadcast_arrays(real, imag))


def _quotient(node: Node, x: Array, y: Array) -> tuple[Array, Array]:
    """Two integer tensors of one shape, the second one without a known zero."""
    if isinstance(y, np.ndarray):
        node.check(bool(np.all(y != 0)), "Integer division by zero")
    return tuple(jnp.broadcast_arrays(x, y))


@rule("Div", dtypes=NUMBERS)
def _divide(node: Node, x: Array, y: Array) -> Array:
    """The quotient, of integers without its fraction."""
    return lax.div(*_quotient(node, x, y)) if is_integer(x) else x / y


@rule("TruncateDiv", dtypes=REALS)
def _truncate_divide(node: Node, x: Array, y: Array) -> Array:
    return lax.div(*_quotient(node, x, y)) if is_integer(x) else jnp.trunc(rounded(x / y))


@rule("FloorDiv", dtypes=REALS)
def _floor_divide(node: Node, x: Array, y: Array) -> Array:
    if is_integer(x):
        return jnp.floor_divide(*_quotient(node, x, y))
    return jnp.floor(rounded(x / y))


@rule("Mod", "TruncateMod", dtypes=REALS)
def _truncate_modulo(node: Node, x: Array, y: Array) -> Array:
    return lax.rem(*(_quotient(node, x, y) if is_integer(x) else jnp.broadcast_arrays(x, y)))


@rule("FloorMod", dtypes=REALS)
def _floor_modulo(node: Node, x: Array, y: Array) -> Array:
    return jnp.remainder(*(_quotient(node, x, y) if is_integer(x) else (x, y)))


@rule("Equal", "NotEqual", dtypes=ALL)
def _equal(node: Node, x: Array, y: Array) -> Array:
    """Whether elements are equal; of shapes that do not broadcast, where allowed, the whole."""
    if not node["incompatible_shape_error"] and not _broadcast(x.shape, y.shape):
        return np.asarray(node.op == "NotEqual")
    return jnp.equal(x, y) if node.op == "Equal" else jnp.not_equal(x, y)


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    pairs = zip(first[::-1], second[::-1], strict=False)
    return all(m == n or 1 in {m, n} for m, n in pairs)


@rule("ApproximateEqual", dtypes=FLOATS)
def _approximately_equal(node: Node, x: Array, y: Array) -> Array:
    node.check(x.shape == y.shape, f"shapes {x.shape} and {y.shape} differ")
    return jnp.abs(x - y) < jnp.asarray(node["tolerance"], x.dtype)


@rule("AddN", "AccumulateNV2", dtypes=NUMBERS)
def _add_all(node: Node, inputs: list[Array]) -> Array:
    node.check(len({value.shape for value in inputs}) == 1, "the inputs have different shapes")
    total = inputs[0]
    for value in inputs[1:]:
        total = total + value
    return total


@rule("ClipByValue", dtypes=REALS)
def _clip(node: Node, x: Array, low: Array, high: Array) -> Array:
    for bound in (low, high):
        node.check(bound.shape in {(), x.shape}, "a bound is no scalar and has another shape")
    return jnp.minimum(jnp.maximum(x, low), high)


@rule("Select", dtypes=ALL)
def _select(node: Node, condition: Array, x: Array, y: Array) -> Array:
    """Elements or whole rows of the one or the other."""
    node.check(x.shape == y.shape, f"shapes {x.shape} and {y.shape} differ")
    if condition.ndim == 1 and x.ndim > 1:
        node.check(condition.shape == x.shape[:1], "the condition has another number of rows")
        condition = condition.reshape((-1,) + (1,) * (x.ndim - 1))
    else:
        node.check(condition.shape in {(), x.shape}, "the condition has another shape")
    return jnp.where(condition, x, y)


plain({"SelectV2": jnp.where}, ALL)


@rule("Cast", dtypes=ALL)
def _cast(node: Node, x: Array) -> Array:
    """The values in another dtype, of complex numbers the real parts."""
    target = _dtype(node["DstT"])
    if jnp.iscomplexobj(x) and node["DstT"] not in COMPLEX:
        x = jnp.real(x)
    return x != 0 if node["DstT"] in BOOL else lax.convert_element_type(x, target)


def _dtype(name: str) -> np.dtype:
    dtype: np.dtype = jnp.dtype(name)
    return dtype


@rule("Bitcast", dtypes=REALS)
def _bitcast(node: Node, x: Array) -> Array:
    return lax.bitcast_convert_type(x, _dtype(node["type"]))
