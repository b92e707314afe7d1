"""Vectors of OPERATIONS: reductions over some axes, over all, over none and over nothing."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    FLOATS,
    INTEGERS,
    axes,
    f32,
    floats,
    i32,
    i64,
    limits,
    text,
    u8,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_MEANS = "OPERATIONS-021"
_RUNNING = "OPERATIONS-023"

_NAN = float("nan")
_NUMERIC = ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm")
_X = np.arange(-12, 12, dtype=f32).reshape(2, 3, 4)
_Q = (_X % 5 > 1).astype(bool)


@engine_case(
    "OPERATIONS-080",
    title="A reduction takes the axes it is given, counted from the front or from the back, one "
    "or several.",
)
def axes_count_from_both_ends(c: EngineAuthor) -> None:
    rows = Rows(c)
    for chosen in (axes(0), axes(1), axes(-1), axes(-3), axes(-2, 2), axes(0, 1, 2)):
        for op in _NUMERIC:
            rows.add(op, _X, chosen)
        for op in ("All", "Any"):
            rows.add(op, _Q, chosen)
    rows.add("Sum", _X, i32(-2))
    rows.add("Max", _X, i64([2, 0]))
    rows.run()


@engine_case(
    "OPERATIONS-082", title="A reduction over no axes gives the input, element by element."
)
def no_axes_reduce_nothing(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _NUMERIC:
        rows.add(op, _X, axes())
        rows.add(op, _X, axes(), keep_dims=True)
    for op in ("All", "Any"):
        rows.add(op, _Q, axes())
    rows.add("Sum", f32(3), axes())
    rows.run()


@engine_case("OPERATIONS-083", title="With keep_dims the reduced axes stay, with size 1.")
def reduced_axes_are_kept(c: EngineAuthor) -> None:
    rows = Rows(c)
    for chosen in (axes(1), axes(-1), axes(0, 2), axes(0, 1, 2)):
        for op in _NUMERIC:
            rows.add(op, _X, chosen, keep_dims=True)
        for op in ("All", "Any"):
            rows.add(op, _Q, chosen, keep_dims=True)
    words = text(b"a", b"b", b"c", b"", b"e", b"f", shape=(2, 3))
    rows.add("ReduceJoin", words, axes(1), keep_dims=True, separator="-")
    rows.run()


@engine_case(
    "OPERATIONS-081",
    title="An axis out of range, and one named twice, are refused by every reduction.",
)
def axes_out_of_range_are_refused(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _NUMERIC:
        rows.refuse(op, _X, axes(3), codes=[3])
        rows.refuse(op, _X, axes(-4), codes=[3])
        rows.refuse(op, _X, axes(1, -2), codes=[3])
    rows.refuse("All", _Q, axes(3), codes=[3])
    rows.refuse("ArgMax", _X, i32(3), codes=[3])
    rows.refuse("Cumsum", _X, i32(-4), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-084", title="Over no elements a sum is 0, a product 1, All is true and Any false."
)
def nothing_has_a_sum_and_a_product(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8"):
        x = floats(dtype, []).reshape(2, 0, 3) if dtype in FLOATS else np.zeros((2, 0, 3), dtype)
        for op in ("Sum", "Prod"):
            rows.add(op, x, axes(1))
            rows.add(op, x, axes(0, 1, 2))
            rows.add(op, x, axes(0))
    for op in ("All", "Any"):
        rows.add(op, np.zeros((0, 2), bool), axes(0))
        rows.add(op, np.zeros((0, 2), bool), axes(0, 1), keep_dims=True)
    rows.add("EuclideanNorm", np.zeros((3, 0), f32), axes(1))
    rows.run()


@engine_case(
    "OPERATIONS-085",
    title="Over no elements a maximum is the least number of the dtype, a minimum the greatest, "
    "a mean of floats NaN.",
)
def nothing_has_a_maximum(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        for op in ("Max", "Min", "Mean"):
            rows.add(op, floats(dtype, []).reshape(2, 0), axes(1))
    for dtype in INTEGERS:
        for op in ("Max", "Min"):
            rows.add(op, np.zeros((0, 2), dtype), axes(0))
    rows.run()


@engine_case(_MEANS, title="A mean of integers is their sum divided toward zero.")
def means_of_integers_are_truncated(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        low = limits(dtype)[0]
        x = np.array([[1, 2, 2], [7, 7, 6], [0, 0, 1]], dtype)
        rows.add("Mean", x, axes(1))
        rows.add("Mean", x, axes(0, 1))
        if low:
            rows.add("Mean", -x, axes(1))
            rows.add("Mean", np.array([-5, 2], dtype), axes(0), keep_dims=True)
    rows.run()


@engine_case(
    "OPERATIONS-086",
    title="ArgMax and ArgMin give the first of equal elements, by value and not by size.",
)
def the_first_of_equals_is_found(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("float16", "bfloat16", "float32", "float64", "int32", "int8", "int64"):
        values = [[-5, 2, 2, -5], [1, 1, 1, 1], [-9, -1, -2, -1]]
        x = floats(dtype, np.ravel(values).tolist()).reshape(3, 4)
        for op in ("ArgMax", "ArgMin"):
            for axis in (0, 1, -1, -2):
                rows.add(op, x, i32(axis), output_type="int64")
    rows.add("ArgMax", u8([3, 255, 255]), i64(0), output_type="int32")
    rows.add("ArgMax", np.array([[False, True, True]]), i32(1), output_type="int64")
    rows.add("ArgMin", f32([np.inf, -np.inf, -np.inf]), i32(0), output_type="int32")
    rows.run()


@engine_case("OPERATIONS-087", title="ArgMax and ArgMin pass NaN over.")
def nan_is_passed_over(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [1, _NAN, 3, _NAN, -2, 7, _NAN, 0.5, -9]).reshape(3, 3)
        for op in ("ArgMax", "ArgMin"):
            for axis in (0, 1):
                rows.add(op, x, i32(axis), output_type="int64")
    rows.run()


@engine_case(
    "OPERATIONS-088",
    title="The indices have the dtype that is asked for, and the shape without the axis.",
)
def indices_have_their_dtype(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("int32", "int64"):
        for op in ("ArgMax", "ArgMin"):
            rows.add(op, _X, i32(1), output_type=dtype)
    for dtype in ("int16", "uint16"):
        rows.add("ArgMax", _X, i32(-1), output_type=dtype)
    rows.add("ArgMax", np.zeros((0, 3), f32), i32(1), output_type="int64")
    rows.refuse("ArgMax", np.zeros((0, 3), f32), i32(0), output_type="int64", codes=[3])
    rows.run()


@engine_case(
    _RUNNING, title="Running sums and products, exclusive and from the end, along any axis."
)
def running_totals_are_exclusive_and_reversed(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = i32([[1, 2, 3], [4, 5, 6]])
    for op in ("Cumsum", "Cumprod"):
        for exclusive in (False, True):
            for reverse in (False, True):
                for axis in (0, 1, -1):
                    rows.add(op, x, i32(axis), exclusive=exclusive, reverse=reverse)
                rows.add(op, x.astype(f32), i64(-2), exclusive=exclusive, reverse=reverse)
        rows.add(op, np.zeros((2, 0), f32), i32(1), exclusive=True)
    rows.run()
