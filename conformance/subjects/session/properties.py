"""Lives of sessions: several on one graph, opened, run, extended and closed in any order.

The expected values are those of the spec's model, not of an engine. A run does at most one thing to
each variable, so that it has one outcome in whatever order its operations are executed; a run that
must fail fetches nothing else that has an effect.
"""

from __future__ import annotations

import random
from typing import Final

import numpy as np
from google.protobuf import json_format

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.session.cells import READS, UPDATES, Cell, write_cells
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import JsonObject
from sessrun.spec.model.machine import FailedError, Graph, Output, Session, perform
from sessrun.spec.proto import GraphDef

_CLAUSE: Final = "SESSION-060"
_NAMES: Final = ("s", "t", "u")
#: What a run of a variable without a value fails with; an update of a resource has two.
_UNSET: Final = [9]
_UNSET_RESOURCE: Final = [9, 5]


class _Life:
    """The steps so far, and what each open session holds.

    Attributes:
      steps: the steps of the case.

    """

    def __init__(self, draw: random.Random, graph: Graph, cells: list[Cell]) -> None:
        self.steps: list[Step] = []
        self._draw = draw
        self._graph = graph
        self._cells = cells
        self._open: dict[str, Session] = {}
        self._closed: list[str] = []

    def go_on(self) -> None:
        """Take one step more."""
        draw = self._draw
        free = [name for name in _NAMES if name not in self._open]
        if free and (not self._open or draw.random() < 0.12):
            self._begin(draw.choice(free))
            return
        name = draw.choice(list(self._open))
        chance = draw.random()
        if chance < 0.07:
            self._end(name)
        elif chance < 0.22:
            self._fail(name)
        else:
            self._run(name)

    def _begin(self, name: str) -> None:
        self.steps.append({"do": "open", "session": name, "graph": "g"})
        self._open[name] = Session(self._graph)
        if self._draw.random() < 0.7:
            self._all_set(name)

    def _all_set(self, name: str) -> None:
        perform(self._open[name], [], targets=["init"])
        self._step(name, ["init"], {}, {"values": [None]})

    def _end(self, name: str) -> None:
        """Close a session, and sometimes run it afterwards, which must fail."""
        self.steps.append({"do": "close", "session": name})
        del self._open[name]
        if self._draw.random() < 0.5:
            fetch = self._draw.choice(self._cells).node("read") + ":0"
            self._step(name, [fetch], {}, {"error": {"codes": [9, 1]}})

    def _run(self, name: str) -> None:
        """A run that does one thing to each of some variables."""
        draw, session = self._draw, self._open[name]
        fetches: list[str] = []
        feeds: dict[str, np.ndarray] = {}
        for cell in draw.sample(self._cells, draw.randint(1, len(self._cells))):
            able = (*READS, *UPDATES) if _holds(session, cell) else ("init", "set")
            action = draw.choice(able)
            if cell.feeds(action):
                feeds[cell.node("p") + ":0"] = cell.value(draw)
            fetches += [cell.fetch(action, draw) for _ in range(draw.choice((1, 1, 1, 2)))]
        draw.shuffle(fetches)
        given = {_output(key): value for key, value in feeds.items()}
        named = [fetch for fetch in fetches if fetch.endswith(":0")]
        targets = [fetch for fetch in fetches if not fetch.endswith(":0")]
        computed = perform(session, [_output(fetch) for fetch in named], given, targets)
        of_tensor = dict(zip(named, map(_array, map(np.asarray, computed)), strict=True))
        values = [of_tensor.get(fetch) for fetch in fetches]
        self._step(name, fetches, feeds, {"values": values})

    def _fail(self, name: str) -> None:
        """A run that must fail, and change nothing."""
        draw = self._draw
        cell = draw.choice(self._cells)
        placeholder, fed = cell.node("p") + ":0", cell.value(draw)
        if not _holds(self._open[name], cell):
            action = draw.choice(("read", "add", "sub"))
            feeds = {placeholder: fed} if cell.feeds(action) else {}
            lenient = cell.resource and action != "read"
            codes = _UNSET_RESOURCE if lenient else _UNSET
            self._step(name, [cell.node(action)], feeds, {"error": {"codes": codes}})
            return
        action = draw.choice(("set", "add", "sub"))
        if draw.random() < 0.5:  # its value is not fed
            self._step(name, [cell.node(action)], {}, {"error": {"codes": [3]}})
        else:
            fetches = [cell.node(action), "nowhere:0"]
            self._step(name, fetches, {placeholder: fed}, {"error": {"codes": [3, 5]}})

    def _step(
        self, name: str, fetches: list[str], feeds: dict[str, np.ndarray], expect: Expect
    ) -> None:
        step: Step = {"do": "run", "session": name, "fetches": fetches, "expect": expect}
        if feeds:
            step["feeds"] = {key: tensors.encode(value) for key, value in feeds.items()}
        self.steps.append(step)


def _output(name: str) -> Output:
    return Output(name.removesuffix(":0"), 0)


def _holds(session: Session, cell: Cell) -> bool:
    """Whether the variable has a value."""
    try:
        perform(session, [Output(cell.node("read"), 0)])
    except FailedError:
        return False
    return True


def _array(value: np.ndarray) -> JsonObject:
    return {"$array": tensors.encode(value)}


@prop("sessions", _CLAUSE, weight=2)
def sessions(draw: random.Random, id_: str) -> Case:
    """Each session's variables hold what its own runs made of them, whatever else happens."""
    writer = GraphWriter()
    cells = write_cells(draw, writer)
    definition = json_format.ParseDict(writer.graph(), GraphDef())
    life = _Life(draw, Graph(definition), cells)
    for _ in range(draw.randint(8, 20)):
        life.go_on()
    title = "Sessions of one graph live side by side, each with the variables its runs have made."
    return Case(id_, title, "engine", (_CLAUSE,), tuple(life.steps), {"g": writer.graph()})
