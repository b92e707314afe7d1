"""Vectors of QUEUES: enqueues and dequeues that wait, and what ends their waiting.

A vector knows that an `enqueue_many` waits when the first of its elements has come out, and that a
`dequeue_many` waits when more elements have gone in than the queue has room for.
"""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    by,
    differs_from,
    engine_case,
    keep,
)
from sessrun.conformance.subjects.concurrency.cases.run_threads import (
    ENDED,
    SHORT,
    arrive,
    awaited,
    started,
)
from sessrun.spec.forms import JsonObject

#: Time for a run to begin to wait; the right answer does not depend on it.
_GRACE_S = 0.3


def _put(s: SessionAuthor, *values: int) -> None:
    for value in values:
        s.run(["put"], {"x:0": np.int32(value)}, values=[None])


def _take(s: SessionAuthor, *values: int) -> None:
    for value in values:
        s.run(["take:0"], values=[np.int32(value)])


def _putting(s: SessionAuthor, *values: int, options: JsonObject | None = None) -> None:
    """Start an `enqueue_many` in the thread `puts`; it has begun once its first came out."""
    s.start("puts", ["puts"], {"xs:0": np.array(values, np.int32)}, options=options)
    _take(s, values[0])


def _taking(s: SessionAuthor, count: int, *values: int) -> None:
    """Start a `dequeue_many` in the thread `takes`, and put more in than there is room for."""
    s.start("takes", ["takes:0"], {"n:0": np.int32(count)})
    _put(s, *values)


# --- room ---------------------------------------------------------------------------------


@engine_case("QUEUES-010", title="An enqueue on a full queue waits until an element went.")
def an_enqueue_waits_for_room(c: EngineAuthor) -> None:
    s = started(c, 1)
    _put(s, 1)
    s.start("t", ["put"], {"x:0": np.int32(2)}, grace_s=_GRACE_S)
    _take(s, 1)
    c.join("t", values=[None])
    s.run(["size:0"], values=[np.int32(1)])
    _take(s, 2)


@engine_case("QUEUES-010", title="Enqueues on a full queue wait, each for one element to go.")
def several_enqueues_wait_for_room(c: EngineAuthor) -> None:
    s = started(c, 2)
    _put(s, 0, 0)
    for thread in ("t1", "t2", "t3"):
        s.start(thread, ["put"], {"x:0": np.int32(5)}, grace_s=0.1)
    _take(s, 0, 0, 5)
    for thread in ("t1", "t2", "t3"):
        c.join(thread, values=[None])
    s.run(["size:0"], values=[np.int32(2)])


@engine_case("QUEUES-020", title="More elements than there is room for go in one after another.")
def more_elements_than_room(c: EngineAuthor) -> None:
    s = started(c, 2)
    _putting(s, 1, 2, 3, 4, 5)
    _take(s, 2, 3, 4, 5)
    c.join("puts", values=[None])


@engine_case("QUEUES-017", title="A later enqueue waits for an earlier enqueue_many.")
def a_later_enqueue_comes_later(c: EngineAuthor) -> None:
    s = started(c, 1)
    _putting(s, 1, 2, 3)
    s.start("t", ["put"], {"x:0": np.int32(9)}, grace_s=_GRACE_S)
    _take(s, 2, 3, 9)
    c.join("puts", values=[None])
    c.join("t", values=[None])


# --- elements -----------------------------------------------------------------------------


@engine_case("QUEUES-021", title="A dequeue_many waits for the last of its elements.")
def a_dequeue_many_waits_for_all(c: EngineAuthor) -> None:
    s = started(c)
    s.start("t", ["takes:0"], {"n:0": np.int32(3)}, grace_s=_GRACE_S)
    _put(s, 1, 2, 3)
    c.join("t", values=[np.array([1, 2, 3], np.int32)])


@engine_case("QUEUES-021", title="Too few elements do not satisfy a dequeue_many.")
def too_few_elements(c: EngineAuthor) -> None:
    s = started(c)
    _put(s, 1, 2)
    s.run(["takes:0"], {"n:0": np.int32(3)}, options=SHORT, error=ENDED)


@engine_case("QUEUES-021", title="A dequeue_many takes more elements than the queue has room for.")
def a_dequeue_many_beyond_the_capacity(c: EngineAuthor) -> None:
    s = started(c, 1)
    _taking(s, 4, 1, 2, 3, 4)
    c.join("takes", values=[np.array([1, 2, 3, 4], np.int32)])


@engine_case("QUEUES-016", title="A later dequeue waits for an earlier dequeue_many.")
def a_later_dequeue_comes_later(c: EngineAuthor) -> None:
    s = started(c, 1)
    _taking(s, 3, 1, 2)
    s.start("t", ["take:0"], grace_s=_GRACE_S)
    _put(s, 3, 4)
    c.join("takes", values=[np.array([1, 2, 3], np.int32)])
    c.join("t", values=[np.int32(4)])


