"""Vectors of OPERATIONS: comparisons, logic and selection."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    FLOATS,
    INTEGERS,
    c64,
    c128,
    column,
    corners,
    ends,
    f32,
    f64,
    i32,
    i64,
    text,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_ORDER = ("Less", "LessEqual", "Greater", "GreaterEqual")


@engine_case(
    "OPERATIONS-068",
    title="Every comparison with NaN is false but NotEqual; the zeros are equal; infinities are "
    "ordered.",
)
def nan_compares_with_nothing(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = corners(dtype)
        for op in (*_ORDER, "Equal", "NotEqual"):
            rows.add(op, column(x), x)
    rows.run()


@engine_case(
    "OPERATIONS-046", title="Integers of every dtype are compared as the numbers they stand for."
)
def integers_are_compared(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in INTEGERS:
        x = ends(dtype)
        for op in (*_ORDER, "Equal", "NotEqual"):
            rows.add(op, column(x), x)
    rows.run()


@engine_case(
    "OPERATIONS-069",
    title="Floats that differ in their last bit, complex numbers and strings are equal only if "
    "they are the same.",
)
def equality_is_exact(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind, step in ((f32, 2.0**-23), (f64, 2.0**-52)):
        x = kind([1, 1 + step, 1 - step / 2, -1])
        for op in ("Equal", "NotEqual", "Less", "GreaterEqual"):
            rows.add(op, column(x), x)
    for kind in (c64, c128):
        z = kind([1 + 2j, 1 - 2j, 1, 2j, 1 + 2j])
        for op in ("Equal", "NotEqual"):
            rows.add(op, column(z), z)
    words = text(b"", b"a", b"A", b"a\0", b"a\0b", b"\xff\xfe", "grün".encode())
    for op in ("Equal", "NotEqual"):
        rows.add(op, column(words), words)
        rows.add(op, column(np.array([True, False])), np.array([True, False]))
    rows.run()


@engine_case(
    "OPERATIONS-071", title="ApproximateEqual is true up to its tolerance and not above it."
)
def nearly_equal_is_up_to_the_tolerance(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64):
        x, y = kind([1, 1.25, 1.5, 2, -1]), kind([1.5, 1.5, 0.75, 2, -1.75])
        rows.add("ApproximateEqual", x, y, tolerance=0.5)
        rows.add("ApproximateEqual", kind([0, 0]), kind([1e-6, 1e-4]))
    rows.run()


@engine_case("OPERATIONS-070", title="The logical operations have their truth tables, broadcast.")
def logic_has_its_truth_tables(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.array([True, False])
    rows.add("LogicalAnd", column(x), x)
    rows.add("LogicalOr", column(x), x)
    rows.add("LogicalNot", x)
    rows.run()


@engine_case(
    "OPERATIONS-072",
    title="Select takes whole tensors by a scalar, rows by a vector, elements by a tensor of "
    "their shape.",
)
def select_takes_all_rows_or_elements(c: EngineAuthor) -> None:
    rows = Rows(c)
    t, e = i32([[1, 2], [3, 4]]), i32([[-1, -2], [-3, -4]])
    for flag in (True, False):
        rows.add("Select", np.array(flag), t, e)
    rows.add("Select", np.array([True, False]), t, e)
    rows.add("Select", np.array([[True, False], [False, True]]), t, e)
    words = text(b"yes", b"ja", b"", b"\0", shape=(2, 2))
    rows.add("Select", np.array([False, True]), words, words[::-1])
    rows.add("Select", np.array([True, False, True]), f32([1, np.nan, 3]), f32([np.inf, 5, np.nan]))
    rows.run()


@engine_case("OPERATIONS-073", title="SelectV2 broadcasts its condition and both of its tensors.")
def select_v2_broadcasts(c: EngineAuthor) -> None:
    rows = Rows(c)
    t, e = f32([[1, 2, 3], [4, 5, 6]]), f32([[-1], [-2]])
    rows.add("SelectV2", np.array([True, False, True]), t, e)
    rows.add("SelectV2", np.array([[True], [False]]), t, f32(9))
    rows.add("SelectV2", np.array([[[True]], [[False]]]), f32(np.nan), t)
    rows.add("SelectV2", np.array(False), i64([1, 2]), i64([[3], [4]]))
    rows.add("SelectV2", np.zeros((0, 1), bool), t[:1], e[:1])
    rows.run()
