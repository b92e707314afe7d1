"""Definitions of reductions, running sums and products, and of the places of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition, is_integer, rounded, wide

__all__: list[str] = []


def _axes(x: Array, indices: Array) -> tuple[int, ...]:
    """The dimensions that go, counted from the front; an index may come as a scalar."""
    return tuple(int(index) % x.ndim for index in np.reshape(indices, -1))


def _sum(x: Array, axis: tuple[int, ...]) -> Array:
    return wide(x).sum(axis=axis, keepdims=True, dtype=wide(x).dtype)


def _product(x: Array, axis: tuple[int, ...]) -> Array:
    return wide(x).prod(axis=axis, keepdims=True, dtype=wide(x).dtype)


def _mean(x: Array, axis: tuple[int, ...]) -> Array:
    """The sum over the count; of integers the sum modulo 2**64, the quotient towards 0."""
    count = int(np.prod([x.shape[i] for i in axis], dtype=np.int64))
    if not is_integer(x):
        return _sum(x, axis) / np.float64(count)
    longest = np.dtype(f"{x.dtype.kind}8")
    total = x.sum(axis=axis, keepdims=True, dtype=longest).astype(object)
    return np.where(total < 0, -(-total // count), total // count)


def _least(x: Array) -> float:
    """What is below every number of the dtype."""
    return np.iinfo(x.dtype).min if is_integer(x) else -np.inf


def _most(x: Array) -> float:
    return np.iinfo(x.dtype).max if is_integer(x) else np.inf


def _largest(x: Array, axis: tuple[int, ...]) -> Array:
    """The largest, NaN if one is; of none the least number."""
    return np.max(wide(x), axis=axis, keepdims=True, initial=_least(x))


def _smallest(x: Array, axis: tuple[int, ...]) -> Array:
    return np.min(wide(x), axis=axis, keepdims=True, initial=_most(x))


def _norm(x: Array, axis: tuple[int, ...]) -> Array:
    """The root of the sum of the squares of the sizes; of integers truncated."""
    if is_integer(x):
        squares = (x * x).sum(axis=axis, keepdims=True, dtype=x.dtype)
        return np.trunc(np.sqrt(squares.astype(np.float64)))
    return np.sqrt((np.abs(wide(x)) ** 2).sum(axis=axis, keepdims=True))


def _all(x: Array, axis: tuple[int, ...]) -> Array:
    """True of none."""
    return np.all(x, axis=axis, keepdims=True)


def _any(x: Array, axis: tuple[int, ...]) -> Array:
    """False of none."""
    return np.any(x, axis=axis, keepdims=True)


_REDUCTIONS: Final[dict[str, Callable[[Array, tuple[int, ...]], Array]]] = {
    "Sum": _sum,
    "Prod": _product,
    "Mean": _mean,
    "Max": _largest,
    "Min": _smallest,
    "EuclideanNorm": _norm,
    "All": _all,
    "Any": _any,
}


def _define(name: str, function: Callable[[Array, tuple[int, ...]], Array]) -> None:
    @definition(name)
    def defined(x: Array, indices: Array, *, keep_dims: bool) -> Array:
        axis = _axes(x, indices)
        kept = rounded(function(x, axis), x.dtype)
        return kept if keep_dims else kept.squeeze(axis)


for _name, _function in _REDUCTIONS.items():
    _define(_name, _function)


@definition("ArgMax")
def _arg_max(x: Array, dimension: Array) -> Array:
    """Where along the axis the largest number is, the first of equal ones; NaN is passed over."""
    return np.argmax(_without_nan(x, -np.inf), axis=int(dimension))


@definition("ArgMin")
def _arg_min(x: Array, dimension: Array) -> Array:
    return np.argmin(_without_nan(x, np.inf), axis=int(dimension))


def _without_nan(x: Array, instead: float) -> Array:
    """The numbers, another one instead of NaN."""
    values = wide(x)
    return np.where(np.isnan(values), instead, values) if values.dtype.kind == "f" else values


Step = Callable[[Array, Array], Array]


def _running(
    x: Array, axis: Array, step: Step, start: float, *, exclusive: bool, reverse: bool
) -> Array:
    """What `step` makes of each element and all before it along the axis.

    Args:
      x: the numbers.
      axis: a scalar.
      step: takes the result so far and the next element.
      start: the result before the first element.
      exclusive: leave out the element itself.
      reverse: go from the last to the first.

    """
    rows = np.moveaxis(wide(x), int(axis), 0)
    rows = rows[::-1] if reverse else rows
    so_far = np.full(rows.shape[1:], start, rows.dtype)
    values = np.empty_like(rows)
    for position, row in enumerate(rows):
        after = step(so_far, row)
        values[position] = so_far if exclusive else after
        so_far = after
    values = values[::-1] if reverse else values
    return rounded(np.moveaxis(values, 0, int(axis)), x.dtype)


@definition("Cumsum")
def _cumsum(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    return _running(x, axis, np.add, 0, exclusive=exclusive, reverse=reverse)


@definition("Cumprod")
def _cumprod(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    return _running(x, axis, np.multiply, 1, exclusive=exclusive, reverse=reverse)


@definition("CumulativeLogsumexp")
def _cumulative_logsumexp(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    """The logarithm of the running sum of exponentials; of none minus infinity."""
    return _running(x, axis, np.logaddexp, -np.inf, exclusive=exclusive, reverse=reverse)
