"""Vectors of QUEUES: how many elements are taken or put in at once, and what one element is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    engine_case,
)
from sessrun.conformance.subjects.concurrency.cases.run_threads import SHORT
from sessrun.spec.cases.arguments import Argument

#: Time for a run to begin to wait; the right answer does not depend on it.
_GRACE_S = 0.3
_THREE = np.array([7, 8, 9], np.int32)


def of_one(
    c: EngineAuthor, kind: str = "FIFOQueue", dtype: str = "int32", **options: Argument
) -> SessionAuthor:
    """Open a session of a queue of one component and all that can be done to it.

    `put` and `puts` take `x`; `take`, `takes` and `up_to` give elements, the last two as many as
    `n` says; `size`, `closed`, `close` and `cancel` do what they are called.
    """
    options = {"capacity": 10, "shapes": [[]], **options}
    with c.graph() as tf:
        queue = getattr(tf, kind)(dtypes=getattr(tf, dtype), name="queue", **options)
        x = tf.placeholder(getattr(tf, dtype), name="x")
        n = tf.placeholder(tf.int32, name="n")
        queue.enqueue(x, name="put")
        queue.enqueue_many(x, name="puts")
        queue.dequeue(name="take")
        queue.dequeue_many(n, name="takes")
        queue.dequeue_up_to(n, name="up_to")
        queue.size(name="size")
        queue.is_closed(name="closed")
        queue.close(name="close")
        queue.close(cancel_pending_enqueues=True, name="cancel")
    return c.open()


def puts(s: SessionAuthor, values: npt.ArrayLike) -> None:
    """Put in the rows."""
    s.run(["puts"], {"x:0": np.asarray(values)}, values=[None])


def close(s: SessionAuthor) -> None:
    """Close the queue."""
    s.run(["close"], values=[None])


def size(s: SessionAuthor, want: int) -> None:
    """The queue must hold `want` elements."""
    s.run(["size:0"], values=[np.int32(want)])


def takes(
    s: SessionAuthor,
    want: Sequence[float] | Sequence[bytes] | np.ndarray,
    node: str = "takes",
    n: int | None = None,
) -> None:
    """A dequeue of several elements must give these."""
    count = np.int32(len(want) if n is None else n)
    s.run([f"{node}:0"], {"n:0": count}, values=[np.asarray(want)])


# --- too few ------------------------------------------------------------------------------


@engine_case("QUEUES-022", title="A dequeue_many of a closed queue with too few leaves them all.")
def too_few_in_a_closed_queue(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    close(s)
    s.run(["takes:0"], {"n:0": np.int32(5)}, error=[11])
    size(s, 3)
    takes(s, _THREE)


@engine_case("QUEUES-022", title="So does one of a closed RandomShuffleQueue.")
def too_few_to_shuffle(c: EngineAuthor) -> None:
    s = of_one(c, "RandomShuffleQueue", "int64", min_after_dequeue=1)
    puts(s, np.array([4, 4], np.int64))
    close(s)
    s.run(["takes:0"], {"n:0": np.int32(3)}, error=[11])
    takes(s, np.array([4, 4], np.int64))


@engine_case("QUEUES-022", title="So does one of a closed PaddingFIFOQueue.")
def too_few_to_pad(c: EngineAuthor) -> None:
    s = of_one(c, "PaddingFIFOQueue", "float32", shapes=[[None]])
    for length in (1, 2):
        s.run(["put"], {"x:0": np.ones(length, np.float32)}, values=[None])
    close(s)
    s.run(["takes:0"], {"n:0": np.int32(3)}, error=[11])
    size(s, 2)
    takes(s, np.array([[1, 0], [1, 1]], np.float32))


@engine_case("QUEUES-023", title="A dequeue_up_to of a closed queue gives the elements left.")
def up_to_what_is_left(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    close(s)
    takes(s, _THREE[:2], "up_to")
    takes(s, _THREE[2:], "up_to", 100)


@engine_case("QUEUES-023", title="A dequeue_up_to of a closed PaddingFIFOQueue pads what is left.")
def up_to_what_is_left_padded(c: EngineAuthor) -> None:
    s = of_one(c, "PaddingFIFOQueue", "float32", shapes=[[None]])
    for length in (1, 2):
        s.run(["put"], {"x:0": np.ones(length, np.float32)}, values=[None])
    close(s)
    takes(s, np.array([[1, 0], [1, 1]], np.float32), "up_to", 3)


@engine_case("QUEUES-023", title="A dequeue_up_to of a closed RandomShuffleQueue gives the rest.")
def up_to_what_is_left_to_shuffle(c: EngineAuthor) -> None:
    s = of_one(c, "RandomShuffleQueue", "string", min_after_dequeue=2)
    puts(s, np.array([b"a", b"a", b"a"], object))
    close(s)
    takes(s, np.array([b"a", b"a", b"a"], object), "up_to", 4)


@engine_case("QUEUES-024", title="A dequeue_up_to of a closed and empty queue fails with code 11.")
def up_to_nothing(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    close(s)
    takes(s, _THREE, "up_to", 4)
    s.run(["up_to:0"], {"n:0": np.int32(4)}, error=[11])
    s.run(["up_to:0"], {"n:0": np.int32(1)}, error=[11])


@api_case("QUEUES-024", title="A dequeue_up_to of a closed and empty queue is OutOfRangeError.")
def up_to_nothing_is_out_of_range(c: ApiAuthor) -> None:
    queue = c.tf.FIFOQueue(4, c.tf.float64, shapes=[[2]])
    taken, closing = queue.dequeue_up_to(2), queue.close()
    sess = c.tf.Session()
    sess.run(closing)
    c.raises("OutOfRangeError", lambda: sess.run(taken))


@engine_case("QUEUES-025", title="A dequeue_up_to of an open queue waits for all of its elements.")
def up_to_waits(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    s.start("t", ["up_to:0"], {"n:0": np.int32(4)}, grace_s=_GRACE_S)
    puts(s, [4])
    c.join("t", values=[np.array([7, 8, 9, 4], np.int32)])


@engine_case("QUEUES-025", title="A close ends the wait of a dequeue_up_to with what there is.")
def up_to_ends_with_a_close(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    s.start("t", ["up_to:0"], {"n:0": np.int32(5)}, grace_s=_GRACE_S)
    puts(s, _THREE[:1])
    close(s)
    c.join("t", values=[np.array([7, 8, 9, 7], np.int32)])


# --- none ---------------------------------------------------------------------------------


@engine_case("QUEUES-026", title="No elements are had at once, of an open and of a closed queue.")
def no_elements(c: EngineAuthor) -> None:
    s = of_one(c, dtype="float32", shapes=[[2, 3]])
    takes(s, np.zeros((0, 2, 3), np.float32))
    takes(s, np.zeros((0, 2, 3), np.float32), "up_to")
    close(s)
    takes(s, np.zeros((0, 2, 3), np.float32))
    takes(s, np.zeros((0, 2, 3), np.float32), "up_to")


@engine_case("QUEUES-026", title="No elements of a PaddingFIFOQueue have no size where it varies.")
def no_padded_elements(c: EngineAuthor) -> None:
    s = of_one(c, "PaddingFIFOQueue", "string", shapes=[[None, 2]])
    s.run(["put"], {"x:0": np.array([[b"a", b"b"]], object)}, values=[None])
    takes(s, np.zeros((0, 0, 2), object))
    size(s, 1)


@engine_case("QUEUES-027", title="Fewer elements than none are refused with code 3.")
def fewer_than_none(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    s.run(["takes:0"], {"n:0": np.int32(-1)}, error=[3])
    s.run(["up_to:0"], {"n:0": np.int32(-7)}, error=[3])
    size(s, 3)


@api_case("QUEUES-027", title="Fewer elements than none are InvalidArgumentError when fed.")
def fewer_than_none_fed(c: ApiAuthor) -> None:
    tf = c.tf
    n = tf.placeholder(tf.int32)
    taken = tf.RandomShuffleQueue(4, 0, tf.int32, shapes=[[]]).dequeue_many(n)
    sess = tf.Session()
    c.raises("InvalidArgumentError", lambda: sess.run(taken, {n: -1}))


@engine_case("QUEUES-028", title="Batches of components without a shape fail with code 3.")
def batches_without_a_shape(c: EngineAuthor) -> None:
    s = of_one(c, shapes=None)
    puts(s, _THREE)
    close(s)
    s.run(["takes:0"], {"n:0": np.int32(1)}, error=[3])
    s.run(["up_to:0"], {"n:0": np.int32(2)}, error=[3])
    s.run(["take:0"], values=[np.int32(7)])
    size(s, 2)


@engine_case("QUEUES-028", title="Without a shape each element has its own.")
def elements_of_different_shapes(c: EngineAuthor) -> None:
    s = of_one(c, shapes=None)
    s.run(["put"], {"x:0": _THREE}, values=[None])
    s.run(["put"], {"x:0": np.int32(5)}, values=[None])
    s.run(["takes:0"], {"n:0": np.int32(0)}, error=[3])
    s.run(["take:0"], values=[_THREE])
    s.run(["take:0"], values=[np.int32(5)])


@engine_case("QUEUES-059", title="Putting nothing in is done at once, closed or full.")
def nothing_put_in(c: EngineAuthor) -> None:
    s = of_one(c, capacity=1)
    none = np.zeros(0, np.int32)
    puts(s, none)
    size(s, 0)
    puts(s, [5])
    puts(s, none.astype(np.int32))
    close(s)
    puts(s, none)
    size(s, 1)


# --- elements -----------------------------------------------------------------------------


def _pairs(c: EngineAuthor, shapes: Sequence[Sequence[int]] = ((), (2,))) -> SessionAuthor:
    with c.graph() as tf:
        queue = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=shapes, name="queue")
        parts = [tf.placeholder(tf.int32, name="x"), tf.placeholder(tf.string, name="y")]
        queue.enqueue(parts, name="put")
        queue.enqueue_many(parts, name="puts")
        queue.dequeue(name="take")
        queue.dequeue_many(tf.placeholder(tf.int32, name="n"), name="takes")
        queue.size(name="size")
    return c.open()


_WORDS = np.array([[b"a", b"b"], [b"", b"d"], [b"e", b"\x00"]], object)


@engine_case("QUEUES-029", title="Components of different numbers of rows fail with code 3.")
def different_numbers_of_rows(c: EngineAuthor) -> None:
    s = _pairs(c)
    s.run(["puts"], {"x:0": _THREE, "y:0": _WORDS[:2]}, error=[3])
    s.run(["puts"], {"x:0": _THREE[:0], "y:0": _WORDS}, error=[3])
    size(s, 0)


@engine_case("QUEUES-077", title="A scalar has no rows.")
def a_scalar_has_no_rows(c: EngineAuthor) -> None:
    s = of_one(c)
    s.run(["puts"], {"x:0": np.int32(3)}, error=[3])
    size(s, 0)


@engine_case("QUEUES-030", title="The components of an element stay together, in batches too.")
def components_stay_together(c: EngineAuthor) -> None:
    s = _pairs(c)
    s.run(["puts"], {"x:0": _THREE, "y:0": _WORDS}, values=[None])
    s.run(["put"], {"x:0": np.int32(1), "y:0": _WORDS[1]}, values=[None])
    s.run(["takes:0", "takes:1"], {"n:0": np.int32(2)}, values=[_THREE[:2], _WORDS[:2]])
    s.run(["take:1", "take:0"], values=[_WORDS[2], _THREE[2]])
    s.run(["takes:1", "takes:0"], {"n:0": np.int32(1)}, values=[_WORDS[1:2], _THREE[:1] * 0 + 1])


@engine_case("QUEUES-030", title="A component that nobody fetches leaves with its element.")
def a_component_nobody_fetches(c: EngineAuthor) -> None:
    s = _pairs(c)
    s.run(["puts"], {"x:0": _THREE, "y:0": _WORDS}, values=[None])
    s.run(["take:0"], values=[_THREE[0]])
    s.run(["takes:1", "takes:0"], {"n:0": np.int32(2)}, values=[_WORDS[1:], _THREE[1:]])


def _numbers(dtype: str) -> np.ndarray:
    if dtype == "string":
        return np.array([b"", b"x\x00y"], object)
    if dtype == "bool":
        return np.array([True, False])
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return np.array([1.25 - 1e-9j, np.inf], kind)
    if kind.kind == "f":
        return np.array([1 / 3, np.nan], kind)
    return np.array([np.iinfo(kind).min, np.iinfo(kind).max], kind)


@engine_case("QUEUES-032", title="Elements of each dtype come out bit for bit.")
def elements_of_each_dtype(c: EngineAuthor) -> None:
    dtypes = (
        "float32",
        "float64",
        "float16",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "complex64",
        "complex128",
        "string",
    )
    with c.graph() as tf:
        types = [getattr(tf, dtype) for dtype in dtypes]
        queue = tf.FIFOQueue(3, types, shapes=[[]] * len(dtypes), name="queue")
        rows = [tf.placeholder(kind, [2], name=f"x{i}") for i, kind in enumerate(types)]
        queue.enqueue_many(rows, name="puts")
        queue.dequeue(name="take")
        queue.dequeue_many(1, name="takes")
    s = c.open()
    values = [_numbers(dtype) for dtype in dtypes]
    s.run(["puts"], {f"x{i}:0": value for i, value in enumerate(values)}, values=[None])
    s.run([f"take:{i}" for i in range(len(dtypes))], values=[value[0] for value in values])
    s.run([f"takes:{i}" for i in range(len(dtypes))], values=[value[1:] for value in values])


@engine_case("QUEUES-032", title="Large and empty elements come out as they went in.")
def elements_of_odd_sizes(c: EngineAuthor) -> None:
    s = of_one(c, dtype="float64", shapes=None)
    for value in (np.arange(1000.0).reshape(20, 50) / 3, np.zeros((0, 4)), np.float64(1 / 7)):
        s.run(["put"], {"x:0": value}, values=[None])
        s.run(["take:0"], values=[value])


@engine_case("QUEUES-033", title="Components of other dtypes than the queue's fail with code 3.")
def components_of_other_dtypes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], []], name="queue")
        handle, raw = queue.queue_ref, tf.raw_ops
        raw.QueueEnqueueV2(handle=handle, components=[1.0, 2.0], name="other")
        raw.QueueEnqueueV2(handle=handle, components=[1], name="fewer")
        raw.QueueEnqueueManyV2(handle=handle, components=[[1.0], [2.0]], name="others")
        queue.enqueue([1, 2.0], name="put")
        raw.QueueDequeueV2(handle=handle, component_types=[tf.int32], name="one")
        raw.QueueDequeueV2(handle=handle, component_types=[tf.int32] * 2, name="two")
        raw.QueueDequeueManyV2(handle=handle, n=1, component_types=[tf.int32] * 2, name="takes")
        queue.size(name="size")
    s = c.open()
    for name in ("other", "fewer", "others"):
        s.run([name], error=[3])
    s.run(["put"], values=[None])
    for name in ("one:0", "two:0", "takes:1"):
        s.run([name], error=[3])
    size(s, 1)


# --- capacity and closing -----------------------------------------------------------------


@engine_case("QUEUES-031", title="A queue of capacity -1 has room for any number of elements.")
def a_queue_without_a_bound(c: EngineAuthor) -> None:
    s = of_one(c, capacity=-1)
    puts(s, np.arange(1000, dtype=np.int32))
    puts(s, np.arange(1000, dtype=np.int32))
    size(s, 2000)


@engine_case("QUEUES-031", title="So has a RandomShuffleQueue, and a PaddingFIFOQueue.")
def other_queues_without_a_bound(c: EngineAuthor) -> None:
    with c.graph() as tf:
        rows = tf.zeros([300], tf.float32)
        shuffled = tf.RandomShuffleQueue(-1, 2, tf.float32, shapes=[[]])
        padded = tf.PaddingFIFOQueue(-1, tf.float32, shapes=[[]])
        tf.group(shuffled.enqueue_many(rows), padded.enqueue_many(rows), name="puts")
        shuffled.size(name="shuffled")
        padded.size(name="padded")
    s = c.open()
    s.run(["puts"], values=[None])
    s.run(["shuffled:0", "padded:0"], values=[np.int32(300), np.int32(300)])


@engine_case("QUEUES-031", title="A queue of capacity 0 has room for none.")
def a_queue_without_room(c: EngineAuthor) -> None:
    s = of_one(c, capacity=0)
    s.run(["put"], {"x:0": np.int32(1)}, options=SHORT, error=[4])
    size(s, 0)


@engine_case("QUEUES-034", title="A cancelling close of a closed queue succeeds.")
def a_cancelling_close_of_a_closed_queue(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    close(s)
    s.run(["cancel"], values=[None])
    s.run(["cancel"], values=[None])
    s.run(["close"], error=[1])
    takes(s, _THREE)


@engine_case("QUEUES-035", title="A queue is closed once it has been closed, and stays so.")
def whether_it_is_closed(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    s.run(["closed:0"], values=[np.bool_(0)])
    close(s)
    s.run(["closed:0"], values=[np.bool_(1)])
    takes(s, _THREE)
    s.run(["closed:0", "size:0"], values=[np.bool_(1), np.int32(0)])


@engine_case("QUEUES-035", title="A queue is not closed while its close waits for an enqueue.")
def not_closed_while_the_close_waits(c: EngineAuthor) -> None:
    s = of_one(c, capacity=1)
    s.start("t", ["puts"], {"x:0": _THREE})
    s.run(["take:0"], values=[np.int32(7)])
    s.start("closing", ["close"], grace_s=0.1)
    s.run(["closed:0"], values=[np.bool_(0)])
    s.run(["take:0"], values=[np.int32(8)])
    s.run(["take:0"], values=[np.int32(9)])
    c.join("t", values=[None])
    c.join("closing", values=[None])
    s.run(["closed:0"], values=[np.bool_(1)])


# --- one run ------------------------------------------------------------------------------


@engine_case("QUEUES-063", title="One dequeue gives one element, however often it is fetched.")
def one_dequeue_fetched_twice(c: EngineAuthor) -> None:
    s = of_one(c)
    puts(s, _THREE)
    s.run(["take:0", "take:0", "take"], values=[np.int32(7), np.int32(7), None])
    s.run(["takes:0", "takes:0"], {"n:0": np.int32(1)}, values=[_THREE[1:2], _THREE[1:2]])
    size(s, 1)


@engine_case("QUEUES-064", title="A dequeue whose element is fed takes none.")
def a_fed_element(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(10, tf.int32, [[]], name="queue")
        queue.enqueue_many(tf.placeholder(tf.int32, name="x"), name="puts")
        tf.identity(queue.dequeue(name="take"), name="taken")
        queue.size(name="size")
    s = c.open()
    puts(s, _THREE)
    s.run(["taken:0"], {"take:0": np.int32(5)}, values=[np.int32(5)])
    size(s, 3)
