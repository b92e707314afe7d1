"""Chains of operations on states, each of which waits for the one before, and their model.

Between two operations stands a link: control edges through some relays, a value that is computed
after the operation before, or a placeholder that waits for it. What is fed cuts the chain: of a fed
value, or of a fed placeholder, nothing before is needed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.subjects.control_flow.frames import Frames
from sessrun.conformance.subjects.control_flow.site import INT, scalar
from sessrun.conformance.subjects.control_flow.states import Doing, State
from sessrun.conformance.subjects.ordering.relays import FAILING, FUNCTIONS, HOLDS, RELAYS
from sessrun.spec.forms import Json

__all__ = ["Chain", "LinkKind", "Performed"]

LinkKind = Literal["control", "value", "placeholder", "failing"]
_LARGEST: Final = 50


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation of the chain.

    Attributes:
      node: what it is called.
      state: the state that it changes or looks at.
      value: what it changes it with; None if it looks.
      link: how it waits for the operation before.
      fed: the tensor of the link that may be fed, if there is one.
      code: the code of the error of a failing link, else 0.

    """

    node: str
    state: State
    value: int | None
    link: LinkKind
    fed: str
    code: int


@dataclass(slots=True)
class Performed:
    """What a run of a chain is fed, fetches, and must give."""

    feeds: dict[str, np.ndarray]
    fetches: list[str]
    values: list[np.ndarray | None]
    code: int = 0


class Chain:
    """A chain of operations.

    Args:
      draw: the source of chance.
      states: what the operations work on.

    """

    def __init__(self, draw: random.Random, states: Sequence[State]) -> None:
        self.operations: list[_Operation] = []
        self._draw = draw
        self._states = states
        self._writer = GraphWriter()
        for state in states:
            state.make(self._writer)
        self._writer.placeholder("bool", (), HOLDS)
        self._site = Frames(self._writer, states)
        self._count = {state.name: 0 for state in states}

    def graph(self) -> dict[str, Json]:
        """The GraphDef."""
        return {**self._writer.graph(), "library": FUNCTIONS}

    def add(self, link: LinkKind) -> None:
        """Add an operation that waits by such a link, if there is one before."""
        draw, code, fed = self._draw, 0, ""
        state = draw.choice(self._states)
        looks = link != "value" and draw.random() < 0.4
        value = None if looks else draw.randint(1, _LARGEST)
        waits = [f"^{self.operations[-1].node}"] if self.operations else []
        if link == "failing":
            relay, code = FAILING[draw.choice(sorted(FAILING))]
            waits = [f"^{relay(self._writer, waits)}"]
        elif link == "placeholder":
            waits = [f"^{self._placeholder(waits)}"]
            fed = f"{waits[0][1:]}:0"
        elif link == "control":
            for _ in range(draw.choice((0, 1, 1, 2))):
                relay = RELAYS[draw.choice(sorted(RELAYS))]
                waits = [f"^{relay(self._writer, waits)}"]
        given = "" if value is None else self._writer.constant(scalar(value))
        if link == "value":
            given = self._writer.node("Identity", (given, *waits), {"T": INT})
            fed, waits = f"{given}:0", []
        node = self._written(state, given, waits)
        self.operations.append(_Operation(node, state, value, link, fed, code))

    def _placeholder(self, waits: Sequence[str]) -> str:
        name = self._writer.placeholder("int32", ())
        for wait in waits:
            self._writer.wait(name, wait[1:])
        return name

    def _written(self, state: State, given: str, waits: Sequence[str]) -> str:
        if not given:
            return state.look(self._site, waits)
        count = self._writer.constant(scalar(self._count[state.name]))
        self._count[state.name] += 1
        return state.effect(self._site, Doing(given, count, waits))

    def perform(self, last: int, fed: bool) -> Performed:
        """A run that fetches the operation at index `last`, and the states read before it.

        Args:
          last: the index in the chain.
          fed: whether the values of links are fed; placeholders always are.

        """
        cuts = [index for index in range(last + 1) if self._is_cut(index, fed)]
        first = max(cuts, default=0)
        run = Performed({f"{HOLDS}:0": np.array(True)}, [], [])
        for index in range(first, last + 1):
            operation = self.operations[index]
            if index == first and cuts:
                run.feeds[operation.fed] = scalar(_LARGEST + index)
            if operation.code and not run.code:
                run.code = operation.code
            if not run.code:
                self._happens(operation, run, cut=index == first and bool(cuts))
            elif operation.value is None:
                run.fetches.append(f"{operation.node}:0")
        if self.operations[last].value is not None:
            run.fetches.append(self.operations[last].node)
            run.values.append(None)
        return run

    def _is_cut(self, index: int, fed: bool) -> bool:
        link = self.operations[index].link
        return index > 0 and (link == "placeholder" or (link == "value" and fed))

    def _happens(self, operation: _Operation, run: Performed, *, cut: bool) -> None:
        if operation.value is None:
            run.fetches.append(f"{operation.node}:0")
            run.values.append(operation.state.looked())
        elif cut and operation.link == "value":
            operation.state.happen(int(run.feeds[operation.fed]))
        else:
            operation.state.happen(operation.value)
