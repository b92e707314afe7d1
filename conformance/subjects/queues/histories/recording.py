"""Records histories: draws what threads do to a queue, and lets them do it on a backend."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.subjects.queues.graphs import Terms, queue_graph
from sessrun.conformance.subjects.queues.histories.history import Event, Planned
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.forms import JsonObject
from sessrun.spec.model.calls import CANCELLED, LATE, OUT_OF_RANGE
from sessrun.spec.model.discipline import Discipline

__all__ = [
    "Plan",
    "RefusedError",
    "draw_plan",
    "elements_of",
    "perform",
    "record",
    "terms_of",
]

#: Far longer than any thread takes, in seconds.
_LONG_S: Final = 60.0
#: How long those that wait are left waiting before the queue is closed under them, in seconds.
_WAIT_S: Final = 0.3
#: More than any queue of a history holds.
_MOST_ELEMENTS: Final = 4096
_EXPECTED: Final = frozenset({0, CANCELLED, LATE, OUT_OF_RANGE})


class RefusedError(RuntimeError):
    """A call ended as no call on a queue may; `outcome` is how."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Plan:
    """What threads do to one queue.

    Attributes:
      discipline: what the queue is like.
      threads: what each thread does, call by call.

    """

    discipline: Discipline
    threads: tuple[tuple[Planned, ...], ...]


def terms_of(discipline: Discipline) -> Terms:
    """The queue of int64 scalars; those of a PriorityQueue are their own priority."""
    return Terms(discipline.kind, discipline.capacity, (("int64", ()),), discipline.reserve)


def draw_plan(draw: random.Random, kind: str, calls: int, *, timed: bool) -> Plan:
    """What up to eight threads do, about `calls` calls in all.

    Args:
      draw: the source of chance.
      kind: of the queue.
      calls: how many calls.
      timed: whether calls have timeouts. If so each thread does all things; if not, some put in
        as many elements as the others take, so that every call ends. The first thread closes
        the queue at its end: of those without timeouts not always, as it is soon there.

    """
    capacity = draw.randint(1, 8)
    reserve = draw.randint(0, capacity - 1) if kind == "shuffle" else 0
    discipline = Discipline(kind, capacity, reserve)
    rows: list[list[Planned]] = [[] for _ in range(draw.randint(3, 8))]
    if timed:
        for number in range(calls - 2):
            thread = draw.randrange(len(rows))
            rows[thread].append(_draw_timed(draw, discipline, number, always=thread == 0))
    else:
        _fill(draw, discipline, rows, calls)
    if timed or draw.random() < 0.4:
        timeout = 100 if timed else 0
        rows[0].append(Planned(draw.choice(("close", "close", "cancel")), timeout_ms=timeout))
    return Plan(discipline, tuple(map(tuple, rows)))


def _draw_timed(
    draw: random.Random, discipline: Discipline, number: int, *, always: bool
) -> Planned:
    timeout = draw.choice((5, 20, 40)) if always or draw.random() < 0.5 else 0
    chance = draw.random()
    if chance < 0.46:
        return _put(draw, number, timeout)
    if chance < 0.90:
        return _take(draw, discipline, timeout)
    return Planned("size" if chance < 0.97 else "closed")


def _put(draw: random.Random, number: int, timeout: int = 0) -> Planned:
    """A put of one element, or of up to four; no two numbers give the same ones."""
    first = number * 4 + 1
    if draw.random() < 0.75:
        return Planned("put", (first,), timeout_ms=timeout)
    several = draw.randint(1, 4)
    return Planned("put", tuple(draw.sample(range(first, first + 4), several)), several, timeout)


def _take(draw: random.Random, discipline: Discipline, timeout: int = 0, most: int = 4) -> Planned:
    """A take of one element, or of up to four."""
    if draw.random() < 0.7:
        return Planned("take", timeout_ms=timeout)
    several = draw.randint(1, most)
    if discipline.kind == "priority":  # it gives no more at once than it has room for
        return Planned("take", count=min(several, discipline.capacity), timeout_ms=timeout)
    return Planned(draw.choice(("take", "take", "up_to")), count=several, timeout_ms=timeout)


