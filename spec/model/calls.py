"""Calls that overlap: a call on a resource, its answer, and the steps in which it takes effect.

QUEUES-065 and WAITING-001: what calls give that overlap in time is what they give in some sequence
of their steps, each of which lies between the call's beginning and its end. A *model* says which
steps a call may take in a state of the resource and still get the answer that it got; who searches
for the sequence (`conformance/subjects/queues/histories/linear.py`) knows nothing of the resource.

Elements are numbers here. The module needs neither numpy nor protobuf: workers in other
environments import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from sessrun.spec.errors import BY_NAME

__all__ = [
    "CANCELLED",
    "LATE",
    "NOBODY",
    "OUT_OF_RANGE",
    "Answered",
    "Call",
    "Model",
    "Move",
    "State",
]

CANCELLED: Final = BY_NAME["CANCELLED"].code
#: The code of a call that ran into its timeout.
LATE: Final = BY_NAME["DEADLINE_EXCEEDED"].code
OUT_OF_RANGE: Final = BY_NAME["OUT_OF_RANGE"].code


@dataclass(frozen=True, slots=True)
class Call:
    """A call on a resource.

    Attributes:
      action: `put`, `take`, `up_to`, `size`, `closed`, `close` or `cancel`.
      values: what a put puts in; the key that a take of a staged map names.
      count: how many elements a take or up_to asks for; 0 for a plain dequeue.

    """

    action: str
    values: tuple[int, ...] = ()
    count: int = 0

    @property
    def wanted(self) -> int:
        """How many elements it asks for."""
        return self.count or 1


class Answered(Protocol):
    """A call with its answer."""

    @property
    def call(self) -> Call:
        """The call."""

    @property
    def code(self) -> int:
        """0, or the code with which it failed."""

    @property
    def result(self) -> tuple[int, ...]:
        """The elements taken; the size, or 0 and 1 for `closed`, alone."""


#: The event of which a put or take is under way, and how many elements it has moved: none.
NOBODY: Final = (-1, 0)


class State(NamedTuple):
    """The state of a resource between two steps.

    Attributes:
      elements: those in it, the next one first; ascending where any may be next.
      closed: whether it is closed.
      putting: the event whose put is under way, and how many it has put in.
      taking: likewise of a take.
      taken: what a take under way has taken whose result is not known.

    """

    elements: tuple[int, ...] = ()
    closed: bool = False
    putting: tuple[int, int] = NOBODY
    taking: tuple[int, int] = NOBODY
    taken: tuple[int, ...] = ()


class Move(NamedTuple):
    """One step of a call: the state it leads to, and whether the call is over with it."""

    state: State
    over: bool


#: A model: from a state, the number of a call and the call with its answer to its possible steps.
Model = Callable[[State, int, Answered], Iterator[Move]]
