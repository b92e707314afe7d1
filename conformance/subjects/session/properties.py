"""Lives of sessions: several on one graph, opened, run, extended and closed in any order.

The expected values are those of a model (`cells.py`), not of an engine. A run does at
most one thing to each variable, so that it has one outcome in whatever order its operations are
executed; a run that must fail fetches nothing else that has an effect.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.properties import prop
from sessrun.conformance.subjects.session.cells import READS, UPDATES, Cell, State, write_cells
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case

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

    def __init__(self, draw: random.Random, cells: list[Cell]) -> None:
        self.steps: list[dict[str, Any]] = []
        self._draw = draw
        self._cells = cells
        self._open: dict[str, State] = {}
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
        self._open[name] = State()
        if self._draw.random() < 0.7:
            self._all_set(name)

    def _all_set(self, name: str) -> None:
        for cell in self._cells:
            self._open[name].apply(cell, "init", None)
        self._step(name, ["init"], {}, {"values": [None]})

    def _end(self, name: str) -> None:
        """Close it, and sometimes run it all the same."""
        self.steps.append({"do": "close", "session": name})
        del self._open[name]
        if self._draw.random() < 0.5:
            fetch = self._draw.choice(self._cells).node("read") + ":0"
            self._step(name, [fetch], {}, {"error": {"codes": [9, 1]}})

    def _run(self, name: str) -> None:
        """One thing to each of some variables, in any order, some fetched twice."""
        draw, state = self._draw, self._open[name]
        fetched: list[tuple[str, np.ndarray | None]] = []
        feeds: dict[str, np.ndarray] = {}
        for cell in draw.sample(self._cells, draw.randint(1, len(self._cells))):
            able = (*READS, *UPDATES) if state.holds(cell) else ("init", "set")
            action = draw.choice(able)
            if cell.feeds(action):
                feeds[cell.node("p") + ":0"] = cell.value(draw)
            value = state.apply(cell, action, feeds.get(cell.node("p") + ":0"))
            for _ in range(draw.choice((1, 1, 1, 2))):
                fetch = cell.fetch(action, draw)
                fetched.append((fetch, value if fetch.endswith(":0") else None))
        draw.shuffle(fetched)
        values = [None if value is None else _array(value) for _, value in fetched]
        self._step(name, [fetch for fetch, _ in fetched], feeds, {"values": values})

    def _fail(self, name: str) -> None:
        """A run that must fail, and change nothing."""
        draw = self._draw
        cell = draw.choice(self._cells)
        placeholder, fed = cell.node("p") + ":0", cell.value(draw)
        if not self._open[name].holds(cell):
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
        self, name: str, fetches: list[str], feeds: dict[str, np.ndarray], expect: dict[str, Any]
    ) -> None:
        step = {"do": "run", "session": name, "fetches": fetches, "expect": expect}
        if feeds:
            step["feeds"] = {key: tensors.encode(value) for key, value in feeds.items()}
        self.steps.append(step)


def _array(value: np.ndarray) -> dict[str, Any]:
    return {"$array": tensors.encode(value)}


@prop("sessions", _CLAUSE, weight=2)
def sessions(draw: random.Random, id_: str) -> Case:
    """Each session's variables hold what its own runs made of them, whatever else happens."""
    writer = GraphWriter()
    life = _Life(draw, write_cells(draw, writer))
    for _ in range(draw.randint(8, 20)):
        life.go_on()
    title = "Sessions of one graph live side by side, each with the variables its runs have made."
    return Case(id_, title, "engine", (_CLAUSE,), tuple(life.steps), {"g": writer.graph()})
