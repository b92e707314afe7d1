"""Translations of reductions by segments: of rows that have one id."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import jax.numpy as jnp
import numpy as np

from sessrun.adapters.jax.reductions import highest, lowest
from sessrun.adapters.jax.rules import COMPLEX, FLOATS, NUMBERS, REALS, Array, Node, rule

__all__: list[str] = []

#: The method of `zeros.at[…]`, and what a segment without rows is.
_METHODS: Final[Mapping[str, tuple[str, Callable[[np.dtype], Array]]]] = {
    "Sum": ("add", lambda dtype: np.zeros((), dtype)),
    "Prod": ("multiply", lambda dtype: np.ones((), dtype)),
    "Max": ("max", lowest),
    "Min": ("min", highest),
}


def _finite(neutral: Array) -> Array:
    """The greatest finite number in place of infinity: the extreme of no row in TensorFlow."""
    if neutral.dtype.kind != "c" and np.isinf(neutral.astype(np.float64)):
        info = jnp.finfo(neutral.dtype)
        return np.array(info.min if neutral < 0 else info.max, neutral.dtype)
    return neutral


def _reduced(data: Array, ids: Array, count: int, kind: str) -> Array:
    """The segments of the data; negative ids are of none."""
    method, neutral = _METHODS[kind]
    inner = data.shape[ids.ndim :]
    start = jnp.full((count, *inner), _finite(neutral(data.dtype)), data.dtype)
    if data.size == 0 or start.size == 0:
        return start
    rows = jnp.reshape(data, (math.prod(ids.shape), *inner))
    places = jnp.where(ids < 0, count, ids).reshape(-1)
    reduced: Array = getattr(start.at[places], method)(rows, mode="drop")
    return reduced


def _unsorted(kind: str) -> Callable[..., Array]:
    def translate(node: Node, data: Array, ids: Array, count: Array) -> Array:
        node.check(data.shape[: ids.ndim] == ids.shape, "there is not one id a row")
        node.check(int(count) >= 0, "num_segments is negative")
        if isinstance(ids, np.ndarray):
            node.check_range(np.maximum(ids, 0), max(int(count), 1))
        return _reduced(data, ids, int(count), kind)

    return translate


def _sorted(kind: str) -> Callable[..., Array]:
    def translate(node: Node, data: Array, ids: Array) -> Array:
        node.check(ids.ndim == 1 and data.shape[:1] == ids.shape, "there is not one id a row")
        node.check(bool(np.all(np.diff(ids) >= 0) and np.all(ids >= 0)), "the ids are not sorted")
        count = int(ids[-1]) + 1 if ids.size else 0
        if kind == "Mean":
            sums = _reduced(data, ids, count, "Sum")
            rows = np.maximum(np.bincount(ids, minlength=count), 1).astype(data.dtype)
            return sums / rows.reshape((-1,) + (1,) * (data.ndim - 1))
        reduced = _reduced(data, ids, count, kind)
        empty = ~np.isin(np.arange(count), ids).reshape((-1,) + (1,) * (data.ndim - 1))
        zero = jnp.asarray(1 if kind == "Prod" else 0, data.dtype)
        return jnp.where(empty, zero, reduced)

    return translate


for _kind in ("Sum", "Prod", "Max", "Min"):
    _dtypes = NUMBERS if _kind in {"Sum", "Prod"} else REALS
    rule(f"UnsortedSegment{_kind}", dtypes=_dtypes, constants="num_segments")(_unsorted(_kind))
    rule(f"Segment{_kind}", dtypes=_dtypes, constants="segment_ids")(_sorted(_kind))
rule("SegmentMean", dtypes=FLOATS | COMPLEX, constants="segment_ids")(_sorted("Mean"))
