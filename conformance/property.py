"""Properties: generators of cases, each case a pure function of `property:seed:index`.

A property is a function `(draw: random.Random, id: str) -> Case` registered with the clauses it
tests. It builds valid (or deliberately invalid) input by construction; nothing is filtered.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from sessrun.spec.cases.model import Case

__all__ = ["PROPERTIES", "Generator", "Property", "prop"]

Generator = Callable[[random.Random, str], Case]


@dataclass(frozen=True, slots=True)
class Property:
    """A registered generator.

    Attributes:
      name: its name.
      clauses: the clauses that its cases may test.
      summary: one sentence.
      generator: from (source of random numbers, id) to a case.
      weight: the factor on the plan's count of cases; above 1 where one case covers little.
      rows: returns how many cases differ, where a table has one row for each; else None.

    """

    name: str
    clauses: tuple[str, ...]
    summary: str
    generator: Generator
    weight: int = 1
    rows: Callable[[], int] | None = None

    def planned(self, count: int) -> int:
        """How many cases of this property a plan with this count has."""
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
