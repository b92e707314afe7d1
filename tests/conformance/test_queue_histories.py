"""The checker of histories says yes and no where it must; elements by the thousand are all there.

`SESSRUN_ELEMENTS=1000000` sets how many elements go through queues with 64 threads, and
`SESSRUN_HISTORIES` how many histories of 200 calls are recorded for each kind.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence

import pytest

from sessrun.adapters.registry import load
from sessrun.conformance.faulty import backend
from sessrun.conformance.subjects.queues.graphs import KINDS
from sessrun.conformance.subjects.queues.histories.history import Event, Planned, shown
from sessrun.conformance.subjects.queues.histories.linear import is_linearizable
from sessrun.conformance.subjects.queues.histories.recording import draw_plan, record
from sessrun.conformance.subjects.queues.histories.stress import Account, Round, run_round
from sessrun.spec.cases.engine import Engine
from sessrun.spec.model.discipline import Discipline

ELEMENTS = int(os.environ.get("SESSRUN_ELEMENTS", "20000"))
HISTORIES = int(os.environ.get("SESSRUN_HISTORIES", "5"))
THREADS = 64
#: In which a history of 200 calls must have been checked, on a busy machine, in seconds.
QUICK_S = 60.0


def history(text: str) -> list[Event]:
    """Events written as `BEGAN-ENDED ACTION ARGUMENT = RESULT`, a `put` with its values.

    `take 3 = 1 2 3` is a dequeue_many, `take = 1` a plain dequeue, `take = !11` one that failed.
    """
    events = []
    for number, line in enumerate(text.strip().splitlines()):
        left, _, right = line.partition("=")
        times, action, *rest = left.split()
        began, ended = map(int, times.split("-"))
        numbers = tuple(map(int, rest))
        values, count = (numbers, len(numbers)) if action == "put" else ((), sum(numbers))
        if action == "put" and count == 1:
            count = 0
        words = right.split()
        code = int(words[0][1:]) if words and words[0].startswith("!") else 0
        result = () if code else tuple(map(int, words))
        events.append(Event(Planned(action, values, count), number, began, ended, code, result))
    return events


FIFO = Discipline("fifo", 10)

CAN_BE = {
    "in order": (FIFO, "0-1 put 1 =\n2-3 put 2 =\n4-5 take = 1\n6-7 take = 2"),
    "overlapping puts": (FIFO, "0-5 put 1 =\n1-4 put 2 =\n6-7 take = 2\n8-9 take = 1"),
    "a take before its put ended": (FIFO, "0-9 put 1 =\n1-2 take = 1"),
    "a wait for room": (Discipline("fifo", 1), "0-9 put 1 2 3 =\n1-2 take = 1\n3-4 take = 2"),
    "a take beyond the capacity": (
        Discipline("fifo", 1),
        "0-9 take 3 = 1 2 3\n1-2 put 1 =\n3-4 put 2 =\n5-6 put 3 =",
    ),
    "taken and given back by a close": (
        FIFO,
        "0-9 take 3 = !11\n1-2 put 1 =\n3-4 size = 0\n5-6 close =\n10-11 take = 1",
    ),
    "a late take that lost": (FIFO, "0-1 put 1 =\n2-9 take 2 = !4\n10-11 size = 0"),
    "a late take that gave back": (FIFO, "0-1 put 1 =\n2-9 take 2 = !4\n10-11 take = 1"),
    "a late put": (FIFO, "0-1 put 1 = !4\n2-3 size = 0"),
    "a late put that is in": (FIFO, "0-1 put 1 = !4\n2-3 take = 1"),
    "a cancelled put that is half in": (
        Discipline("fifo", 1),
        "0-9 put 1 2 = !1\n1-2 cancel =\n10-11 take = 1\n12-13 take = !11",
    ),
    "fewer of a closed queue": (FIFO, "0-1 put 1 =\n2-9 up_to 3 = 1\n3-4 close ="),
    "by priority": (Discipline("priority", 5), "0-1 put 3 1 2 =\n2-3 take 2 = 1 2\n4-5 take = 3"),
    "by chance": (Discipline("shuffle", 5), "0-1 put 3 1 2 =\n2-3 take 2 = 2 3\n4-5 take = 1"),
}

CANNOT_BE = {
    "out of order": (FIFO, "0-1 put 1 =\n2-3 put 2 =\n4-5 take = 2\n6-7 take = 1"),
    "lost": (FIFO, "0-1 put 1 =\n2-3 close =\n4-5 take = !11"),
    "doubled": (FIFO, "0-1 put 1 =\n2-3 take = 1\n4-5 take = 1"),
    "from nowhere": (FIFO, "0-1 put 1 =\n2-3 take = 5"),
    "before it was put": (FIFO, "0-1 take = 1\n2-3 put 1 ="),
    "a size that is past": (FIFO, "0-1 put 1 =\n2-3 put 2 =\n4-5 size = 1"),
    "more than there is room for": (Discipline("fifo", 1), "0-1 put 1 =\n2-3 put 2 ="),
    "a put in the middle of another": (
        FIFO,
        "0-9 put 1 2 =\n0-9 put 3 4 =\n10-11 take 4 = 1 3 2 4",
    ),
    "a put into a closed queue": (FIFO, "0-1 close =\n2-3 put 1 ="),
    "cancelled though it is open": (FIFO, "0-1 put 1 = !1\n2-3 closed = 0"),
    "closed twice": (FIFO, "0-1 close =\n2-3 close ="),
    "open after its close": (FIFO, "0-1 close =\n2-3 closed = 0"),
    "fewer of an open queue": (FIFO, "0-1 put 1 =\n2-3 up_to 3 = 1\n4-5 close ="),
    "fewer than asked for": (FIFO, "0-1 put 1 =\n2-3 close =\n4-5 take 2 = 1"),
    "not by priority": (Discipline("priority", 5), "0-1 put 3 1 2 =\n2-3 take 2 = 2 3"),
    "what must stay behind": (Discipline("shuffle", 5, 2), "0-1 put 1 2 =\n2-3 take = 1"),
}


@pytest.mark.parametrize("name", CAN_BE)
def test_a_history_that_can_be(name: str) -> None:
    discipline, text = CAN_BE[name]
    assert is_linearizable(discipline, history(text))


@pytest.mark.parametrize("name", CANNOT_BE)
def test_a_history_that_cannot_be(name: str) -> None:
    discipline, text = CANNOT_BE[name]
    assert not is_linearizable(discipline, history(text))


@pytest.fixture(scope="module")
def reference() -> Engine:
    return load("reference")


def recorded(
    engine: Engine, kind: str, number: int, *, timed: bool
) -> tuple[Discipline, list[Event]]:
    plan = draw_plan(random.Random(f"{kind}:{number}"), kind, 200, timed=timed)
    return plan.discipline, record(engine, plan)


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_histories_of_the_reference_are_linearizable(
    reference: Engine, kind: str, timed: bool
) -> None:
    for number in range(HISTORIES):
        discipline, events = recorded(reference, kind, number, timed=timed)
        began = time.monotonic()
        assert is_linearizable(discipline, events), shown(events)
        assert time.monotonic() - began < QUICK_S


@pytest.mark.parametrize("change", ["lose", "double", "swap"])
def test_a_changed_history_is_not(reference: Engine, change: str) -> None:
    """What threads saw of a right queue, spoilt in one place."""
    checked = 0
    for number in range(12):
        discipline, events = recorded(reference, "fifo", number, timed=False)
        changed = spoilt(events, change)
        checked += changed is not None
        assert changed is None or not is_linearizable(discipline, changed)
    assert checked > 1


def spoilt(events: Sequence[Event], change: str) -> list[Event] | None:
    """The events with one or two answers changed; None if the queue was closed too soon."""
    changed = sorted(events, key=lambda event: event.ended)
    singles = [
        at
        for at, event in enumerate(changed)
        if len(event.result) == 1 and event.call.action == "take"
    ]
    if len(singles) < 4:
        return None
    first, second = singles[len(singles) // 3], singles[-1]
    one, other = changed[first], changed[second]
    results = {
        "lose": ((-1,), other.result),
        "double": (one.result, one.result),
        "swap": (other.result, one.result),
    }[change]
    for at, event, result in zip((first, second), (one, other), results, strict=True):
        changed[at] = Event(event.call, event.thread, event.began, event.ended, 0, result)
    return changed


@pytest.mark.parametrize("timeout_ms", [0, 20])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_element_of_64_threads_comes_out_once(
    reference: Engine, kind: str, cut: bool, timeout_ms: int
) -> None:
    half = THREADS // 2
    share = ELEMENTS // (2 * half)
    account = run_round(reference, Round(kind, half, half, share, cut, timeout_ms, seed=3))
    assert not any(account.wrong.values()), account
    if not cut and not timeout_ms:
        assert account.taken == half * share


@pytest.mark.parametrize("name", ["elements-are-lost", "elements-are-doubled"])
def test_an_account_tells_of_a_faulty_queue(name: str) -> None:
    engine = backend(f"{name}@reference")
    account = run_round(engine, Round("fifo", 8, 8, 100, seed=1))
    assert account.lost + account.doubled > 0


@pytest.mark.parametrize(
    "name", ["elements-are-lost", "elements-are-doubled", "puts-are-told-too-early"]
)
def test_histories_tell_of_a_faulty_queue(name: str) -> None:
    engine = backend(f"{name}@reference")
    plans = (draw_plan(random.Random(n), "fifo", 120, timed=False) for n in range(20))
    assert not all(is_linearizable(plan.discipline, record(engine, plan)) for plan in plans)


def test_a_right_account_has_nothing_wrong() -> None:
    assert Account(5, 3).wrong == {"lost": 0, "doubled": 0, "invented": 0, "disordered": 0}
