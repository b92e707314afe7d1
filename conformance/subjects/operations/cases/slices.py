"""Vectors of OPERATIONS: slices by size, and by begin, end, stride and masks."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import axes, f32, i32, i64, text
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_BLOCKS = "OPERATIONS-032"

_X = np.arange(60, dtype=i32).reshape(3, 4, 5)
_LINE = i32([10, 11, 12, 13, 14, 15])


@engine_case(_BLOCKS, title="A Slice has the size asked for, the rest for -1, and may be empty.")
def blocks_have_the_size_asked_for(c: EngineAuthor) -> None:
    rows = Rows(c)
    for begin, size in (
        (axes(0, 0, 0), axes(3, 4, 5)),
        (axes(1, 2, 3), axes(2, 1, 2)),
        (axes(1, 0, 2), axes(-1, 2, -1)),
        (axes(0, 4, 1), axes(1, 0, 2)),
        (axes(3, 0, 0), axes(-1, -1, -1)),
    ):
        rows.add("Slice", _X, begin, size)
    rows.add("Slice", text(b"a", b"\0", b"c"), i64([1]), i64([2]))
    rows.add("Slice", _LINE, axes(6), axes(-1))
    for first, count in ((7, -1), (-1, 2), (4, 3), (0, -2)):
        rows.refuse("Slice", _LINE, axes(first), axes(count), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-118",
    title="Begin and end count from the back where negative, and are clipped to the tensor.",
)
def ends_count_from_the_back_and_are_clipped(c: EngineAuthor) -> None:
    rows = Rows(c)
    for begin, end in ((1, 4), (-3, -1), (2, 99), (-99, 2), (4, 2), (0, 0), (-1, 6), (6, 9)):
        rows.add("StridedSlice", _LINE, axes(begin), axes(end), axes(1))
    rows.add("StridedSlice", _X, i64([-2, 1]), i64([3, -1]), i64([1, 1]))
    rows.run()


@engine_case("OPERATIONS-119", title="Strides leave elements out, and negative ones go backwards.")
def strides_go_forwards_and_backwards(c: EngineAuthor) -> None:
    rows = Rows(c)
    for begin, end, step in (
        (0, 6, 2),
        (1, 6, 4),
        (5, 0, -1),
        (4, -99, -2),
        (-1, -4, -1),
        (0, 6, -1),
        (2, 5, 7),
    ):
        rows.add("StridedSlice", _LINE, axes(begin), axes(end), axes(step))
    rows.add("StridedSlice", _X, axes(2, 0, 4), axes(0, 4, 0), axes(-1, 3, -2))
    rows.refuse("StridedSlice", _LINE, axes(0), axes(3), axes(0), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-120",
    title="The masks of begin and end stand for the ends of the dimension, in the stride's "
    "direction.",
)
def masks_stand_for_the_ends(c: EngineAuthor) -> None:
    rows = Rows(c)
    for step in (1, 2, -1, -2):
        for begin_mask in (0, 1):
            for end_mask in (0, 1):
                rows.add(
                    "StridedSlice",
                    _LINE,
                    axes(2),
                    axes(4 if step > 0 else 0),
                    axes(step),
                    begin_mask=begin_mask,
                    end_mask=end_mask,
                )
    rows.add(
        "StridedSlice",
        _X,
        axes(1, 1, 1),
        axes(2, 2, 2),
        axes(1, -1, 2),
        begin_mask=0b110,
        end_mask=0b011,
    )
    rows.run()


@engine_case(
    "OPERATIONS-121",
    title="A shrunk dimension is one element and goes away; an index outside, or a negative "
    "stride, is refused.",
)
def shrunk_dimensions_go_away(c: EngineAuthor) -> None:
    rows = Rows(c)
    for index in (0, 2, -1, -3):
        rows.add("StridedSlice", _X, axes(index), axes(index + 1), axes(1), shrink_axis_mask=1)
    rows.add("StridedSlice", _X, axes(1, 0, -2), axes(2, 4, 9), axes(1, 2, 1), shrink_axis_mask=5)
    rows.add("StridedSlice", text(b"a", b"\0"), axes(1), axes(2), axes(1), shrink_axis_mask=1)
    rows.refuse("StridedSlice", _LINE, axes(1), axes(0), axes(-1), codes=[3], shrink_axis_mask=1)
    for index in (3, -4):
        rows.refuse(
            "StridedSlice", _X, axes(index), axes(index + 1), axes(1), codes=[3], shrink_axis_mask=1
        )
    rows.run()


@engine_case(
    "OPERATIONS-122",
    title="An ellipsis stands for the dimensions left out, and a new axis has size 1.",
)
def ellipsis_and_new_axes_have_their_place(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("StridedSlice", _X, axes(0, 1), axes(0, 3), axes(1, 1), ellipsis_mask=1)
    rows.add("StridedSlice", _X, axes(1, 0, 2), axes(2, 0, 4), axes(1, 1, 1), ellipsis_mask=2)
    rows.add(
        "StridedSlice", _X, axes(1, 0), axes(2, 0), axes(1, 1), ellipsis_mask=2, shrink_axis_mask=1
    )
    rows.add("StridedSlice", _X, axes(0, 1), axes(0, 3), axes(1, 1), new_axis_mask=1)
    rows.add(
        "StridedSlice",
        _X,
        axes(1, 0, 0),
        axes(2, 0, 0),
        axes(1, 1, 1),
        new_axis_mask=2,
        ellipsis_mask=4,
        shrink_axis_mask=1,
    )
    rows.add("StridedSlice", _LINE, axes(0, 0), axes(0, 0), axes(1, 1), new_axis_mask=3)
    rows.add("StridedSlice", f32(4), axes(0), axes(0), axes(1), new_axis_mask=1)
    rows.run()


@engine_case(
    "OPERATIONS-123",
    title="The gradient of a strided slice is put where the slice was taken, zeros elsewhere.",
)
def gradients_are_put_where_the_slice_was(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("StridedSliceGrad", axes(6), axes(1), axes(6), axes(2), f32([1, 2, 3]))
    rows.add("StridedSliceGrad", axes(6), axes(4), axes(0), axes(-2), f32([1, 2]))
    rows.add(
        "StridedSliceGrad",
        axes(2, 3),
        axes(1, 0),
        axes(2, 2),
        axes(1, 1),
        i32([5, 6]),
        shrink_axis_mask=1,
    )
    rows.refuse("StridedSliceGrad", axes(6), axes(1), axes(6), axes(2), f32([1, 2]), codes=[3])
    rows.run()
