"""What properties of resources share: the steps of a history, with what each must give.

A model of the resource says what a run must give; no engine is asked. A run of several steps on one
resource would depend on their order, so a history takes one step at a time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.forms import Json

__all__ = ["DTYPES", "History", "drawn", "text"]

#: Of what resources hold: one dtype at least of each kind.
DTYPES: Final = ("int32", "int64", "float32", "float64", "bool", "string", "uint8", "complex64")
_WORDS: Final = (b"", b"a", b"bb", b"c\0c", b"\xff" * 30)


def text(words: Sequence[bytes], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A string tensor."""
    held = np.empty(len(words), object)
    held[:] = list(words)
    return held if shape is None else held.reshape(shape)


def drawn(draw: random.Random, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of small numbers, or of words."""
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "string":
        return text(draw.choices(_WORDS, k=count), shape)
    numbers = np.array([draw.randint(0, 99) for _ in range(count)])
    return (numbers % 2 if dtype == "bool" else numbers).astype(dtype).reshape(shape)


class History:
    """The steps of a case on the engine surface: one graph, sessions of it, runs."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def open(self, session: str = "s") -> None:
        """Open a session on the graph."""
        self.steps.append({"do": "open", "session": session, "graph": "g"})

    def run(
        self,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray] | None = None,
        *,
        values: Sequence[np.ndarray | None] | None = None,
        error: Sequence[int] | None = None,
        session: str = "s",
        clause: str = "",
        clauses: Sequence[str] = (),
    ) -> None:
        """A run and what it must give: values (None for an operation), or one of some codes.

        `clause` is the one that the run shows false where it gives anything else; `clauses` has
        one for each value, the first of which is also the run's.
        """
        step: Step = {"do": "run", "session": session, "fetches": list(fetches)}
        if feeds:
            step["feeds"] = {name: tensors.encode(value) for name, value in feeds.items()}
        if error is not None:
            step["expect"] = {"error": {"codes": list(error)}}
        else:
            wanted = [None] * len(fetches) if values is None else values
            matchers: list[Json] = [
                None if value is None else {"$array": tensors.encode(value)} for value in wanted
            ]
            if clauses:
                matchers = [
                    {"clause": name, "is": matcher}
                    for name, matcher in zip(clauses, matchers, strict=True)
                ]
            step["expect"] = {"values": matchers}
        if clause or clauses:
            step["clause"] = clause or clauses[0]
        self.steps.append(step)

    def case(
        self, id_: str, title: str, graph: dict[str, Any], clauses: Sequence[str] = ()
    ) -> Case:
        """The case of these steps; it tests the clauses that they name, unless others are given."""
        tested = tuple(clauses) or clauses_of(self.steps)
        return Case(id_, title, "engine", tested, tuple(self.steps), {"g": graph})
