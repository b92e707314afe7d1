"""Vectors of ERRORS: failures by shapes, by indices and for want of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats, ints
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def fails_on(
    s: SessionAuthor,
    fetch: str,
    bad: Sequence[Mapping[str, ArrayLike]],
    code: int,
    good: tuple[Mapping[str, ArrayLike], ArrayLike],
) -> None:
    """Run once for each bad feed, which fails at the fetched node, then once with a good one."""
    for feeds in bad:
        s.run([fetch], feeds, error=[code], node=fetch.partition(":")[0])
    feeds, value = good
    s.run([fetch], feeds, values=[value])


# --- shapes -------------------------------------------------------------------------------


def _pair(tf: Namespace, dtype: str = "float32") -> tuple[Tensor, Tensor]:
    """Build the placeholders `a` and `b` of any shape."""
    return tf.placeholder(dtype, None, name="a"), tf.placeholder(dtype, None, name="b")


def _feeds(a: ArrayLike, b: ArrayLike) -> dict[str, ArrayLike]:
    return {"a:0": a, "b:0": b}


@engine_case("ERRORS-014", title="MatMul of matrices whose inner sizes differ fails.")
def matmul_of_sizes_that_differ(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = _pair(tf)
        tf.raw_ops.MatMul(a=a, b=b, name="y")
    wide, tall = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    bad = [_feeds(wide, wide), _feeds(tall, tall), _feeds(wide, tall[:1])]
    good = (_feeds(wide, tall), np.full((2, 2), 3, np.float32))
    fails_on(c.open(), "y:0", bad, 3, good)


@engine_case("ERRORS-014", title="The inner sizes of MatMul are those after transposition.")
def matmul_of_transposed_sizes_that_differ(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = _pair(tf)
        tf.raw_ops.MatMul(a=a, b=b, transpose_a=True, name="y")
    wide, tall = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    good = (_feeds(wide, wide), np.full((3, 3), 2, np.float32))
    fails_on(c.open(), "y:0", [_feeds(wide, tall), _feeds(tall, wide)], 3, good)


@engine_case("ERRORS-016", title="Reshape to a shape with two unknown dimensions fails.")
def reshape_to_two_unknown_dimensions(c: EngineAuthor) -> None:
    with c.graph() as tf:
        value = tf.placeholder(tf.float32, None, name="a")
        tf.reshape(value, tf.placeholder(tf.int32, [None], name="b"), name="y")
    six = floats(1, 2, 3, 4, 5, 6)
    bad = [_feeds(six, ints(-1, -1)), _feeds(six, ints(-1, 3, -1))]
    fails_on(c.open(), "y:0", bad, 3, (_feeds(six, ints(-1, 3)), six.reshape(2, 3)))


# --- indices ------------------------------------------------------------------------------


@engine_case("ERRORS-022", title="Gathering along the second axis checks that axis's size.")
def gather_out_of_range_along_an_axis(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        values = tf.placeholder(tf.float32, [None, None], name="values")
        tf.gather(values, tf.placeholder(tf.int32, None, name="i"), axis=1, name="y")
    values = {"values:0": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
    good = (values | {"i:0": np.int32(2)}, floats(3, 6))
    fails_on(c.open(), "y:0", [values | {"i:0": np.int32(3)}], 3, good)


@engine_case("ERRORS-022", title="The older Gather of an index out of range fails.")
def the_older_gather_out_of_range(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        values = tf.placeholder(tf.float32, [None, None], name="values")
        index = tf.placeholder(tf.int32, None, name="i")
        tf.raw_ops.Gather(params=values, indices=index, name="y")
    values = {"values:0": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
    bad = [values | {"i:0": i} for i in (np.int32(2), np.int32(-1), ints(0, 5))]
    fails_on(c.open(), "y:0", bad, 3, (values | {"i:0": np.int32(1)}, floats(4, 5, 6)))


@engine_case("ERRORS-022", title="GatherNd of an index out of range fails.")
def gather_nd_out_of_range(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        values = tf.placeholder(tf.float32, [2, 2], name="values")
        tf.gather_nd(values, tf.placeholder(tf.int32, None, name="i"), name="y")
    values = {"values:0": np.array([[1, 2], [3, 4]], np.float32)}
    bad = [ints(2, 0), ints(0, 2), ints(0, -1)]
    good = (values | {"i:0": ints(1, 0)}, np.float32(3))
    fails_on(c.open(), "y:0", [values | {"i:0": i} for i in bad], 3, good)


@engine_case("ERRORS-037", title="A Slice that begins or ends past the end fails.")
def slice_past_the_end(c: EngineAuthor) -> None:
    with c.graph() as tf:
        values = tf.placeholder(tf.float32, [None], name="values")
        begin = tf.placeholder(tf.int32, [1], name="begin")
        tf.slice(values, begin, tf.placeholder(tf.int32, [1], name="size"), name="y")
    values = {"values:0": floats(4, 5, 6)}
    bad = [(5, 1), (2, 2), (4, 0), (4, -1), (-1, 1)]
    feeds = [values | {"begin:0": ints(b), "size:0": ints(n)} for b, n in bad]
    s = c.open()
    good = (values | {"begin:0": ints(1), "size:0": ints(2)}, floats(5, 6))
    fails_on(s, "y:0", feeds, 3, good)
    s.run(["y:0"], values | {"begin:0": ints(3), "size:0": ints(-1)}, values=[floats()])


@engine_case("ERRORS-038", title="An index past the end in a StridedSlice fails.")
def strided_slice_index_past_the_end(c: EngineAuthor) -> None:
    with c.graph() as tf:
        values = tf.placeholder(tf.float32, [None], name="values")
        index = tf.placeholder(tf.int32, [], name="i")
        tf.raw_ops.StridedSlice(
            input=values, begin=[index], end=[index + 1], strides=[1], shrink_axis_mask=1, name="y"
        )
    values = {"values:0": floats(4, 5, 6)}
    good = (values | {"i:0": np.int32(-3)}, np.float32(4))
    bad = [values | {"i:0": np.int32(i)} for i in (3, 5, -4)]
    fails_on(c.open(), "y:0", bad, 3, good)


# --- memory -------------------------------------------------------------------

#: The side of a square of floats beyond any address space: every allocator refuses it.
_SIDE: Final = 2**30


@engine_case("ERRORS-027", title="A Fill that no address space holds fails with code 8.")
def a_fill_beyond_any_memory(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size = tf.placeholder(tf.int64, [None], name="size")
        tf.fill(size, tf.constant(1.0), name="y")
    bad = np.array([_SIDE, _SIDE])
    good = ({"size:0": np.array([1, 2])}, np.array([[1, 1]], np.float32))
    fails_on(c.open(), "y:0", [{"size:0": bad}], 8, good)


@engine_case("ERRORS-028", title="A shape with more elements than an int64 counts fails.")
def a_shape_of_too_many_elements(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size = tf.placeholder(tf.int64, [None], name="size")
        tf.fill(size, tf.constant(1.0), name="y")
    bad = [np.array([2**21, 2**21, 2**21]), np.array([2**62, 4])]
    good = ({"size:0": np.array([2])}, floats(1, 1))
    fails_on(c.open(), "y:0", [{"size:0": size} for size in bad], 3, good)


@engine_case("ERRORS-028", title="Tile, BroadcastTo and RandomUniform of too many elements fail.")
def other_operations_of_too_many_elements(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size = tf.placeholder(tf.int64, [2], name="size")
        one = tf.constant([[1.0]])
        tf.tile(one, size, name="tiled")
        tf.broadcast_to(one, size, name="broadcast")
        tf.raw_ops.RandomUniform(shape=size, dtype=tf.float32, seed=1, name="drawn")
    s = c.open()
    bad = {"size:0": np.array([2**62, 4])}
    for name in ("tiled", "broadcast"):
        fails_on(s, f"{name}:0", [bad], 3, ({"size:0": np.array([1, 2])}, np.ones((1, 2), "f4")))
    s.run(["drawn:0"], bad, error=[3], node="drawn")
