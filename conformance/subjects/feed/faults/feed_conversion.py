"""Faults of FEED: what a fed Python value or numpy array becomes in a tensor of a dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import running
from sessrun.conformance.subjects.feed.faults.feed_keys import resolved
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Tensor, Value

__all__ = ["converting"]


def converting(tf: Namespace, convert: Callable[[Tensor, Any], Value]) -> Namespace:
    """The namespace that feeds `convert(tensor, value)` for each value of a plain key."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        converted = dict(feeds)
        for key, value in feeds.items():
            for tensor, _ in resolved(session, {} if isinstance(key, tuple) else {key: value}):
                converted[key] = convert(tensor, value)
        return base(fetches, converted)

    return running(tf, change)


def _kind(tensor: Tensor) -> str:
    """The letter of a tensor's dtype in numpy: i, u, f, c, b, O for string."""
    return str(np.dtype(tensor.dtype.base_dtype.as_numpy_dtype).kind)


def _array(value: Value) -> np.ndarray:
    """The value as numpy sees it; an array of objects if it is ragged."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0, object)


def _converting_arrays(
    tf: Namespace, target: str, source: str, convert: Callable[[np.ndarray, np.dtype], np.ndarray]
) -> Namespace:
    """The namespace that feeds `convert(array, dtype)` for values and tensors of these kinds.

    Python ints alone, for which other rules hold, are left to the conforming namespace.
    """

    def convert_value(tensor: Tensor, value: Value) -> Value:
        array = _array(value)
        if type(value) is int or _kind(tensor) not in target or array.dtype.kind not in source:
            return value
        return convert(array, np.dtype(tensor.dtype.base_dtype.as_numpy_dtype))

    return converting(tf, convert_value)


# --- text ---------------------------------------------------------------------------------


def _western(value: Value) -> Value:
    if isinstance(value, list):
        return [_western(item) for item in value]
    return value.encode("latin-1", "replace") if isinstance(value, str) else value


@fault("FEED-034", "A fed str is encoded in Latin-1.")
def text_is_latin(tf: Namespace) -> Namespace:
    """Encode the str of a string tensor's value."""
    return converting(tf, lambda tensor, v: _western(v) if _kind(tensor) == "O" else v)


@fault("FEED-052", "A Python int fed to a string tensor is its digits.")
def ints_are_text(tf: Namespace) -> Namespace:
    """Feed the int as text."""

    def convert(tensor: Tensor, value: Value) -> Value:
        return str(value) if _kind(tensor) == "O" and isinstance(value, int) else value

    return converting(tf, convert)


@fault("FEED-046", "Text fed to a float tensor is refused, whatever it spells.")
def text_is_no_number(tf: Namespace) -> Namespace:
    """Raise ValueError for text."""

    def convert(tensor: Tensor, value: Value) -> Value:
        if _kind(tensor) == "f" and isinstance(value, str | bytes):
            raise ValueError("text is no number")
        return value

    return converting(tf, convert)


@fault("FEED-047", "Text that spells no number is NaN in a float tensor.")
def other_text_is_nan(tf: Namespace) -> Namespace:
    """Feed NaN where float() refuses the text."""

    def convert(tensor: Tensor, value: Value) -> Value:
        if _kind(tensor) == "f" and isinstance(value, str | bytes):
            try:
                float(value)
            except ValueError:
                return np.nan
        return value

    return converting(tf, convert)


# --- None and bools -----------------------------------------------------------------------


@fault("FEED-048", "None fed to a float tensor is 0.")
def none_is_zero(tf: Namespace) -> Namespace:
    """Feed 0.0 for None alone."""

    def convert(tensor: Tensor, value: Value) -> Value:
        return 0.0 if value is None and _kind(tensor) == "f" else value

    return converting(tf, convert)


@fault("FEED-049", "None fed to an integer tensor is 0.")
def none_is_integer_zero(tf: Namespace) -> Namespace:
    """Feed 0 for None alone."""

    def convert(tensor: Tensor, value: Value) -> Value:
        return 0 if value is None and _kind(tensor) in "iu" else value

    return converting(tf, convert)


@fault("FEED-050", "A bool fed to a number tensor is refused.")
def bools_are_no_numbers(tf: Namespace) -> Namespace:
    """Raise TypeError for bools."""

    def refuse(_array: np.ndarray, dtype: np.dtype) -> NoReturn:
        raise TypeError(f"a bool is no {dtype}")

    return _converting_arrays(tf, "iufc", "b", refuse)


