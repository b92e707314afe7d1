"""Vectors of CONTROL-FLOW: lists of tensors, which are values as loops hand them on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.spec.cases.arguments import Argument, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_FEEDS = {"a:0": floats(1, 2), "b:0": floats(3, 4)}


def _two(tf: Namespace) -> tuple[Tensor, Tensor]:
    """A list of what is fed as `a`, and one to which `b` was pushed after it."""
    a, b = (tf.placeholder(tf.float32, [2], name=name) for name in "ab")
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=[2], max_num_elements=-1, element_dtype=tf.float32
    )
    first = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=a, name="first")
    return first, tf.raw_ops.TensorListPushBack(input_handle=first, tensor=b, name="second")


def stacked(
    tf: Namespace, handle: Tensor, name: str, shape: TensorLike = (2,), count: int = -1
) -> None:
    """The elements along a new axis, as `name`."""
    tf.raw_ops.TensorListStack(
        input_handle=handle,
        element_shape=shape_of(shape),
        element_dtype=tf.float32,
        num_elements=count,
        name=name,
    )


@engine_case("CONTROL-FLOW-021", title="A stack has what was pushed first in front.")
def elements_in_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        stacked(tf, _two(tf)[1], "all")
    c.open().run(["all:0"], _FEEDS, values=[np.array([[1, 2], [3, 4]], np.float32)])


@engine_case("CONTROL-FLOW-022", title="A list stays as it is when another is made of it.")
def lists_are_values(c: EngineAuthor) -> None:
    with c.graph() as tf:
        first, second = _two(tf)
        with tf.control_dependencies([second]):
            stacked(tf, first, "old")
        changed = tf.raw_ops.TensorListSetItem(
            input_handle=first, index=0, item=second_element(tf, second), name="changed"
        )
        with tf.control_dependencies([changed]):
            length = tf.raw_ops.TensorListLength(input_handle=first, name="length")
            stacked(tf, first, "kept")
        tf.identity(length, name="count")
    session = c.open()
    old = np.array([[1, 2]], np.float32)
    session.run(["old:0"], _FEEDS, values=[old])
    session.run(["kept:0", "count:0"], _FEEDS, values=[old, np.int32(1)])


def second_element(tf: Namespace, handle: Tensor) -> Tensor:
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
        for index in range(3):
            tf.raw_ops.TensorListGetItem(
                input_handle=handle,
                index=index,
                element_shape=[2],
                element_dtype=tf.float32,
                name=f"item{index}",
            )
    feeds = {"a:0": floats(5, 6)}
    session = c.open()
    for index, value in ((0, floats(0, 0)), (1, floats(5, 6)), (2, floats(0, 0))):
        session.run([f"item{index}:0"], feeds, values=[value])


@engine_case("CONTROL-FLOW-025", title="An element that a list has not is refused.")
def places_outside(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _, second = _two(tf)
        index = tf.placeholder(tf.int32, [], name="n")
        tf.raw_ops.TensorListGetItem(
            input_handle=second,
            index=index,
            element_shape=[2],
            element_dtype=tf.float32,
            name="item",
        )
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

        def step(i: Tensor, handle: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=i * i)

        _, handle = tf.while_loop(lambda i, _: i < n, step, [n * 0, empty])
        tf.raw_ops.TensorListStack(
            input_handle=handle,
            element_shape=np.zeros([0], np.int32),
            element_dtype=tf.int32,
            name="all",
        )
    session = c.open()
    for count in (4, 0, 2):
        squares = np.array([i * i for i in range(count)], np.int32)
        session.run(["all:0"], {"n:0": np.int32(count)}, values=[squares])


# --- what each operation makes -------------------------------------------------------------

_ONE = np.array([[1, 2]], np.float32)
_THREE = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
_ZERO = floats(0, 0)


def given(tf: Namespace, name: str, dtype: str = "float32") -> Tensor:
    """A placeholder of any shape: nothing about it is known before the run."""
    return tf.placeholder(dtype, None, name=name)


def of_rows(tf: Namespace, rows: TensorLike, shape: TensorLike = (2,)) -> Tensor:
    """The list of the rows of a tensor."""
    return tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=shape_of(shape))


def shape_of(shape: TensorLike) -> TensorLike:
    """The shape as an array with -1 for unknown sizes; a tensor stays as it is."""
    return shape if hasattr(shape, "graph") else np.array(shape, np.int32)


def reserved(tf: Namespace, count: TensorLike, shape: TensorLike = (2,)) -> Tensor:
    """A list of elements that are not set."""
    return tf.raw_ops.TensorListReserve(
        element_shape=shape_of(shape), num_elements=count, element_dtype=tf.float32
    )


def counted(tf: Namespace, handle: Tensor, name: str = "count") -> Tensor:
    """The length of a list, as `name`."""
    return tf.raw_ops.TensorListLength(input_handle=handle, name=name)


def item(
    tf: Namespace, handle: Tensor, index: TensorLike, name: str, shape: TensorLike = (2,)
) -> Tensor:
    """An element of a list, as `name`."""
    return tf.raw_ops.TensorListGetItem(
        input_handle=handle,
        index=index,
        element_shape=shape_of(shape),
        element_dtype=tf.float32,
        name=name,
    )


def items(tf: Namespace, handle: Tensor, count: int, shape: TensorLike = (2,)) -> None:
    """Read the elements of a list as the nodes `item0`, `item1` and so on."""
    for index in range(count):
        item(tf, handle, index, f"item{index}", shape)


def shows_items(
    c: EngineAuthor, feeds: Mapping[str, npt.ArrayLike], *wanted: npt.ArrayLike
) -> None:
    """A run must give these as `item0`, `item1` and so on."""
    fetches = [f"item{index}:0" for index in range(len(wanted))]
    c.open().run(fetches, feeds, values=list(wanted))


def set_item(
    tf: Namespace, handle: Tensor, index: TensorLike, item: TensorLike, **attrs: Argument
) -> Tensor:
    """A list with another item at an index."""
    return tf.raw_ops.TensorListSetItem(input_handle=handle, index=index, item=item, **attrs)


@engine_case("CONTROL-FLOW-027", title="Elements count whether they were set or not.")
def elements_are_counted(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counted(tf, reserved(tf, 3), "unset")
        counted(tf, of_rows(tf, given(tf, "x")), "set")
    c.open().run(["unset:0", "set:0"], {"x:0": _ONE}, values=[np.int32(3), np.int32(1)])


@engine_case("CONTROL-FLOW-028", title="An element is read at its index.")
def elements_by_index(c: EngineAuthor) -> None:
    with c.graph() as tf:
        item(tf, _two(tf)[1], tf.placeholder(tf.int32, [], name="n"), "item")
    session = c.open()
    for index, value in ((1, floats(3, 4)), (0, floats(1, 2))):
        session.run(["item:0"], {**_FEEDS, "n:0": np.int32(index)}, values=[value])


@engine_case("CONTROL-FLOW-029", title="An element is replaced at its index.")
def elements_are_set(c: EngineAuthor) -> None:
    with c.graph() as tf:
        items(tf, set_item(tf, of_rows(tf, given(tf, "x")), 1, given(tf, "y")), 3)
    feeds = {"x:0": _THREE, "y:0": floats(7, 8)}
    shows_items(c, feeds, _THREE[0], floats(7, 8), _THREE[2])


@engine_case("CONTROL-FLOW-030", title="An element that a list has not cannot be set.")
def elements_outside_are_not_set(c: EngineAuthor) -> None:
    with c.graph() as tf:
        index = tf.placeholder(tf.int32, [], name="n")
        counted(tf, set_item(tf, of_rows(tf, given(tf, "x")), index, given(tf, "y")))
    session = c.open()
    feeds = {"x:0": _THREE, "y:0": floats(7, 8)}
    for wrong in (3, -1, 5):
        session.run(["count:0"], {**feeds, "n:0": np.int32(wrong)}, error=[3])
    session.run(["count:0"], {**feeds, "n:0": np.int32(2)}, values=[np.int32(3)])


@engine_case("CONTROL-FLOW-031", title="A list grows up to the element that is set, if it may.")
def lists_grow_where_they_may(c: EngineAuthor) -> None:
    with c.graph() as tf:
        index = tf.placeholder(tf.int32, [], name="n")
        grown = set_item(
            tf,
            of_rows(tf, given(tf, "x")),
            index,
            given(tf, "y"),
            resize_if_index_out_of_bounds=True,
        )
        counted(tf, grown)
        item(tf, grown, index, "last")
    session = c.open()
    feeds = {"x:0": _ONE, "y:0": floats(7, 8)}
    for index, length in ((3, 4), (1, 2), (0, 1)):
        values = [np.int32(length), floats(7, 8)]
        session.run(["count:0", "last:0"], {**feeds, "n:0": np.int32(index)}, values=values)


def _resized(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size = tf.placeholder(tf.int32, [], name="n")
        resized = tf.raw_ops.TensorListResize(input_handle=of_rows(tf, given(tf, "x")), size=size)
        counted(tf, resized)
        stacked(tf, resized, "all")


@engine_case("CONTROL-FLOW-032", title="A list is cut behind its first elements.")
def lists_are_cut(c: EngineAuthor) -> None:
    _resized(c)
    session = c.open()
    for size in (2, 0, 3):
        values = [np.int32(size), _THREE[:size]]
        feeds = {"x:0": _THREE, "n:0": np.int32(size)}
        session.run(["count:0", "all:0"], feeds, values=values)


@engine_case("CONTROL-FLOW-033", title="A list is extended by elements that are not set.")
def lists_are_extended(c: EngineAuthor) -> None:
    _resized(c)
    session = c.open()
    for size in (2, 3):
        values = [np.int32(size), np.concatenate([_ONE, np.zeros([size - 1, 2], np.float32)])]
        feeds = {"x:0": _ONE, "n:0": np.int32(size)}
        session.run(["count:0", "all:0"], feeds, values=values)


@engine_case("CONTROL-FLOW-034", title="There is no list of fewer than zero elements.")
def sizes_below_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        size = tf.placeholder(tf.int32, [], name="n")
        counted(tf, reserved(tf, size), "reserved")
        one = of_rows(tf, given(tf, "x"))
        counted(tf, tf.raw_ops.TensorListResize(input_handle=one, size=size), "resized")
    session = c.open()
    for fetch in ("reserved:0", "resized:0"):
        session.run([fetch], {"x:0": _ONE, "n:0": np.int32(-1)}, error=[3])
        session.run([fetch], {"x:0": _ONE, "n:0": np.int32(2)}, values=[np.int32(2)])


@engine_case("CONTROL-FLOW-035", title="As many elements are reserved as are asked for.")
def elements_are_reserved(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = reserved(tf, tf.placeholder(tf.int32, [], name="n"))
        counted(tf, handle)
        stacked(tf, handle, "all")
    session = c.open()
    for size in (3, 0, 1):
        values = [np.int32(size), np.zeros([size, 2], np.float32)]
        session.run(["count:0", "all:0"], {"n:0": np.int32(size)}, values=values)


@engine_case("CONTROL-FLOW-036", title="An element must have the shape that the list declares.")
def elements_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, rows = given(tf, "x"), given(tf, "rows")
        pushed = tf.raw_ops.TensorListPushBack(input_handle=reserved(tf, 1), tensor=x)
        counted(tf, pushed, "pushed")
        counted(tf, set_item(tf, reserved(tf, 1), 0, x), "set")
        counted(tf, of_rows(tf, rows), "rows_of")
    session = c.open()
    for wrong in (floats(1, 2, 3), np.float32(1), np.ones([1, 2], np.float32)):
        for fetch in ("pushed:0", "set:0"):
            session.run([fetch], {"x:0": wrong}, error=[3])
    session.run(["rows_of:0"], {"rows:0": np.ones([2, 3], np.float32)}, error=[3])
    session.run(["pushed:0"], {"x:0": floats(1, 2)}, values=[np.int32(2)])


@engine_case("CONTROL-FLOW-037", title="A list takes no more than it may have.")
def lists_that_are_full(c: EngineAuthor) -> None:
    with c.graph() as tf:
        most, x = tf.placeholder(tf.int32, [], name="n"), given(tf, "x")
        handle = tf.raw_ops.EmptyTensorList(
            element_shape=shape_of([2]), max_num_elements=most, element_dtype=tf.float32
        )
        for index in range(2):
            handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=x)
            counted(tf, handle, f"count{index + 1}")
    session = c.open()
    for most, count in ((0, 1), (1, 2)):
        session.run([f"count{count}:0"], {"x:0": _ZERO, "n:0": np.int32(most)}, error=[3])
    for most in (2, -1):
        feeds = {"x:0": _ZERO, "n:0": np.int32(most)}
        session.run(["count2:0"], feeds, values=[np.int32(2)])


@engine_case("CONTROL-FLOW-038", title="A tensor becomes a list of its rows.")
def a_list_of_rows(c: EngineAuthor) -> None:
    with c.graph() as tf:
        items(tf, of_rows(tf, given(tf, "x")), 3)
    shows_items(c, {"x:0": _THREE}, *_THREE)


def scattered(
    tf: Namespace, rows: TensorLike, places: TensorLike, count: TensorLike, shape: TensorLike = (2,)
) -> Tensor:
    """A list of the rows of a tensor at some indices."""
    return tf.raw_ops.TensorListScatterV2(
        tensor=rows, indices=places, element_shape=shape_of(shape), num_elements=count
    )


@engine_case("CONTROL-FLOW-039", title="A scalar has no rows.")
def scalars_have_no_rows(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = given(tf, "x")
        counted(tf, of_rows(tf, x, -1), "rows_of")
        counted(tf, scattered(tf, x, given(tf, "i", "int32"), -1, -1), "scattered")
    session = c.open()
    feeds = {"x:0": np.float32(1), "i:0": np.zeros([0], np.int32)}
    for fetch in ("rows_of:0", "scattered:0"):
        session.run([fetch], feeds, error=[3])
    session.run(["rows_of:0"], {"x:0": _THREE}, values=[np.int32(3)])
