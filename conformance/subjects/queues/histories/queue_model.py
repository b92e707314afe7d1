"""The model of a queue, in steps: what one call may do at one moment, and to what state it leads.

A put of several elements puts them in one by one, and no other put in between; a take of several
takes them one by one, and no other take in between (QUEUES-016, 017, 020). A call is therefore a
row of steps, the last of which ends it. A call that ran into its timeout may have come as far as
any of its steps, and what it had taken may be lost or given back: no clause says what a queue does.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sessrun.conformance.subjects.queues.histories.history import (
    CANCELLED,
    LATE,
    OUT_OF_RANGE,
    Event,
)

__all__ = ["Limits", "Move", "State", "moves"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the queue is like: `kind` of `fifo`, `padding`, `priority`, `shuffle`; its bounds."""

    kind: str
    capacity: int
    reserve: int = 0

    @property
    def ordered(self) -> bool:
        """Whether elements come out as they went in."""
        return self.kind in {"fifo", "padding"}


class State(NamedTuple):
    """The state of the queue between two steps.

    Attributes:
      elements: those in it; in ascending order where it is not `ordered`.
      closed: whether it is closed.
      putting: the event whose put is under way, and how many it has put in; (-1, 0) for none.
      taking: likewise of a take.
      taken: what a take under way has taken whose result is not known.

    """

    elements: tuple[int, ...] = ()
    closed: bool = False
    putting: tuple[int, int] = (-1, 0)
    taking: tuple[int, int] = (-1, 0)
    taken: tuple[int, ...] = ()


class Move(NamedTuple):
    """One step of a call: the state it leads to, and whether the call is over with it."""

    state: State
    over: bool


_NOBODY = (-1, 0)


def moves(limits: Limits, state: State, number: int, event: Event) -> Iterator[Move]:
    """The steps that event `number` may take in this state and still get the answer that it got."""
    match event.call.action:
        case "put":
            yield from _put(limits, state, number, event)
        case "take" | "up_to":
            yield from _take(limits, state, number, event)
        case "size":
            if event.code or event.result == (len(state.elements),):
                yield Move(state, over=True)
        case "closed":
            if event.code or event.result == (int(state.closed),):
                yield Move(state, over=True)
        case "close":
            yield from _close(state, event)
        case "cancel":
            if event.code == 0:
                yield Move(state._replace(closed=True), over=True)


def _close(state: State, event: Event) -> Iterator[Move]:
    """A plain close waits for the puts under way; a second one fails."""
    if event.code == LATE:
        yield Move(state, over=True)
    if event.code == CANCELLED and state.closed:
        yield Move(state, over=True)
    if event.code in {0, LATE} and not state.closed and state.putting == _NOBODY:
        yield Move(state._replace(closed=True), over=True)


def _put(limits: Limits, state: State, number: int, event: Event) -> Iterator[Move]:
    owner, done = state.putting
    if owner not in {-1, number}:
        if event.code == LATE or (event.code == CANCELLED and state.closed):
            yield Move(state, over=True)  # it never began
        return
    values = event.call.values
    free = state._replace(putting=_NOBODY)
    if (event.code == LATE) or (event.code == CANCELLED and state.closed):
        yield Move(free, over=True)
    if not values and event.code == 0:
        yield Move(state, over=True)
    if done >= len(values) or state.closed or len(state.elements) >= limits.capacity:
        return
    elements = _with(limits, state.elements, values[done])
    last = done + 1 == len(values)
    if last and event.code == 0:
        yield Move(free._replace(elements=elements), over=True)
    elif not last or event.code == LATE:
        yield Move(state._replace(elements=elements, putting=(number, done + 1)), over=False)


def _with(limits: Limits, elements: tuple[int, ...], value: int) -> tuple[int, ...]:
    if limits.ordered:
        return (*elements, value)
    at = bisect.bisect(elements, value)
    return (*elements[:at], value, *elements[at:])


def _take(limits: Limits, state: State, number: int, event: Event) -> Iterator[Move]:
    owner, done = state.taking
    if owner not in {-1, number}:
        if event.code == LATE:
            yield Move(state, over=True)
        return
    yield from _end_of_take(limits, state, event)
    if done < event.call.wanted:
        yield from _one_more(limits, state, number, event)


def _end_of_take(limits: Limits, state: State, event: Event) -> Iterator[Move]:
    """A take ends late, out of range, or with fewer elements than it asked for."""
    free = state._replace(taking=_NOBODY, taken=())
    given_back = free._replace(elements=_restored(limits, state))
    done, there = state.taking[1], len(state.elements)
    up_to = event.call.action == "up_to"
    if event.code == LATE:
        yield Move(free, over=True)
        if state.taken:
            yield Move(given_back, over=True)
    few = state.closed and there < event.call.wanted - done
    if event.code == OUT_OF_RANGE and few and not (up_to and there + done):
        yield Move(given_back, over=True)
    if event.code == 0 and few and up_to and done == len(event.result) > 0 == there:
        yield Move(free, over=True)


def _one_more(limits: Limits, state: State, number: int, event: Event) -> Iterator[Move]:
    """Take one element; a queue by priority gives several only once all are there."""
    done, reserve = state.taking[1], 0 if state.closed else limits.reserve
    left = event.call.wanted - done
    all_at_once = limits.kind == "priority" and done == 0
    if len(state.elements) - reserve < (left if all_at_once else 1):
        return
    known = event.code == 0
    if known and done >= len(event.result):
        return
    for value in _next(limits, state.elements, event.result[done] if known else None):
        at = state.elements.index(value)
        after = state._replace(elements=(*state.elements[:at], *state.elements[at + 1 :]))
        if known and done + 1 == event.call.wanted:
            yield Move(after._replace(taking=_NOBODY, taken=()), over=True)
        else:
            taken = () if known else (*state.taken, value)
            yield Move(after._replace(taking=(number, done + 1), taken=taken), over=False)


def _next(limits: Limits, elements: tuple[int, ...], wanted: int | None) -> tuple[int, ...]:
    """The elements that may come next: only the one that came, if the history has it."""
    possible = elements if limits.kind == "shuffle" else elements[:1]
    return possible if wanted is None else tuple(v for v in possible if v == wanted)


def _restored(limits: Limits, state: State) -> tuple[int, ...]:
    if limits.ordered:
        return (*state.taken, *state.elements)
    return tuple(sorted((*state.taken, *state.elements)))
