"""Vectors of QUEUES: queues by priority, in random order, and those that pad their batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    differs_from,
    engine_case,
    keep,
    same_as,
)
from sessrun.conformance.subjects.concurrency.cases.run_threads import SHORT
from sessrun.conformance.subjects.queues.cases.queues_counted import (
    close,
    of_one,
    puts,
    size,
    takes,
)

_GRACE_S = 0.3


def _ranks(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _words(text: str) -> np.ndarray:
    return np.array([letter.encode() for letter in text], object)


# --- by priority --------------------------------------------------------------------------


def _by_priority(c: EngineAuthor, capacity: int = 10) -> SessionAuthor:
    with c.graph() as tf:
        queue = tf.PriorityQueue(capacity, [tf.string], [[]], name="queue")
        parts = [tf.placeholder(tf.int64, name="x"), tf.placeholder(tf.string, name="y")]
        queue.enqueue(parts, name="put")
        queue.enqueue_many(parts, name="puts")
        queue.dequeue(name="take")
        queue.dequeue_many(tf.placeholder(tf.int32, name="n"), name="takes")
        queue.size(name="size")
        queue.close(name="close")
        narrow = [tf.constant(1, tf.int32), tf.constant("a")]
        tf.raw_ops.QueueEnqueueV2(handle=queue.queue_ref, components=narrow, name="narrow")
    return c.open()


def _put_ranked(
    s: SessionAuthor, ranks: npt.ArrayLike, words: npt.ArrayLike, node: str = "puts"
) -> None:
    s.run([node], {"x:0": np.asarray(ranks), "y:0": np.asarray(words, object)}, values=[None])


def _take_ranked(s: SessionAuthor, rank: int, word: bytes) -> None:
    s.run(["take:0", "take:1"], values=[np.int64(rank), np.array(word, object)])


@engine_case("QUEUES-036", title="The smallest priority comes first, of all that are in.")
def the_smallest_priority_first(c: EngineAuthor) -> None:
    s = _by_priority(c)
    _put_ranked(s, _ranks(3, 1, 2, -5), _words("cabz"))
    _take_ranked(s, -5, b"z")
    _take_ranked(s, 1, b"a")
    _put_ranked(s, _ranks(0), _words("n"))
    for rank, word in ((0, b"n"), (2, b"b"), (3, b"c")):
        _take_ranked(s, rank, word)


@engine_case("QUEUES-036", title="Priorities are whole int64 numbers.")
def priorities_are_whole_numbers(c: EngineAuthor) -> None:
    s = _by_priority(c)
    least, most = -(2**63), 2**63 - 1
    _put_ranked(s, _ranks(most, least, 2**40, 2**40 + 1, most - 1), _words("edbca"))
    for rank, word in ((least, b"d"), (2**40, b"b"), (2**40 + 1, b"c"), (most - 1, b"a")):
        _take_ranked(s, rank, word)
    _take_ranked(s, most, b"e")


@engine_case("QUEUES-037", title="Elements of equal priority are elements all the same.")
def elements_of_equal_priority(c: EngineAuthor) -> None:
    s = _by_priority(c)
    for _ in range(3):
        _put_ranked(s, np.int64(4), np.array(b"a", object), "put")
    _put_ranked(s, np.int64(9), np.array(b"b", object), "put")
    size(s, 4)
    close(s)
    for _ in range(3):
        _take_ranked(s, 4, b"a")
    _take_ranked(s, 9, b"b")


@engine_case("QUEUES-038", title="A priority that is no scalar of int64 fails with code 3.")
def a_priority_of_another_kind(c: EngineAuthor) -> None:
    s = _by_priority(c)
    words = _words("ab")
    s.run(["put"], {"x:0": _ranks(1, 2), "y:0": np.array(b"a", object)}, error=[3])
    s.run(["puts"], {"x:0": np.zeros((2, 1), np.int64), "y:0": words}, error=[3])
    s.run(["narrow"], error=[3])
    size(s, 0)


@engine_case("QUEUES-039", title="A batch is in the order of priority.")
def a_batch_by_priority(c: EngineAuthor) -> None:
    s = _by_priority(c)
    _put_ranked(s, _ranks(3, 1, 2, 0, 7), _words("dbcae"))
    want = [_ranks(0, 1, 2), _words("abc")]
    s.run(["takes:0", "takes:1"], {"n:0": np.int32(3)}, values=want)
    s.run(["takes:1"], {"n:0": np.int32(2)}, values=[_words("de")])


@engine_case("QUEUES-039", title="A batch that is waited for is in the order of priority too.")
def a_batch_by_priority_waited_for(c: EngineAuthor) -> None:
    s = _by_priority(c)
    s.start("t", ["takes:0", "takes:1"], {"n:0": np.int32(3)}, grace_s=_GRACE_S)
    for rank, word in ((9, b"c"), (1, b"a"), (5, b"b")):
        _put_ranked(s, np.int64(rank), np.array(word, object), "put")
    c.join("t", values=[_ranks(1, 5, 9), _words("abc")])


@engine_case("QUEUES-022", title="A dequeue_many of a closed PriorityQueue leaves what it has.")
def too_few_by_priority(c: EngineAuthor) -> None:
    s = _by_priority(c)
    _put_ranked(s, _ranks(2, 1), _words("ab"))
    close(s)
    s.run(["takes:0"], {"n:0": np.int32(3)}, error=[11])
    size(s, 2)
    s.run(["takes:0", "takes:1"], {"n:0": np.int32(2)}, values=[_ranks(1, 2), _words("ba")])


# --- in random order ----------------------------------------------------------------------

_MANY = np.arange(60, dtype=np.int32)


def _shuffled(c: EngineAuthor, reserve: int = 0, **seeds: int) -> SessionAuthor:
    return of_one(
        c, "RandomShuffleQueue", "int32", capacity=100, min_after_dequeue=reserve, **seeds
    )


@engine_case("QUEUES-040", title="Sixty elements do not come out in the order they went in.")
def another_order(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[[]], name="queue")
        queue.enqueue_many(tf.constant(_MANY), name="puts")
        batch = queue.dequeue_many(60, name="takes")
        tf.reduce_all(tf.equal(batch, _MANY), name="ordered")
        tf.nn.top_k(-batch, 60, name="sorted")
    s = c.open()
    s.run(["puts"], values=[None])
    s.run(["ordered:0", "sorted:0"], values=[np.bool_(0), -_MANY])
    other = c.open(session="other")
    other.run(["puts"], values=[None])
    other.run(["ordered:0", "sorted:0"], values=[np.bool_(0), -_MANY])


@engine_case("QUEUES-041", title="An open RandomShuffleQueue keeps min_after_dequeue elements.")
def elements_that_stay(c: EngineAuthor) -> None:
    s = _shuffled(c, 2)
    puts(s, np.array([5, 5, 5, 5], np.int32))
    takes(s, np.array([5, 5], np.int32))
    s.run(["take:0"], options=SHORT, error=[4])
    size(s, 2)


@engine_case("QUEUES-041", title="A dequeue of a RandomShuffleQueue waits for one more.")
def one_more_than_stay(c: EngineAuthor) -> None:
    s = _shuffled(c, 3)
    puts(s, np.array([5, 5, 5], np.int32))
    s.start("t", ["take:0"], grace_s=_GRACE_S)
    size(s, 3)
    puts(s, np.array([5], np.int32))
    c.join("t", values=[np.int32(5)])
    size(s, 3)


@engine_case("QUEUES-042", title="A closed RandomShuffleQueue gives all of its elements.")
def nothing_stays_when_closed(c: EngineAuthor) -> None:
    s = _shuffled(c, 3)
    puts(s, np.array([5, 5, 5], np.int32))
    close(s)
    s.run(["take:0"], values=[np.int32(5)])
    takes(s, np.array([5, 5], np.int32))
    s.run(["take:0"], error=[11])


@engine_case("QUEUES-042", title="A close ends the wait for elements that stayed.")
def a_close_ends_the_wait_for_those_that_stayed(c: EngineAuthor) -> None:
    s = _shuffled(c, 4)
    puts(s, np.array([5, 5, 5, 5], np.int32))
    s.start("t", ["takes:0"], {"n:0": np.int32(3)}, grace_s=_GRACE_S)
    close(s)
    c.join("t", values=[np.array([5, 5, 5], np.int32)])
    size(s, 1)


@engine_case("QUEUES-043", title="A seed's order is the same in each session.")
def the_order_of_a_seed(c: EngineAuthor) -> None:
    s = _shuffled(c, seed=3)
    other = c.open(session="other")
    for session, want in ((s, keep("order")), (other, same_as("order"))):
        puts(session, _MANY)
        session.run(["takes:0"], {"n:0": np.int32(60)}, values=[want])


@engine_case("QUEUES-078", title="Different seeds have different orders.")
def orders_of_two_seeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for seed in (3, 4):
            queue = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[[]], seed=seed)
            queue.enqueue_many(tf.constant(_MANY), name=f"puts{seed}")
            queue.dequeue_many(60, name=f"takes{seed}")
    s = c.open()
    s.run(["puts3", "puts4"], values=[None, None])
    s.run(["takes3:0"], values=[keep("order")])
    s.run(["takes4:0"], values=[differs_from("order")])


@engine_case("QUEUES-044", title="The order of seed 7, of twenty elements.")
def the_order_of_seed_7(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.RandomShuffleQueue(30, 5, tf.int32, shapes=[[]], seed=7, name="queue")
        queue.enqueue_many(tf.range(20), name="puts")
        queue.dequeue_many(15, name="takes")
    s = c.open()
    s.run(["puts"], values=[None])
    order = [7, 4, 19, 15, 0, 8, 10, 11, 14, 6, 16, 1, 12, 3, 17]
    s.run(["takes:0"], values=[np.array(order, np.int32)])


@engine_case("QUEUES-045", title="As many elements as there is room for cannot stay.")
def too_many_to_stay(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, reserve in (("same", 5), ("more", 9), ("negative", -1), ("fewer", 4)):
            queue = tf.RandomShuffleQueue(5, reserve, tf.int32, shapes=[[]])
            queue.size(name=name)
    s = c.open()
    for name in ("same", "more", "negative"):
        s.run([f"{name}:0"], error=[3])
    s.run(["fewer:0"], values=[np.int32(0)])


@engine_case("QUEUES-045", title="Any number of elements stays where the capacity has no bound.")
def as_many_as_stay_without_a_bound(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, capacity, reserve in (
            ("three", -1, 3),
            ("none", -1, 0),
            ("negative", -1, -1),
            ("room", 0, 0),
        ):
            queue = tf.RandomShuffleQueue(capacity, reserve, tf.int32, shapes=[[]])
            queue.size(name=name)
    s = c.open()
    s.run(["three:0", "none:0"], values=[np.int32(0), np.int32(0)])
    for name in ("negative", "room"):
        s.run([f"{name}:0"], error=[3])


# --- padded -------------------------------------------------------------------------------


def _padding(c: EngineAuthor, dtype: str, *values: npt.ArrayLike) -> SessionAuthor:
    s = of_one(c, "PaddingFIFOQueue", dtype, shapes=[[None] * np.ndim(values[0])])
    for value in values:
        s.run(["put"], {"x:0": np.asarray(value)}, values=[None])
    return s


@engine_case("QUEUES-046", title="Numbers are padded with zeros at the end.")
def padded_numbers(c: EngineAuthor) -> None:
    one = np.array([1.5], np.float64)
    s = _padding(c, "float64", one, np.array([2.5, 3.5, 4.5]), np.zeros(0))
    takes(s, np.array([[1.5, 0, 0], [2.5, 3.5, 4.5], [0, 0, 0]]))


@engine_case("QUEUES-046", title="Matrices are padded in both directions, as far as their batch.")
def padded_matrices(c: EngineAuthor) -> None:
    ones = [np.ones(shape, np.int32) for shape in ((2, 1), (1, 3), (4, 4))]
    s = _padding(c, "int32", *ones)
    takes(s, np.array([[[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0]]], np.int32))
    takes(s, ones[2][np.newaxis])


@engine_case("QUEUES-046", title="Strings are padded with empty ones, truth values with False.")
def padded_strings(c: EngineAuthor) -> None:
    with c.graph() as tf:
        types = [tf.string, tf.bool, tf.complex64]
        queue = tf.PaddingFIFOQueue(9, types, shapes=[[None], [None], [2]], name="queue")
        x = tf.placeholder(tf.string, [None], name="x")
        number = tf.constant([1j, 2], tf.complex64)
        queue.enqueue([x, tf.fill(tf.shape(x), True), number], name="put")
        queue.dequeue_many(2, name="takes")
    s = c.open()
    for value in (_words("ab"), _words("c")):
        s.run(["put"], {"x:0": value}, values=[None])
    words = np.array([[b"a", b"b"], [b"c", b""]], object)
    truths = np.array([[True, True], [True, False]])
    fixed = np.array([[1j, 2], [1j, 2]], np.complex64)
    s.run(["takes:0", "takes:1", "takes:2"], values=[words, truths, fixed])


@engine_case("QUEUES-046", title="Scalars of a PaddingFIFOQueue need no padding.")
def scalars_need_no_padding(c: EngineAuthor) -> None:
    s = of_one(c, "PaddingFIFOQueue", "string")
    puts(s, _words("ab"))
    takes(s, _words("ab"))


@engine_case("QUEUES-047", title="A single element is not padded.")
def a_single_element_is_not_padded(c: EngineAuthor) -> None:
    first, second = np.array([1], np.int32), np.array([2, 3], np.int32)
    s = _padding(c, "int32", first, second)
    s.run(["take:0"], values=[first])
    s.run(["take:0"], values=[second])


@engine_case("QUEUES-012", title="An element of another rank or size is not padded.")
def an_element_that_cannot_be_padded(c: EngineAuthor) -> None:
    s = of_one(c, "PaddingFIFOQueue", "float32", shapes=[[None, 2]])
    s.run(["put"], {"x:0": np.ones(2, np.float32)}, error=[3])
    s.run(["put"], {"x:0": np.ones((1, 3), np.float32)}, error=[3])
    size(s, 0)


@engine_case("QUEUES-048", title="A queue whose shapes are not known as its kind demands fails.")
def shapes_not_known_enough(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw, one = tf.raw_ops, [tf.int32]
        handles = {
            "rank": raw.PaddingFIFOQueueV2(component_types=one, shapes=[tf.TensorShape(None)]),
            "none": raw.PaddingFIFOQueueV2(component_types=one, shapes=[]),
            "part": raw.FIFOQueueV2(component_types=one, shapes=[tf.TensorShape([None])]),
            "more": raw.FIFOQueueV2(component_types=one, shapes=[[2], [2]]),
            "good": raw.PaddingFIFOQueueV2(component_types=one, shapes=[tf.TensorShape([None])]),
        }
        for name, handle in handles.items():
            raw.QueueSizeV2(handle=handle, name=name)
    s = c.open()
    for name in ("rank", "none", "part", "more"):
        s.run([f"{name}:0"], error=[3])
    s.run(["good:0"], values=[np.int32(0)])


@api_case("QUEUES-049", title="Shapes that are not known as a kind demands are ValueError.")
def shapes_refused_when_made(c: ApiAuthor) -> None:
    tf = c.tf
    c.raises("ValueError", lambda: tf.FIFOQueue(4, tf.int32, shapes=[[None]]))
    c.raises("ValueError", lambda: tf.RandomShuffleQueue(4, 0, tf.int32, shapes=[None]))
    c.raises("ValueError", lambda: tf.PaddingFIFOQueue(4, tf.int32, shapes=None))
    c.raises("ValueError", lambda: tf.PaddingFIFOQueue(4, tf.int32, shapes=[tf.TensorShape(None)]))
    c.raises("ValueError", lambda: tf.FIFOQueue(4, [tf.int32, tf.int32], shapes=[[2]]))
