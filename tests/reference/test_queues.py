"""Queues under many threads: nothing lost, doubled or out of its producer's order."""

from __future__ import annotations

import collections
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference.state.queues.queue_resource import (
    FifoStore,
    PriorityStore,
    Queue,
    ShuffleStore,
)

#: Far longer than anything here takes.
LONG_S = 60.0
ELEMENTS = 400


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def in_threads(*works: Callable[[], None]) -> None:
    """Run the works at once; what one raises is raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised in the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads), "a thread is still blocked"
    if errors:
        raise errors[0]


MAKERS: dict[str, Callable[[], Any]] = {
    "fifo": lambda: tf.FIFOQueue(7, tf.int64, shapes=[[]]),
    "padding": lambda: tf.PaddingFIFOQueue(7, tf.int64, shapes=[[]]),
    "shuffle": lambda: tf.RandomShuffleQueue(20, 5, tf.int64, shapes=[[]], seed=1),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("batch", [1, 3])
def test_nothing_is_lost_doubled_or_out_of_order(kind: str, batch: int) -> None:
    producers = consumers = 8
    queue = MAKERS[kind]()
    value = tf.placeholder(tf.int64, [None])
    put = queue.enqueue_many(value)
    take = queue.dequeue_up_to(batch)
    close = queue.close()
    taken: list[list[int]] = [[] for _ in range(consumers)]

    with tf.Session() as sess:

        def produce(number: int) -> None:
            own = [number * ELEMENTS + i for i in range(ELEMENTS)]
            for start in range(0, ELEMENTS, 5):
                sess.run(put, {value: np.array(own[start : start + 5], np.int64)})

        def consume(number: int) -> None:
            while True:
                try:
                    taken[number] += sess.run(take).tolist()
                except tf.errors.OutOfRangeError:
                    return

        def all_produce() -> None:
            in_threads(*(lambda n=n: produce(n) for n in range(producers)))  # type: ignore[misc]
            sess.run(close)

        in_threads(all_produce, *(lambda n=n: consume(n) for n in range(consumers)))  # type: ignore[misc]
    everything = list(itertools.chain(*taken))
    assert sorted(everything) == list(range(producers * ELEMENTS))
    if kind == "shuffle":
        return
    for one in taken:  # what one consumer got of one producer is in the producer's order
        by_producer = collections.defaultdict(list)
        for element in one:
            by_producer[element // ELEMENTS].append(element)
        assert all(elements == sorted(elements) for elements in by_producer.values())


def test_elements_are_no_memory_of_the_callers() -> None:
    """TensorFlow keeps a fed array that lies at a multiple of 64 bytes; nothing says it must."""
    queue = tf.FIFOQueue(10, tf.float32, shapes=[[3]])
    value = tf.placeholder(tf.float32, [3])
    put, take = queue.enqueue(value), queue.dequeue()
    given = np.array([1, 2, 3], np.float32)
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(put, {value: given})
        given[0] = 100
        first = sess.run(take)
        first[1] = 200
        assert sess.run(take).tolist() == [1, 2, 3]
        assert first.tolist() == [1, 200, 3]


def test_timeouts_lose_nothing() -> None:
    queue = tf.FIFOQueue(100, tf.int64, shapes=[[]])
    value = tf.placeholder(tf.int64, [])
    put, many, rest = queue.enqueue(value), queue.dequeue_many(7), queue.dequeue_up_to(100)
    soon = tf.RunOptions(timeout_in_ms=1)
    taken: list[int] = []
    timeouts = 0
    with tf.Session() as sess:
        for element in range(60):
            sess.run(put, {value: element})
            try:
                taken += sess.run(many, options=soon).tolist()
            except tf.errors.DeadlineExceededError:
                timeouts += 1
        sess.run(queue.close())
        taken += sess.run(rest).tolist()
    assert timeouts > 0
    assert taken == list(range(60))


def test_a_closed_session_ends_every_wait() -> None:
    queue = tf.FIFOQueue(1, tf.int64, shapes=[[]])
    take = queue.dequeue()
    sess = tf.Session()
    ended: list[int] = []

    def wait() -> None:
        with pytest.raises(tf.errors.CancelledError):
            sess.run(take)
        ended.append(1)

    def close() -> None:
        while len(sess._lifetime.steps) < 16:  # until all of them wait
            pass
        sess.close()

    in_threads(close, *[wait] * 16)
    assert len(ended) == 16


def test_a_failed_operation_withdraws_what_its_run_waited_for() -> None:
    first, second = (tf.FIFOQueue(5, tf.int64, shapes=[[]]) for _ in range(2))
    both = [first.dequeue(), second.dequeue_many(2)]
    with tf.Session() as sess:
        sess.run(first.enqueue(7))
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(both, options=tf.RunOptions(timeout_in_ms=50))
        sess.run(second.enqueue_many([[1, 2]]))
        assert sess.run(second.dequeue_many(2)).tolist() == [1, 2], "nobody else waits for them"


def test_what_a_failed_dequeue_took_is_put_back_in_order() -> None:
    queue = Queue("FIFOQueue", "q", FifoStore(), 10, ())
    queue.enqueue([(3,), (1,), (2,)])
    waiting = queue.dequeue(5)
    assert not waiting.is_over
    assert len(queue) == 0
    queue.withdraw(waiting)
    assert queue.dequeue(3).outcome() == [(3,), (1,), (2,)]


def test_a_dequeue_by_priority_takes_nothing_before_all_are_there() -> None:
    queue = Queue("PriorityQueue", "q", PriorityStore(), 10, ())
    queue.enqueue([(3,), (1,)])
    waiting = queue.dequeue(3)
    assert not waiting.is_over
    assert len(queue) == 2
    queue.enqueue([(2,)])
    assert waiting.outcome() == [(1,), (2,), (3,)]


def test_a_shuffle_keeps_its_reserve_while_it_is_open() -> None:
    queue = Queue("RandomShuffleQueue", "q", ShuffleStore(2, itertools.repeat(1)), 10, ())
    queue.enqueue([(n,) for n in range(4)])
    waiting = queue.dequeue(3)
    assert len(queue) == 2
    assert not waiting.is_over
    queue.close(cancel=False)
    assert waiting.is_over
    assert len(queue) == 1
