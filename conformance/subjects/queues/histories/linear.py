"""Whether a history is linearizable: whether its calls could have been made one after the other.

The search of Wing and Gong with the memory of Lowe: calls are put in a row, each between its
beginning and its end, such that the model gives the answers that were seen; a configuration (which
calls are over, and the state) that led nowhere is not looked at twice. A call here is a row of
steps (`spec/model/calls.py`), each of which lies between its beginning and its end.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

from sessrun.conformance.subjects.queues.histories.history import Event
from sessrun.spec.model.calls import Model, State
from sessrun.spec.model.discipline import Discipline
from sessrun.spec.model.queue_calls import moves

__all__ = ["TooHardError", "is_explained", "is_linearizable"]

#: Configurations after which the search is given up; a history of 200 calls needs thousands.
_MOST: Final = 2_000_000

#: Which events are over, as bits, and the state.
_Node = tuple[int, State]


class TooHardError(RuntimeError):
    """A history has too many orders to be searched; nothing is known of it."""


def is_linearizable(discipline: Discipline, events: Sequence[Event]) -> bool:
    """Whether a queue that begins empty can have given these answers.

    Raises:
      TooHardError: the search was given up.

    """
    return is_explained(functools.partial(moves, discipline), State(), events)


def is_explained(model: Model, first: State, events: Sequence[Event]) -> bool:
    """Whether what is in the state `first` at the beginning can have given these answers.

    Args:
      model: from a state, the number of an event and the event to what it may do next.
      first: the state.
      events: the history.

    Raises:
      TooHardError: the search was given up.

    """
    ordered = sorted(events, key=lambda event: event.began)
    everything = (1 << len(ordered)) - 1
    seen: set[_Node] = {(0, first)}
    stack = [_successors(model, ordered, (0, first))]
    if not ordered:
        return True
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        if node[0] == everything:
            return True
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > _MOST:
            raise TooHardError(f"more than {_MOST:,} configurations")
        stack.append(_successors(model, ordered, node))
    return False


def _successors(model: Model, ordered: Sequence[Event], node: _Node) -> Iterator[_Node]:
    """The configurations after one more step; calls are tried in the order of their ends."""
    over, state = node
    for number in _possible(ordered, over):
        for move in model(state, number, ordered[number]):
            yield (over | 1 << number if move.over else over), move.state


def _possible(ordered: Sequence[Event], over: int) -> list[int]:
    """The events that may come next: those that began before the first open event ended."""
    numbers: list[int] = []
    first_end: int | None = None
    # The lowest bit that is not set: all before it are over.
    number = (~over & (over + 1)).bit_length() - 1
    while number < len(ordered):
        event = ordered[number]
        if first_end is not None and event.began > first_end:
            break
        if not over >> number & 1:
            numbers.append(number)
            first_end = event.ended if first_end is None else min(first_end, event.ended)
        number += 1
    return sorted(numbers, key=lambda index: ordered[index].ended)
