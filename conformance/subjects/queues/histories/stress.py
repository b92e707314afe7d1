"""Many producers and consumers on one queue, and the account of every element.

Producers put in elements of their own, numbered from 0 on, one or several at a time; consumers take
until the queue is at its end. A round ends with a plain close once all is in, or is cut short by
one that cancels; calls may have timeouts. Every element whose put succeeded must come out once.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.subjects.queues.graphs import queue_graph
from sessrun.conformance.subjects.queues.histories.history import Planned
from sessrun.conformance.subjects.queues.histories.recording import (
    RefusedError,
    elements_of,
    perform,
    terms_of,
)
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened
from sessrun.spec.forms import JsonObject
from sessrun.spec.model.calls import CANCELLED, LATE, OUT_OF_RANGE
from sessrun.spec.model.discipline import Discipline

__all__ = ["Account", "Round", "run_round"]

#: Elements of one producer; its number is above these bits.
_BITS: Final = 32
#: Far longer than a round takes, in seconds.
_LONG_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Round:
    """What one round is.

    Attributes:
      kind: of the queue.
      producers: threads that put in.
      consumers: threads that take.
      elements: how many each producer has.
      cut: whether the queue is closed with `cancel_pending_enqueues` half-way.
      timeout_ms: of one call in sixteen, 0 for none.
      seed: of what the threads do.

    """

    kind: str
    producers: int
    consumers: int
    elements: int
    cut: bool = False
    timeout_ms: int = 0
    seed: int = 0


@dataclass(slots=True)
class Account:
    """The fate of the elements of a round.

    Attributes:
      taken: how many were taken.
      calls: how many runs took them.
      lost: those whose put succeeded and that no call took, beyond what timed-out takes
        may have had.
      doubled: those that were taken more than once.
      invented: taken elements that no call had put in.
      disordered: those that one consumer took after a later one of the same producer.

    """

    taken: int = 0
    calls: int = 0
    lost: int = 0
    doubled: int = 0
    invented: int = 0
    disordered: int = 0

    @property
    def wrong(self) -> dict[str, int]:
        """The counts that are all 0 if the queue is right."""
        return {name: getattr(self, name) for name in ("lost", "doubled", "invented", "disordered")}


@dataclass(slots=True)
class _Books:
    """What was put in, by producer, for certain or perhaps, and what each consumer took."""

    confirmed: dict[int, list[int]] = field(default_factory=dict)
    maybe: list[int] = field(default_factory=list)
    taken: list[list[int]] = field(default_factory=list)
    allowance: int = 0
    calls: int = 0
    faults: list[BaseException] = field(default_factory=list)
    half: threading.Event = field(default_factory=threading.Event)


class _Floor:
    """The queue of a round, and its threads."""

    def __init__(self, engine: Engine, session: str, plan: Round) -> None:
        self._engine, self._session, self._plan = engine, session, plan
        self.books = _Books()
        self._lock = threading.Lock()

    def call(self, call: Planned) -> tuple[int, list[int]]:
        """Make a call; its code and the elements it gave.

        Raises:
          RefusedError: it ended as no call may.

        """
        outcome = perform(self._engine, self._session, self._plan.kind, call)
        if isinstance(outcome, Fetched):
            return 0, list(elements_of(outcome))
        if isinstance(outcome, Failure) and outcome.code in {CANCELLED, LATE, OUT_OF_RANGE}:
            return outcome.code, []
        raise RefusedError(outcome)

    def guarded(self, work: Callable[[int], int], number: int) -> None:
        """Do the work of a thread; keep what it raises."""
        try:
            calls = work(number)
            with self._lock:
                self.books.calls += calls
        except BaseException as error:  # noqa: BLE001 - raised again by `run_round`
            self.books.faults.append(error)
            self.books.half.set()

    def produce(self, number: int) -> int:
        """Put in the elements of one producer; how many calls that took."""
        plan, draw = self._plan, random.Random(f"{self._plan.seed}:put:{number}")
        confirmed: list[int] = []
        self.books.confirmed[number] = confirmed
        following, calls = 0, 0
        while following < plan.elements:
            if following > plan.elements // 2:
                self.books.half.set()
            several = draw.choice((0, 0, draw.randint(1, 16)))
            last = min(plan.elements, following + (several or 1))
            values = tuple(number << _BITS | serial for serial in range(following, last))
            code, _ = self.call(Planned("put", values, several, self._timeout(draw)))
            following, calls = last, calls + 1
            if code == 0:
                confirmed += values
                continue
            with self._lock:
                self.books.maybe += values
            if code == CANCELLED:
                break
        return calls

    def consume(self, number: int) -> int:
        """Take elements until there are no more; how many calls that took."""
        plan, draw = self._plan, random.Random(f"{self._plan.seed}:take:{number}")
        taken: list[int] = []
        self.books.taken.append(taken)
        single, calls = False, 0
        while len(taken) <= plan.producers * plan.elements:  # more are invented
            several = 0 if single else draw.choice((0, 0, draw.randint(1, 16)))
            ways = ("take",) if plan.kind == "priority" else ("take", "up_to")
            action = draw.choice(ways) if several else "take"
            call = Planned(action, count=several, timeout_ms=self._timeout(draw))
            code, elements = self.call(call)
            taken += elements
            calls += 1
            if code == LATE:
                with self._lock:
                    self.books.allowance += call.wanted
            elif code and single:
                return calls
            elif code:
                single = True
        return calls

    def _timeout(self, draw: random.Random) -> int:
        timed = self._plan.timeout_ms and draw.random() < 1 / 16
        return self._plan.timeout_ms if timed else 0


def run_round(engine: Engine, plan: Round, config: JsonObject | None = None) -> Account:
    """Run one round on a session of its own.

    Raises:
      RefusedError: the session could not be opened, or a call ended as none may.
      TimeoutError: a call does not end.

    """
    discipline = Discipline(plan.kind, 50, 10 if plan.kind == "shuffle" else 0)
    opened = engine.open(queue_graph(terms_of(discipline)), config or {})
    if not isinstance(opened, Opened):
        raise RefusedError(opened)
    floor = _Floor(engine, opened.handle, plan)
    producers = _threads(floor, floor.produce, plan.producers)
    consumers = _threads(floor, floor.consume, plan.consumers)
    if plan.cut:
        floor.books.half.wait(_LONG_S)
        floor.call(Planned("cancel"))
    _joined(producers)
    if not plan.cut:
        floor.call(Planned("close"))
    _joined(consumers)
    engine.close(opened.handle)
    if floor.books.faults:
        raise floor.books.faults[0]
    return _audited(floor.books, ordered=discipline.is_ordered)


def _threads(floor: _Floor, work: Callable[[int], int], count: int) -> list[threading.Thread]:
    threads = [
        threading.Thread(target=floor.guarded, args=(work, n), daemon=True) for n in range(count)
    ]
    for thread in threads:
        thread.start()
    return threads


def _joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(_LONG_S)
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a call does not end")


def _audited(books: _Books, *, ordered: bool) -> Account:
    confirmed = np.array([element for row in books.confirmed.values() for element in row], np.int64)
    maybe = np.array(books.maybe, np.int64)
    taken = np.array([element for row in books.taken for element in row], np.int64)
    once, counts = np.unique(taken, return_counts=True)
    missing = len(np.setdiff1d(confirmed, once))
    invented = len(np.setdiff1d(once, np.concatenate([confirmed, maybe])))
    disordered = sum(map(_disordered, books.taken)) if ordered else 0
    lost = max(0, missing - books.allowance)
    doubled = int((counts - 1).sum())
    return Account(len(taken), books.calls, lost, doubled, invented, disordered)


def _disordered(row: list[int]) -> int:
    """How many elements of a consumer come after a later one of the same producer."""
    latest: dict[int, int] = {}
    count = 0
    for element in row:
        producer = element >> _BITS
        count += element < latest.get(producer, -1)
        latest[producer] = max(element, latest.get(producer, -1))
    return count
