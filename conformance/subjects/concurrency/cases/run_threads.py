"""Vectors of RUN and CONCURRENCY: runs in several threads, timeouts, runs that are cut short.

None of them sleeps to wait for another thread: that a run has begun is told by a token that it
puts into a queue, and time passes while a run of another session waits in vain.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    by,
    engine_case,
)
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import JsonObject

__all__ = ["ENDED", "LONG", "SHORT", "arrive", "awaited", "queue_graph", "started"]

#: The codes of a run that ended badly, where the clause is not about how.
ENDED: Final = tuple(range(1, 17))
#: Options of a run that is to time out, and of one that must not, however busy the machine is.
SHORT: Final = {"timeoutInMs": "300"}
LONG: Final = {"timeoutInMs": "600000"}


def queue_graph(tf: Namespace, capacity: int = 8) -> None:
    """Build a queue of int32 scalars, and what shows that a run has begun.

    `put` enqueues `x`, `puts` the elements of `xs`; `take` and `other` dequeue one, `takes` as
    many as `n` says; `size`, `close` and `cancel` do what they are called. `waited` is `take`
    in a run that first puts a token into a queue of its own; `arrived` takes such tokens, as
    many as `n` says. `sum` is `x` + 1, without any queue, and `ratio` 1 // `x`.
    """
    queue = tf.FIFOQueue(capacity, tf.int32, shapes=[[]], name="queue")
    tokens = tf.FIFOQueue(64, tf.int32, shapes=[[]], name="tokens")
    x = tf.placeholder(tf.int32, [], name="x")
    xs = tf.placeholder(tf.int32, [None], name="xs")
    n = tf.placeholder(tf.int32, [], name="n")
    queue.enqueue(x, name="put")
    queue.enqueue_many(xs, name="puts")
    queue.dequeue(name="take")
    queue.dequeue(name="other")
    queue.dequeue_many(n, name="takes")
    queue.size(name="size")
    queue.close(name="close")
    queue.close(cancel_pending_enqueues=True, name="cancel")
    with tf.control_dependencies([tokens.enqueue(0, name="token")]):
        queue.dequeue(name="waited")
    tokens.dequeue_many(n, name="arrived")
    tf.add(x, 1, name="sum")
    tf.floordiv(1, x, name="ratio")


def started(
    c: EngineAuthor, capacity: int = 8, *, config: JsonObject | None = None
) -> SessionAuthor:
    """Open a session of `queue_graph`."""
    with c.graph() as tf:
        queue_graph(tf, capacity)
    return c.open(config=config)


def arrive(s: SessionAuthor, runs: int = 1) -> None:
    """Wait until that many runs of `waited` have begun."""
    s.run(["arrived:0"], {"n:0": np.int32(runs)}, values=[np.zeros(runs, np.int32)])


def awaited(s: SessionAuthor, thread: str, *, options: JsonObject | None = None) -> None:
    """Start a run that waits for an element, and wait until it has begun."""
    s.start(thread, ["waited:0"], options=options)
    arrive(s)


def _put(s: SessionAuthor, value: int, node: str = "put") -> None:
    s.run([node], {"x:0": np.int32(value)}, values=[None])


def _clock(c: EngineAuthor, milliseconds: int = 1000) -> None:
    """Let time pass: a run in a session of its own waits until its timeout."""
    clock = c.open(session="clock")
    clock.run(["take:0"], options={"timeoutInMs": str(milliseconds)}, error=ENDED)


# --- threads ------------------------------------------------------------------------------


def _gated_graph(tf: Namespace) -> None:
    """Build `y` = 10 * `x`; the run waits for a queue's element before it reads `x`."""
    gate = tf.FIFOQueue(8, tf.int32, shapes=[[]], name="gate")
    tokens = tf.FIFOQueue(8, tf.int32, shapes=[[]], name="tokens")
    x = tf.placeholder(tf.int32, [], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.control_dependencies([tokens.enqueue(0)]):
        passed = gate.dequeue()
    with tf.control_dependencies([passed]):
        tf.multiply(x, 10, name="y")
    tokens.dequeue_many(n, name="arrived")
    gate.enqueue_many(tf.zeros([n], tf.int32), name="open")


@engine_case("RUN-041", title="Runs that overlap each compute from their own feeds.")
def overlapping_runs_have_their_own_feeds(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _gated_graph(tf)
    s = c.open()
    for number in (1, 2, 3):
        s.start(f"t{number}", ["y:0"], {"x:0": np.int32(number)})
        arrive(s)
    s.run(["open"], {"n:0": np.int32(3)}, values=[None])
    for number in (1, 2, 3):
        c.join(f"t{number}", values=[np.int32(10 * number)])


@api_case("RUN-041", title="Threads that run one session at once get what they fed.")
def threads_get_what_they_fed(c: ApiAuthor) -> None:
    c.named_check("concurrency.own_feeds", 0, threads=6, runs=40)


@engine_case("RUN-042", title="While a run waits on a queue, another computes.")
def another_run_computes(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    s.run(["sum:0"], {"x:0": np.int32(4)}, values=[np.int32(5)])
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@engine_case("RUN-042", title="While twenty runs wait on a queue, another computes.")
def another_run_computes_beside_many(c: EngineAuthor) -> None:
    s = started(c, 32)
    threads = [f"t{number}" for number in range(20)]
    for thread in threads:
        s.start(thread, ["waited:0"])
    arrive(s, len(threads))
    s.run(["sum:0"], {"x:0": np.int32(4)}, values=[np.int32(5)])
    s.run(["puts"], {"xs:0": np.full(len(threads), 3, np.int32)}, values=[None])
    for thread in threads:
        c.join(thread, values=[np.int32(3)])


@engine_case("CONCURRENCY-012", title="Overlapping calls have their own arguments.")
def overlapping_calls_have_their_own_arguments(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _gated_graph(tf)
    s = c.open()
    c.step("callable", session="s", handle="h", fetches=["y:0", "x:0"], names=["x:0"])
    for number in (1, 2):
        value = {"dtype": "int32", "shape": [], "data": ["AQAAAA==", "AgAAAA=="][number - 1]}
        call: Step = {"do": "call", "session": "s", "handle": "h", "values": [value]}
        c.step("start", thread=f"t{number}", step=call)
        arrive(s)
    s.run(["open"], {"n:0": np.int32(2)}, values=[None])
    for number in (1, 2):
        c.join(f"t{number}", values=[np.int32(10 * number), np.int32(number)])


@api_case("CONCURRENCY-012", title="Threads that call one callable get what they gave it.")
def threads_get_what_they_gave(c: ApiAuthor) -> None:
    c.named_check("concurrency.own_arguments", 0, threads=6, calls=40)


@engine_case("CONCURRENCY-013", title="While a run of one session waits, another session computes.")
def another_session_computes(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    other = c.open(session="other")
    other.run(["sum:0"], {"x:0": np.int32(4)}, values=[np.int32(5)])
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@engine_case("CONCURRENCY-003", title="Closing a session leaves another session's run waiting.")
def closing_leaves_other_sessions(c: EngineAuthor) -> None:
    s = started(c)
    other = c.open(session="other")
    awaited(s, "t")
    awaited(other, "cut")
    other.close()
    c.join("cut", error=ENDED)
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@api_case(
    "CONCURRENCY-003",
    "CONCURRENCY-013",
    title="A session computes beside another's blocked run, and is closed beside it.",
)
def two_sessions_of_one_graph(c: ApiAuthor) -> None:
    computed, waited = by("CONCURRENCY-013", np.int32(5)), by("CONCURRENCY-003", np.int32(7))
    c.named_check("concurrency.two_sessions", [computed, waited])
    c.blame("CONCURRENCY-013")


@engine_case("CONCURRENCY-011", title="Nodes added while a run waits can be run at once.")
def nodes_added_while_a_run_waits(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    with c.graph("more") as tf:
        tf.multiply(tf.constant(6), 7, name="answer")
    c.step("extend", session="s", graph="more")
    s.run(["answer:0"], values=[np.int32(42)])
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@api_case("CONCURRENCY-014", title="Threads add to one graph and run what they added.")
def threads_run_what_they_added(c: ApiAuthor) -> None:
    c.named_check("concurrency.growing", 0, threads=4, rounds=15)


# --- timeouts -----------------------------------------------------------------------------


@engine_case("RUN-043", title="A dequeue that outlasts the run's timeout fails with code 4.")
def a_dequeue_past_the_timeout(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["take:0"], options=SHORT, error=[4])


@engine_case("RUN-043", title="An enqueue that outlasts the run's timeout fails with code 4.")
def an_enqueue_past_the_timeout(c: EngineAuthor) -> None:
    s = started(c, 1)
    _put(s, 1)
    s.run(["put"], {"x:0": np.int32(2)}, options=SHORT, error=[4])


@api_case("RUN-043", title="Past the timeout of its options a run is DeadlineExceededError.")
def past_the_timeout_of_the_options(c: ApiAuthor) -> None:
    taken = c.tf.FIFOQueue(1, c.tf.int32).dequeue()
    sess = c.tf.Session()
    options = c.tf.RunOptions(timeout_in_ms=300)
    c.raises("DeadlineExceededError", lambda: sess.run(taken, options=options))


@engine_case("CONCURRENCY-001", title="After a timeout of its options the same run works.")
def the_same_run_after_a_timeout(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["take:0"], options=SHORT, error=ENDED)
    _put(s, 5)
    s.run(["take:0"], values=[np.int32(5)])
    s.run(["sum:0"], {"x:0": np.int32(4)}, values=[np.int32(5)])


@engine_case("CONCURRENCY-001", title="After the session's timeout the same run works.")
def the_same_run_after_the_timeout_of_the_config(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "300"})
    s.run(["take:0"], error=ENDED)
    s.run(["take:0"], error=ENDED)
    s.run(["puts"], {"xs:0": np.array([5, 6], np.int32)}, options=LONG, values=[None])
    s.run(["take:0"], options=LONG, values=[np.int32(5)])


@engine_case("CONCURRENCY-002", title="A run that waits within its timeout gets its value.")
def a_wait_within_the_timeout(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t", options=LONG)
    _clock(c, 300)
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@engine_case("CONCURRENCY-002", title="A run within its timeout computes and updates as ever.")
def updates_within_the_timeout(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable = tf.get_variable("v", initializer=np.int32(3), use_resource=False)
        tf.assign_add(variable, 2, name="bump")
        tf.group(variable.initializer, name="init")
    s = c.open()
    s.run(["init"], options=LONG, values=[None])
    s.run(["bump:0"], options=LONG, values=[np.int32(5)])
    s.run(["v:0"], values=[np.int32(5)])


@engine_case("CONCURRENCY-004", title="A run that times out leaves another run waiting.")
def a_timeout_ends_one_run(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    s.run(["other:0"], options=SHORT, error=ENDED)
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@engine_case("CONCURRENCY-005", title="A run without a timeout waits, whatever those before had.")
def a_timeout_holds_for_one_run(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["other:0"], options=SHORT, error=ENDED)
    awaited(s, "t")
    _clock(c)
    _put(s, 7)
    c.join("t", values=[np.int32(7)])


@engine_case("CONCURRENCY-006", title="A longer timeout of the options outlasts the session's.")
def options_outlast_the_config(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "300"})
    s.start("t", ["waited:0"], options=LONG)
    s.run(["arrived:0"], {"n:0": np.int32(1)}, options=LONG, values=[np.array([0], np.int32)])
    _clock(c)
    s.run(["put"], {"x:0": np.int32(7)}, options=LONG, values=[None])
    c.join("t", values=[np.int32(7)])


@engine_case("CONCURRENCY-006", title="A shorter timeout of the options ends the run.")
def options_end_before_the_config(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "600000"})
    s.run(["take:0"], options=SHORT, error=ENDED)


@engine_case(
    "CONCURRENCY-006", title="A timeout of 0 in the options leaves the session's in force."
)
def options_without_a_timeout(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "300"})
    s.run(["take:0"], options={"timeoutInMs": "0"}, error=ENDED)


# --- runs that are cut short --------------------------------------------------------------


@engine_case("CONCURRENCY-007", title="A failing operation ends a run that waits for an element.")
def a_failure_ends_the_wait(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["take:0", "ratio:0"], {"x:0": np.int32(0)}, error=[3])
    s.run(["ratio:0", "other:0"], {"x:0": np.int32(0)}, error=[3])


@engine_case("CONCURRENCY-007", title="A failing operation ends a run that waits for room.")
def a_failure_ends_the_wait_for_room(c: EngineAuthor) -> None:
    s = started(c, 1)
    _put(s, 1)
    s.run(["puts", "ratio:0"], {"xs:0": np.array([2, 3], np.int32), "x:0": np.int32(0)}, error=[3])


@engine_case("CONCURRENCY-008", title="A dequeue that timed out takes nothing later.")
def a_dequeue_that_timed_out_takes_nothing(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["other:0"], options=SHORT, error=ENDED)
    _put(s, 7)
    s.run(["size:0"], values=[np.int32(1)])
    s.run(["take:0"], values=[np.int32(7)])


@engine_case("CONCURRENCY-008", title="A dequeue of a run that failed takes nothing later.")
def a_dequeue_of_a_failed_run_takes_nothing(c: EngineAuthor) -> None:
    s = started(c)
    s.run(["take:0", "ratio:0"], {"x:0": np.int32(0)}, error=ENDED)
    _put(s, 7)
    s.run(["size:0"], values=[np.int32(1)])
    s.run(["other:0"], values=[np.int32(7)])


@engine_case("CONCURRENCY-009", title="An enqueue that timed out puts in nothing later.")
def an_enqueue_that_timed_out_puts_in_nothing(c: EngineAuthor) -> None:
    s = started(c, 1)
    _put(s, 1)
    s.run(["put"], {"x:0": np.int32(2)}, options=SHORT, error=ENDED)
    s.run(["take:0"], values=[np.int32(1)])
    s.run(["size:0"], values=[np.int32(0)])


@engine_case("CONCURRENCY-010", title="A dequeue gets what its own run puts in.")
def a_dequeue_gets_what_its_run_puts_in(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="queue")
        tf.multiply(queue.dequeue(name="take"), 2, name="twice")
        queue.enqueue(tf.placeholder(tf.int32, [], name="x"), name="put")
    s = c.open()
    s.run(["take:0", "put"], {"x:0": np.int32(5)}, values=[np.int32(5), None])
    s.run(["put", "twice:0"], {"x:0": np.int32(6)}, values=[None, np.int32(12)])


@engine_case("CONCURRENCY-010", title="An enqueue gets the room that its own run makes.")
def an_enqueue_gets_the_room_its_run_makes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]], name="queue")
        queue.enqueue(tf.placeholder(tf.int32, [], name="x"), name="put")
        queue.dequeue(name="take")
        queue.size(name="size")
    s = c.open()
    s.run(["put"], {"x:0": np.int32(1)}, values=[None])
    s.run(["put", "take:0"], {"x:0": np.int32(2)}, values=[None, np.int32(1)])
    s.run(["size:0"], values=[np.int32(1)])
