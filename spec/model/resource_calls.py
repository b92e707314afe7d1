"""Overlapping calls on barriers, accumulators and staging areas: each does all at one moment.

So do those on staged maps (WAITING-001, 004); calls on a queue go element by element
(`queue_calls.py`). What a run took that was served at its very timeout
may be lost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from sessrun.spec.model.calls import CANCELLED, LATE, OUT_OF_RANGE, Answered, Model, Move, State
from sessrun.spec.model.discipline import Discipline
from sessrun.spec.model.queue_calls import moves

__all__ = ["model_of"]

#: The most elements a late call is tried to have taken in every way.
_FEW: Final = 6


def model_of(resource: str, capacity: int) -> Model:
    """The model of a resource of this kind that has room for so many elements (0: any number)."""
    if resource == "queue":
        return functools.partial(moves, Discipline("fifo", capacity or -1))
    takes = {"accumulator": _all_taken, "staging": _first_taken, "map": _key_taken}
    taken = takes.get(resource, _some_taken)

    def at_one_moment(state: State, _number: int, event: Answered) -> Iterator[Move]:
        for after in _after(state, event, capacity, taken):
            yield Move(after, over=True)

    return at_one_moment


#: From the elements there and a call that takes to the elements that it may take.
_Taken = Callable[[tuple[int, ...], Answered], Iterator[tuple[int, ...]]]


def _after(state: State, event: Answered, capacity: int, taken: _Taken) -> Iterator[State]:
    """The states in which an event may leave the resource."""
    match event.call.action:
        case "put" if event.code in {0, LATE}:
            full = 0 < capacity <= len(state.elements)
            if not full and not state.closed:
                yield state._replace(elements=(*state.elements, *event.call.values))
            if event.code == LATE:
                yield state
        case "put" if event.code == CANCELLED and state.closed:
            yield state
        case "take":
            yield from _after_take(state, event, taken)
        case "size" if event.result == (len(state.elements),):
            yield state
        case "close" if event.code == 0:
            yield state._replace(closed=True)


def _after_take(state: State, event: Answered, taken: _Taken) -> Iterator[State]:
    if event.code == LATE or (
        event.code == OUT_OF_RANGE and state.closed and len(state.elements) < event.call.wanted
    ):
        yield state
    if event.code in {0, LATE}:
        for elements in taken(state.elements, event):
            left = tuple(element for element in state.elements if element not in elements)
            if event.code == LATE or sorted(elements) == sorted(event.result):
                yield state._replace(elements=left)


def _all_taken(elements: tuple[int, ...], event: Answered) -> Iterator[tuple[int, ...]]:
    """All elements, if there are as many as the call takes."""
    if len(elements) >= event.call.wanted:
        yield elements


def _first_taken(elements: tuple[int, ...], event: Answered) -> Iterator[tuple[int, ...]]:
    """The elements that came first."""
    if len(elements) >= event.call.wanted:
        yield elements[: event.call.wanted]


def _key_taken(elements: tuple[int, ...], event: Answered) -> Iterator[tuple[int, ...]]:
    """The element of the key."""
    if event.call.values[0] in elements:
        yield event.call.values


def _some_taken(elements: tuple[int, ...], event: Answered) -> Iterator[tuple[int, ...]]:
    """Any elements, as many as the call takes: those of overlapping insertions have no order."""
    wanted = event.call.wanted
    if event.code == 0:
        if len(elements) >= wanted and set(event.result) <= set(elements):
            yield event.result
    elif len(elements) <= _FEW:
        yield from combinations(elements, wanted)
    elif len(elements) >= wanted:
        yield elements[:wanted]
