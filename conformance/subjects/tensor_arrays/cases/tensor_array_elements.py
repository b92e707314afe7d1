"""Vectors of TENSOR-ARRAYS: elements read, added up and refused; arrays of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, anything, engine_case
from sessrun.spec.cases.arguments import Argument, ShapeLike, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_ONE = np.array([1, 2], np.float32)


def _numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


@engine_case("TENSOR-ARRAYS-013", title="An element is read as it was written.")
def elements_are_read(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False, infer_shape=False)
        tf.identity(array.write(1, y).write(0, x).read(tf.placeholder(tf.int32, [], "i")), "read")
    s = c.open()
    feeds = {"x:0": _ONE, "y:0": np.array([3], np.float32)}
    for index, fed in ((0, "x:0"), (1, "y:0")):
        s.run(["read:0"], {**feeds, "i:0": np.int32(index)}, values=[feeds[fed]])


@engine_case("TENSOR-ARRAYS-014", title="Elements are gathered in the order of the indices.")
def elements_are_gathered(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [], name="x")
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False)
        array = array.write(0, x).write(1, x + 1).write(2, x + 2)
        tf.identity(array.gather(tf.placeholder(tf.int32, [None], name="i")), "gathered")
    s = c.open()
    for places in (_numbers(2, 0), _numbers(1, 1, 2)):
        feeds = {"x:0": np.float32(5), "i:0": places}
        s.run(["gathered:0"], feeds, values=[(places + 5).astype(np.float32)])


@engine_case("TENSOR-ARRAYS-015", title="Rows go where their indices say.")
def rows_are_scattered(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [None], name="x")
        array = tf.TensorArray(tf.float32, 3, element_shape=[])
        array = array.scatter(tf.placeholder(tf.int32, [None], name="i"), x)
        for index in range(3):
            tf.identity(array.read(index), f"read{index}")
    s = c.open()
    feeds = {"x:0": np.array([5, 6, 7], np.float32), "i:0": _numbers(2, 0, 1)}
    wanted = [np.float32(value) for value in (6, 7, 5)]
    s.run(["read0:0", "read1:0", "read2:0"], feeds, values=wanted)


@engine_case("TENSOR-ARRAYS-016", title="Each row needs an index.")
def rows_without_indices(c: EngineAuthor) -> None:
    with c.graph() as tf:
        array = tf.raw_ops.TensorArrayV3(size=4, dtype=tf.float32)
        tf.raw_ops.TensorArrayScatterV3(
            handle=array[0],
            indices=tf.placeholder(tf.int32, None, name="i"),
            value=tf.placeholder(tf.float32, None, name="x"),
            flow_in=array[1],
            name="flow",
        )
    s = c.open()
    for rows in (1, 3):
        feeds = {"x:0": np.ones([rows], np.float32), "i:0": _numbers(0, 2)}
        s.run(["flow:0"], feeds, error=[3])


@engine_case("TENSOR-ARRAYS-017", title="There is nothing before the first element.")
def writes_below_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        index = tf.placeholder(tf.int32, [], name="i")
        for name, grows in (("fixed", False), ("dynamic", True)):
            array = tf.TensorArray(tf.float32, 2, dynamic_size=grows)
            written = array.write(index, 1.5)
            with tf.control_dependencies([written.flow]):
                tf.identity(array.size(), name)
    s = c.open()
    for fetch in ("fixed:0", "dynamic:0"):
        s.run([fetch], {"i:0": np.int32(-1)}, error=[3])
        s.run([fetch], {"i:0": np.int32(1)}, values=[np.int32(2)])


@engine_case("TENSOR-ARRAYS-018", title="An element that was read is not written again.")
def elements_written_after_a_read(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, clears in (("cleared", True), ("kept", False)):
            array = tf.TensorArray(tf.float32, 2, clear_after_read=clears).write(0, 1.5)
            with tf.control_dependencies([array.read(0)]):
                tf.identity(array.write(0, 2.5).flow, name)
                tf.identity(array.write(1, 2.5).flow, f"{name}_other")
    s = c.open()
    for name in ("cleared", "kept"):
        s.run([f"{name}:0"], error=[3])
        s.run([f"{name}_other:0"], values=[anything])


@engine_case("TENSOR-ARRAYS-019", title="A text that was not written cannot be read.")
def texts_that_were_not_written(c: EngineAuthor) -> None:
    with c.graph() as tf:
        array = tf.TensorArray(tf.string, 2, element_shape=[2]).write(0, ["a", "b"])
        index = tf.placeholder(tf.int32, [], name="i")
        tf.identity(array.read(index), name="read")
        none = tf.TensorArray(tf.string, 1, element_shape=[0])
        tf.identity(none.read(0), name="none")
    s = c.open()
    s.run(["read:0"], {"i:0": np.int32(1)}, error=[3])
    s.run(["read:0"], {"i:0": np.int32(0)}, values=[np.array([b"a", b"b"], object)])
    s.run(["none:0"], values=[np.zeros([0], object)])


def _gathered(tf: Namespace, array: Any, places: TensorLike, shape: ShapeLike, name: str) -> None:
    tf.raw_ops.TensorArrayGatherV3(
        handle=array.handle,
        indices=places,
        flow_in=array.flow,
        dtype=tf.float32,
        element_shape=shape,
        name=name,
    )


@engine_case("TENSOR-ARRAYS-020", title="A shape that contradicts the array's is refused.")
def shapes_that_contradict(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        array = tf.TensorArray(tf.float32, 1, element_shape=[2], clear_after_read=False)
        array = array.write(0, x)
        for name, shape in (("three", [3]), ("matrix", [1, 2]), ("two", [2]), ("any", None)):
            _gathered(tf, array, _numbers(0), shape, name)
    s = c.open()
    for fetch in ("three:0", "matrix:0"):
        s.run([fetch], {"x:0": _ONE}, error=[3])
    for fetch in ("two:0", "any:0"):
        s.run([fetch], {"x:0": _ONE}, values=[_ONE[None]])


@engine_case("TENSOR-ARRAYS-021", title="No elements have no shape that is not told.")
def no_elements_without_a_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        array = tf.TensorArray(tf.float32, 0, element_shape=[2])
        for name, shape in (("none", None), ("part", [None]), ("whole", [2])):
            _gathered(tf, array, np.zeros([0], np.int32), shape, name)
            tf.raw_ops.TensorArrayConcatV3(
                handle=array.handle,
                flow_in=array.flow,
                dtype=tf.float32,
                element_shape_except0=shape,
                name=f"{name}_joined",
            )
    s = c.open()
    for name in ("none", "part"):
        s.run([f"{name}:0"], error=[12])
        s.run([f"{name}_joined:0"], error=[12])
    nothing = np.zeros([0, 2], np.float32)
    s.run(["whole:0", "whole_joined:0"], values=[nothing, nothing])


def _joined(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        array = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).write(1, y)
        tf.raw_ops.TensorArrayConcatV3(
            handle=array.handle, flow_in=array.flow, dtype=tf.float32, name="joined"
        )


@engine_case("TENSOR-ARRAYS-022", title="The size of each part is told beside the whole.")
def sizes_of_what_is_joined(c: EngineAuthor) -> None:
    _joined(c)
    s = c.open()
    for one, two in ((2, 1), (0, 3)):
        feeds = {"x:0": np.ones([one], np.float32), "y:0": np.ones([two], np.float32)}
        s.run(["joined:1"], feeds, values=[np.array([one, two], np.int64)])


@engine_case("TENSOR-ARRAYS-023", title="Elements that differ in other axes are not joined.")
def elements_that_do_not_fit(c: EngineAuthor) -> None:
    _joined(c)
    s = c.open()
    rows = np.ones([2, 2], np.float32)
    for wrong in (np.float32(3), np.ones([2, 3], np.float32), np.ones([2], np.float32)):
        s.run(["joined:0"], {"x:0": rows, "y:0": wrong}, error=[3])


# --- arrays of gradients, and of elements of one shape -------------------------------------


def _gradients(
    tf: Namespace, array: tuple[Tensor, Tensor], outer: TensorLike | None = None
) -> tuple[Tensor, Tensor]:
    """The handle and the flow of the array's gradients."""
    if outer is None:
        return tf.raw_ops.TensorArrayGradV3(handle=array[0], flow_in=array[1], source="grad")
    return tf.raw_ops.TensorArrayGradWithShape(
        handle=array[0], flow_in=array[1], shape_to_prepend=outer, source="grad"
    )


