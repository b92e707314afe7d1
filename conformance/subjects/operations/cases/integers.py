"""Vectors of OPERATIONS: integers wrap around, stay exact, divide and shift by fixed rules."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    INTEGERS,
    SIGNED,
    UNSIGNED,
    axes,
    column,
    ends,
    f32,
    f64,
    i32,
    i64,
    limits,
    u8,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_WRAPS = "OPERATIONS-004"


# --- wrapping around ----------------------------------------------------------------------


@engine_case(
    _WRAPS, title="Sums, differences and products beyond the ends of integers wrap around."
)
def sums_and_products_wrap_around(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        x = ends(dtype)
        for op in ("AddV2", "Sub", "Mul"):
            rows.add(op, column(x), x)
    for dtype in ("uint8", *SIGNED):
        rows.add("Add", column(ends(dtype)), ends(dtype))
    rows.run()


@engine_case(_WRAPS, title="The negation, absolute value and square of an end wrap around.")
def negations_and_squares_wrap_around(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in SIGNED:
        rows.add("Neg", ends(dtype))
        rows.add("Abs", ends(dtype))
    for dtype in INTEGERS:
        rows.add("Square", ends(dtype))
    for dtype in ("int32", "int64"):
        rows.add("SquaredDifference", column(ends(dtype)), ends(dtype))
    rows.run()


@engine_case(_WRAPS, title="Sums of many, running sums and products of integers wrap around.")
def sums_of_many_wrap_around(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        low, high = limits(dtype)
        x = np.array([[high, high, 3], [low, 1, high]], dtype=dtype)
        rows.add("Sum", x, axes(0, 1))
        rows.add("Prod", x, axes(1))
        rows.add("Cumsum", x, i32(1))
        rows.add("Cumprod", x, i32(0))
        rows.add("AddN", [x[0], x[1], x[0]])
        rows.add("AccumulateNV2", [x[0], x[1], x[0]], shape=[3])
    rows.run()


@engine_case(_WRAPS, title="Powers and matrix products of integers wrap around.")
def powers_and_matrix_products_wrap_around(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in SIGNED:
        high = limits(dtype)[1]
        rows.add("Pow", np.array([3, -3, 2, high], dtype), np.array([[0], [1], [2], [63]], dtype))
    for dtype in ("int32", "int64"):
        high = limits(dtype)[1]
        x = np.array([[high, 2], [-high, 5]], dtype)
        rows.add("MatMul", x, x)
    rows.run()


# --- exactness ----------------------------------------------------------------------------

_ABOVE = 2**53 + 1


@engine_case(
    "OPERATIONS-045", title="64-bit integers above 2**53 are added, multiplied and divided exactly."
)
def large_integers_are_computed_exactly(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("int64", "uint64"):
        x = np.array([_ABOVE, _ABOVE + 2, 2**62 + 1, 3], dtype)
        for op in ("AddV2", "Sub", "Mul", "FloorDiv", "FloorMod", "TruncateDiv", "Maximum"):
            rows.add(op, column(x), x)
        rows.add("Sum", x, axes(0))
        rows.add("Max", x, axes(0))
        rows.add("Mean", x[:3], axes(0))
    rows.run()


@engine_case(
    "OPERATIONS-046", title="64-bit integers that differ by one above 2**53 compare as different."
)
def large_integers_are_compared_exactly(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("int64", "uint64"):
        x = np.array([_ABOVE, _ABOVE + 1, 2**62, 2**62 + 1], dtype)
        for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
            rows.add(op, column(x), x)
        rows.add("ArgMax", x, i32(0))
        rows.add("Unique", x)
    x = np.array([2**24 + 1, 2**24, -(2**24) - 1], i32)
    for op in ("Equal", "Less", "Greater"):
        rows.add(op, column(x), x)
    rows.run()


@engine_case("OPERATIONS-047", title="The upper half of unsigned integers counts as positive.")
def unsigned_integers_are_never_negative(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in UNSIGNED:
        x = ends(dtype)
        for op in ("Less", "GreaterEqual", "Maximum", "Minimum"):
            rows.add(op, column(x), x)
        rows.add("Max", x, axes(0))
        rows.add("Min", x, axes(0))
        rows.add("ArgMax", x, i32(0))
        rows.add("FloorDiv", column(x), _divisors(dtype))
        rows.add("Cast", x, DstT="float64")
    rows.run()


# --- division -----------------------------------------------------------------------------


def _divisors(dtype: str) -> np.ndarray:
    """Divisors of every sign; not -1, over which the least integer has no quotient."""
    low, high = limits(dtype)
    return np.array([1, 2, 3, 7, high, *([-2, -3, -7, low] if low else [])], dtype)


@engine_case(
    "OPERATIONS-048", title="FloorDiv of integers rounds down, and FloorMod has the divisor's sign."
)
def floor_division_rounds_down(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        for op in ("FloorDiv", "FloorMod"):
            rows.add(op, column(ends(dtype)), _divisors(dtype))
    rows.run()


@engine_case(
    "OPERATIONS-049",
    title="TruncateDiv and Div of integers round toward zero, and so do Mod and TruncateMod.",
)
def truncating_division_rounds_toward_zero(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        for op in ("TruncateDiv", "Div"):
            rows.add(op, column(ends(dtype)), _divisors(dtype))
    for dtype in ("int32", "int64"):
        for op in ("TruncateMod", "Mod"):
            rows.add(op, column(ends(dtype)), _divisors(dtype))
    rows.run()


@engine_case(
    "OPERATIONS-050",
    title="Division of floats by the same rules: down, toward zero, and their remainders.",
)
def divisions_of_floats_round_as_those_of_integers(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64):
        x = kind([7, -7, 6, -6, 0.5, -0.5, 5.25])
        y = kind([2, -2, 3, -3, 0.75, np.inf, -np.inf])
        for op in ("FloorDiv", "FloorMod", "Mod", "TruncateMod", "TruncateDiv"):
            rows.add(op, column(x), y)
    rows.run()


@engine_case(
    "OPERATIONS-051",
    title="Each division of integers refuses a divisor of zero, with its own code, unless "
    "nothing is divided.",
)
def divisors_of_zero_are_refused(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (i32, u8, i64):
        for op in ("FloorDiv", "FloorMod", "Div"):
            rows.refuse(op, kind([4, 5]), kind([2, 0]), codes=[3])
        rows.refuse("TruncateDiv", kind([4, 5]), kind([2, 0]), codes=[13])
    rows.refuse("Mod", i32([4]), i32([0]), codes=[3])
    rows.refuse("TruncateMod", i64([4]), i64([0]), codes=[13])
    rows.refuse("Pow", i32([2, 3]), i32([1, -1]), codes=[3])
    nothing = np.zeros((0,), i32)
    for op in ("FloorDiv", "FloorMod", "Div", "TruncateDiv", "Mod", "TruncateMod"):
        rows.add(op, nothing, i32(0))
    rows.add("Pow", nothing, i32([-1]))
    rows.run()


# --- bits ---------------------------------------------------------------------------------


@engine_case(
    "OPERATIONS-052",
    title="Bitwise operations work on the two's complement of every integer dtype.",
)
def bits_are_those_of_twos_complement(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        x = ends(dtype)
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            rows.add(op, column(x), x)
        rows.add("Invert", x)
        rows.add("PopulationCount", x)
    rows.run()


@engine_case(
    "OPERATIONS-053",
    title="A right shift of a negative integer keeps its sign; a left shift drops the high bits.",
)
def shifts_keep_the_sign_and_drop_high_bits(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        width = np.dtype(dtype).itemsize * 8
        counts = np.array([0, 1, width - 2, width - 1], dtype)
        for op in ("LeftShift", "RightShift"):
            rows.add(op, column(ends(dtype)), counts)
    rows.run()
