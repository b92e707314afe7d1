"""Records histories of threads that put elements in and take them out."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.subjects.queues.histories.history import Event, Planned
from sessrun.conformance.subjects.queues.histories.recording import RefusedError
from sessrun.conformance.subjects.waiting.resources import CONFIG, MOST, Resource
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened
from sessrun.spec.model.calls import CANCELLED, LATE, OUT_OF_RANGE

__all__ = ["HungError", "Plan", "Threads", "Using", "draw_plan", "record", "using"]

#: Far longer than any thread takes, however busy the machine is, in seconds.
LONG_S: Final = 20.0
#: How long a run may outlast its timeout before it is served, in seconds.
_PATIENT_S: Final = 2.0
#: The timeout of who serves it, in milliseconds, and the number of that thread.
_AGAIN_MS: Final = 200
_HELPER: Final = -2
#: Between two looks at what another thread has done, in seconds.
_POLL_S: Final = 0.0005
_EXPECTED: Final = frozenset({0, CANCELLED, LATE, OUT_OF_RANGE})


class HungError(RuntimeError):
    """A call that must end does not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What threads do: how many elements the resource has room for, and each thread's calls."""

    capacity: int
    threads: tuple[tuple[Planned, ...], ...]


class Using:
    """A resource of one session: calls on it, and what came of them."""

    def __init__(self, engine: Engine, session: str, resource: Resource) -> None:
        self._engine, self._session, self._resource = engine, session, resource
        self.events: list[Event] = []
        self.pending: dict[int, Planned] = {}

    def make(self, thread: int, call: Planned, *, waited: bool = False) -> Event:
        """Make a call and record its outcome.

        Raises:
          RefusedError: it ended as no call may.

        """
        fetch, feeds = self._resource.run(call, waited=waited)
        options = {"timeoutInMs": str(call.timeout_ms)} if call.timeout_ms else {}
        self.pending[thread] = call
        began = time.perf_counter_ns()
        outcome = self._engine.run(self._session, [fetch], feeds, options)
        ended = time.perf_counter_ns()
        self.pending.pop(thread, None)
        code = outcome.code if isinstance(outcome, Failure) else 0
        if code not in _EXPECTED or not isinstance(outcome, Failure | Fetched):
            raise RefusedError(outcome)
        result = self._resource.result(call, outcome) if isinstance(outcome, Fetched) else ()
        event = Event(call, thread, began, ended, code, result)
        self.events.append(event)
        return event

    def size(self) -> int:
        """The number of elements in the resource."""
        return self.make(-1, Planned("size")).result[0]

    def arrived(self, threads: Threads) -> None:
        """Wait until the run of the last thread has put its token, or has ended without one.

        Raises:
          HungError: it does neither.

        """
        until = time.monotonic() + LONG_S
        while time.monotonic() < until:
            over = threads.is_over()  # asked first: a token may come just before the end
            if self._fetched("waiting:0"):
                self._fetched("arrived:0")
                return
            if over:
                return
            time.sleep(_POLL_S)
        raise HungError

    def _fetched(self, fetch: str) -> int:
        outcome = self._engine.run(self._session, [fetch], {}, {})
        if not isinstance(outcome, Fetched):
            raise RefusedError(outcome)
        return int(np.asarray(outcome.values[0]))

    def close_session(self) -> None:
        """Close the session, whatever waits in it."""
        self._engine.close(self._session)


@contextmanager
def using(engine: Engine, resource: Resource, capacity: int) -> Iterator[Using]:
    """A resource in a session of its own, which is closed unless a call in it hangs.

    Raises:
      RefusedError: the session could not be opened.

    """
    opened = engine.open(resource.graph(capacity), CONFIG)
    if not isinstance(opened, Opened):
        raise RefusedError(opened)
    yield Using(engine, opened.handle, resource)
    engine.close(opened.handle)


