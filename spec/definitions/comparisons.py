"""Definitions of comparisons, logic, choices, and of numbers in another dtype."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, numpy_dtype, rounded, wide

__all__: list[str] = []


def _fit(x: Array, y: Array) -> bool:
    """Whether two shapes broadcast."""
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


@definition("Equal")
def _equal(x: Array, y: Array) -> Array:
    """Element by element; NaN equals nothing. False, a scalar, for shapes that do not fit."""
    return (x == y).astype(bool) if _fit(x, y) else np.array(False)


@definition("NotEqual")
def _not_equal(x: Array, y: Array) -> Array:
    return (x != y).astype(bool) if _fit(x, y) else np.array(True)


@definition("ApproximateEqual")
def _approximate(x: Array, y: Array, *, tolerance: float) -> Array:
    """Whether the rounded difference is at most the tolerance, in the dtype."""
    return np.abs(x - y) <= x.dtype.type(tolerance)


@definition("Less")
def _less(x: Array, y: Array) -> Array:
    """Beside NaN false, as all four orders."""
    return wide(x) < wide(y)


@definition("LessEqual")
def _less_equal(x: Array, y: Array) -> Array:
    return wide(x) <= wide(y)


@definition("Greater")
def _greater(x: Array, y: Array) -> Array:
    return wide(x) > wide(y)


@definition("GreaterEqual")
def _greater_equal(x: Array, y: Array) -> Array:
    return wide(x) >= wide(y)


@definition("LogicalAnd")
def _logical_and(x: Array, y: Array) -> Array:
    return x & y


@definition("LogicalOr")
def _logical_or(x: Array, y: Array) -> Array:
    return x | y


@definition("LogicalNot")
def _logical_not(x: Array) -> Array:
    return ~x


@definition("IsNan")
def _is_nan(x: Array) -> Array:
    return np.isnan(wide(x))


@definition("IsInf")
def _is_inf(x: Array) -> Array:
    return np.isinf(wide(x))


@definition("IsFinite")
def _is_finite(x: Array) -> Array:
    return np.isfinite(wide(x))


@definition("Select")
def _select(condition: Array, t: Array, e: Array) -> Array:
    """`t` where the condition holds, else `e`; a vector of conditions chooses whole rows."""
    rank = t.ndim if condition.ndim == 1 and t.ndim > 1 else condition.ndim
    chosen = condition.reshape(condition.shape + (1,) * (rank - condition.ndim))
    return np.where(chosen, t, e)


@definition("SelectV2")
def _select_v2(condition: Array, t: Array, e: Array) -> Array:
    """All three are broadcast."""
    return np.where(condition, t, e)


@definition("ToBool")
def _to_bool(x: Array) -> Array:
    """A scalar is true unless it is 0 or empty; any other tensor, unless it has no elements."""
    return np.array(bool(x.reshape(-1)[0]) if x.ndim == 0 else x.size > 0)


@definition("Cast")
def _cast(x: Array, *, DstT: str) -> Array:  # noqa: N803 - the attribute's name
    """The same number: without its fraction as an integer, of which the low bits are kept.

    Of complex numbers the real part counts; what is not 0 is true.
    """
    target = numpy_dtype(DstT)
    values = x.real if x.dtype.kind == "c" and target.kind != "c" else x
    if target.kind == "b":
        return values != 0
    if target.kind not in "iu" or values.dtype.kind in "iub":
        return rounded(values, target)
    numbers = [int(number) for number in wide(values).reshape(-1)]
    bits = 8 * target.itemsize
    kept = np.array([number % 2**bits for number in numbers], np.dtype(f"u{target.itemsize}"))
    return kept.astype(target).reshape(values.shape)


@definition("ShardedFilename")
def _sharded_name(basename: Array, shard: Array, count: Array) -> bytes:
    """Both numbers in five digits at least."""
    return b"%b-%05d-of-%05d" % (basename[()], int(shard), int(count))


@definition("ShardedFilespec")
def _sharded_pattern(basename: Array, count: Array) -> bytes:
    """A question mark for each digit of the shard."""
    return b"%b-?????-of-%05d" % (basename[()], int(count))
