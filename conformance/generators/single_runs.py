"""Graphs whose values live for one run, with what a model says that each of them is.

A model of the operations says what a fetch gives, or that it is refused; no engine is asked. What
is refused is fetched alone, as a run gives nothing beside an error.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.resource_histories import History
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case

__all__ = ["Refused", "SingleRun"]


class Refused(Exception):  # noqa: N818 - what the model says, no error of ours
    """What a model raises where the operation must fail.

    Attributes:
      codes: the codes that it may fail with.

    """

    def __init__(self, *codes: int) -> None:
        super().__init__(codes)
        self.codes = codes or (3,)


class SingleRun:
    """A graph that grows, what is fed to it, and what its fetches must give.

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

    def given(self, value: np.ndarray, *, fed: bool = False) -> str:
        """A node of this value: a constant or, always where `fed`, a placeholder of any shape."""
        if not fed and self.draw.random() < 0.5:
            return self.writer.constant(value)
        node = self.writer.placeholder(tensors.encode(value)["dtype"], None)
        self._feeds[f"{node}:0"] = value
        return node

    def shows(self, fetch: str, value: np.ndarray | None) -> None:
        """A fetch must give this; None for an operation."""
        self._values[fetch] = value

    def refuses(self, fetch: str, refused: Refused) -> None:
        """A fetch must fail."""
        self._refused[fetch] = refused.codes

    def case(self, id_: str, title: str, clauses: Sequence[str], *, most: int = 3) -> Case:
        """The case: all that has a value, `most` of what is refused, and some values again."""
        history = History()
        history.open()
        self._run(history, self._values)
        for fetch in self.draw.sample(sorted(self._refused), min(most, len(self._refused))):
            history.run([fetch], self._feeds, error=self._refused[fetch])
        if self._values:
            kept = self.draw.sample(sorted(self._values), self.draw.randint(1, len(self._values)))
            self._run(history, {fetch: self._values[fetch] for fetch in kept})
        return history.case(id_, title, clauses, self.writer.graph())

    def _run(self, history: History, wanted: Mapping[str, np.ndarray | None]) -> None:
        if wanted:
            history.run(list(wanted), self._feeds, values=list(wanted.values()))
