"""What keeps a program's effects: what every kind of state has.

Each kind writes its own nodes, models in Python what the effects make of it, and says how a run
shows that. The effects on one state are done in an order that the program determines; what waits
for the number of effects so far waits for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.subjects.control_flow.site import RESOURCE, Kind, LoopingSite, Site

__all__ = ["Asked", "Doing", "RunState", "State"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A fetch, what it must give (None for an operation), and what is fed for it."""

    fetch: str
    wanted: np.ndarray | None
    feeds: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Doing:
    """What an effect is written with.

    Attributes:
      value: the int32 tensor that it takes.
      count: the tensor that says how many effects on the state come before.
      waits: its control inputs.

    """

    value: str
    count: str
    waits: Sequence[str] = ()


class State:
    """One state: its nodes, and what its effects have made of it so far.

    Attributes:
      name: the prefix of its nodes' names.
      kind: the dtype of its handle.
      handle: the tensor that effects take; empty where they take none.
      effects: the values of the effects that nobody has taken out yet.

    """

    kind: ClassVar[Kind] = RESOURCE
    #: Whether a function can take the handle as an argument.
    in_functions: ClassVar[bool] = True
    #: Whether it lives only as long as the run.
    of_run: ClassVar[bool] = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.handle = name
        self.effects: list[int] = []

    @property
    def flows(self) -> tuple[str, ...]:
        """The float32 tensors that effects take besides the handle."""
        return ()

    def make(self, writer: GraphWriter) -> None:
        """Write the nodes that make the state and those that show it after a run."""
        raise NotImplementedError

    def effect(self, site: Site, doing: Doing) -> str:
        """Write an effect; how its node is called."""
        raise NotImplementedError

    def look(self, site: Site, waits: Sequence[str]) -> str:
        """Write a node that looks at the state and leaves it as it is; how it is called."""
        raise NotImplementedError

    def looked(self) -> np.ndarray:
        """What that gives now."""
        raise NotImplementedError

    def happen(self, value: int) -> None:
        """The effect in the model."""
        self.effects.append(value)

    def initializer(self) -> str | None:
        """The operation that must come first; None if none must."""
        return None

    def seen(self) -> list[Asked]:
        """What may be fetched at any time after a run of the program."""
        return []

    def taken(self) -> list[Asked]:
        """What may be fetched then; it is taken out, here and in the model."""
        return []


class RunState(State):
    """A state that lives as long as a run: it is shown by the run of the program itself."""

    of_run = True

    def finish(self, site: LoopingSite, count: str) -> str:
        """Write what shows it, after so many effects; how the tensor is called."""
        raise NotImplementedError

    def shown(self) -> np.ndarray:
        """What that gives; the next run begins anew."""
        raise NotImplementedError
