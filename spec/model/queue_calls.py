"""Overlapping calls on a queue: what one call may do at one moment, and to what state it leads.

A put of several elements puts them in one by one, and no other put in between; a take of several
takes them one by one, and no other take in between (QUEUES-016, 017, 020). A call is therefore a
row of steps, the last of which ends it. A call that ran into its timeout may have come as far as
any of its steps, and what it had taken may be lost or given back: no clause says what a queue does.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessrun.spec.model.calls import (
    CANCELLED,
    LATE,
    NOBODY,
    OUT_OF_RANGE,
    Answered,
    Move,
    State,
)
from sessrun.spec.model.discipline import Discipline

__all__ = ["moves"]


def moves(discipline: Discipline, state: State, number: int, event: Answered) -> Iterator[Move]:
    """The steps that event `number` may take in this state and still get the answer that it got."""
    match event.call.action:
        case "put":
            yield from _put(discipline, state, number, event)
        case "take" | "up_to":
            yield from _take(discipline, state, number, event)
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


def _close(state: State, event: Answered) -> Iterator[Move]:
    """A plain close waits for the puts under way; a second one fails (QUEUES-009, 011)."""
    if event.code == LATE:
        yield Move(state, over=True)
    if event.code == CANCELLED and state.closed:
        yield Move(state, over=True)
    if event.code in {0, LATE} and not state.closed and state.putting == NOBODY:
        yield Move(state._replace(closed=True), over=True)


def _put(discipline: Discipline, state: State, number: int, event: Answered) -> Iterator[Move]:
    owner, done = state.putting
    if owner not in {-1, number}:
        if event.code == LATE or (event.code == CANCELLED and state.closed):
            yield Move(state, over=True)  # it never began
        return
    values = event.call.values
    free = state._replace(putting=NOBODY)
    if (event.code == LATE) or (event.code == CANCELLED and state.closed):
        yield Move(free, over=True)  # what it had put in stays (QUEUES-018)
    if not values and event.code == 0:
        yield Move(state, over=True)
    if done >= len(values) or state.closed or not discipline.has_room(len(state.elements)):
        return
    elements = _with(discipline, state.elements, values[done])
    last = done + 1 == len(values)
    if last and event.code == 0:
        yield Move(free._replace(elements=elements), over=True)
    elif not last or event.code == LATE:
        yield Move(state._replace(elements=elements, putting=(number, done + 1)), over=False)


def _with(discipline: Discipline, elements: tuple[int, ...], value: int) -> tuple[int, ...]:
    """The elements and one more, which is its own priority; in one order where any may be next."""
    if discipline.kind == "shuffle":
        return tuple(sorted((*elements, value)))
    at = discipline.position(elements, value)
    return (*elements[:at], value, *elements[at:])


def _take(discipline: Discipline, state: State, number: int, event: Answered) -> Iterator[Move]:
    owner, done = state.taking
    if owner not in {-1, number}:
        if event.code == LATE:
            yield Move(state, over=True)
        return
    yield from _end_of_take(discipline, state, event)
    if done < event.call.wanted:
        yield from _one_more(discipline, state, number, event)


def _end_of_take(discipline: Discipline, state: State, event: Answered) -> Iterator[Move]:
    """A take ends late, out of range, or with fewer elements than it asked for."""
    free = state._replace(taking=NOBODY, taken=())
    given_back = free._replace(elements=_restored(discipline, state))
    done, held = state.taking[1], len(state.elements)
    up_to = event.call.action == "up_to"
    if event.code == LATE:
        yield Move(free, over=True)
        if state.taken:
            yield Move(given_back, over=True)
    few = state.closed and held < event.call.wanted - done
    if event.code == OUT_OF_RANGE and few and not (up_to and held + done):
        yield Move(given_back, over=True)
    if event.code == 0 and few and up_to and done == len(event.result) > 0 == held:
        yield Move(free, over=True)


def _one_more(discipline: Discipline, state: State, number: int, event: Answered) -> Iterator[Move]:
    """Take one element, if the discipline lets one leave."""
    done, held, wanted = state.taking[1], len(state.elements), event.call.wanted
    if not discipline.may_leave(held, wanted - done, is_begun=done > 0, is_closed=state.closed):
        return
    known = event.code == 0
    if known and done >= len(event.result):
        return
    possible = [state.elements[at] for at in discipline.next_positions(held)]
    for value in possible:
        if known and value != event.result[done]:
            continue
        at = state.elements.index(value)
        after = state._replace(elements=(*state.elements[:at], *state.elements[at + 1 :]))
        if known and done + 1 == wanted:
            yield Move(after._replace(taking=NOBODY, taken=()), over=True)
        else:
            taken = () if known else (*state.taken, value)
            yield Move(after._replace(taking=(number, done + 1), taken=taken), over=False)


def _restored(discipline: Discipline, state: State) -> tuple[int, ...]:
    """The elements with those that a take gives back: to where they came from (QUEUES-015)."""
    if discipline.is_ordered:
        return (*state.taken, *state.elements)
    return tuple(sorted((*state.taken, *state.elements)))
