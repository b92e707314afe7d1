"""Vectors of OPERATIONS: sums and the like of the rows that share a segment."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import FLOATS, INTEGERS, axes, f32, f64, floats, i32, i64
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows
from sessrun.conformance.generators.graphdef import CPU

_SORTING = ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")
_UNSORTING = (
    "UnsortedSegmentSum",
    "UnsortedSegmentProd",
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
)
_X = f32([[1, -2], [3, 4], [-5, 6], [7, 0.5]])


@engine_case(
    "OPERATIONS-089",
    title="Rows of one segment are summed, averaged, multiplied and compared, in segments of "
    "any size.",
)
def rows_of_a_segment_are_combined(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _SORTING:
        rows.add(op, _X, axes(0, 0, 1, 1))
        rows.add(op, _X, i64([0, 1, 1, 1]))
        rows.add(op, _X, axes(0, 1, 2, 3))
        rows.add(op, _X.reshape(4, 1, 2), axes(0, 0, 0, 0))
        rows.add(op, i32([9, 8, -7, 6]), axes(0, 0, 1, 1))
    rows.run()


@engine_case("OPERATIONS-090", title="A segment without rows is zero, and for products one.")
def skipped_segments_have_a_value(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _SORTING:
        rows.add(op, _X, axes(0, 0, 3, 3))
        rows.add(op, _X, axes(2, 2, 2, 4))
        rows.add(op, i32([9, 8, -7, 6]), axes(1, 1, 3, 3))
        rows.add(op, f64([1.5, 2.5]), axes(0, 2))
    rows.run()


@engine_case(
    "OPERATIONS-091", title="Segment ids that fall, or are not one for each row, are refused."
)
def unsorted_segments_are_refused(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _SORTING:
        rows.refuse(op, _X, axes(0, 1, 0, 1), codes=[3], device=CPU)
        rows.refuse(op, _X, axes(0, 1, 2), codes=[3], device=CPU)
    rows.run()


@engine_case(
    "OPERATIONS-092",
    title="Slices are combined by segment in any order; a segment without slices has 0, 1, or "
    "an end of the dtype.",
)
def slices_are_combined_in_any_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _UNSORTING:
        rows.add(op, _X, axes(2, 0, 2, 4), i32(6))
        rows.add(op, _X, i32([[0, 1], [1, 0], [3, 3], [0, 0]]), i32(5))
        for dtype in FLOATS:
            rows.add(op, floats(dtype, [1, -2]), axes(0, 2), i32(3))
        for dtype in INTEGERS:
            rows.add(op, np.array([1, 2], dtype), axes(0, 2), i64(3))
        rows.add(op, np.zeros((0, 2), f32), axes(), i32(2))
    rows.run()


@engine_case(
    "OPERATIONS-093",
    title="A slice with a negative segment is left out; a segment not below their number is "
    "refused.",
)
def negative_segments_are_left_out(c: EngineAuthor) -> None:
    rows = Rows(c)
    for op in _UNSORTING:
        rows.add(op, _X, axes(-1, 0, 1, -2), i32(2))
        rows.add(op, i32([5, 6]), axes(-1, -1), i32(2))
        rows.refuse(op, _X, axes(0, 1, 2, 0), i32(2), codes=[3], device=CPU)
    rows.run()


@engine_case("OPERATIONS-094", title="Bincount counts what is below its size, or adds up weights.")
def numbers_are_counted(c: EngineAuthor) -> None:
    rows = Rows(c)
    numbers = i32([0, 2, 2, 5, 1])
    for kind in (i32, i64, f32, f64):
        rows.add("Bincount", numbers, i32(6), kind([]))
        rows.add("Bincount", numbers, i32(3), kind([1, 2, 3, 4, 5]))
        rows.add("Bincount", i32([]), i32(2), kind([]))
    rows.refuse("Bincount", i32([1, -1]), i32(3), i32([]), codes=[3], device=CPU)
    rows.run()
