"""Faults of OPERATIONS: arithmetic, rounding, comparison and conversion of single numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.faulty.computing import Change, computing, single
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call

_NARROWEST = 2


def _numbers(function: Call) -> Change:
    """A change of the only output to `function(output, *inputs)`."""
    return single(lambda _, *arrays: function(*arrays))


def _integers(function: Call) -> Change:
    """A change as by `_numbers`, but only where the first input is of integers."""
    return _numbers(lambda out, *xs: function(out, *xs) if xs[0].dtype.kind in "iu" else out)


# --- integers -----------------------------------------------------------------------------


@fault("OPERATIONS-004", "Integer sums, differences and products saturate at the ends.")
def integer_arithmetic_saturates(tf: Namespace) -> Namespace:
    """Clip the exact result to the range of the dtype."""

    def saturating(combine: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Change:
        def held(_: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
            info = np.iinfo(x.dtype)
            exact = combine(x.astype(object), y.astype(object))
            return np.clip(exact, int(info.min), int(info.max)).astype(x.dtype)

        return _integers(held)

    return computing(
        tf,
        {
            "AddV2": saturating(lambda x, y: x + y),
            "Sub": saturating(lambda x, y: x - y),
            "Mul": saturating(lambda x, y: x * y),
        },
    )


@fault("OPERATIONS-046", "64-bit integers are compared as doubles.")
def large_integers_are_compared_as_doubles(tf: Namespace) -> Namespace:
    """Convert both inputs to float64."""

    def change(compare: np.ufunc) -> Change:
        return _integers(lambda _, x, y: compare(x.astype(np.float64), y.astype(np.float64)))

    return computing(
        tf, {"Equal": change(np.equal), "Less": change(np.less), "Greater": change(np.greater)}
    )


@fault("OPERATIONS-048", "FloorDiv of integers truncates.")
def floor_division_truncates(tf: Namespace) -> Namespace:
    """Round the quotient towards zero, like C."""

    def truncated(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        return out + ((x % y != 0) & ((x < 0) != (y < 0)))

    return computing(tf, {"FloorDiv": _integers(truncated)})


@fault("OPERATIONS-053", "A right shift of a negative integer fills up with zeros.")
def right_shifts_are_logical(tf: Namespace) -> Namespace:
    """Shift the bits as an unsigned integer."""

    def shifted(_: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        unsigned = f"u{x.dtype.itemsize}"
        return (x.astype(unsigned) >> y.astype(unsigned)).astype(x.dtype)

    return computing(tf, {"RightShift": _numbers(shifted)})


# --- floats -------------------------------------------------------------------------------


@fault("OPERATIONS-054", "The difference of two infinities of one sign is zero.")
def infinities_cancel(tf: Namespace) -> Namespace:
    """Give 0 where the operands are equal."""
    return computing(
        tf, {"Sub": _numbers(lambda out, x, y: np.where(x == y, x.dtype.type(0), out))}
    )


@fault("OPERATIONS-057", "Sums in bfloat16 are cut off instead of rounded.")
def narrow_sums_are_cut_off(tf: Namespace) -> Namespace:
    """Drops the lower half of the float32 sum."""

    def cut(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        if out.dtype.name != "bfloat16":
            return out
        wide = np.atleast_1d(x.astype(np.float32) + y.astype(np.float32))
        kept = (wide.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return kept.reshape(out.shape)

    return computing(tf, {"AddV2": _numbers(cut)})


@fault("OPERATIONS-059", "Round rounds halves away from zero.")
def halves_are_rounded_away(tf: Namespace) -> Namespace:
    """Round like C's `round`."""
    away = _numbers(lambda _, x: np.sign(x) * np.floor(np.abs(x) + x.dtype.type(0.5)))
    return computing(tf, {"Round": away})


@fault("OPERATIONS-061", "The logarithm of zero is a large negative number.")
def logarithms_of_zero_are_finite(tf: Namespace) -> Namespace:
    """Give -80 for the logarithm of 0."""
    clipped = _numbers(lambda out, x: np.where(x == 0, x.dtype.type(-80), out))
    return computing(tf, {"Log": clipped})


@fault("OPERATIONS-012", "DivNoNan of NaN over zero is NaN.")
def nan_over_zero_is_nan(tf: Namespace) -> Namespace:
    """Guards against the divisor only where the dividend is a number."""
    return computing(tf, {"DivNoNan": _numbers(lambda out, x, _: np.where(np.isnan(x), x, out))})


@fault("OPERATIONS-065", "Maximum of NaN and a number is the number.")
def maxima_ignore_nan(tf: Namespace) -> Namespace:
    """Compute `fmax`."""
    ignoring = _numbers(lambda out, x, y: np.fmax(x, y) if x.dtype.kind == "f" else out)
    return computing(tf, {"Maximum": ignoring})


@fault("OPERATIONS-068", "NaN equals NaN.")
def nan_equals_itself(tf: Namespace) -> Namespace:
    """Give True where both inputs are NaN."""

    def equal(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        return out | (np.isnan(x) & np.isnan(y)) if x.dtype.kind == "f" else out

    return computing(tf, {"Equal": _numbers(equal)})


@fault("OPERATIONS-072", "Select with a vector chooses by columns where the matrices are square.")
def vectors_select_columns(tf: Namespace) -> Namespace:
    """Broadcasts the condition instead of taking rows."""

    def chosen(out: np.ndarray, condition: np.ndarray, t: np.ndarray, e: np.ndarray) -> Array:
        if condition.ndim != 1 or t.ndim != 2 or len(condition) != t.shape[1]:
            return out
        return np.where(condition, t, e)

    return computing(tf, {"Select": _numbers(chosen)})


# --- conversions --------------------------------------------------------------------------


@fault("OPERATIONS-074", "A Cast of a float to an integer rounds.")
def casts_to_integers_round(tf: Namespace) -> Namespace:
    """Rounds to the nearest first."""

    def rounded(out: np.ndarray, x: np.ndarray) -> Array:
        is_float = x.dtype.kind == "f" and out.dtype.kind in "iu"
        return np.rint(x) if is_float else out

    return computing(tf, {"Cast": _numbers(rounded)})


@fault("OPERATIONS-077", "A Cast beyond the range of float16 gives its largest number.")
def casts_to_narrow_floats_saturate(tf: Namespace) -> Namespace:
    """Clip the input to the range of float16."""

    def held(out: np.ndarray, x: np.ndarray) -> Array:
        if out.dtype != np.float16 or x.dtype.itemsize <= _NARROWEST or x.dtype.kind != "f":
            return out
        return np.clip(x, -65504, 65504)

    return computing(tf, {"Cast": _numbers(held)})


@fault("OPERATIONS-018", "Bitcast to smaller numbers gives the highest bytes first.")
def bits_come_highest_first(tf: Namespace) -> Namespace:
    """Reverse the last dimension."""
    turned = _numbers(lambda out, x: out[..., ::-1] if out.ndim > x.ndim else out)
    return computing(tf, {"Bitcast": turned})
