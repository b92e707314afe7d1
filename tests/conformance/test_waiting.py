"""The models of what runs wait for: which histories they explain, and which they do not."""

from __future__ import annotations

import random

import pytest

from sessrun.adapters.registry import load
from sessrun.conformance.subjects.queues.histories.history import Event, Planned
from sessrun.conformance.subjects.queues.histories.linear import is_explained
from sessrun.conformance.subjects.waiting.recording import draw_plan, record
from sessrun.conformance.subjects.waiting.resources import RESOURCES
from sessrun.conformance.subjects.waiting.staggering import Row, staggered
from sessrun.spec.model.calls import State
from sessrun.spec.model.resource_calls import model_of


def history(text: str) -> list[Event]:
    """Events written as `BEGAN-ENDED ACTION NUMBER = RESULT`; `!4` is the code of a failure.

    The number is what a put puts in, or how many a take asks for.
    """
    events = []
    for number, line in enumerate(text.strip().splitlines()):
        left, _, right = line.partition("=")
        times, action, *rest = left.split()
        began, ended = map(int, times.split("-"))
        values = tuple(map(int, rest)) if action == "put" else ()
        count = sum(map(int, rest)) if action == "take" else 0
        words = right.split()
        code = int(words[0][1:]) if words and words[0].startswith("!") else 0
        result = () if code else tuple(map(int, words))
        events.append(Event(Planned(action, values, count), number, began, ended, code, result))
    return events


CAN_BE = {
    "any of what a barrier has": ("barrier", 0, "0-1 put 1 =\n2-3 put 2 =\n4-5 take 1 = 2"),
    "all that was gathered": ("accumulator", 0, "0-1 put 1 =\n2-3 put 2 =\n4-5 take 1 = 1 2"),
    "a wait for the second": ("accumulator", 0, "0-9 take 2 = 1 2\n1-2 put 1 =\n3-4 put 2 ="),
    "late, and nothing taken": ("barrier", 0, "0-1 put 1 =\n2-9 take 2 = !4\n10-11 size = 1"),
    "late, and lost": ("barrier", 0, "0-1 put 1 =\n2-9 take 1 = !4\n10-11 size = 0"),
    "a wait for room": (
        "staging",
        1,
        "0-9 put 1 =\n0-12 put 2 =\n10-11 take 1 = 1\n13-14 take 1 = 2",
    ),
}
CANNOT_BE = {
    "lost": ("barrier", 0, "0-1 put 1 =\n2-3 size = 0"),
    "served twice": ("barrier", 0, "0-1 put 1 =\n2-3 take 1 = 1\n4-5 take 1 = 1"),
    "too few": ("accumulator", 0, "0-1 put 1 =\n2-3 take 2 = 1"),
    "one left behind": ("accumulator", 0, "0-1 put 1 =\n2-3 put 2 =\n4-5 take 1 = 2"),
    "more than there is room for": ("staging", 1, "0-1 put 1 =\n2-3 put 2 ="),
    "out of order": ("staging", 0, "0-1 put 1 =\n2-3 put 2 =\n4-5 take 1 = 2"),
    "before it was put": ("staging", 0, "0-1 take 1 = 1\n2-3 put 1 ="),
}


@pytest.mark.parametrize("name", CAN_BE)
def test_a_history_that_can_be(name: str) -> None:
    resource, capacity, text = CAN_BE[name]
    assert is_explained(model_of(resource, capacity), State(), history(text))


@pytest.mark.parametrize("name", CANNOT_BE)
def test_a_history_that_cannot_be(name: str) -> None:
    resource, capacity, text = CANNOT_BE[name]
    assert not is_explained(model_of(resource, capacity), State(), history(text))


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_changed_history_is_not_explained(resource: str) -> None:
    """What threads saw of a right resource, one answer of it spoilt."""
    engine, kind = load("reference"), RESOURCES[resource]
    checked = 0
    for seed in range(8):
        plan = draw_plan(random.Random(seed), kind)
        events = record(engine, kind, plan)
        model = model_of(resource, plan.capacity)
        assert is_explained(model, State(), events)
        takes = [n for n, e in enumerate(events) if e.result and e.call.action == "take"]
        if takes:
            at = takes[-1]
            event = events[at]
            spoilt = (*event.result[:-1], 51)
            events[at] = Event(event.call, event.thread, event.began, event.ended, 0, spoilt)
            assert not is_explained(model, State(), events)
            checked += 1
    assert checked


def test_waiters_in_a_row_are_told_apart() -> None:
    engine = load("reference")
    account = staggered(engine, RESOURCES["queue"], Row("take", 3, (1,)))
    assert not account.wrong
    assert account.in_order
