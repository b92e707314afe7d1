"""A program of branches and loops, traced: how often the nodes of each statement are listed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, anything
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.subjects.control_flow.frames import FIXED, Frames
from sessrun.conformance.subjects.control_flow.site import INT, scalar, waiting
from sessrun.conformance.subjects.control_flow.statements import (
    VARIABLES,
    Passes,
    Statement,
    run_block,
)
from sessrun.conformance.subjects.control_flow.states import State
from sessrun.conformance.subjects.tracing.checks.traced_graphs import TracedRun
from sessrun.spec.cases.model import Case

__all__ = ["CONFIG", "CPU", "Traced", "needed"]

#: The full name of a CPU but for its number.
CPU: Final = "/job:localhost/replica:0/task:0/device:CPU:"
#: Two CPUs and no GPU, and graphs that are executed as they are written.
CONFIG: Final = json.dumps(
    {
        "deviceCount": {"CPU": 2, "GPU": 0},
        "graphOptions": {
            "optimizerOptions": {"optLevel": "L0"},
            "rewriteOptions": {"disableMetaOptimizer": True},
        },
    }
)
#: Nodes that only say where values go; an engine need not have them.
_PLUMBING: Final = frozenset(
    {"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "RefEnter", "RefSwitch", "Switch"}
)


def needed(nodes: Iterable[Mapping[str, Any]], fetches: Iterable[str], fed: set[str]) -> set[str]:
    """The nodes that a run executes for these fetches while the nodes of `fed` are fed."""
    inputs = {node["name"]: node.get("input", ()) for node in nodes}
    executed: set[str] = set()
    pending = [fetch for fetch in fetches if fetch not in fed]
    while pending:
        name = pending.pop()
        if name not in executed:
            executed.add(name)
            sources = [text.lstrip("^").partition(":")[0] for text in inputs[name]]
            pending += [source for source in sources if source not in fed]
    return executed


class Traced:
    """The graph of a program, its traced runs, and what these must list.

    Args:
      block: the program.
      states: what its effects change; the first is the tally.

    """

    def __init__(self, block: Sequence[Statement], states: Sequence[State]) -> None:
        self._block, self._states = block, states
        self._runs: list[TracedRun] = []
        self._wanted: list[dict[str, list[Recordable]]] = []
        writer = GraphWriter()
        for state in states:
            state.make(writer)
        inputs = [writer.placeholder("int32", (), f"v{number}") for number in range(VARIABLES)]
        fed = {writer.placeholder("int32", (), FIXED), *inputs}
        frames = Frames(writer, states)
        ends = frames.block(block, [*inputs, *(writer.constant(scalar(0)) for _ in states)])
        writer.node("Identity", (ends[0], *map(waiting, ends)), {"T": INT}, "end")
        self._graph = writer.graph()
        ops = {node["name"]: node["op"] for node in self._graph["node"]}
        executed = needed(self._graph["node"], ["end"], fed)
        self._asked = [
            name for names in frames.parts.values() for name in names if ops[name] not in _PLUMBING
        ]
        # Each node that a run may execute, with the part of a statement that it belongs to.
        self._parts = {
            name: part
            for part, names in frames.parts.items()
            for name in names
            if name in self._asked and name in executed
        }

    def run(self, variables: Sequence[int], fixed: int, level: str) -> None:
        """Add a run of the program from these values, traced at this level."""
        feeds = {f"v{number}:0": scalar(value) for number, value in enumerate(variables)}
        feeds[f"{FIXED}:0"] = scalar(fixed)
        passes = Passes()
        run_block(self._block, list(variables), fixed, self._states, passes)
        self._runs.append(TracedRun(fetches=["end"], feeds=feeds, level=level, nodes=self._asked))
        self._wanted.append(
            {
                name: [passes[part], [f"{CPU}0"], anything]
                for name, part in sorted(self._parts.items())
                if passes[part]
            }
        )

    def check(self, c: ApiAuthor) -> None:
        """Record the check of these runs."""
        first = [name for state in self._states if (name := state.initializer()) is not None]
        c.named_check(
            "traced_graphs.listed",
            self._wanted,
            graph=json.dumps(self._graph),
            config=CONFIG,
            first=first,
            runs=self._runs,
        )

    def case(self, id_: str, clauses: Sequence[str]) -> Case:
        """The case of these runs."""
        c = ApiAuthor()
        self.check(c)
        return c.case(id_, "A trace lists what its model says that ran.", clauses)
