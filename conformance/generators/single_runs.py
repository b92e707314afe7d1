"""Graphs whose values live for one run, with what a model says that each of them is.

A model of the operations says what a fetch gives, or that it is refused; no engine is asked. What
is refused is fetched alone, as a run gives nothing beside an error.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.resource_histories import History
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case

__all__ = ["Refused", "SingleRun"]


#: How many fetches a part has before another may begin: each costs an engine a plan.
_PART: Final = 8


class Refused(Exception):  # noqa: N818 - what the model says, no error of ours
    """What a model raises where the operation must fail.

    Attributes:
      clause: the clause that says so.
      codes: the codes that it may fail with.

    """

    def __init__(self, clause: str, *codes: int) -> None:
        super().__init__(clause, *codes)
        self.clause = clause
        self.codes = codes or (3,)


class SingleRun:
    """A graph that grows, with its feeds and the expected results of its fetches.

    Attributes:
      draw: the source of chance.
      writer: what writes the graph.

    """

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.writer = GraphWriter()
        self._feeds: dict[str, np.ndarray] = {}
        self._values: dict[str, np.ndarray | None] = {}
        self._refused: dict[str, tuple[int, ...]] = {}
        self._clauses: dict[str, str] = {}
        self._parts = [0]

    def given(self, value: np.ndarray, *, fed: bool = False) -> str:
        """A node of this value: a constant, or a placeholder of unknown shape (always if `fed`)."""
        if not fed and self.draw.random() < 0.5:
            return self.writer.constant(value)
        node = self.writer.placeholder(tensors.encode(value)["dtype"], None)
        self._feeds[f"{node}:0"] = value
        return node

    def part(self) -> None:
        """Let what is shown from now on be fetched by a run of its own, if the last has enough.

        Where a run fails that must not, it is the first clause of its part that is blamed.
        """
        if len(self._values) - self._parts[-1] >= _PART:
            self._parts.append(len(self._values))

    def shows(self, fetch: str, value: np.ndarray | None, clause: str) -> None:
        """Expect a value of a fetch (None for an operation), by a clause."""
        self._values[fetch] = value
        self._clauses[fetch] = clause

    def refuses(self, fetch: str, refused: Refused) -> None:
        """Expect a fetch to fail, by the clause of the refusal."""
        self._refused[fetch] = refused.codes
        self._clauses[fetch] = refused.clause

    def case(self, id_: str, title: str, *, most: int = 3, again: str = "") -> Case:
        """The case: all fetches with values, `most` of those that fail, and some values once more.

        `again` is the clause that is false if a fetch has another value the second time; without
        it, that is the clause of the fetch.
        """
        history = History()
        history.open()
        for start, end in pairwise(sorted({*self._parts, len(self._values)})):
            shown = list(self._values)[start:end]
            self._run(history, {fetch: self._values[fetch] for fetch in shown})
        for fetch in self.draw.sample(sorted(self._refused), min(most, len(self._refused))):
            codes, clause = self._refused[fetch], self._clauses[fetch]
            history.run([fetch], self._feeds, error=codes, clause=clause)
        if self._values:
            kept = self.draw.sample(sorted(self._values), self.draw.randint(1, len(self._values)))
            self._run(history, {fetch: self._values[fetch] for fetch in kept}, again)
        return history.case(id_, title, self.writer.graph())

    def _run(
        self, history: History, wanted: Mapping[str, np.ndarray | None], clause: str = ""
    ) -> None:
        if wanted:
            clauses = [] if clause else [self._clauses[fetch] for fetch in wanted]
            history.run(
                list(wanted),
                self._feeds,
                values=list(wanted.values()),
                clause=clause,
                clauses=clauses,
            )
