"""What waits in staging areas and accumulators: nothing is lost, and closing a session ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sessrun.reference as tf
from sessrun.reference.api.queues.barriers import Barrier
from sessrun.reference.api.queues.staging import MapStagingArea, StagingArea

#: Far longer than any wait here takes; what is still blocked then hangs.
LONG_S = 30.0
THREADS = 64


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def in_threads(works: list[Callable[[], Any]], meanwhile: Callable[[], Any]) -> list[Any]:
    """What each work gives or raises, each in its own thread."""
    results: list[Any] = [None] * len(works)

    def work(place: int) -> None:
        try:
            results[place] = works[place]()
        except tf.errors.OpError as error:
            results[place] = type(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_nothing_is_lost_in_a_staging_area_of_64_threads() -> None:
    value = tf.placeholder(tf.float32, [])
    area = StagingArea([tf.float32], capacity=3)
    put, (got,) = area.put([value]), area.get()
    with tf.Session() as session:
        works: list[Callable[[], Any]] = []
        for number in range(THREADS // 2):
            works += [
                lambda number=number: session.run(put, {value: number}) or -1,
                lambda: session.run(got),
            ]
        results = in_threads(works, lambda: None)
        taken = sorted(float(result) for result in results if result != -1)
        assert taken == [float(number) for number in range(THREADS // 2)]
        assert session.run(area.size()) == 0


def test_nothing_is_lost_in_an_accumulator_of_64_threads() -> None:
    value = tf.placeholder(tf.float32, [])
    gathered = tf.ConditionalAccumulator(tf.float32, shape=[], reduction_type="SUM")
    put, taken = gathered.apply_grad(value, local_step=1000), gathered.take_grad(1)
    with tf.Session() as session:
        works: list[Callable[[], Any]] = [
            lambda number=number: session.run(put, {value: number}) for number in range(THREADS)
        ]
        in_threads(works, lambda: None)
        assert session.run(gathered.num_accumulated()) == THREADS
        assert session.run(taken) == sum(range(THREADS))


@pytest.mark.parametrize("kind", ["get", "put", "peek", "key", "any", "take", "elements"])
def test_closing_the_session_ends_who_waits(kind: str) -> None:
    line = StagingArea([tf.float32], capacity=1)
    keyed = MapStagingArea([tf.float32])
    key, put = tf.constant(1, tf.int64), line.put([tf.constant(1.0)])
    waits = {
        "get": line.get(),
        "put": put,
        "peek": line.peek(5),
        "key": keyed.get(key)[1],
        "any": keyed.get(),
        "take": tf.ConditionalAccumulator(tf.float32).take_grad(1),
        "elements": Barrier([tf.float32]).take_many(1)[0],
    }
    session = tf.Session()
    if kind == "put":
        session.run(put)

    def close() -> None:
        threading.Event().wait(0.1)
        session.close()

    wait = waits[kind]
    assert in_threads([lambda: session.run(wait)] * 4, close) == [tf.errors.CancelledError] * 4


def test_what_waits_ends_with_its_deadline_and_takes_nothing() -> None:
    area = StagingArea([tf.float32])
    put, got = area.put([tf.constant(1.0)]), area.get()
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(got, options=tf.RunOptions(timeout_in_ms=50))
        session.run(put)
        assert session.run(area.size()) == 1
        assert session.run(got) == [1.0]


def test_a_put_that_waits_for_bytes_goes_on_when_they_are_free() -> None:
    area = StagingArea([tf.float32], memory_limit=8)
    put, got = area.put([tf.constant([1.0, 2.0])]), area.get()
    with tf.Session() as session:
        session.run(put)

        def free() -> None:
            threading.Event().wait(0.1)
            session.run(got)

        assert in_threads([lambda: session.run(put) or "put"], free) == ["put"]
        assert session.run(area.size()) == 1
