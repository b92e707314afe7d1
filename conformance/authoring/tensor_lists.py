"""Vectors of CONTROL-FLOW: lists of tensors, which are values as loops hand them on."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.run import floats

_FEEDS = {"a:0": floats(1, 2), "b:0": floats(3, 4)}


def _two(tf: Any) -> tuple[Any, Any]:
    """A list of what is fed as `a`, and one to which `b` was pushed after it."""
    a, b = (tf.placeholder(tf.float32, [2], name=name) for name in "ab")
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=[2], max_num_elements=-1, element_dtype=tf.float32
    )
    first = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=a, name="first")
    return first, tf.raw_ops.TensorListPushBack(input_handle=first, tensor=b, name="second")


def _stacked(tf: Any, handle: Any, name: str) -> None:
    tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=[2], element_dtype=tf.float32, name=name
    )


@engine_case("CONTROL-FLOW-021", title="A stack has what was pushed first in front.")
def elements_in_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _stacked(tf, _two(tf)[1], "all")
    c.open().run(["all:0"], _FEEDS, values=[np.array([[1, 2], [3, 4]], np.float32)])


@engine_case("CONTROL-FLOW-022", title="A list stays as it is when another is made of it.")
def lists_are_values(c: EngineAuthor) -> None:
    with c.graph() as tf:
        first, second = _two(tf)
        with tf.control_dependencies([second]):
            _stacked(tf, first, "old")
        changed = tf.raw_ops.TensorListSetItem(
            input_handle=first, index=0, item=second_element(tf, second), name="changed"
        )
        with tf.control_dependencies([changed]):
            length = tf.raw_ops.TensorListLength(input_handle=first, name="length")
            _stacked(tf, first, "kept")
        tf.identity(length, name="count")
    session = c.open()
    old = np.array([[1, 2]], np.float32)
    session.run(["old:0"], _FEEDS, values=[old])
    session.run(["kept:0", "count:0"], _FEEDS, values=[old, np.int32(1)])


def second_element(tf: Any, handle: Any) -> Any:
    """The second element of a list."""
    return tf.raw_ops.TensorListGetItem(
        input_handle=handle, index=1, element_shape=[2], element_dtype=tf.float32
    )


@engine_case("CONTROL-FLOW-023", title="What is popped is what was pushed last.")
def the_last_comes_first(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _, second = _two(tf)
        rest, _ = tf.raw_ops.TensorListPopBack(
            input_handle=second, element_shape=[2], element_dtype=tf.float32, name="pop"
        )
        tf.raw_ops.TensorListLength(input_handle=rest, name="left")
    session = c.open()
    session.run(["pop:1"], _FEEDS, values=[floats(3, 4)])
    session.run(["left:0"], _FEEDS, values=[np.int32(1)])


@engine_case("CONTROL-FLOW-024", title="What was not set is zeros of the shape that is asked for.")
def elements_that_are_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        item = tf.placeholder(tf.float32, [2], name="a")
        handle = tf.raw_ops.TensorListReserve(
            element_shape=[2], num_elements=3, element_dtype=tf.float32
        )
        handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=item)
        for place in range(3):
            tf.raw_ops.TensorListGetItem(
                input_handle=handle, index=place, element_shape=[2], element_dtype=tf.float32,
                name=f"item{place}",
            )  # fmt: skip
    feeds = {"a:0": floats(5, 6)}
    session = c.open()
    for place, value in ((0, floats(0, 0)), (1, floats(5, 6)), (2, floats(0, 0))):
        session.run([f"item{place}:0"], feeds, values=[value])


@engine_case("CONTROL-FLOW-025", title="An element that a list has not is refused.")
def places_outside(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _, second = _two(tf)
        place = tf.placeholder(tf.int32, [], name="n")
        tf.raw_ops.TensorListGetItem(
            input_handle=second, index=place, element_shape=[2], element_dtype=tf.float32,
            name="item",
        )  # fmt: skip
    session = c.open()
    session.run(["item:0"], {**_FEEDS, "n:0": np.int32(1)}, values=[floats(3, 4)])
    session.run(["item:0"], {**_FEEDS, "n:0": np.int32(2)}, error=[3])
    session.run(["item:0"], {**_FEEDS, "n:0": np.int32(-1)}, error=[3])


@engine_case("CONTROL-FLOW-026", title="Lists grow in loops.")
def a_list_in_a_loop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        empty = tf.raw_ops.EmptyTensorList(
            element_shape=np.zeros([0], np.int32), max_num_elements=-1, element_dtype=tf.int32
        )

        def step(i: Any, handle: Any) -> Any:
            return i + 1, tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=i * i)

        _, handle = tf.while_loop(lambda i, _: i < n, step, [n * 0, empty])
        tf.raw_ops.TensorListStack(
            input_handle=handle, element_shape=np.zeros([0], np.int32), element_dtype=tf.int32,
            name="all",
        )  # fmt: skip
    session = c.open()
    for count in (4, 0, 2):
        squares = np.array([i * i for i in range(count)], np.int32)
        session.run(["all:0"], {"n:0": np.int32(count)}, values=[squares])