@fault("FEED-051", "Floats fed to a bool tensor are truncated before they are compared with 0.")
def fractions_are_false(tf: Namespace) -> Namespace:
    """Truncate floats before they are converted to bool."""
    return _converting_arrays(tf, "b", "f", lambda array, _: np.trunc(array))


# --- integers -----------------------------------------------------------------------------


@fault("FEED-041", "A Python int that an integer dtype cannot hold wraps around.")
def python_ints_wrap(tf: Namespace) -> Namespace:
    """Feed the int as an array, whose elements wrap."""

    def convert(tensor: Tensor, value: Value) -> Value:
        return np.asarray(value) if type(value) is int and _kind(tensor) in "iu" else value

    return converting(tf, convert)


@fault("FEED-042", "Integers out of range are the nearest that the dtype holds.")
def integers_saturate(tf: Namespace) -> Namespace:
    """Clip integers to the limits of the dtype."""

    def clip(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        limits = np.iinfo(dtype)
        clipped = [min(max(int(item), limits.min), limits.max) for item in array.flat]
        return np.array(clipped, dtype).reshape(array.shape)

    return _converting_arrays(tf, "iu", "iu", clip)


@fault("FEED-043", "Floats fed to an integer tensor are rounded.")
def floats_are_rounded(tf: Namespace) -> Namespace:
    """Round floats to the nearest integer."""
    return _converting_arrays(tf, "iu", "f", lambda array, _: np.rint(array))


# --- floats -------------------------------------------------------------------------------


@fault("FEED-044", "Numbers that a float dtype cannot hold are cut off towards zero.")
def floats_are_cut_off(tf: Namespace) -> Namespace:
    """Take the next number towards zero where rounding went away from zero."""

    def cut(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        with np.errstate(over="ignore"):
            rounded = array.astype(dtype)
        beyond = np.abs(rounded.astype(np.float64)) > np.abs(array.astype(np.float64))
        return np.where(beyond, np.nextafter(rounded, dtype.type(0)), rounded)

    return _converting_arrays(tf, "f", "iuf", cut)


@fault("FEED-045", "Complex numbers fed to a real tensor are their magnitudes.")
def complex_numbers_are_magnitudes(tf: Namespace) -> Namespace:
    """Feed the absolute values of complex numbers."""
    return _converting_arrays(tf, "f", "c", lambda array, _: np.abs(array))


# --- structures and arrays ----------------------------------------------------------------


def _leaves(value: Value) -> list[Value]:
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


@fault("FEED-037", "A ragged nested list is fed as the list of its numbers.")
def ragged_lists_are_flattened(tf: Namespace) -> Namespace:
    """Flatten the lists that numpy finds ragged."""

    def convert(_tensor: Tensor, value: Value) -> Value:
        try:
            np.asarray(value)
        except ValueError:
            return _leaves(value)
        return value

    return converting(tf, convert)


@fault("FEED-040", "An array is fed in the order of its memory.")
def arrays_are_read_in_memory_order(tf: Namespace) -> Namespace:
    """Put the elements in the order in which they lie in memory."""

    def convert(_tensor: Tensor, value: Value) -> Value:
        if not isinstance(value, np.ndarray) or value.ndim < 2:
            return value
        return value.ravel(order="K").reshape(value.shape)

    return converting(tf, convert)


@fault("FEED-054", "Of Python's sequences only a list can be fed.")
def only_lists_are_sequences(tf: Namespace) -> Namespace:
    """Raise TypeError for tuples and ranges."""

    def convert(_tensor: Tensor, value: Value) -> Value:
        if isinstance(value, tuple | range):
            raise TypeError(f"a {type(value).__name__} cannot be fed")
        return value

    return converting(tf, convert)


@fault("FEED-055", "An object that is no array is not asked for one.")
def objects_are_not_asked(tf: Namespace) -> Namespace:
    """Raise TypeError for objects with `__array__` that are not numpy's own."""

    def convert(_tensor: Tensor, value: Value) -> Value:
        if hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic):
            raise TypeError(f"a {type(value).__name__} cannot be fed")
        return value

    return converting(tf, convert)


@fault("FEED-063", "Arrays of objects are refused by tensors that are not of strings.")
def object_arrays_are_refused(tf: Namespace) -> Namespace:
    """Raise TypeError for arrays of objects."""

    def convert(tensor: Tensor, value: Value) -> Value:
        if isinstance(value, np.ndarray) and value.dtype == object and _kind(tensor) != "O":
            raise TypeError("an array of objects cannot be fed")
        return value

    return converting(tf, convert)