def draw_plan(draw: random.Random, resource: Resource) -> Plan:
    """What three or four threads do.

    A resource whose waiting ends at a timeout is used at will, each call with a short one; of the
    others some threads take out as much as others put in, so that every call ends.
    """
    values = draw.sample(range(12), 12)
    if resource.timed:
        rows = [
            [_timed_call(draw, values) for _ in range(draw.randint(3, 4))]
            for _ in range(draw.randint(3, 4))
        ]
        return Plan(draw.randint(1, 3) * resource.bounded, tuple(map(tuple, rows)))
    puts = [Planned("put", (value,)) for value in values[: draw.randint(4, 8)]]
    takes = [Planned("take", call.values) for call in draw.sample(puts, len(puts))]
    half = len(takes) // 2
    rows = [puts[:half], puts[half:], takes[:half], takes[half:]]
    for row in rows:
        row.insert(draw.randint(0, len(row)), Planned("size"))
    return Plan(draw.randint(1, 3) * resource.bounded, tuple(map(tuple, rows)))


def _timed_call(draw: random.Random, values: list[int]) -> Planned:
    timeout = draw.choice((3, 8, 15))
    chance = draw.random()
    if chance < 0.45 and values:
        return Planned("put", (values.pop(),), timeout_ms=timeout)
    if chance < 0.9:
        return Planned("take", count=draw.choice((1, 1, 2, 3)), timeout_ms=timeout)
    return Planned("size")


def joined(threads: Sequence[threading.Thread]) -> None:
    """Wait for threads.

    Raises:
      HungError: one does not end.

    """
    until = time.monotonic() + LONG_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        raise HungError


class Threads:
    """Threads whose exceptions are kept and raised again by `join`."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._faults: list[BaseException] = []

    def start(self, work: Callable[[], object]) -> None:
        """Do something in a thread of its own."""

        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again by `join`
                self._faults.append(error)

        thread = threading.Thread(target=guarded, daemon=True)
        self._threads.append(thread)
        thread.start()

    def is_over(self) -> bool:
        """Whether the last one has ended."""
        return not self._threads[-1].is_alive()

    def are_alive(self) -> bool:
        """Whether one has not ended, and none has failed."""
        return not self._faults and any(thread.is_alive() for thread in self._threads)

    def join(self, number: int | None = None) -> None:
        """Wait for one thread or for all, and raise what one of them raised.

        Raises:
          HungError: one does not end.

        """
        joined(self._threads if number is None else [self._threads[number]])
        if self._faults:
            raise self._faults[0]


def _free(used: Using, threads: Threads) -> None:
    """Serve the runs that wait though their timeout is long past.

    TensorFlow forgets to cancel a run that waits behind another one where the row still has the
    place of a third that timed out before. What such a run takes may be lost, like what any late
    run takes. Elements that are there for it, or room, are another matter: then the row is stuck.

    Raises:
      HungError: a run waits for what is there.

    """
    values = iter(range(20, MOST))
    patience = time.monotonic() + _PATIENT_S
    while threads.are_alive():
        time.sleep(_POLL_S)
        if time.monotonic() > patience + LONG_S:
            raise HungError
        if time.monotonic() > patience and (call := _rescue(used, values)) is not None:
            used.make(_HELPER, call)


def _rescue(used: Using, values: Iterator[int]) -> Planned | None:
    """The run that would serve a waiting run; None if its element or its room is already there."""
    waiting = list(used.pending.values())
    takes = [call.wanted for call in waiting if call.action == "take"]
    size = used.size()
    value = next(values, None)
    if takes and size < max(takes) and value is not None:
        return Planned("put", (value,), timeout_ms=_AGAIN_MS)
    if waiting and not takes and size:
        return Planned("take", count=1, timeout_ms=_AGAIN_MS)
    return None


def record(engine: Engine, resource: Resource, plan: Plan) -> list[Event]:
    """Let threads carry out the plan, take out what is left, and return what was seen.

    Raises:
      RefusedError: the session could not be opened, or a call ended as none may.
      HungError: a call does not end.

    """
    with using(engine, resource, plan.capacity) as used:
        together = threading.Barrier(len(plan.threads))
        threads = Threads()
        for number, calls in enumerate(plan.threads):

            def work(number: int = number, calls: Sequence[Planned] = calls) -> None:
                together.wait(LONG_S)
                for call in calls:
                    used.make(number, call)

            threads.start(work)
        if resource.timed:
            _free(used, threads)
        threads.join()
        left = used.size()
        if left and resource.timed:
            timeout = int(LONG_S * 1000)
            used.make(-1, Planned("take", count=left, timeout_ms=timeout))
        return used.events
