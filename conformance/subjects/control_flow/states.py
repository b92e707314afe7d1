"""States that generated programs change by effects: the interface that every kind of state has.

Each kind writes its own nodes, applies the effects to a model in Python, and says which fetches
show the state. The program determines the order of the effects on one state. A node that has a
control input from the tensor that counts the effects so far waits for all of them.
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
    """A fetch, its expected value (None for an operation), and its feeds."""

    fetch: str
    wanted: np.ndarray | None
    feeds: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Doing:
    """The inputs with which an effect is written.

    Attributes:
      value: the int32 tensor that the effect takes.
      count: the tensor that counts the earlier effects on the state.
      waits: its control inputs.

    """

    value: str
    count: str
    waits: Sequence[str] = ()


class State:
    """One state: its nodes, and a model of its value after the effects so far.

    Attributes:
      name: the prefix of its nodes' names.
      kind: the dtype of its handle.
      handle: the tensor that effects take; empty where they take none.
      effects: the values of the effects, but for those that a run has taken out.

    """

    kind: ClassVar[Kind] = RESOURCE
    #: Whether a function can take the handle as an argument.
    in_functions: ClassVar[bool] = True
    #: Whether the state lives only as long as the run.
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
        """Write an effect; return the name of its node."""
        raise NotImplementedError

    def look(self, site: Site, waits: Sequence[str]) -> str:
        """Write a node that reads the state without changing it; return its name."""
        raise NotImplementedError

    def looked(self) -> np.ndarray:
        """The value that the node of `look` gives now."""
        raise NotImplementedError

    def happen(self, value: int) -> None:
        """Apply the effect to the model."""
        self.effects.append(value)

    def initializer(self) -> str | None:
        """The operation that must run first, or None."""
        return None

    def seen(self) -> list[Asked]:
        """The fetches by which a later run reads the state without changing it."""
        return []

    def taken(self) -> list[Asked]:
        """The fetches by which a later run takes out all effects; the model is empty afterwards."""
        return []


class RunState(State):
    """A state that lives as long as a run: it is shown by the run of the program itself."""

    of_run = True

    def finish(self, site: LoopingSite, count: str) -> str:
        """Write nodes that read the state in the run after `count` effects; return their tensor."""
        raise NotImplementedError

    def shown(self) -> np.ndarray:
        """The value of the tensor that `finish` wrote; the model is empty afterwards."""
        raise NotImplementedError