def _fill(
    draw: random.Random, discipline: Discipline, rows: list[list[Planned]], calls: int
) -> None:
    """Let some threads put in as many elements as others take."""
    there = -discipline.reserve
    producers = draw.randint(2, len(rows) - 1)
    for number in range(calls * 2 // 5):
        call = _put(draw, number)
        there += len(call.values)
        rows[draw.randrange(1, producers)].append(call)
    while there > 0:
        # Two that wait for several may each hold what the other lacks: one thread takes several.
        thread = draw.randrange(producers, len(rows))
        few = min(there, 4) if thread == producers else 1
        call = _take(draw, discipline, most=few)
        there -= call.wanted
        rows[thread].append(call)
    for _ in range(calls // 8):
        looked = Planned(draw.choice(("size", "size", "closed")))
        row = rows[draw.choice((0, 0, draw.randrange(len(rows))))]
        row.insert(draw.randint(0, len(row)), looked)


class _Recorder:
    """The calls on one queue of one session, as threads make them."""

    def __init__(self, engine: Engine, session: str, kind: str) -> None:
        self._engine = engine
        self._session = session
        self._kind = kind
        self.events: list[Event] = []
        self.faults: list[BaseException] = []

    def work(self, thread: int, calls: Sequence[Planned], together: threading.Barrier) -> None:
        """Make the calls of one thread."""
        try:
            together.wait(_LONG_S)
            for call in calls:
                self.make(thread, call)
        except BaseException as error:  # noqa: BLE001 - raised again in `record`
            self.faults.append(error)

    def make(self, thread: int, call: Planned) -> None:
        """Make a call and record its outcome.

        Raises:
          RefusedError: it ended as no call may.

        """
        began = time.perf_counter_ns()
        outcome = perform(self._engine, self._session, self._kind, call)
        ended = time.perf_counter_ns()
        code = outcome.code if isinstance(outcome, Failure) else 0
        if code not in _EXPECTED or isinstance(outcome, Unsupported):
            raise RefusedError(outcome)
        result = elements_of(outcome) if isinstance(outcome, Fetched) else ()
        self.events.append(Event(call, thread, began, ended, code, result))


def elements_of(outcome: Fetched) -> tuple[int, ...]:
    """The integers that a call gave; none for an operation.

    Raises:
      RefusedError: it gave something else, or more than any call on these queues may.

    """
    if outcome.values[0] is None:
        return ()
    array = np.ravel(np.asarray(outcome.values[0]))
    if array.dtype.kind not in "iub" or array.size > _MOST_ELEMENTS:
        raise RefusedError(outcome)
    return tuple(array.astype(np.int64).tolist())


def perform(engine: Engine, session: str, kind: str, call: Planned) -> Outcome:
    """Make one call on the queue `queue`, of this kind, of a session."""
    node, feeds = _run_of(call, parts=2 if kind == "priority" else 1)
    options: JsonObject = {"timeoutInMs": str(call.timeout_ms)} if call.timeout_ms else {}
    return engine.run(session, [f"queue/{node}"], feeds, options)


def _run_of(call: Planned, parts: int) -> tuple[str, dict[str, np.ndarray]]:
    """The fetch and the feeds of a call."""
    values = np.array(call.values, np.int64)
    match call.action:
        case "put" if call.count == 0:
            return "put", {f"queue/x{part}:0": values.reshape(()) for part in range(parts)}
        case "put":
            return "puts", {f"queue/rows{part}:0": values for part in range(parts)}
        case "take" if call.count == 0:
            return "take:0", {}
        case "take":
            return "takes:0", {"queue/n:0": np.array(call.count, np.int32)}
        case "up_to":
            return "up_to:0", {"queue/n:0": np.array(call.count, np.int32)}
        case "size" | "closed":
            return f"{call.action}:0", {}
    return call.action, {}


def record(engine: Engine, plan: Plan, config: JsonObject | None = None) -> list[Event]:
    """Let threads carry out the plan on a new session, and return what was seen.

    What still waits once the queue was closed for good is waited for; then the rest is taken out.

    Args:
      engine: the backend.
      plan: what the threads do.
      config: of the session.

    Raises:
      RefusedError: the session could not be opened, or a call ended as none may.
      TimeoutError: a call does not end.

    """
    opened = engine.open(queue_graph(terms_of(plan.discipline)), config or {})
    if not isinstance(opened, Opened):
        raise RefusedError(opened)
    recorder = _Recorder(engine, opened.handle, plan.discipline.kind)
    together = threading.Barrier(len(plan.threads))
    threads = [
        threading.Thread(target=recorder.work, args=(n, calls, together), daemon=True)
        for n, calls in enumerate(plan.threads)
    ]
    for thread in threads:
        thread.start()
    threads[0].join(_LONG_S)
    until = time.monotonic() + _WAIT_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    _end(recorder, threads, plan)
    engine.close(opened.handle)
    if recorder.faults:
        raise recorder.faults[0]
    return recorder.events


def _end(recorder: _Recorder, threads: Sequence[threading.Thread], plan: Plan) -> None:
    last = len(threads)
    recorder.make(last, Planned("cancel"))
    for thread in threads:
        thread.join(_LONG_S)
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a call on a closed queue does not end")
    most = sum(1 + len(call.values) for calls in plan.threads for call in calls)
    for _ in range(most):  # a queue that gives more than was put in is found out by the model
        if recorder.events[-1].code or recorder.faults:
            return
        recorder.make(last, Planned("take", timeout_ms=int(_LONG_S * 1000)))
