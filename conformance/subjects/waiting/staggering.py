"""Waiters that begin one after another and are then served, timed out, or ended by a close.

A run puts a token into a queue just before it waits, which shows that it is about to wait. Since
some time passes between the token and the wait, only one of several rounds must show the order;
lost elements and elements that are served twice are looked for in every round.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from sessrun.conformance.subjects.queues.histories.history import Event, Planned
from sessrun.conformance.subjects.waiting.recording import Threads, Using, using
from sessrun.conformance.subjects.waiting.resources import Resource
from sessrun.spec.cases.engine import Engine
from sessrun.spec.model.calls import CANCELLED, LATE, OUT_OF_RANGE

__all__ = ["Account", "Row", "ended", "staggered"]

#: How many rounds there are at most until one shows the order.
_ROUNDS: Final = 8
#: Between a token and the next waiter; longer in every round.
_MOMENT_S: Final = 0.002
#: The timeout of a waiter that is to be cut out, in milliseconds.
_SHORT_MS: Final = 15
_NO_CODE: Final = -1
#: Far longer than it takes to take what is there, in milliseconds.
_PATIENT_MS: Final = 10000


@dataclass(frozen=True, slots=True)
class Row:
    """A row of waiters.

    Attributes:
      action: what they wait to do: `take` or `put`.
      waiters: how many there are.
      late: which of them time out before anything comes.

    """

    action: str
    waiters: int
    late: tuple[int, ...] = ()

    @property
    def served(self) -> list[int]:
        """Those that are served, in order."""
        return [number for number in range(self.waiters) if number not in self.late]


@dataclass(slots=True)
class Account:
    """What came of all rounds.

    Attributes:
      wrong: what a waiter gave that it may not have given, or was lost or doubled, in words.
      in_order: whether the waiters of a round were served in the order in which they began.

    """

    wrong: list[str]
    in_order: bool = False


def staggered(engine: Engine, resource: Resource, row: Row) -> Account:
    """Rounds of waiters on one resource.

    Raises:
      RefusedError: the session could not be opened, or a call ended as none may.
      HungError: a call that must end does not.

    """
    account = Account([])
    capacity = 1 if row.action == "put" else 0
    with using(engine, resource, capacity) as used:
        _round(used, resource, Row(row.action, 1), 0.0, Account([]))  # so that nothing is new
        for number in range(_ROUNDS):
            _round(used, resource, row, _MOMENT_S * (1 + number**2), account)
            if account.in_order or account.wrong:
                break
        if not account.wrong:
            _afterwards(used, row, account)
    return account


def _afterwards(used: Using, row: Row, account: Account) -> None:
    """Put in one more element after the waiters have ended, and take it out again."""
    used.make(-1, Planned("put", (row.waiters,)))
    size = used.size()
    event = used.make(-1, Planned("take", (row.waiters,), 1, _PATIENT_MS)) if size == 1 else None
    if event is None or event.result != (row.waiters,):
        account.wrong.append(f"of an element put in afterwards {size} were there")


def _round(used: Using, resource: Resource, row: Row, moment_s: float, account: Account) -> None:
    events: dict[int, Event] = {}
    threads = Threads()
    if row.action == "put":
        used.make(-1, Planned("put", (row.waiters,)))  # there is no more room
    for number in range(row.waiters):

        def wait(number: int = number) -> None:
            events[number] = used.make(number, _waiting(resource, row, number), waited=True)

        threads.start(wait)
        used.arrived(threads)
        time.sleep(moment_s)
    for number in row.late:
        threads.join(number)
        if events[number].code != LATE:
            account.wrong.append(f"waiter {number} ended with code {events[number].code}")
    got = _served(used, resource, row)
    threads.join()
    if row.action == "take":
        got = [element for number in row.served for element in events[number].result]
        account.wrong += _failed(events, row)
    want = row.served
    if sorted(got) != want:
        account.wrong.append(f"{want} were put in, {got} came out")
    if (left := used.size()) != 0:
        account.wrong.append(f"{left} elements are left")
    account.in_order = account.in_order or got == want


def _failed(events: dict[int, Event], row: Row) -> list[str]:
    codes = {number: events[number].code for number in row.served}
    return [f"waiter {number} failed with code {code}" for number, code in codes.items() if code]


def _waiting(resource: Resource, row: Row, number: int) -> Planned:
    """The call of a waiter: one that puts in puts its own number."""
    timeout = _SHORT_MS if number in row.late else 0
    if row.action == "put":
        return Planned("put", (number,), timeout_ms=timeout)
    values = (number,) if resource.name == "map" else ()
    return Planned("take", values, 1, timeout)


def _served(used: Using, resource: Resource, row: Row) -> list[int]:
    """Serve the waiters: the elements put in, or those taken behind the one that was there."""
    if row.action == "take":
        for number in row.served:
            used.make(-1, Planned("put", (number,)))
            if resource.name == "accumulator":
                _until_taken(used)  # who takes would take this one and the next
        return []
    taken: list[int] = []
    for _ in range(len(row.served) + 1):
        taken += used.make(-1, Planned("take", count=1)).result
    return taken[1:]


def _until_taken(used: Using) -> None:
    until = time.monotonic() + 5.0
    while used.size() and time.monotonic() < until:
        time.sleep(0.0005)


def ended(engine: Engine, resource: Resource, row: Row, by: str) -> list[str]:
    """Waiters that are ended by the close of the resource (`close`) or of the session (`session`).

    Returns:
      what is wrong, in words.

    Raises:
      RefusedError: the session could not be opened, or a call ended as none may.
      HungError: a waiter does not end.

    """
    events: dict[int, Event] = {}
    with using(engine, resource, 1 if row.action == "put" else 0) as used:
        threads = Threads()
        if row.action == "put":
            used.make(-1, Planned("put", (row.waiters,)))
        for number in range(row.waiters):

            def wait(number: int = number) -> None:
                events[number] = used.make(number, _waiting(resource, row, number), waited=True)

            threads.start(wait)
            used.arrived(threads)
        if by == "session":
            used.close_session()
        else:
            used.make(-1, Planned("close"))
        threads.join()
        takes = row.action == "take" and by == "close"
        want = OUT_OF_RANGE if takes else CANCELLED
        codes = {number: event.code or _NO_CODE for number, event in events.items()}
        wrong = [f"waiter {n} ended with code {code}" for n, code in codes.items() if code != want]
        if row.action == "put" and by == "close":
            taken = used.make(-1, Planned("take", count=1)).result
            wrong += [] if taken == (row.waiters,) else [f"{taken} was taken afterwards"]
            after = used.make(-1, Planned("take", count=1))
            wrong += [] if after.code == OUT_OF_RANGE else [f"{after.result} was taken then"]
        return wrong
