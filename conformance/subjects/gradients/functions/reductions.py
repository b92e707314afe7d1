"""Reductions, norms, running sums and reductions by segments."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.subjects.gradients.functions.inputs import (
    ALL,
    REAL,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []

#: Reductions, the dtypes they are drawn in, and whether they take all numbers.
_REDUCTIONS: Final = {
    "reduce_sum": ALL,
    "reduce_mean": ALL,
    "reduce_prod": ALL,
    "reduce_max": REAL,
    "reduce_min": REAL,
    "reduce_logsumexp": WIDE,
    "math.reduce_variance": WIDE,
}
#: The same where the gradient is not determined at ties or zeros.
_SMOOTH: Final = ("math.reduce_std", "math.reduce_euclidean_norm")
_SEGMENTS: Final = ("sum", "mean", "prod", "max", "min")


def axes(x: Inputs, rank: int) -> int | list[int] | None:
    """The axes of a reduction: all, one, several or none."""
    if not rank or x.draw.random() < 0.2:
        return None
    if x.flag():
        return x.axis(rank)
    return x.draw.sample(range(rank), x.draw.randint(0, rank))


def _reduction(name: str, dtypes: tuple[str, ...]) -> None:
    @function(name, dtypes)
    def _(x: Inputs) -> Form:
        shape = x.shape(0, 4)
        return x.call(name, x.tensor(shape), axes(x, len(shape)), x.flag())


for _name, _dtypes in _REDUCTIONS.items():
    _reduction(_name, _dtypes)


def _smooth_reduction(name: str) -> None:
    @function(name, WIDE)
    def _(x: Inputs) -> Form:
        shape = x.shape(1, 4, 2, 4)
        return x.call(name, x.tensor(shape, 0.5, 2.0, corners=False), x.axis(len(shape)), x.flag())


for _name in _SMOOTH:
    _smooth_reduction(_name)


@function("norm", WIDE)
def _norm(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    orders: tuple[float | str, ...] = ("euclidean", 1, 2, 3, np.inf)
    order = x.choice(*orders)
    value = x.tensor(shape, 0.5, 2.0, corners=False)
    return x.call("norm", value, order, x.axis(len(shape)), x.flag())


@function("norm of matrices", WIDE)
def _norm_of_matrices(x: Inputs) -> Form:
    value = x.tensor(x.shape(2, 3), 0.5, 2.0, corners=False)
    orders: tuple[float | str, ...] = ("fro", "euclidean", 1, np.inf)
    return x.call("norm", value, x.choice(*orders), [-2, -1])


@function("math.l2_normalize", WIDE)
def _l2_normalize(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    return x.call("math.l2_normalize", x.tensor(shape), x.axis(len(shape)), x.choice(1e-12, 0.5))


@function("linalg.normalize", WIDE)
def _normalize(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    value = x.tensor(shape, 0.5, 2.0, corners=False)
    return {"$item": [x.call("linalg.normalize", value, x.choice("euclidean", 1, 3), -1), 0]}


def _running(name: str, dtypes: tuple[str, ...]) -> None:
    @function(name, dtypes)
    def _(x: Inputs) -> Form:
        shape = x.shape(1, 3)
        return x.call(name, x.tensor(shape), x.axis(len(shape)), x.flag(), x.flag())


_running("cumsum", ALL)
_running("cumprod", ALL)
_running("math.cumulative_logsumexp", WIDE)


@function("softmax along an axis", REAL)
def _softmax(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    return x.call("nn.softmax", x.tensor(shape, way="known"), x.axis(len(shape)))


@function("log_softmax along an axis", REAL)
def _log_softmax(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    return x.call("nn.log_softmax", x.tensor(shape, way="known"), x.axis(len(shape)))


def _by_segments(kind: str) -> None:
    @function(f"segment_{kind} of rows", WIDE)
    def _(x: Inputs) -> Form:
        count = x.draw.randint(1, 4)
        ids = sorted(x.draw.randrange(4) for _ in range(count))
        return x.call(
            f"math.segment_{kind}", x.tensor((count, *x.shape(0, 2))), x.given(ids, "int32")
        )

    @function(f"unsorted_segment_{kind} of rows", WIDE)
    def _(x: Inputs) -> Form:
        outer = x.shape(1, 2)
        ids = x.integers(outer, -2, 3)
        return x.call(f"math.unsorted_segment_{kind}", x.tensor((*outer, *x.shape(0, 2))), ids, 4)


for _kind in _SEGMENTS:
    _by_segments(_kind)


@function("unsorted_segment_sqrt_n", WIDE)
def _unsorted_sqrt_n(x: Inputs) -> Form:
    outer = x.shape(1, 2)
    return x.call(
        "math.unsorted_segment_sqrt_n", x.tensor((*outer, 2)), x.integers(outer, -2, 3), 3
    )


def _sparse_segments(kind: str) -> None:
    @function(f"sparse_segment_{kind} of rows", WIDE, second=False)
    def _(x: Inputs) -> Form:
        count, rows = x.draw.randint(1, 4), x.draw.randint(1, 3)
        indices = x.integers((count,), 0, rows)
        ids = x.given(sorted(x.draw.randrange(3) for _ in range(count)), "int32")
        more = {"num_segments": 4} if x.flag() else {}
        return x.call(
            f"sparse.segment_{kind}", x.tensor((rows, *x.shape(0, 2))), indices, ids, **more
        )


for _kind in ("sum", "mean", "sqrt_n"):
    _sparse_segments(_kind)
