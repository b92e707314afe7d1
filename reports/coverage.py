"""What of the table of the profile `inference` a backend declares, and how each cell came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessrun.spec.inference import Demand, table

__all__ = ["CELL_STATES", "CellState", "Coverage", "coverage_of"]

#: How a cell of the table came out, worst first.
CellState = Literal["wrong", "not answered", "right", "not refused", "not declared"]
CELL_STATES: Final[tuple[CellState, ...]] = (
    "wrong",
    "not answered",
    "right",
    "not refused",
    "not declared",
)
#: The state of a declared cell by the result of one of its cases; every other result is wrong.
_STATES: Final[Mapping[str, CellState]] = {
    "pass": "right",
    "missing": "not answered",
    "infra_error": "not answered",
    "skipped": "not answered",
}


_DECLARED: Final = CELL_STATES[:3]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the table is declared, and right.

    Attributes:
      rows: op type to dtype to the state of that cell, in the order of the table; an operation of
        two dtypes stands under each of them.

    """

    rows: Mapping[str, Mapping[str, CellState]]

    def count(self, *states: CellState) -> int:
        """How many cells have one of these states."""
        return sum(state in states for row in self.rows.values() for state in row.values())

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(map(len, self.rows.values()))

    @property
    def declared_operations(self) -> int:
        """How many operations are declared in some dtype."""
        return sum(any(s in _DECLARED for s in row.values()) for row in self.rows.values())

    @property
    def declared_cells(self) -> int:
        """How many cells are declared."""
        return self.count(*_DECLARED)

    @property
    def words(self) -> str:
        """The coverage in a sentence."""
        return (
            f"It declares {self.declared_operations:,} of {len(self.rows):,} operations, "
            f"{self.declared_cells:,} of {self.cells:,} cells of operation and dtype; "
            f"{self.count('right'):,} of these are right."
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "operations": {"declared": self.declared_operations, "all": len(self.rows)},
            "cells": {
                "declared": self.declared_cells,
                "all": self.cells,
                "right": self.count("right"),
            },
            "rows": {name: dict(row) for name, row in self.rows.items()},
        }


def coverage_of(results: Iterable[tuple[Demand | None, str, bool]]) -> Coverage | None:
    """The coverage, by the cases that ask a single operation.

    Args:
      results: of each case that speaks of a MUST clause what it needs, its result, and whether
        what it needs is declared.

    Returns:
      The coverage; None if no case has such a need.

    """
    rows: dict[str, dict[str, CellState]] = {}
    for demand, result, declared in results:
        if demand is None or len(demand.operations) != 1 or demand.capabilities:
            continue
        ((name, dtypes),) = demand.operations.items()
        for dtype in dtypes:
            row = rows.setdefault(name, {})
            states = (row.get(dtype, CELL_STATES[-1]), _state(result, declared=declared))
            row[dtype] = min(states, key=CELL_STATES.index)
    order = [name for name in table() if name in rows]
    return Coverage({name: rows[name] for name in order}) if order else None


def _state(result: str, *, declared: bool) -> CellState:
    if declared:
        return _STATES.get(result, "wrong")
    return "not declared" if result == "unsupported" else "not refused"
