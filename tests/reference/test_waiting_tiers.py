"""Runs that may wait, in both tiers: generated code begins a step only where there is a wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tier_runs import TIERS, hot, session

import sessrun.reference as tf
from sessrun.reference.base.kernel_errors import Cancelled

pytestmark = pytest.mark.usefixtures("chosen_tiers")


def test_what_waits_in_two_places_or_has_a_deadline_is_left_to_the_first_tier(
    texts: list[str],
) -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    enqueue, dequeue = queue.enqueue(1.0), queue.dequeue()
    with tf.control_dependencies([enqueue]):
        both = queue.dequeue()
    with session(2) as sess:
        assert hot(lambda: sess.run(both)) == 1.0
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as sess:
        assert hot(lambda: (sess.run(enqueue), sess.run(dequeue))[1]) == 1.0
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(dequeue)
    assert texts == []


class Blocked:
    """A run in a thread of its own, which waits until something else happens."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.outcome: Any = None
        self._thread = threading.Thread(target=self._run, args=(run,), daemon=True)
        self._thread.start()

    def _run(self, run: Callable[[], Any]) -> None:
        try:
            self.outcome = run()
        except tf.errors.OpError as error:
            self.outcome = type(error), error.op and error.op.name

    def result(self) -> Any:
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self.outcome


def blocked(sess: Any, run: Callable[[], Any]) -> Blocked:
    """The run, once it waits."""
    count = len(sess._lifetime.steps)
    started = Blocked(run)
    while len(sess._lifetime.steps) == count:
        time.sleep(0.001)
    return started


def test_a_run_that_has_to_wait_is_served_in_its_turn_in_generated_code(texts: list[str]) -> None:
    x = tf.placeholder(tf.float32, [])
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    enqueue, dequeue, close = queue.enqueue(x + 1.0), queue.dequeue() * 2.0, queue.close()
    with session(2) as sess:
        first = blocked(sess, lambda: sess.run(dequeue))
        second = blocked(sess, lambda: sess.run(dequeue))
        sess.run(enqueue, {x: 1.0})
        assert first.result() == 4.0
        sess.run(enqueue, {x: 2.0})
        assert second.result() == 6.0
        sess.run(enqueue, {x: 3.0})  # which fills the queue
        waiting = [blocked(sess, lambda i=i: sess.run(enqueue, {x: i})) for i in (4.0, 5.0)]
        assert [sess.run(dequeue) for _ in range(3)] == [8.0, 10.0, 12.0]
        assert [one.result() for one in waiting] == [None, None]
        late = blocked(sess, lambda: sess.run(dequeue))
        sess.run(close)
        assert late.result()[0] is tf.errors.OutOfRangeError
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError) as caught:
                sess.run(dequeue)
            assert caught.value.op is dequeue.op.inputs[0].op
            with pytest.raises(tf.errors.CancelledError):
                sess.run(enqueue, {x: 1.0})
        assert not sess._lifetime.steps
    assert len(texts) == 3


@pytest.mark.parametrize("end", [tf.Session.close, lambda _: tf.Session.reset("")])
@pytest.mark.parametrize("tier", TIERS)
def test_a_run_that_waits_is_cancelled_with_its_session(
    tier: int, end: Callable[[Any], None]
) -> None:
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    dequeue = queue.dequeue()
    sess = session(tier)
    sess.run(queue.enqueue(1.0))
    assert sess.run(dequeue) == 1.0
    take = sess.make_callable(dequeue)
    waiting = [blocked(sess, lambda: sess.run(dequeue)), blocked(sess, take)]
    end(sess)
    outcomes = [one.result() for one in waiting]
    assert [error for error, _ in outcomes] == [tf.errors.CancelledError] * 2
    with pytest.raises(tf.errors.CancelledError):
        take()


def test_a_step_that_begins_after_the_end_of_its_session_is_cancelled() -> None:
    sess = session(2)
    lifetime = sess._lifetime
    sess.close()
    step = lifetime.begin_step()
    with pytest.raises(Cancelled):
        step.check()


@pytest.mark.parametrize("seed", range(12))
def test_programs_of_queues_have_the_same_outcomes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = tf.placeholder(tf.float32, [None])
    kinds = [
        tf.FIFOQueue(4, [tf.float32], [[]]),
        tf.FIFOQueue(4, [tf.float32, tf.int32]),
        tf.PriorityQueue(4, [tf.float32], [[]]),
        tf.RandomShuffleQueue(4, 1, [tf.float32], [[]], seed=3),
        tf.PaddingFIFOQueue(4, [tf.float32], [[None]]),
    ]
    queue = kinds[seed % 5]
    element: dict[int, Any] = {1: [x[0], tf.size(x)], 2: [tf.size(x, out_type=tf.int64), x[0]]}
    put = queue.enqueue(element.get(seed % 5, [x if seed % 5 == 4 else x[0]]))
    fetches = [[put], [queue.dequeue()], [queue.size()], [queue.close()], [queue.is_closed()]]
    sessions = [session(tier) for tier in TIERS]
    size = 0
    for number in range(60):
        choice = int(rng.integers(0, 3)) if number < 50 else int(rng.integers(0, 5))
        reserve = int(seed % 5 == 3)
        if (choice == 0 and size == 4) or (choice == 1 and number < 50 and size <= reserve):
            continue  # which would wait for ever
        if choice == 1 and number >= 50:
            continue
        size += {0: 1, 1: -1}.get(choice, 0)
        feeds = {x: rng.random(int(rng.integers(1, 4)), np.float32)}
        outcomes = [queue_outcome(one, fetches[choice], feeds) for one in sessions]
        assert outcomes[0] == outcomes[1]
    for one in sessions:
        one.close()


def queue_outcome(sess: Any, fetches: list[Any], feeds: dict[Any, Any]) -> Any:
    """The values of a run, or its error."""
    try:
        values = sess.run(fetches, feeds)
    except tf.errors.OpError as error:
        return type(error), error.message, error.op and error.op.name
    parts = values[0] if isinstance(values[0], list | tuple) else values
    return [None if v is None else (np.asarray(v).dtype, np.asarray(v).tolist()) for v in parts]


def test_a_queue_works_on_a_device_with_a_memory_limit() -> None:
    queue = tf.FIFOQueue(2, [tf.float32], [[]])
    enqueue, dequeue = queue.enqueue(1.0), queue.dequeue()
    tf.experimental.set_memory_limit("/cpu:0", 2000)
    try:
        with session(None) as sess:
            sess.run(enqueue)
            assert sess.run(dequeue) == 1.0
    finally:
        tf.experimental.set_memory_limit("/cpu:0", None)


@pytest.mark.parametrize("tier", TIERS)
def test_one_dequeue_beside_a_branch_waits_after_all_else(tier: int, texts: list[str]) -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    variable = tf.get_variable("v", initializer=0.0)
    element, is_more = queue.dequeue(), tf.placeholder(tf.bool, [])
    fetches = [
        tf.cond(is_more, lambda: element + 1.0, lambda: element - 1.0),
        variable.assign_add(1.0),
    ]
    with session(tier) as sess:
        sess.run(variable.initializer)
        texts.clear()
        run = blocked(sess, lambda: sess.run(fetches, {is_more: True}))
        deadline = time.monotonic() + 20
        while sess.run(variable) < 1.0:
            assert time.monotonic() < deadline
        sess.run(queue.enqueue(5.0))
        assert run.result() == [6.0, 1.0]
    assert any("if " in text for text in texts) is (tier == 2)
