"""Vectors of OPERATIONS: tensors made of numbers: ranges, lines, fills, one-hot rows."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    axes,
    c64,
    c128,
    f32,
    f64,
    floats,
    i8,
    i32,
    i64,
    text,
    u8,
    u64,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows


@engine_case(
    "OPERATIONS-124",
    title="A Range leaves its limit out, goes down by a negative step, and may be empty.",
)
def ranges_leave_their_limit_out(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (i32, i64, f32, f64):
        for start, limit, delta in (
            (0, 5, 1),
            (3, 18, 3),
            (3, 17, 3),
            (5, 0, -1),
            (3, -2, -2),
            (4, 4, 1),
            (-3, 4, 4),
        ):
            rows.add("Range", kind(start), kind(limit), kind(delta))
    for first, limit, step in ((0, 1, 0.1), (0, 1, 0.25), (1, 0, -0.3)):
        rows.add("Range", f64(first), f64(limit), f64(step))
    rows.refuse("Range", i32(0), i32(5), i32(0), codes=[3])
    rows.refuse("Range", i32(5), i32(0), i32(1), codes=[3])
    rows.run()


@engine_case("OPERATIONS-124", title="A Range of float16 leaves its limit out.")
def ranges_of_float16(c: EngineAuthor) -> None:
    _range_of(c, "float16")


@engine_case("OPERATIONS-124", title="A Range of bfloat16 leaves its limit out.")
def ranges_of_bfloat16(c: EngineAuthor) -> None:
    _range_of(c, "bfloat16")


def _range_of(c: EngineAuthor, dtype: str) -> None:
    rows = Rows(c)
    for numbers in ([0, 6, 1.5], [1, -2, -0.75]):
        start, limit, delta = floats(dtype, numbers)
        rows.add("Range", start, limit, delta)
    rows.run()


@engine_case(
    "OPERATIONS-125", title="LinSpace goes from start to stop inclusive; one point is the start."
)
def lines_end_at_their_stop(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64):
        for start, stop, count in (
            (0, 1, 5),
            (-3, 7, 11),
            (10, 0, 6),
            (2, 9, 1),
            (4, 4, 3),
            (0.1, 0.7, 2),
        ):
            rows.add("LinSpace", kind(start), kind(stop), i32(count))
    rows.refuse("LinSpace", f32(0), f32(1), i32(0), codes=[3])
    rows.run()


@engine_case("OPERATIONS-125", title="The last point of a line is its stop, to the last bit.")
def the_last_point_is_the_stop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        start, stop = (
            tf.placeholder(tf.float32, [], name="a"),
            tf.placeholder(tf.float32, [], name="b"),
        )
        count = tf.placeholder(tf.int32, [], name="n")
        line = tf.linspace(start, stop, count)
        tf.equal(line[-1], stop, name="ends")
        tf.equal(line[0], start, name="begins")
    s = c.open()
    for first, last, points in ((0.1, 0.7, 7), (-3.3, 1e6, 23), (5.5, -0.3, 11), (1 / 3, 2 / 3, 4)):
        feeds = {"a:0": f32(first), "b:0": f32(last), "n:0": i32(points)}
        s.run(["ends:0", "begins:0"], feeds, values=[np.True_, np.True_])
    s.close()


@engine_case(
    "OPERATIONS-126", title="Fill, ZerosLike and OnesLike make tensors of every dtype and shape."
)
def tensors_are_filled(c: EngineAuthor) -> None:
    rows = Rows(c)
    for value in (f32(1.5), i64(-7), np.bool_(True), c64(1 - 2j), f32(np.nan), b"a\0", b"\xff"):
        rows.add("Fill", axes(2, 3), value)
    rows.add("Fill", axes(), i32(4))
    rows.add("Fill", i64([2, 0]), f64(1))
    for dtype in FLOATS:
        for op in ("ZerosLike", "OnesLike"):
            rows.add(op, floats(dtype, [np.nan, np.inf, 3]))
    for x in (np.array([[True, False]]), i8([4]), u64([2**63]), c128([1j])):
        for op in ("ZerosLike", "OnesLike"):
            rows.add(op, x)
    rows.add("ZerosLike", text(b"a", b"", b"\0"))
    rows.refuse("Fill", axes(2, -1), f32(1), codes=[3])
    rows.run()


@engine_case("OPERATIONS-126", title="Fill, ZerosLike and OnesLike of each dtype of numbers.")
def every_dtype_is_filled(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in (*INTEGERS, *COMPLEX):
        x = np.array([[3, 100], [7, 0]], dtype)
        rows.add("Fill", axes(2, 1), x[0, 1])
        rows.add("ZerosLike", x)
        rows.add("OnesLike", x)
    for dtype in FLOATS:
        rows.add("Fill", i64([3]), floats(dtype, [-2.5])[0])
    for op in ("ZerosLike", "OnesLike"):
        rows.add(op, f32(4))
        rows.add(op, np.zeros((2, 0, 3), i64))
    rows.run()


@engine_case(
    "OPERATIONS-127",
    title="OneHot writes the on value at each index, along any axis, and the off value elsewhere.",
)
def one_hot_rows_lie_along_any_axis(c: EngineAuthor) -> None:
    rows = Rows(c)
    indices = i32([[0, 2, 1], [3, 3, 0]])
    for axis in (-1, 0, 1, 2):
        rows.add("OneHot", indices, i32(4), f32(5), f32(-1), axis=axis)
    for kind in (u8, i8, i32, i64):
        rows.add("OneHot", kind([1, 0]), i32(2), i64(9), i64(3))
    rows.add("OneHot", i64(1), i32(3), np.bool_(True), np.bool_(False))
    rows.add("OneHot", i32([0, 1]), i32(2), b"yes", b"no")
    rows.add("OneHot", i32([1, 0]), i32(2), c64(1j), c64(2))
    rows.run()


@engine_case(
    "OPERATIONS-128",
    title="An index below zero or not below the depth gives a row of off values; a depth of "
    "zero no columns.",
)
def indices_outside_give_off_values(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (i8, i32, i64):
        rows.add("OneHot", kind([-1, 3, 2, -3, 99]), i32(3), f32(1), f32(0))
        rows.add("OneHot", kind([-1, 5]), i32(2), i32(7), i32(-7), axis=0)
    rows.add("OneHot", i32([0, 1]), i32(0), f32(1), f32(0))
    rows.refuse("OneHot", i32([0]), i32(-1), f32(1), f32(0), codes=[3])
    rows.run()
