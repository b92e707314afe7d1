"""Vectors of CONTROL-FLOW: lists of tensors scattered, joined, cut and read as a whole."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.conformance.subjects.tensor_lists.cases.tensor_lists import (
    counted,
    given,
    item,
    items,
    of_rows,
    reserved,
    scattered,
    set_item,
    shape_of,
    shows_items,
    stacked,
)
from sessrun.spec.cases.arguments import TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_ONE = np.array([[1, 2]], np.float32)
_THREE = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def _indices(*places: int) -> np.ndarray:
    return np.array(places, np.int32)


@engine_case("CONTROL-FLOW-040", title="Rows go where their indices say.")
def rows_are_scattered(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, places = given(tf, "x"), given(tf, "i", "int32")
        older = tf.raw_ops.TensorListScatter(tensor=x, indices=places, element_shape=shape_of([2]))
        stacked(tf, older, "older")
        stacked(tf, scattered(tf, x, places, -1), "newer")
    session = c.open()
    feeds = {"x:0": _THREE, "i:0": _indices(2, 0, 1)}
    wanted = _THREE[[1, 2, 0]]
    session.run(["older:0", "newer:0"], feeds, values=[wanted, wanted])


def _counted_scatter(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, places = given(tf, "x"), given(tf, "i", "int32")
        count = tf.placeholder(tf.int32, [], name="n")
        counted(tf, scattered(tf, x, places, count))


@engine_case("CONTROL-FLOW-041", title="A scatter makes a list as long as it is told.")
def scatters_of_a_length(c: EngineAuthor) -> None:
    _counted_scatter(c)
    session = c.open()
    feeds = {"x:0": _THREE, "i:0": _indices(3, 0, 1)}
    for count, length in ((-1, 4), (4, 4), (6, 6)):
        wanted = [np.int32(length)]
        session.run(["count:0"], {**feeds, "n:0": np.int32(count)}, values=wanted)


@engine_case("CONTROL-FLOW-042", title="Nothing is scattered past the length that is told.")
def scatters_past_a_length(c: EngineAuthor) -> None:
    _counted_scatter(c)
    session = c.open()
    feeds = {"x:0": _THREE, "i:0": _indices(3, 0, 1)}
    for count in (3, 0, -2):
        session.run(["count:0"], {**feeds, "n:0": np.int32(count)}, error=[3])
    session.run(["count:0"], {**feeds, "n:0": np.int32(4)}, values=[np.int32(4)])


@engine_case("CONTROL-FLOW-043", title="Each row needs an index.")
def rows_without_indices(c: EngineAuthor) -> None:
    _counted_scatter(c)
    session = c.open()
    for places in (_indices(0, 1), _indices(0, 1, 2, 3)):
        session.run(["count:0"], {"x:0": _THREE, "i:0": places, "n:0": np.int32(4)}, error=[3])
    feeds = {"x:0": _THREE, "i:0": _indices(0, 1, 2), "n:0": np.int32(4)}
    session.run(["count:0"], feeds, values=[np.int32(4)])


@engine_case("CONTROL-FLOW-044", title="Nothing is scattered before the first element.")
def scatters_below_zero(c: EngineAuthor) -> None:
    _counted_scatter(c)
    session = c.open()
    for count in (-1, 4):
        feeds = {"x:0": _THREE, "i:0": _indices(0, -1, 2), "n:0": np.int32(count)}
        session.run(["count:0"], feeds, error=[3])
    feeds = {"x:0": _THREE, "i:0": _indices(0, 1, 2), "n:0": np.int32(-1)}
    session.run(["count:0"], feeds, values=[np.int32(3)])


@engine_case("CONTROL-FLOW-045", title="Rows are scattered into a list that is there.")
def rows_are_scattered_into(c: EngineAuthor) -> None:
    with c.graph() as tf:
        scattered = tf.raw_ops.TensorListScatterIntoExistingList(
            input_handle=of_rows(tf, given(tf, "x")),
            tensor=given(tf, "y"),
            indices=given(tf, "i", "int32"),
        )
        stacked(tf, scattered, "all")
    session = c.open()
    y = np.array([[7, 8], [9, 10]], np.float32)
    for places, wanted in (
        (_indices(2, 0), np.stack([y[1], _THREE[1], y[0]])),
        (_indices(1, 3), np.stack([_THREE[0], y[0], _THREE[2], y[1]])),
    ):
        session.run(["all:0"], {"x:0": _THREE, "y:0": y, "i:0": places}, values=[wanted])


def _appended(c: EngineAuthor, other: TensorLike) -> None:
    with c.graph() as tf:
        both = tf.raw_ops.TensorListConcatLists(
            input_a=of_rows(tf, given(tf, "x")),
            input_b=of_rows(tf, given(tf, "y"), other),
            element_dtype=tf.float32,
        )
        stacked(tf, both, "all")
        counted(tf, both)


@engine_case("CONTROL-FLOW-046", title="One list comes after the other.")
def one_list_after_the_other(c: EngineAuthor) -> None:
    _appended(c, [2])
    feeds = {"x:0": _THREE[1:], "y:0": _ONE}
    c.open().run(["all:0"], feeds, values=[np.concatenate([_THREE[1:], _ONE])])


@engine_case("CONTROL-FLOW-047", title="Lists of different shapes are not joined.")
def lists_of_different_shapes(c: EngineAuthor) -> None:
    _appended(c, [-1])
    c.open().run(["count:0"], {"x:0": _THREE, "y:0": _ONE}, error=[3])


def _split(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = tf.raw_ops.TensorListSplit(
            tensor=given(tf, "x"), element_shape=shape_of([-1, 2]), lengths=given(tf, "l", "int64")
        )
        items(tf, handle, 3, (-1, 2))
        counted(tf, handle)


@engine_case("CONTROL-FLOW-048", title="A tensor is cut into elements of given lengths.")
def tensors_are_split(c: EngineAuthor) -> None:
    _split(c)
    feeds: dict[str, np.ndarray] = {"x:0": _THREE, "l:0": np.array([1, 0, 2], np.int64)}
    shows_items(c, feeds, _THREE[:1], _THREE[:0], _THREE[1:])


@engine_case("CONTROL-FLOW-049", title="The lengths of the parts add up to the rows.")
def lengths_that_do_not_add_up(c: EngineAuthor) -> None:
    _split(c)
    session = c.open()
    for lengths in ([1, 1], [1, 3], [-1, 2, 2]):
        feeds: dict[str, np.ndarray] = {"x:0": _THREE, "l:0": np.array(lengths, np.int64)}
        session.run(["count:0"], feeds, error=[3])
    feeds = {"x:0": _THREE, "l:0": np.array([3, 0], np.int64)}
    session.run(["count:0"], feeds, values=[np.int32(2)])


# --- what is read of a list as a whole -----------------------------------------------------


def _concat(tf: Namespace, handle: Tensor, name: str, leading: npt.ArrayLike = ()) -> None:
    tf.raw_ops.TensorListConcatV2(
        input_handle=handle,
        element_shape=shape_of(-1),
        leading_dims=np.array(leading, np.int64),
        element_dtype=tf.float32,
        name=name,
    )


def _of_two(tf: Namespace) -> Tensor:
    """A list of the fed tensors `x` and `y`, whose shapes are unknown."""
    handle = tf.raw_ops.EmptyTensorList(
        element_shape=shape_of(-1), max_num_elements=-1, element_dtype=tf.float32
    )
    for name in "xy":
        handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=given(tf, name))
    return handle


def _concats(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _of_two(tf)
        _concat(tf, handle, "newer")
        tf.raw_ops.TensorListConcat(input_handle=handle, element_dtype=tf.float32, name="older")


@engine_case("CONTROL-FLOW-050", title="Elements are joined along their first axis.")
def elements_are_joined(c: EngineAuthor) -> None:
    _concats(c)
    session = c.open()
    feeds = {"x:0": _THREE[1:], "y:0": _ONE}
    wanted = np.concatenate([_THREE[1:], _ONE])
    session.run(["newer:0", "older:0"], feeds, values=[wanted, wanted])


@engine_case("CONTROL-FLOW-051", title="The size of each part is told beside the whole.")
def sizes_of_what_is_joined(c: EngineAuthor) -> None:
    _concats(c)
    session = c.open()
    for x, y in ((_THREE, _ONE), (_ONE, _THREE[:0])):
        lengths = np.array([len(x), len(y)], np.int64)
        session.run(["newer:1", "older:1"], {"x:0": x, "y:0": y}, values=[lengths, lengths])


@engine_case("CONTROL-FLOW-052", title="What was not set is joined as rows of zeros.")
def joined_without_being_set(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = set_item(tf, reserved(tf, 3, (-1, 2)), 1, given(tf, "x"))
        _concat(tf, handle, "all", (2, 0, 1))
    zeros = np.zeros([3, 2], np.float32)
    wanted = np.concatenate([zeros[:2], _ONE, zeros[:1]])
    c.open().run(["all:0"], {"x:0": _ONE}, values=[wanted])


@engine_case("CONTROL-FLOW-053", title="Elements that differ in other axes are not joined.")
def elements_that_do_not_fit(c: EngineAuthor) -> None:
    _concats(c)
    session = c.open()
    for fetch in ("newer:0", "older:0"):
        for wrong in (np.ones([1, 3], np.float32), np.float32(1)):
            session.run([fetch], {"x:0": _THREE, "y:0": wrong}, error=[3])


def _gathered(
    tf: Namespace, handle: Tensor, places: TensorLike, name: str, shape: TensorLike = (2,)
) -> None:
    tf.raw_ops.TensorListGather(
        input_handle=handle,
        indices=places,
        element_shape=shape_of(shape),
        element_dtype=tf.float32,
        name=name,
    )


def _gathering(c: EngineAuthor) -> None:
    with c.graph() as tf:
        places = given(tf, "i", "int32")
        _gathered(tf, of_rows(tf, given(tf, "x")), places, "gathered")


@engine_case("CONTROL-FLOW-054", title="Elements are gathered in the order of the indices.")
def elements_are_gathered(c: EngineAuthor) -> None:
    _gathering(c)
    session = c.open()
    for places in (_indices(2, 0), _indices(1, 1, 0), _indices()):
        feeds = {"x:0": _THREE, "i:0": places}
        session.run(["gathered:0"], feeds, values=[_THREE[places]])


@engine_case("CONTROL-FLOW-055", title="An element that a list has not is not gathered.")
def gathers_outside(c: EngineAuthor) -> None:
    _gathering(c)
    session = c.open()
    for wrong in (3, -1):
        session.run(["gathered:0"], {"x:0": _THREE, "i:0": _indices(0, wrong)}, error=[3])


@engine_case("CONTROL-FLOW-056", title="A list tells what is known of its elements' shape.")
def shapes_of_elements(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("whole", "part", "none"):
            handle = reserved(tf, 1, given(tf, name, "int32"))
            tf.raw_ops.TensorListElementShape(
                input_handle=handle, shape_type=tf.int32, name=f"{name}_shape"
            )
    session = c.open()
    for name, shape in (("whole", [2, 3]), ("part", [-1, 3]), ("none", -1)):
        known = np.array(shape, np.int32)
        session.run([f"{name}_shape:0"], {f"{name}:0": known}, values=[known])


@engine_case("CONTROL-FLOW-057", title="Elements of different shapes are read, but not stacked.")
def elements_of_different_shapes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _of_two(tf)
        stacked(tf, handle, "stacked", -1)
        _gathered(tf, handle, given(tf, "i", "int32"), "gathered", -1)
        item(tf, handle, 1, "second", -1)
    session = c.open()
    feeds = {"x:0": _ONE, "y:0": _THREE, "i:0": _indices(1, 0)}
    for fetch in ("stacked:0", "gathered:0"):
        session.run([fetch], feeds, error=[3])
    session.run(["second:0"], feeds, values=[_THREE])


@engine_case("CONTROL-FLOW-058", title="A stack has as many elements as it says.")
def stacks_of_a_number(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = of_rows(tf, given(tf, "x"))
        stacked(tf, handle, "two", [2], 2)
    session = c.open()
    for rows in (_THREE, _ONE):
        session.run(["two:0"], {"x:0": rows}, error=[3])
    session.run(["two:0"], {"x:0": _THREE[:2]}, values=[_THREE[:2]])


@engine_case("CONTROL-FLOW-059", title="Nothing is popped of a list without elements.")
def nothing_to_pop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.raw_ops.TensorListPopBack(
            input_handle=of_rows(tf, given(tf, "x")),
            element_shape=shape_of([2]),
            element_dtype=tf.float32,
            name="pop",
        )
    session = c.open()
    session.run(["pop:1"], {"x:0": _THREE[:0]}, error=[3])
    session.run(["pop:1"], {"x:0": _ONE}, values=[floats(1, 2)])


@engine_case("CONTROL-FLOW-060", title="What was not set and has no shape is not read.")
def elements_without_a_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        shape = given(tf, "s", "int32")
        handle = reserved(tf, 1, shape)
        item(tf, handle, 0, "item", shape)
        stacked(tf, handle, "stacked", shape)
    session = c.open()
    for sizes in (-1, [-1, 2]):
        for fetch in ("item:0", "stacked:0"):
            session.run([fetch], {"s:0": np.array(sizes, np.int32)}, error=[3])
    session.run(["item:0"], {"s:0": _indices(2)}, values=[floats(0, 0)])


@engine_case("CONTROL-FLOW-061", title="A shape that contradicts the list's is refused.")
def shapes_that_contradict(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle, shape = of_rows(tf, given(tf, "x")), given(tf, "s", "int32")
        stacked(tf, handle, "stacked", shape)
        _gathered(tf, handle, _indices(1, 0), "gathered", shape)
    session = c.open()
    for fetch in ("stacked:0", "gathered:0"):
        for wrong in ([3], [1, 2]):
            session.run([fetch], {"x:0": _THREE, "s:0": _indices(*wrong)}, error=[3])
    session.run(["stacked:0"], {"x:0": _THREE, "s:0": _indices(-1)}, values=[_THREE])


# --- the same clauses by other operations --------------------------------------------------


def _popped(tf: Namespace, handle: Tensor, name: str, shape: TensorLike = (2,)) -> None:
    tf.raw_ops.TensorListPopBack(
        input_handle=handle, element_shape=shape_of(shape), element_dtype=tf.float32, name=name
    )


@engine_case("CONTROL-FLOW-024", title="What was not set is popped, stacked and gathered as zeros.")
def zeros_by_other_operations(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = set_item(tf, reserved(tf, 3, (-1, 3)), 1, given(tf, "x"))
        item(tf, handle, 0, "item", (2, -1))
        _popped(tf, handle, "pop", (2, -1))
        stacked(tf, handle, "stacked", (2, -1))
        _gathered(tf, handle, given(tf, "i", "int32"), "gathered", (2, -1))
    session = c.open()
    row = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    feeds = {"x:0": row, "i:0": _indices(2, 1)}
    zeros = np.zeros_like(row)
    session.run(["item:0"], feeds, values=[zeros])
    session.run(["pop:1"], feeds, values=[zeros])
    session.run(["stacked:0"], feeds, values=[np.stack([zeros, row, zeros])])
    session.run(["gathered:0"], feeds, values=[np.stack([zeros, row])])


@engine_case("CONTROL-FLOW-036", title="A split and scatters make elements of the declared shape.")
def parts_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, places = given(tf, "x"), given(tf, "i", "int32")
        split = tf.raw_ops.TensorListSplit(
            tensor=x, element_shape=shape_of([1, 2]), lengths=given(tf, "l", "int64")
        )
        counted(tf, split, "split")
        older = tf.raw_ops.TensorListScatter(tensor=x, indices=places, element_shape=shape_of([2]))
        counted(tf, older, "older")
        counted(tf, scattered(tf, x, places, -1), "newer")
    session = c.open()
    at: dict[str, np.ndarray] = {"i:0": _indices(1, 0)}
    lengths: dict[str, np.ndarray] = {"l:0": np.array([1, 1], np.int64)}
    for rows in (np.ones([2, 3], np.float32), np.ones([2, 2, 1], np.float32)):
        session.run(["split:0"], {"x:0": rows, **lengths}, error=[3])
        for fetch in ("older:0", "newer:0"):
            session.run([fetch], {"x:0": rows, **at}, error=[3])
    feeds = {"x:0": _THREE[:2], **at, **lengths}
    session.run(["split:0", "older:0", "newer:0"], feeds, values=[np.int32(2)] * 3)


def _older_scatter(c: EngineAuthor) -> None:
    with c.graph() as tf:
        older = tf.raw_ops.TensorListScatter(
            tensor=given(tf, "x"), indices=given(tf, "i", "int32"), element_shape=shape_of(-1)
        )
        counted(tf, older)


@engine_case("CONTROL-FLOW-039", title="An older scatter takes no scalar.")
def an_older_scatter_of_a_scalar(c: EngineAuthor) -> None:
    _older_scatter(c)
    session = c.open()
    session.run(["count:0"], {"x:0": np.float32(1), "i:0": _indices()}, error=[3])
    session.run(["count:0"], {"x:0": _ONE[0], "i:0": _indices(0, 1)}, values=[np.int32(2)])


@engine_case("CONTROL-FLOW-043", title="Each row of an older scatter needs an index.")
def an_older_scatter_without_indices(c: EngineAuthor) -> None:
    _older_scatter(c)
    session = c.open()
    for places in (_indices(0, 1), _indices(0, 1, 2, 3)):
        session.run(["count:0"], {"x:0": _THREE, "i:0": places}, error=[3])
    session.run(["count:0"], {"x:0": _THREE, "i:0": _indices(0, 2, 1)}, values=[np.int32(3)])


@engine_case("CONTROL-FLOW-044", title="Nothing is scattered below zero by an older scatter.")
def an_older_scatter_below_zero(c: EngineAuthor) -> None:
    _older_scatter(c)
    session = c.open()
    session.run(["count:0"], {"x:0": _THREE, "i:0": _indices(0, -1, 2)}, error=[3])
    session.run(["count:0"], {"x:0": _THREE, "i:0": _indices(0, 1, 2)}, values=[np.int32(3)])


@engine_case("CONTROL-FLOW-047", title="Lists of shapes that contradict each other are not joined.")
def lists_of_contradicting_shapes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        other = of_rows(tf, given(tf, "y"), given(tf, "s", "int32"))
        both = tf.raw_ops.TensorListConcatLists(
            input_a=of_rows(tf, given(tf, "x")), input_b=other, element_dtype=tf.float32
        )
        counted(tf, both)
    session = c.open()
    for rows in (np.ones([1, 3], np.float32), np.ones([1, 1, 2], np.float32)):
        feeds = {"x:0": _THREE, "y:0": rows, "s:0": _indices(*rows.shape[1:])}
        session.run(["count:0"], feeds, error=[3])
    feeds = {"x:0": _THREE, "y:0": _ONE, "s:0": _indices(2)}
    session.run(["count:0"], feeds, values=[np.int32(4)])


@engine_case(
    "CONTROL-FLOW-060", title="What was not set and has no shape is not popped or gathered."
)
def elements_without_a_shape_by_other_operations(c: EngineAuthor) -> None:
    with c.graph() as tf:
        shape = given(tf, "s", "int32")
        handle = reserved(tf, 1, shape)
        _popped(tf, handle, "pop", shape)
        _gathered(tf, handle, given(tf, "i", "int32"), "gathered", shape)
    session = c.open()
    for sizes in (-1, [-1, 2]):
        feeds = {"s:0": np.array(sizes, np.int32), "i:0": _indices(0)}
        for fetch in ("pop:1", "gathered:0"):
            session.run([fetch], feeds, error=[3])
    feeds = {"s:0": _indices(2), "i:0": _indices(0)}
    session.run(["pop:1", "gathered:0"], feeds, values=[floats(0, 0), np.zeros([1, 2], np.float32)])
