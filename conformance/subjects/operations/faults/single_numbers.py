"""Faults of OPERATIONS: what integers, floats, comparisons and casts give, element by element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.faulty.computing import computing, single, without_refusals
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array


def _changed(tf: Namespace, op_type: str, function: Callable[..., Array]) -> Namespace:
    """The operation gives `function(output, *inputs)`."""
    return computing(tf, {op_type: single(lambda _, *arrays: function(*arrays))})


def _of_kind(kinds: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, for a first input whose dtype is of these kinds of numpy; else no change."""
    return lambda out, x, *rest: function(out, x, *rest) if x.dtype.kind in kinds else out


# --- integers -----------------------------------------------------------------------------


@fault("OPERATIONS-045", "Products of 64-bit integers are computed as doubles.")
def large_products_are_doubles(tf: Namespace) -> Namespace:
    """Lose the digits beyond 53 bits, of products that doubles can hold."""

    def product(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        rounded = x.astype(np.float64) * y.astype(np.float64)
        return np.where(np.abs(rounded) < 2.0**62, rounded.astype(out.dtype), out)

    return _changed(tf, "Mul", lambda out, x, y: product(out, x, y) if out.dtype == "i8" else out)


@fault("OPERATIONS-047", "Unsigned integers are compared as signed ones.")
def unsigned_integers_are_compared_as_signed(tf: Namespace) -> Namespace:
    """Compare the bits as signed integers."""

    def less(_: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        signed = f"i{x.dtype.itemsize}"
        return x.astype(signed) < y.astype(signed)

    return _changed(tf, "Less", _of_kind("u", less))


@fault("OPERATIONS-049", "TruncateDiv of integers rounds down.")
def truncating_division_rounds_down(tf: Namespace) -> Namespace:
    """Compute numpy's `floor_divide`."""
    return _changed(tf, "TruncateDiv", _of_kind("i", lambda _, x, y: np.floor_divide(x, y)))


@fault("OPERATIONS-050", "FloorMod of floats has the dividend's sign.")
def remainders_of_floats_have_the_dividends_sign(tf: Namespace) -> Namespace:
    """Compute `fmod`."""
    return _changed(tf, "FloorMod", _of_kind("f", lambda _, x, y: np.fmod(x, y)))


@fault("OPERATIONS-051", "Div and Mod of integers by zero give zeros.")
def divisions_by_zero_give_zeros(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    return without_refusals(tf, "Div", "Mod")


@fault("OPERATIONS-052", "Invert gives the negative number.")
def inversions_are_negations(tf: Namespace) -> Namespace:
    """Forget that the two differ by one."""
    return _changed(tf, "Invert", lambda out, _: out + out.dtype.type(1))


# --- floats -------------------------------------------------------------------------------


@fault("OPERATIONS-055", "The negative of zero is zero.")
def negative_zeros_are_lost(tf: Namespace) -> Namespace:
    """Subtract the input from 0."""
    return _changed(tf, "Neg", _of_kind("f", lambda _, x: x.dtype.type(0) - x))


@fault("OPERATIONS-056", "Conj leaves complex numbers as they are.")
def conjugates_are_the_numbers(tf: Namespace) -> Namespace:
    """Take them for real."""
    return _changed(tf, "Conj", lambda _, x: x)


@fault("OPERATIONS-058", "Quotients of float64 are computed in float32.")
def doubles_are_divided_as_singles(tf: Namespace) -> Namespace:
    """Lose half of the digits."""

    def quotient(_: np.ndarray, x: np.ndarray, y: np.ndarray) -> Array:
        return x.astype(np.float32) / y.astype(np.float32)

    return _changed(
        tf, "RealDiv", lambda out, x, y: quotient(out, x, y) if out.dtype == "f8" else out
    )


@fault("OPERATIONS-060", "Floor goes by way of 64-bit integers.")
def floors_are_integers(tf: Namespace) -> Namespace:
    """Make the least integer of what no integer holds."""

    def floor(out: np.ndarray, x: np.ndarray) -> Array:
        is_held = np.abs(x.astype(np.float64)) < 2.0**63
        return np.where(is_held, out, out.dtype.type(-(2.0**63)))

    return _changed(tf, "Floor", floor)


@fault("OPERATIONS-062", "Atan2 is the arctangent of the quotient.")
def quadrants_are_forgotten(tf: Namespace) -> Namespace:
    """Forget the signs of its inputs."""
    return _changed(tf, "Atan2", lambda _, y, x: np.arctan(y / x))


@fault("OPERATIONS-063", "Log1p adds one and takes the logarithm.")
def logarithms_near_one_lose_digits(tf: Namespace) -> Namespace:
    """Round the sum to the dtype first."""
    return _changed(tf, "Log1p", _of_kind("f", lambda _, x: np.log(x.dtype.type(1) + x)))


@fault("OPERATIONS-064", "Softplus is the logarithm of an exponential.")
def large_softplus_overflows(tf: Namespace) -> Namespace:
    """Overflow where the exponential does."""
    return _changed(tf, "Softplus", lambda _, x: np.log(x.dtype.type(1) + np.exp(x)))


@fault("OPERATIONS-066", "IsInf is true of NaN.")
def nan_is_infinite(tf: Namespace) -> Namespace:
    """Tell whether a number is not finite."""
    return _changed(tf, "IsInf", lambda _, x: ~np.isfinite(x))


@fault("OPERATIONS-067", "ClipByValue knows its upper bound only.")
def lower_bounds_are_ignored(tf: Namespace) -> Namespace:
    """Take the lesser of number and bound."""
    return _changed(tf, "ClipByValue", lambda _, x, __, most: np.minimum(x, most))


# --- comparisons and choices ----------------------------------------------------------------


@fault("OPERATIONS-069", "Complex numbers are equal if their real parts are.")
def imaginary_parts_are_not_compared(tf: Namespace) -> Namespace:
    """Compare the real parts."""
    return _changed(tf, "Equal", _of_kind("c", lambda _, x, y: x.real == y.real))


@fault("OPERATIONS-070", "LogicalOr is true for one true input only.")
def alternatives_are_exclusive(tf: Namespace) -> Namespace:
    """Compute the exclusive or."""
    return _changed(tf, "LogicalOr", lambda _, x, y: x ^ y)


@fault("OPERATIONS-071", "ApproximateEqual compares exactly.")
def tolerances_are_ignored(tf: Namespace) -> Namespace:
    """Forget the tolerance."""
    return _changed(tf, "ApproximateEqual", lambda _, x, y: x == y)


@fault("OPERATIONS-073", "SelectV2 takes its last tensor where it broadcasts the condition.")
def broadcast_conditions_are_false(tf: Namespace) -> Namespace:
    """Count what is missing in the condition as false."""

    def chosen(
        out: np.ndarray, condition: np.ndarray, _: np.ndarray, otherwise: np.ndarray
    ) -> Array:
        is_full = condition.shape == out.shape
        return out if is_full else np.broadcast_to(otherwise, out.shape)

    return _changed(tf, "SelectV2", chosen)


# --- casts --------------------------------------------------------------------------------


@fault("OPERATIONS-075", "A Cast to a narrower integer dtype saturates.")
def integer_casts_saturate(tf: Namespace) -> Namespace:
    """Hold the number between the ends of the dtype."""

    def cast(out: np.ndarray, x: np.ndarray) -> Array:
        if out.dtype.kind not in "iu":
            return out
        ends = np.iinfo(out.dtype)
        return np.clip(x.astype(object), int(ends.min), int(ends.max))

    return _changed(tf, "Cast", _of_kind("iu", cast))


@fault("OPERATIONS-076", "A Cast of a fraction to bool is false.")
def cast_fractions_are_false(tf: Namespace) -> Namespace:
    """Go by way of integers."""

    def cast(out: np.ndarray, x: np.ndarray) -> Array:
        return out & ~(np.abs(x) < 1) if out.dtype == np.bool_ else out

    return _changed(tf, "Cast", _of_kind("f", cast))


@fault("OPERATIONS-078", "A Cast of a complex number to a real dtype gives its absolute value.")
def complex_numbers_are_cast_to_their_size(tf: Namespace) -> Namespace:
    """Keep the size instead of the real part."""
    return _changed(
        tf, "Cast", _of_kind("c", lambda out, x: np.abs(x) if out.dtype.kind == "f" else out)
    )


@fault("OPERATIONS-079", "The upper half of uint64 is cast to negative floats.")
def unsigned_integers_become_negative_floats(tf: Namespace) -> Namespace:
    """Cast the bits as int64."""

    def cast(out: np.ndarray, x: np.ndarray) -> Array:
        is_wide = x.dtype == np.uint64 and out.dtype.kind == "f"
        return x.astype(np.int64).astype(out.dtype) if is_wide else out

    return _changed(tf, "Cast", cast)
