"""Cases of single operations: every cell of the table, and the same with fed structure."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from typing import Final

from sessrun.conformance.subjects.inference.graphs import OPEN, cell_graph, turn
from sessrun.conformance.subjects.operations.properties.single_operations import value_case
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.inference import Cell, cells

__all__ = ["cell_case", "cell_count", "structured_case", "structured_count"]

_VALUES: Final = "INFERENCE-001"
_STRUCTURE: Final = "INFERENCE-003"


@functools.cache
def _shuffled() -> tuple[Cell, ...]:
    """The cells in an order in which each part has cells of all kinds."""
    return tuple(random.Random("cells").sample(cells(), len(cells())))


@functools.cache
def _structured() -> tuple[Cell, ...]:
    """A cell, in its first dtype, of each operation that has structural inputs."""
    first = {cell.row.operation.name: cell for cell in reversed(cells())}
    return tuple(cell for cell in first.values() if cell.row.constants)


def cell_count() -> int:
    """The largest number of cases of cells in a plan."""
    return len(cells())


def structured_count() -> int:
    """The largest number of cases of fed structure in a plan."""
    return len(_structured())


def cell_case(draw: random.Random, id_: str) -> Case:
    """A case of the cell that the number of the case chooses."""
    rows = _shuffled()
    cell = rows[turn(id_) % len(rows)]
    return _case(id_, draw, cell, _VALUES)


def structured_case(draw: random.Random, id_: str) -> Case:
    """A case of the operation whose turn it is, its structural inputs constants, and then fed.

    So a failure that does not depend on feeding shows the clause of values false, not that of
    structure.
    """
    rows = _structured()
    cell = rows[turn(id_) % len(rows)]
    arguments = draw.getrandbits(64)
    constant = _case(id_, random.Random(arguments), cell, _VALUES)
    fed = _case(id_, random.Random(arguments), cell, _STRUCTURE, fed=True)
    steps = (*map(_of_the_constant, constant.steps), *fed.steps)
    graphs = {**fed.graphs, "constant": constant.graphs["g"]}
    return replace(fed, graphs=graphs, clauses=clauses_of(steps), steps=steps)


def _of_the_constant(step: Step) -> Step:
    """A step in a session of its own, on a graph of its own."""
    renamed = step.copy()
    if "session" in step:
        renamed["session"] = "constant"
    if "graph" in step:
        renamed["graph"] = "constant"
    return renamed


def _case(id_: str, draw: random.Random, cell: Cell, clause: str, *, fed: bool = False) -> Case:
    single = cell_graph(cell, draw, fed=fed)
    dtypes = " and ".join(dict.fromkeys(cell.dtypes))
    given = " with fed structure" if fed else ""
    title = f"{cell.row.operation.name} of {dtypes}{given} gives the value of its definition."
    case = value_case(id_, title, clause, single)
    _, run, closed = case.steps
    steps: tuple[Step, ...] = (OPEN, {**run, "clause": clause}, closed)
    return replace(case, clauses=clauses_of(steps), steps=steps)