def _array(tf: Namespace, size: int = 2, **attrs: Argument) -> tuple[Tensor, Tensor]:
    return tf.raw_ops.TensorArrayV3(size=size, dtype=tf.float32, **attrs)


def _written(
    tf: Namespace, array: tuple[Tensor, Tensor], index: TensorLike, value: TensorLike
) -> tuple[Tensor, Tensor]:
    """The array with an element written."""
    flow = tf.raw_ops.TensorArrayWriteV3(
        handle=array[0], index=index, value=value, flow_in=array[1]
    )
    return array[0], flow


def _read(tf: Namespace, array: tuple[Tensor, Tensor], index: TensorLike, name: str) -> Tensor:
    return tf.raw_ops.TensorArrayReadV3(
        handle=array[0], index=index, flow_in=array[1], dtype=tf.float32, name=name
    )


@engine_case("TENSOR-ARRAYS-024", title="Gradients of one element are added up.")
def gradients_are_added_up(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        gradients = _gradients(tf, _array(tf))
        _read(tf, _written(tf, _written(tf, gradients, 1, x), 1, y), 1, "sum")
    feeds = {"x:0": _ONE, "y:0": np.array([30, 40], np.float32)}
    c.open().run(["sum:0"], feeds, values=[np.array([31, 42], np.float32)])


@engine_case("TENSOR-ARRAYS-025", title="What is added has the shape of what is there.")
def gradients_of_other_shapes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        gradients = _gradients(tf, _array(tf))
        _read(tf, _written(tf, _written(tf, gradients, 1, x), 1, y), 1, "sum")
    s = c.open()
    for wrong in (np.float32(1), np.ones([3], np.float32), np.ones([1, 2], np.float32)):
        s.run(["sum:0"], {"x:0": _ONE, "y:0": wrong}, error=[3])


@engine_case("TENSOR-ARRAYS-026", title="A gradient that was not written is zeros.")
def gradients_that_were_not_written(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        gradients = _gradients(tf, _written(tf, _array(tf), 0, x))
        _read(tf, gradients, 0, "zeros")
    s = c.open()
    for value in (_ONE, np.float32(4), np.ones([2, 3], np.float32)):
        s.run(["zeros:0"], {"x:0": value}, values=[np.zeros_like(value)])


@engine_case("TENSOR-ARRAYS-027", title="Gradients have more sizes in front if they are told to.")
def gradients_of_larger_shapes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        outer = tf.placeholder(tf.int32, None, name="n")
        array = _written(tf, _array(tf), 0, x)
        _read(tf, _gradients(tf, array, outer), 0, "zeros")
    s = c.open()
    for sizes in ((3,), (2, 1)):
        feeds = {"x:0": _ONE, "n:0": _numbers(*sizes)}
        s.run(["zeros:0"], feeds, values=[np.zeros([*sizes, 2], np.float32)])


@engine_case("TENSOR-ARRAYS-028", title="An array whose gradients are there does not grow.")
def arrays_with_gradients_do_not_grow(c: EngineAuthor) -> None:
    with c.graph() as tf:
        index = tf.placeholder(tf.int32, [], name="i")
        array = _array(tf, dynamic_size=True)
        with tf.control_dependencies([_gradients(tf, array)[1]]):
            flow = tf.identity(array[1])
        tf.identity(_written(tf, (array[0], flow), index, 1.5)[1], name="written")
    s = c.open()
    s.run(["written:0"], {"i:0": np.int32(2)}, error=[3])
    s.run(["written:0"], {"i:0": np.int32(1)}, values=[anything])


@engine_case("TENSOR-ARRAYS-029", title="The first element settles the shape, if it is to be one.")
def elements_of_one_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, y = (tf.placeholder(tf.float32, None, name=name) for name in "xy")
        for name, one in (("one", True), ("any", False)):
            array = _written(tf, _array(tf, identical_element_shapes=one), 0, x)
            tf.identity(_written(tf, array, 1, y)[1], name=name)
    s = c.open()
    for wrong in (np.float32(1), np.ones([3], np.float32)):
        s.run(["one:0"], {"x:0": _ONE, "y:0": wrong}, error=[3])
        s.run(["any:0"], {"x:0": _ONE, "y:0": wrong}, values=[anything])
    s.run(["one:0"], {"x:0": _ONE, "y:0": _ONE}, values=[anything])


@engine_case("TENSOR-ARRAYS-030", title="An array that was closed is of no use.")
def closed_arrays(c: EngineAuthor) -> None:
    with c.graph() as tf:
        array = _array(tf, tf.placeholder(tf.int32, [], name="n"))
        with tf.control_dependencies([tf.raw_ops.TensorArrayCloseV3(handle=array[0])]):
            flow = tf.identity(array[1])
        closed = (array[0], flow)
        tf.raw_ops.TensorArraySizeV3(handle=array[0], flow_in=flow, name="size")
        tf.identity(_written(tf, closed, 0, 1.5)[1], name="written")
    s = c.open()
    for fetch in ("size:0", "written:0"):
        s.run([fetch], {"n:0": np.int32(2)}, error=[3])


@engine_case("TENSOR-ARRAYS-030", title="An array is closed again, and still of no use.")
def arrays_that_are_closed_again(c: EngineAuthor) -> None:
    with c.graph() as tf:
        array = _array(tf)
        with tf.control_dependencies([tf.raw_ops.TensorArrayCloseV3(handle=array[0])]):
            again = tf.raw_ops.TensorArrayCloseV3(handle=array[0], name="again")
        with tf.control_dependencies([again]):
            flow = tf.identity(array[1], name="flow")
        tf.identity(_written(tf, (array[0], flow), 0, 1.5)[1], name="written")
        tf.identity(_gradients(tf, (array[0], flow))[1], name="gradients")
    s = c.open()
    s.run(["again"], values=[None])
    s.run(["flow:0"], values=[anything])
    for fetch in ("written:0", "gradients:0"):
        s.run([fetch], error=[3])
