"""Properties: generators of cases, each case a pure function of `property:seed:index`.

A property is a function `(draw: random.Random, id: str) -> Case` registered with the clauses it
tests. It builds valid (or deliberately invalid) input by construction; nothing is filtered. The
same function serves the seeded plan and Hypothesis (`strategy`), which shrinks failures.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sessrun.conformance.subjects import load_modules
from sessrun.spec.cases.model import Case

__all__ = ["PROPERTIES", "Property", "generate", "prop", "strategy"]

Generator = Callable[[random.Random, str], Case]


@dataclass(frozen=True, slots=True)
class Property:
    """A registered generator.

    Attributes:
      name: its name.
      clauses: the clauses that its cases may test.
      summary: one sentence.
      generator: from (source of chance, id) to a case.
      weight: how many times the plan's count it generates; more where one case covers little.
      rows: how many cases of a seed differ, where they are drawn from a table; None if all do.

    """

    name: str
    clauses: tuple[str, ...]
    summary: str
    generator: Generator
    weight: int = 1
    rows: Callable[[], int] | None = None

    def planned(self, count: int) -> int:
        """How many cases a plan with this count has of it."""
        cases = count * self.weight
        return cases if self.rows is None else min(cases, self.rows())


#: Every property by name.
PROPERTIES: dict[str, Property] = {}


def prop(
    name: str, *clauses: str, weight: int = 1, rows: Callable[[], int] | None = None
) -> Callable[[Generator], Generator]:
    """Register a generator; its docstring's first line is the summary."""

    def decorate(function: Generator) -> Generator:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        PROPERTIES[name] = Property(name, clauses, summary, function, weight, rows)
        return function

    return decorate


def generate(name: str, seed: int, index: int) -> Case:
    """The case `name:seed:index`.

    Raises:
      ValueError: it tests no clause; no package could hold it.

    """
    id_ = f"{name}:{seed}:{index}"
    # str seeds hash with SHA-512 in `random`, so every id has a stream of its own.
    case = PROPERTIES[name].generator(random.Random(id_), id_)
    if not case.clauses:
        raise ValueError(f"the case {id_} of the property {name!r} tests no clause")
    return case


def strategy(name: str) -> Any:
    """A Hypothesis strategy of the property's cases: the same code, draws that shrink."""
    from hypothesis import strategies as st  # noqa: PLC0415 - only development explores

    make = functools.partial(PROPERTIES[name].generator)
    return st.randoms(use_true_random=False).map(lambda draw: make(draw, f"{name}:explored:0"))


load_modules("properties")
