"""Vectors of OPERATIONS: the arithmetic of floats at its corners, rounding, limits of functions."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    COMPLEX,
    FLOATS,
    axes,
    column,
    corners,
    f32,
    f64,
    finite,
    floats,
    i32,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_GUARDED = "OPERATIONS-012"

_INF = float("inf")
_NOT = float("nan")


# --- the corners of arithmetic ------------------------------------------------------------


@engine_case(
    "OPERATIONS-054",
    title="Sums, differences, products and quotients of floats are IEEE's, infinities and NaN "
    "included.",
)
def float_arithmetic_has_infinities_and_nan(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = corners(dtype)
        for op in ("AddV2", "Sub", "Mul", "RealDiv"):
            rows.add(op, column(x), x)
        rows.add("Add", x, x[::-1])
        rows.add("Div", x, x[::-1])
    rows.run()


@engine_case(
    "OPERATIONS-055",
    title="The sign of zero is kept where arithmetic and the moving of values keep it.",
)
def zeros_keep_their_sign(c: EngineAuthor) -> None:
    rows = Rows(c, contract="signed")
    for dtype in FLOATS:
        x = floats(dtype, [0.0, -0.0, -3.0, _INF, -_INF])
        for op in ("Neg", "Identity", "Floor", "Ceil", "Sqrt", "Snapshot"):
            rows.add(op, x[:3] if op == "Sqrt" else x)
        rows.add("Mul", x[:3], floats(dtype, [-2.0, 2.0, 0.0]))
        rows.add("AddV2", floats(dtype, [-0.0, 0.0]), floats(dtype, [-0.0, -0.0]))
        rows.add("RealDiv", x, floats(dtype, [-1.0, 5.0, _INF, 2.0, 3.0]))
        rows.add("Reshape", x, axes(5, 1))
        rows.add("ConcatV2", [x, x], i32(0))
    rows.run()


@engine_case(
    "OPERATIONS-055",
    title="Differences, squares, reciprocals and rounding give signed zeros; whatever moves "
    "elements keeps them.",
)
def zeros_keep_their_sign_everywhere(c: EngineAuthor) -> None:
    rows = Rows(c, contract="signed")
    for dtype in ("float32", "float64"):
        x = floats(dtype, [0.0, -0.0, -0.25, 0.25])
        for op in ("Round", "Rint", "Abs", "Square"):
            rows.add(op, x)
        rows.add("Reciprocal", floats(dtype, [_INF, -_INF]))
        rows.add("Sub", column(x[:2]), x[:2])
        rows.add("Div", column(x[:2]), floats(dtype, [-2.0, 2.0]))
        rows.add("AddN", [x[1:2], x[1:2]])
        square = x.reshape(2, 2)
        rows.add("Transpose", square, axes(1, 0))
        rows.add("ReverseV2", square, axes(1))
        rows.add("GatherV2", square, axes(1, 0), i32(1))
        rows.add("Slice", x, axes(1), axes(2))
        rows.add("Tile", square, axes(2, 1))
        rows.add("BroadcastTo", x[:2], axes(2, 2))
        rows.add("Pack", [x[:2], x[1:3]], axis=1)
        rows.add("Unpack", square, num=2)
        rows.add("Split", i32(0), x, num_split=2)
        rows.add("ExpandDims", x, i32(0))
        rows.add("Squeeze", x.reshape(1, 4))
        rows.add("Pad", x[1:2], i32([[1, 1]]))
        rows.add("SelectV2", np.array([True, False, True, False]), x, x[::-1])
    rows.run()


@engine_case(
    "OPERATIONS-056", title="Complex arithmetic, conjugates, parts, absolute values and angles."
)
def complex_arithmetic_is_that_of_both_parts(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype, real in zip(COMPLEX, ("float32", "float64"), strict=True):
        x = np.array([1 + 2j, -3 + 0.5j, 0.25 - 4j, -2 - 2j, 3, 2j], dtype)
        for op in ("AddV2", "Sub", "Mul", "RealDiv", "SquaredDifference"):
            rows.add(op, column(x), x)
        for op in ("Neg", "Conj", "Square", "Sign", "Exp", "Sqrt", "Tanh", "Reciprocal"):
            rows.add(op, x)
        for op in ("Real", "Imag", "ComplexAbs", "Angle"):
            rows.add(op, x, Tout=real)
        rows.add("ComplexAbs", np.array([3e30 + 4e30j, 5], dtype), Tout=real)
        parts = np.array([1, -2.5, 0], real)
        rows.add("Complex", column(parts), parts, Tout=dtype)
    rows.run()


# --- rounding -----------------------------------------------------------------------------


@engine_case(
    "OPERATIONS-057",
    title="Each operation on 16-bit floats gives its exact result rounded to the nearest.",
)
def narrow_floats_are_rounded_to_nearest(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype, step in (("float16", 2.0**-10), ("bfloat16", 2.0**-7)):
        one = floats(dtype, [1, 1 + step, 1 + 2 * step, 3, 1 - step / 2, 255])
        tiny = floats(dtype, [step / 2, step / 2 + step / 8, step, step / 4, 3, 0.1])
        for op in ("AddV2", "Sub", "Mul", "RealDiv"):
            rows.add(op, column(one), tiny)
        rows.add("Square", one)
        rows.add("Sqrt", one)
        rows.add("AddN", [one, tiny, one])
    rows.run()


@engine_case(
    "OPERATIONS-058",
    title="Sums and products of float32 and float64 keep every bit of their precision.",
)
def wide_floats_keep_their_precision(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind, step in ((f32, 2.0**-23), (f64, 2.0**-52)):
        x = kind([1, 1 + step, 1 / 3, np.pi, -1e10, 123456.789])
        for op in ("AddV2", "Sub", "Mul", "RealDiv"):
            rows.add(op, column(x), x)
        rows.add("Sqrt", np.abs(x))
        for op in ("Exp", "Sin", "Cos", "Tanh", "Log", "Rsqrt"):
            rows.add(op, np.abs(x[:4]))
        rows.add("MatMul", x.reshape(2, 3)[:, :2], (x * kind(1 + 2 * step)).reshape(2, 3))
    rows.run()


@engine_case(
    "OPERATIONS-059",
    title="Round and Rint give the even one of two nearest integers; Floor and Ceil the next.",
)
def halves_are_rounded_to_even(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.25, -0.75, 3.0, -7.25])
        for op in ("Round", "Floor", "Ceil"):
            rows.add(op, x)
    rows.add("Rint", f32([0.5, 1.5, 2.5, -0.5, -1.5]))
    rows.add("Rint", f64([0.5, 1.5, 2.5, -0.5, -1.5]))
    rows.run()


@engine_case(
    "OPERATIONS-060",
    title="Rounding leaves numbers beyond the range of integers, infinities and NaN as they are.",
)
def rounding_leaves_huge_numbers(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64):
        x = kind([3e9, -3e9, 1e19, -1e19, 2**52 + 0.5, np.inf, -np.inf, np.nan])
        for op in ("Round", "Rint", "Floor", "Ceil"):
            rows.add(op, x)
    rows.run()


# --- functions at their limits ------------------------------------------------------------


@engine_case(
    "OPERATIONS-061",
    title="Functions give NaN outside their domain, infinities at poles and overflow, limits at "
    "infinity.",
)
def functions_have_their_limits(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [0.0, 1, -1, -2, _INF, -_INF, _NOT])
        for op in (
            "Sqrt",
            "Rsqrt",
            "Log",
            "Log1p",
            "Exp",
            "Expm1",
            "Tanh",
            "Sigmoid",
            "Softplus",
            "Reciprocal",
            "Inv",
            "Sign",
            "Atan",
            "Cosh",
            "Sinh",
            "Asinh",
            "Square",
            "Abs",
        ):
            rows.add(op, x)
        outside = floats(dtype, [1.5, -1.5, 1, -1])
        for op in ("Asin", "Acos", "Atanh"):
            rows.add(op, outside)
        rows.add("Acosh", floats(dtype, [0.5, -1, 1, 2]))
    rows.run()


@engine_case(
    "OPERATIONS-064",
    title="Exponentials overflow to infinity and vanish; the squashing functions end at their "
    "bounds.",
)
def large_arguments_do_not_break_functions(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [1000, -1000, 60, -60, 20, -20])
        for op in ("Tanh", "Sigmoid", "Softplus", "Softsign", "Elu", "Selu", "Expm1", "Atan"):
            rows.add(op, x)
        rows.add("Exp", x[:2])
        rows.add("Asinh", floats(dtype, [-1000, 1000, 0.5]))
    for kind in (f32, f64):
        x = kind([1e4, -1e4, 12345.678, 1e6])
        for op in ("Sin", "Cos", "Tan"):
            rows.add(op, x)
    rows.run()


@engine_case("OPERATIONS-063", title="Expm1, Log1p, Sinh, Tanh and Asinh are accurate near zero.")
def functions_are_accurate_near_zero(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind, small in ((f32, 1e-6), (f64, 1e-12)):
        x = kind([small, -small, 3 * small, 1e-3, -1e-3])
        for op in ("Expm1", "Log1p", "Sinh", "Tanh", "Asinh", "Atanh", "Sin", "Atan"):
            rows.add(op, x)
        rows.add("Xlog1py", kind([2, 3, 0, -1, 5]), x)
    rows.run()


@engine_case(
    "OPERATIONS-062",
    title="Atan2 tells the quadrants apart; Pow has its limits; NextAfter steps by one unit.",
)
def functions_of_two_numbers_have_their_limits(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [0.0, 1, -1, 2.5, -3, _INF, -_INF])
        rows.add("Atan2", column(x), x)
        base = floats(dtype, [0.0, 1, -1, 2, -2, 0.5, _INF])
        rows.add("Pow", column(base), floats(dtype, [0, 1, 2, 3, -1, -2]))
        rows.add("Pow", base[3:4], floats(dtype, [0.5, _NOT, 9.0, 10.0]))
        rows.add("Pow", floats(dtype, [-8.0, _NOT, _NOT]), floats(dtype, [0.5, 0, 2]))
    for kind in (f32, f64):
        rows.add("NextAfter", kind([1, 1, 1, -1, np.nan]), kind([2, 0, 1, -1, 1]))
    rows.run()


# --- guarded against zero, and NaN --------------------------------------------------------


@engine_case(
    _GUARDED,
    title="MulNoNan and DivNoNan are 0 where the second number is 0, Xdivy, Xlogy and Xlog1py "
    "where the first is.",
)
def zero_wins_over_nan(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [0.0, -0.0, 2, -3, _INF, -_INF, _NOT])
        for op in ("MulNoNan", "DivNoNan", "Xdivy"):
            rows.add(op, column(x), x)
        y = floats(dtype, [0.0, 1, 2.5, _INF, _NOT, -2])
        rows.add("Xlogy", column(x), y)
        rows.add("Xlog1py", column(x), floats(dtype, [0.0, -1, 2.5, _INF, _NOT, -2]))
    rows.run()


@engine_case(
    "OPERATIONS-065",
    title="NaN wins over every number in Maximum, Minimum, rectifiers and reductions.",
)
def nan_is_handed_on(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [1, _NOT, -1, 0.0, _INF, -_INF])
        for op in ("Maximum", "Minimum"):
            rows.add(op, column(x), x)
        for op in ("Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Softsign", "Abs", "Sign"):
            rows.add(op, x)
        matrix = np.concatenate([x, x[::-1]]).reshape(4, 3)
        for op in ("Sum", "Mean", "Prod", "Max", "Min"):
            rows.add(op, matrix, axes(1))
        rows.add("Cumsum", x[:3], i32(0))
    rows.run()


@engine_case(
    "OPERATIONS-066",
    title="IsNan, IsInf and IsFinite tell NaN, both infinities and all other numbers apart.",
)
def nan_infinite_and_finite_are_told_apart(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        for op in ("IsNan", "IsInf", "IsFinite"):
            rows.add(op, corners(dtype))
    rows.run()


@engine_case(
    "OPERATIONS-067",
    title="ClipByValue holds every number between its bounds, which may be scalars or tensors.",
)
def values_are_clipped_between_bounds(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = finite(dtype)
        rows.add("ClipByValue", x, floats(dtype, [-1])[0], floats(dtype, [2])[0])
        rows.add("ClipByValue", x, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))
    for dtype in FLOATS:
        x = floats(dtype, [_NOT, 0.5, _INF, -_INF])
        rows.add("ClipByValue", x, floats(dtype, [-1])[0], floats(dtype, [2])[0])
    rows.add("ClipByValue", i32([-9, 0, 9]), i32([-5, 1, 0]), i32([5, 2, 3]))
    rows.add("ClipByValue", f32([4, 5]), f32(3), f32(1))
    rows.run()
