"""Large tensors through operations, against a model in float64; ranges, and corners of integers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from sessrun.conformance.generators.single import single_graph
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.numbers import corners, large, ranges
from sessrun.conformance.subjects.numbers.patterns import (
    ARRANGEMENTS,
    Large,
    Writer,
    exact_pattern,
    tenths_pattern,
)
from sessrun.conformance.subjects.operations.properties.single_operations import (
    output_count,
    value_case,
)
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json

#: Lengths about powers of two and of ten, where blocks end.
_COUNTS: Final = (1000, 1023, 1025, 2049, 4096, 4099, 10000, 32769)

_Row = TypeVar("_Row")


def _turn(id_: str, rows: Sequence[_Row]) -> _Row:
    """The case's row: rows take turns."""
    return rows[int(id_.rpartition(":")[2]) % len(rows)]


def case_of(
    id_: str, title: str, clause: str, w: Writer, outcome: large.Outcome, contract: str
) -> Case:
    """A case that fetches what is wanted in one run."""
    values: list[Json] = [
        {"near": {"$array": tensors.encode(_in(dtype, wanted))}, "contract": contract}
        for wanted, dtype in zip(outcome.wanted, outcome.dtypes, strict=True)
    ]
    steps: tuple[Step, ...] = (
        {"do": "open", "session": "s", "graph": "g"},
        {
            "do": "run",
            "session": "s",
            "feeds": w.feeds,
            "expect": {"values": values},
            "fetches": [node if ":" in node else f"{node}:0" for node in outcome.nodes],
        },
        {"do": "close", "session": "s"},
    )
    return Case(id_, title, "engine", (clause,), steps, {"g": w.graph()})


def _in(dtype: str, values: np.ndarray) -> np.ndarray:
    return np.asarray(values).astype(BY_NAME[dtype].numpy)


def _large(draw: random.Random, id_: str, row: large.LargeRow, clause: str) -> Case:
    dtype, arrangement = draw.choice(row.dtypes), draw.choice(row.arrangements)
    is_exact, w = row.units is None, Writer()
    pattern = exact_pattern if is_exact else tenths_pattern
    count = draw.choice(_COUNTS if is_exact else _LENGTHS[dtype])

    def make(size: int) -> Large:
        return pattern(draw, w, size, dtype)

    x, axis = ARRANGEMENTS[arrangement](make, w, draw.randint(1, 3), count)
    outcome = row.build(draw, w, x, axis)
    title = f"{row.op} of {count} elements of {dtype}, by {arrangement}, is the sum of its parts."
    return case_of(id_, title, clause, w, outcome, large.contract(row, dtype))


#: So many that the sum in halves stands still, and the sum in one float32 is far off.
_LENGTHS: Final[Mapping[str, Sequence[int]]] = {
    "float16": (3000, 4099, 8000),
    "bfloat16": (3000, 4099, 10000),
    "float32": (50000, 100000),
}


@prop("large-exact", "NUMBERS-001")
def large_exact(draw: random.Random, id_: str) -> Case:
    """Thousands of small integers give their exact sum, place and order, along any axis."""
    return _large(draw, id_, _turn(id_, large.EXACT), "NUMBERS-001")


@prop("large-rounded", "NUMBERS-002", "NUMBERS-003")
def large_rounded(draw: random.Random, id_: str) -> Case:
    """Sums of thousands of numbers that are rounded keep the digits of their dtype."""
    case = _large(draw, id_, _turn(id_, large.WIDE), "NUMBERS-002")
    if "float32" not in case.title:
        return case
    return Case(case.id, case.title, "engine", ("NUMBERS-003",), case.steps, case.graphs)


@prop("large-ranges", "NUMBERS-004")
def large_ranges(draw: random.Random, id_: str) -> Case:
    """Each element of a range is its start and so many steps, however many come before it."""
    w = Writer()
    title, outcome, contract = ranges.drawn(draw, w)
    return case_of(id_, title, "NUMBERS-004", w, outcome, contract)


@prop("number-corners", *sorted({row.clause for row in corners.ROWS}), weight=2)
def number_corners(draw: random.Random, id_: str) -> Case:
    """Numbers at the corners of their dtype go through an operation as its clause says."""
    row = _turn(id_, corners.ROWS)
    operation, given = corners.arguments_of(row, draw)
    single = single_graph(operation, given, draw, output_count(operation, given), ("unknown",))
    title = f"{row.op} of {given.attrs[row.attr]} at the corners of the dtype."
    return value_case(id_, title, row.clause, single)
