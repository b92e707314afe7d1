"""Vectors of SESSION: runs that are cut short by a close, a timeout or a reset."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.concurrency.cases.run_threads import LONG, awaited, started
from sessrun.conformance.subjects.session.cases.session import counter_graph

# --- close --------------------------------------------------------------------------------


@engine_case("SESSION-043", title="Closing the session cancels its run that waits on a queue.")
def closing_cancels_a_blocked_dequeue(c: EngineAuthor) -> None:
    s = started(c)
    awaited(s, "t")
    s.close()
    c.join("t", error=[1])


@engine_case("SESSION-043", title="Closing the session cancels each of several blocked runs.")
def closing_cancels_every_blocked_run(c: EngineAuthor) -> None:
    s = started(c)
    for thread in ("t1", "t2"):
        awaited(s, thread)
    s.close()
    for thread in ("t1", "t2"):
        c.join(thread, error=[1])


# --- timeouts -----------------------------------------------------------------------------


@engine_case("SESSION-044", title="A run that outlasts the session's timeout fails with code 4.")
def the_timeout_of_the_config(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "300"})
    s.run(["take:0"], error=[4])
    s.run(["put"], {"x:0": np.int32(5)}, options=LONG, values=[None])
    s.run(["take:0"], options=LONG, values=[np.int32(5)])


@engine_case("SESSION-044", title="A run with a longer timeout of its own waits that long.")
def a_longer_timeout_of_the_run(c: EngineAuthor) -> None:
    s = started(c, config={"operationTimeoutInMs": "300"})
    s.start("t", ["waited:0"], options=LONG)
    s.run(["arrived:0"], {"n:0": np.int32(1)}, options=LONG, values=[np.zeros(1, np.int32)])
    s.run(["other:0"], error=[4])
    s.run(["put"], {"x:0": np.int32(5)}, options=LONG, values=[None])
    c.join("t", values=[np.int32(5)])


@api_case("SESSION-044", title="Past operation_timeout_in_ms a run is DeadlineExceededError.")
def past_the_timeout_deadline_exceeded(c: ApiAuthor) -> None:
    queue = c.tf.FIFOQueue(1, c.tf.int32)
    taken = queue.dequeue()
    sess = c.tf.Session(config=c.tf.ConfigProto(operation_timeout_in_ms=300))
    c.raises("DeadlineExceededError", lambda: sess.run(taken))


# --- reset --------------------------------------------------------------------------------


@engine_case(
    "SESSION-062", title="A reset closes open sessions: a run is CANCELLED.", isolated=True
)
def a_reset_closes_open_sessions(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf)
    first, second = c.open(session="first"), c.open(session="second")
    first.run(["init"], values=[None])
    second.run(["init"], values=[None])
    c.step("reset")
    first.run(["value:0"], error=[1])
    second.run(["bump"], error=[1])


@api_case("SESSION-061", title="Session.reset returns None.", isolated=True)
def reset_returns_none(c: ApiAuthor) -> None:
    c.check(c.tf.Session.reset(""), None)


@api_case("SESSION-062", title="Session.reset closes sessions.", isolated=True)
def reset_closes_sessions(c: ApiAuthor) -> None:
    a = c.tf.constant(1)
    sess = c.tf.Session()
    sess.run(a)
    c.tf.Session.reset("")
    c.raises("CancelledError", lambda: sess.run(a))


@engine_case("SESSION-046", title="After a reset a new session works anew.", isolated=True)
def a_session_opened_after_a_reset(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 3)
    old = c.open(session="old")
    old.run(["init"], values=[None])
    c.step("reset")
    new = c.open(session="new")
    new.run(["value:0"], error=[9])
    new.run(["init"], values=[None])
    new.run(["value:0"], values=[np.int32(3)])


@api_case("SESSION-047", title="Resetting an unknown target is NotFoundError.", isolated=True)
def reset_of_an_unknown_target(c: ApiAuthor) -> None:
    c.raises("NotFoundError", lambda: c.tf.Session.reset("bogus"))