@engine_case("QUEUES-019", title="Two dequeues that wait get different elements.")
def two_dequeues_get_different_elements(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t1")
    awaited(s, "t2")
    _put(s, 1, 2)
    c.join("t1", values=[keep("first")])
    c.join("t2", values=[differs_from("first")])
    s.run(["size:0"], values=[np.int32(0)])


@engine_case("QUEUES-019", title="Of two dequeues that wait, one element ends one.")
def one_element_ends_one_dequeue(c: EngineAuthor) -> None:
    s = started(c)
    s.start("t1", ["waited:0"])
    s.start("t2", ["waited:0"])
    arrive(s, 2)
    _put(s, 4)
    _put(s, 4)
    c.join("t1", values=[np.int32(4)])
    c.join("t2", values=[np.int32(4)])
    s.run(["size:0"], values=[np.int32(0)])


# --- closing ------------------------------------------------------------------------------


@engine_case("QUEUES-007", title="Closing an empty queue ends a dequeue that waits with code 11.")
def closing_ends_a_dequeue(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    s.run(["close"], values=[None])
    c.join("t", error=[11])


@engine_case("QUEUES-007", title="A cancelling close ends a dequeue that waits with code 11 too.")
def a_cancelling_close_ends_a_dequeue(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t1")
    awaited(s, "t2")
    s.run(["cancel"], values=[None])
    c.join("t1", error=[11])
    c.join("t2", error=[11])


@api_case(
    "QUEUES-007",
    "QUEUES-008",
    title="What ends a blocked run: OutOfRangeError, or CancelledError.",
)
def classes_of_ended_runs(c: ApiAuthor) -> None:
    want = {
        "close of the queue": by("QUEUES-007", "OutOfRangeError"),
        "cancelling close": by("QUEUES-008", "CancelledError"),
        "close of the session": "CancelledError",
    }
    c.named_check("concurrency.ends_of_blocked_runs", want)
    c.blame("QUEUES-007")


@engine_case("QUEUES-008", title="A cancelling close ends an enqueue that waits with code 1.")
def a_cancelling_close_ends_an_enqueue(c: EngineAuthor) -> None:
    s = started(c, 1)
    _put(s, 1)
    s.start("t", ["put"], {"x:0": np.int32(2)}, grace_s=_GRACE_S)
    s.run(["cancel"], values=[None])
    c.join("t", error=[1])
    _take(s, 1)
    s.run(["take:0"], error=[11])


@engine_case("QUEUES-009", title="A plain close lets an enqueue_many that waits finish first.")
def a_plain_close_waits_for_enqueues(c: EngineAuthor) -> None:
    s = started(c, 1)
    _putting(s, 1, 2, 3)
    s.start("closing", ["close"], grace_s=_GRACE_S)
    _take(s, 2, 3)
    c.join("puts", values=[None])
    c.join("closing", values=[None])
    s.run(["take:0"], error=[11])


@engine_case("QUEUES-015", title="A failed dequeue_many leaves what it had taken.")
def a_failed_dequeue_many_leaves_its_elements(c: EngineAuthor) -> None:
    s = started(c, 1)
    _taking(s, 4, 1, 2, 3)
    s.run(["close"], values=[None])
    c.join("takes", error=[11])
    _take(s, 1, 2, 3)
    s.run(["take:0"], error=[11])


@engine_case("QUEUES-015", title="So does one of a queue of another kind.")
def a_failed_dequeue_many_of_another_kind(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, n = tf.placeholder(tf.int64, [], name="x"), tf.placeholder(tf.int32, [], name="n")
        queues = {
            "padding": tf.PaddingFIFOQueue(1, tf.int64, [[]]),
            "shuffle": tf.RandomShuffleQueue(1, 0, tf.int64, [[]]),
            "priority": tf.PriorityQueue(4, tf.int64, [[]]),
        }
        for name, queue in queues.items():
            queue.enqueue([x, x] if name == "priority" else x, name=f"{name}_put")
            for what, taken in (("take", queue.dequeue()), ("takes", queue.dequeue_many(n))):
                last = taken[-1] if name == "priority" else taken
                tf.identity(last, name=f"{name}_{what}")
            queue.size(name=f"{name}_size")
            queue.close(name=f"{name}_close")
    s = c.open()
    for name in queues:
        s.start(name, [f"{name}_takes:0"], {"n:0": np.int32(4)})
        for _ in range(3):  # but for the last queue more than there is room for
            s.run([f"{name}_put"], {"x:0": np.int64(5)}, values=[None])
        s.run([f"{name}_close"], values=[None])
        c.join(name, error=[11])
        s.run([f"{name}_size:0"], values=[np.int32(3)])
        for _ in range(3):
            s.run([f"{name}_take:0"], values=[np.int64(5)])


@engine_case("QUEUES-015", title="A PaddingFIFOQueue keeps the order of what is left.")
def what_a_padding_queue_has_left(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x, n = tf.placeholder(tf.int64, [None], name="x"), tf.placeholder(tf.int32, [], name="n")
        queue = tf.PaddingFIFOQueue(1, tf.int64, [[None]])
        queue.enqueue(x, name="put")
        queue.dequeue(name="take")
        queue.dequeue_many(n, name="takes")
        queue.close(name="close")
    s = c.open()
    s.start("t", ["takes:0"], {"n:0": np.int32(4)})
    rows = [np.array(row, np.int64) for row in ([1], [2, 3], [4, 5, 6])]
    for row in rows:
        s.run(["put"], {"x:0": row}, values=[None])
    s.run(["close"], values=[None])
    c.join("t", error=[11])
    for row in rows:
        s.run(["take:0"], values=[row])


@engine_case("QUEUES-018", title="What a cancelled enqueue_many had put in can be taken.")
def a_cancelled_enqueue_many_leaves_its_elements(c: EngineAuthor) -> None:
    s = started(c, 1)
    _putting(s, 1, 2, 3)
    s.run(["cancel"], values=[None])
    c.join("puts", error=ENDED)
    _take(s, 2)
    s.run(["take:0"], error=[11])


@engine_case("QUEUES-018", title="What an enqueue_many that timed out had put in can be taken.")
def an_enqueue_many_that_timed_out(c: EngineAuthor) -> None:
    s = started(c, 1)
    _putting(s, 1, 2, 3, options={"timeoutInMs": "1000"})
    c.join("puts", error=ENDED)
    s.run(["size:0"], values=[np.int32(1)])
    _take(s, 2)
    s.run(["close"], values=[None])
    s.run(["take:0"], error=[11])
