"""Cases of single operations: every cell of the table, and the same with fed structure."""

from __future__ import annotations

import functools
import random
from dataclasses import replace

from sessrun.conformance.properties.operations import value_case
from sessrun.conformance.subjects.inference.graphs import cell_graph, turn
from sessrun.spec.cases.model import Case
from sessrun.spec.inference import Cell, cells

__all__ = ["CELL_CASES", "cell_case", "cell_count", "structured_case", "structured_count"]

#: How many cases of each cell differ in one seed.
CELL_CASES = 2
_VALUES = "INFERENCE-001"
_DECLARED = "INFERENCE-002"
_STRUCTURE = "INFERENCE-003"


@functools.cache
def _shuffled() -> tuple[Cell, ...]:
    """The cells in an order in which a few of them are of every kind."""
    return tuple(random.Random("cells").sample(cells(), len(cells())))


@functools.cache
def _structured() -> tuple[Cell, ...]:
    """A cell of each operation that has structural inputs: in its first dtype."""
    first = {cell.row.operation.name: cell for cell in reversed(cells())}
    return tuple(cell for cell in first.values() if cell.row.constants)


def cell_count() -> int:
    """How many cases of cells a plan has at most."""
    return CELL_CASES * len(cells())


def structured_count() -> int:
    """How many cases of fed structure a plan has at most."""
    return CELL_CASES * len(_structured())


def cell_case(draw: random.Random, id_: str) -> Case:
    """A case of the cell whose turn it is."""
    rows = _shuffled()
    cell = rows[turn(id_) % len(rows)]
    return _case(id_, draw, cell, _VALUES, _DECLARED)


def structured_case(draw: random.Random, id_: str) -> Case:
    """A case of the operation whose turn it is, its structural inputs fed."""
    rows = _structured()
    cell = rows[turn(id_) % len(rows)]
    return _case(id_, draw, cell, _STRUCTURE, fed=True)


def _case(id_: str, draw: random.Random, cell: Cell, *clauses: str, fed: bool = False) -> Case:
    single = cell_graph(cell, draw, fed=fed)
    dtypes = " and ".join(dict.fromkeys(cell.dtypes))
    given = " with fed structure" if fed else ""
    title = f"{cell.row.operation.name} of {dtypes}{given} gives the value of its definition."
    case = value_case(id_, title, clauses[0], single)
    steps = tuple(
        {**step, "clause": clauses[0]} if step["do"] == "run" else step for step in case.steps
    )
    return replace(case, clauses=clauses, steps=steps)
