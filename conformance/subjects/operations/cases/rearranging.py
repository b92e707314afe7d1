"""Vectors of OPERATIONS: shapes, the order of elements, joining, splitting and repeating."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import axes, c64, f32, f64, i8, i16, i32, i64, text
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_X = np.arange(24, dtype=i32).reshape(2, 3, 4)
_WORDS = text(b"a", b"\0", b"", b"\xff", b"grass", b"a\0", shape=(2, 3))


# --- order --------------------------------------------------------------------------------


@engine_case(
    "OPERATIONS-103",
    title="Reshape keeps the row-major order of elements, and works out one dimension.",
)
def reshapes_keep_row_major_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    for shape in (axes(4, 6), axes(-1), axes(3, -1), axes(2, 2, 2, 3, 1), axes(1, -1, 1, 8)):
        rows.add("Reshape", _X, shape)
    rows.add("Reshape", _WORDS, axes(3, 2))
    rows.add("Reshape", np.zeros((2, 0, 3), f32), axes(0, 7))
    rows.add("Reshape", np.zeros((0, 4), f32), axes(-1, 4))
    rows.add("Reshape", f64([5]), axes())
    rows.run()


@engine_case(
    "OPERATIONS-104",
    title="Transpose puts dimension perm[i] at place i, for every permutation and up to eight "
    "dimensions.",
)
def transposes_follow_their_permutation(c: EngineAuthor) -> None:
    rows = Rows(c)
    for perm in (axes(1, 2, 0), axes(2, 0, 1), axes(0, 2, 1), axes(2, 1, 0), axes(0, 1, 2)):
        rows.add("Transpose", _X, perm)
    rows.add("Transpose", _WORDS, axes(1, 0))
    rows.add("Transpose", np.arange(48, dtype=f32).reshape(2, 3, 1, 2, 4), axes(4, 2, 0, 3, 1))
    rows.add(
        "Transpose",
        np.arange(16, dtype=i8).reshape(2, 1, 2, 1, 2, 1, 1, 2),
        axes(7, 1, 4, 2, 0, 6, 3, 5),
    )
    z = c64([[1 + 2j, 3], [4j, -5 - 1j]])
    for op in ("Transpose", "ConjugateTranspose"):
        rows.add(op, z, axes(1, 0))
    rows.refuse("Transpose", _X, axes(0, 1, 1), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-105",
    title="Operations on the result of a transpose see its elements in its own order.",
)
def transposed_values_are_read_in_their_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.int32, name="x")
        turned = tf.transpose(x, [1, 0])
        tf.reshape(turned, [-1], name="flat")
        tf.concat([turned, turned], 1, name="joined")
        tf.gather(turned, [1, 0], name="rows")
        tf.reverse(turned, [1], name="reversed")
        tf.strided_slice(turned, [0, 1], [3, 2], name="part")
        tf.reduce_sum(turned, 0, name="sum")
        tf.bitcast(turned, tf.int16, name="bits")
    s = c.open()
    feeds = {"x:0": i32([[1, 2, 3], [4, 5, 6]])}
    s.run(
        ["flat:0", "joined:0", "rows:0", "reversed:0", "part:0", "sum:0", "bits:0"],
        feeds,
        values=[
            i32([1, 4, 2, 5, 3, 6]),
            i32([[1, 4, 1, 4], [2, 5, 2, 5], [3, 6, 3, 6]]),
            i32([[2, 5], [1, 4]]),
            i32([[4, 1], [5, 2], [6, 3]]),
            i32([[4], [5], [6]]),
            i32([6, 15]),
            i16([[[1, 0], [4, 0]], [[2, 0], [5, 0]], [[3, 0], [6, 0]]]),
        ],
    )
    s.close()


@engine_case(
    "OPERATIONS-106",
    title="Reversals turn the axes they name, also counted from the back, and no others.",
)
def reversals_turn_the_named_axes(c: EngineAuthor) -> None:
    rows = Rows(c)
    for chosen in (axes(0), axes(-1), axes(0, 2), axes(-2, 0), axes()):
        rows.add("ReverseV2", _X, chosen)
    rows.add("ReverseV2", _WORDS, axes(1))
    rows.add("Reverse", _X, np.array([True, False, True]))
    for lengths in ([4, 0], [1, 3]):
        rows.add("ReverseSequence", _X, i64(lengths), seq_dim=2, batch_dim=0)
    rows.add("ReverseSequence", _X, i32([2, 1, 0]), seq_dim=0, batch_dim=1)
    rows.refuse("ReverseV2", _X, axes(0, -3), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-107",
    title="Roll shifts towards higher indices, for a negative shift towards lower ones, around "
    "the end.",
)
def rolls_go_around_the_end(c: EngineAuthor) -> None:
    rows = Rows(c)
    for shift in (1, -1, 3, -5, 0):
        rows.add("Roll", i32([10, 11, 12, 13]), i32(shift), i32(0))
    rows.add("Roll", _X, axes(1, -1), axes(0, 2))
    rows.add("Roll", _X, axes(1, 1), axes(1, -2))
    rows.add("Roll", _WORDS, i32(1), i32(-1))
    rows.run()


# --- joining and splitting ----------------------------------------------------------------


@engine_case(
    "OPERATIONS-108",
    title="Tensors are joined in their order along an axis from the front or the back; empty "
    "ones add nothing.",
)
def tensors_are_joined_in_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    a, b = i32([[1, 2], [3, 4]]), i32([[5, 6], [7, 8]])
    empty = np.zeros((2, 0), i32)
    for axis in (0, 1, -1, -2):
        rows.add("ConcatV2", [a, b, a], i32(axis))
        rows.add("Concat", i32(axis), [b, a])
    rows.add("ConcatV2", [empty, a, empty, b], i32(1))
    rows.add("ConcatV2", [empty, empty], i32(-1))
    rows.add("ConcatV2", [empty, empty], i64(0))
    rows.add("ConcatV2", [np.zeros((0, 2), i32), b], i32(0))
    rows.add("ConcatV2", [_WORDS, _WORDS], i32(0))
    rows.add("ConcatOffset", i32(1), [axes(2, 3), axes(2, 4), axes(2, 0), axes(2, 1)])
    rows.refuse("ConcatV2", [a, i32([[1, 2, 3]])], i32(1), codes=[3])
    rows.refuse("ConcatV2", [a, b], i32(2), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-109",
    title="Pack and Unpack use the axis they are told, from the front or the back.",
)
def tensors_are_packed_along_any_axis(c: EngineAuthor) -> None:
    rows = Rows(c)
    a, b = i32([[1, 2, 3], [4, 5, 6]]), i32([[7, 8, 9], [0, -1, -2]])
    for axis in (0, 1, 2, -1, -2, -3):
        rows.add("Pack", [a, b], axis=axis)
        rows.add("Unpack", _X, num=_X.shape[axis], axis=axis)
    rows.add("Pack", [f32(1), f32(2)], axis=-1)
    rows.add("Pack", [_WORDS], axis=0)
    rows.add("Unpack", np.zeros((0, 2), f32).T, num=2, axis=0)
    rows.refuse("Pack", [a, b[:1]], axis=0, codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-110",
    title="Split gives equal parts, SplitV parts of given sizes, in order; parts of no size too.",
)
def tensors_are_split_in_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    for axis in (1, 2, -1, -2):
        rows.add("Split", i32(axis), _X, num_split=_X.shape[axis])
    rows.add("Split", i32(2), _X, num_split=2)
    rows.add("SplitV", _X, i64([1, 0, 3]), i32(2), num_split=3)
    rows.add("SplitV", _X, i32([-1, 2]), i32(-2), num_split=2)
    rows.add("SplitV", _WORDS, i64([1, 1]), i32(0), num_split=2)
    rows.refuse("Split", i32(1), _X, num_split=2, codes=[3])
    rows.refuse("SplitV", _X, i64([1, 1]), i32(2), num_split=2, codes=[3])
    rows.run()


# --- repeating and padding ----------------------------------------------------------------


@engine_case(
    "OPERATIONS-111",
    title="Tile repeats the whole along each dimension, zero times too; BroadcastTo repeats "
    "single elements.",
)
def tensors_are_repeated(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("Tile", i32([1, 2, 3]), axes(2))
    rows.add("Tile", i32([[1, 2], [3, 4]]), axes(2, 3))
    rows.add("Tile", i32([[1, 2], [3, 4]]), i64([1, 0]))
    rows.add("Tile", _WORDS, axes(1, 2))
    rows.add("Tile", f32(7), axes())
    rows.add("Tile", _X.reshape(1, 2, 3, 1, 4), axes(2, 1, 1, 2, 1))
    rows.add("BroadcastTo", i32([[1], [2]]), axes(3, 2, 4))
    rows.add("BroadcastTo", f32(5), axes(2, 0, 3))
    rows.add("BroadcastTo", _WORDS[:1], axes(2, 3))
    rows.refuse("Tile", i32([1, 2]), axes(-1), codes=[3])
    rows.refuse("BroadcastTo", i32([1, 2]), axes(3), codes=[3])
    rows.run()


@engine_case("OPERATIONS-163", title="BroadcastArgs gives the shape of both shapes together.")
def shapes_are_broadcast(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (i32, i64):
        for first, second in (([2, 1, 3], [4, 1]), ([], [2, 5]), ([1], [0]), ([3, 1], [1, 3])):
            rows.add("BroadcastArgs", kind(first), kind(second))
            rows.add("BroadcastArgs", kind(second), kind(first))
    rows.run()


@engine_case(
    "OPERATIONS-112",
    title="Paddings stand before and after each dimension, with zeros, a value or empty strings.",
)
def paddings_stand_before_and_after(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = i32([[1, 2, 3], [4, 5, 6]])
    for paddings in (i32([[1, 0], [0, 2]]), i32([[0, 3], [1, 1]])):
        rows.add("Pad", x, paddings)
        rows.add("PadV2", x, paddings, i32(-9))
        rows.add("Pad", _WORDS, paddings)
    rows.add("PadV2", f32([np.nan, 1]), i64([[1, 1]]), f32(np.inf))
    rows.add("Pad", np.zeros((0, 2), f32), i32([[1, 1], [0, 0]]))
    rows.refuse("Pad", x, i32([[-1, 0], [0, 0]]), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-113",
    title="MirrorPad leaves the edge out for REFLECT and repeats it for SYMMETRIC, along each "
    "dimension.",
)
def mirrors_repeat_the_edge_or_not(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = i32([[1, 2, 3], [4, 5, 6]])
    for mode, most in (("REFLECT", 2), ("SYMMETRIC", 3)):
        rows.add("MirrorPad", x[0], i32([[most, most]]), mode=mode)
        rows.add("MirrorPad", x, i32([[1, 0], [1, 2]]), mode=mode)
        rows.add("MirrorPad", _X, i32([[0, 1], [2, 1], [0, 3]]), mode=mode)
        rows.refuse("MirrorPad", x[0], i32([[most + 1, 0]]), mode=mode, codes=[3])
    rows.run()


# --- shapes -------------------------------------------------------------------------------


@engine_case(
    "OPERATIONS-114",
    title="Shape, Size and Rank tell of every tensor, scalars and empty ones too, in the dtype "
    "asked for.",
)
def shapes_are_told_in_full(c: EngineAuthor) -> None:
    rows = Rows(c)
    deep = np.zeros((1, 2, 1, 3, 2, 1, 1), f32)
    for x in (_X, _WORDS, f64(3), np.zeros((2, 0, 5), i8), deep):
        for dtype in ("int32", "int64"):
            rows.add("Shape", x, out_type=dtype)
            rows.add("Size", x, out_type=dtype)
        rows.add("Rank", x)
    rows.add("ShapeN", [_X, _X[0], i32(1)], out_type="int64")
    rows.run()


@engine_case(
    "OPERATIONS-115",
    title="Dimensions of 1 are put in at a place from the front or back, and taken out, all or "
    "the named ones.",
)
def dimensions_of_one_come_and_go(c: EngineAuthor) -> None:
    rows = Rows(c)
    for axis in (0, 1, 3, -1, -2, -4):
        rows.add("ExpandDims", _X, i32(axis))
    rows.add("ExpandDims", f32(1), i64(-1))
    x = np.arange(6, dtype=i32).reshape(1, 2, 1, 3, 1)
    for dims in ([], [0], [-1], [2, 4], [-3, 0]):
        rows.add("Squeeze", x, squeeze_dims=dims)
    rows.refuse("ExpandDims", _X, i32(4), codes=[3])
    rows.refuse("Squeeze", x, squeeze_dims=[1], codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-116",
    title="Elementwise operations, and reductions, work on tensors of five to eight dimensions.",
)
def tensors_of_many_dimensions_are_computed(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.arange(48, dtype=f32).reshape(2, 1, 3, 1, 2, 4)
    y = np.arange(10, dtype=f32).reshape(1, 5, 1, 1, 2, 1)
    for op in ("AddV2", "Sub", "Mul", "Maximum", "Less"):
        rows.add(op, x, y)
        rows.add(op, y, x)
    large = np.arange(64, dtype=f32).reshape(2, 2, 1, 2, 1, 2, 2, 2)
    for chosen in (axes(0, 3, 7), axes(1, 2, 4, 6), axes(-1, 0)):
        rows.add("Sum", large, chosen)
        rows.add("Max", large, chosen, keep_dims=True)
    rows.add("Neg", large)
    rows.add("ConcatV2", [x, x], i32(4))
    rows.run()


@engine_case(
    "OPERATIONS-116",
    title="Quotients, comparisons, logic and functions of tensors of five to eight dimensions.",
)
def many_dimensions_are_computed_by_each(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = (np.arange(24, dtype=f32) - 11.5).reshape(2, 1, 3, 1, 4, 1)
    for y in (
        np.arange(1, 7, dtype=f32).reshape(1, 3, 1, 1, 1, 2),
        np.arange(1, 5, dtype=f32).reshape(2, 1, 1, 2, 1, 1, 1, 1),
        np.arange(1, 5, dtype=f32).reshape(2, 1, 2, 1, 1),
    ):
        for op in ("RealDiv", "FloorMod", "Minimum", "SquaredDifference", "GreaterEqual", "Equal"):
            rows.add(op, x, y)
        rows.add("SelectV2", x > 0, x, y)
        rows.add("LogicalAnd", x > 0, y > 2)
    for shape in ((1, 2, 3, 2, 2), (2, 1, 1, 3, 1, 2, 2)):
        z = x.reshape(shape)
        for op in ("Abs", "Square", "Sign", "Floor", "Relu", "Tanh", "Exp"):
            rows.add(op, z)
        rows.add("Sum", z, axes(1, 3))
        rows.add("Max", z, axes(0, -1))
        rows.add("ConcatV2", [z, z], i32(-2))
        rows.add("Cast", z, DstT="int32")
    rows.run()


@engine_case(
    "OPERATIONS-117",
    title="Elementwise operations on empty tensors give empty tensors of the broadcast shape.",
)
def empty_tensors_are_computed(c: EngineAuthor) -> None:
    rows = Rows(c)
    x, y = np.zeros((2, 0, 3), f32), np.ones((1, 1, 3), f32)
    for op in ("AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Equal", "FloorMod"):
        rows.add(op, x, y)
        rows.add(op, y[0], x)
    for op in ("Neg", "Exp", "Relu", "Identity", "Square"):
        rows.add(op, x)
    rows.add("FloorDiv", np.zeros((0,), i32), i32(0))
    rows.add("AddV2", np.zeros((0, 1), i32), np.zeros((1, 0), i32))
    rows.run()
