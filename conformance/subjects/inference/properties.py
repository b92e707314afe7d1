"""The properties of the profile `inference`."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.property import Generator, prop
from sessrun.conformance.subjects.inference import (
    control_flow,
    networks,
    operations,
    runs,
    values,
)
from sessrun.spec.inference import DECLARATION

#: So many times the plan's count that a certification asks every cell of the table.
_CELLS_WEIGHT = 20
#: How many cases a certification has of what is no table: a converting engine compiles each.
_DRAWN = 20


def _register(
    name: str,
    generator: Generator,
    *clauses: str,
    rows: int | Callable[[], int] = _DRAWN,
    weight: int = 1,
) -> None:
    count = rows if callable(rows) else lambda: rows
    prop(f"inference-{name}", *clauses, DECLARATION, weight=weight, rows=count)(generator)


_register(
    "cells",
    operations.cell_case,
    "INFERENCE-001",
    weight=_CELLS_WEIGHT,
    rows=operations.cell_count,
)
_register(
    "structure",
    operations.structured_case,
    "INFERENCE-001",
    "INFERENCE-003",
    rows=operations.structured_count,
)
_register(
    "specials",
    values.special_case,
    "INFERENCE-019",
    "INFERENCE-022",
    weight=2,
    rows=len(values.SPECIAL_ROWS["numbers"]),
)
_register(
    "comparisons",
    values.compared_case,
    "INFERENCE-020",
    rows=len(values.SPECIAL_ROWS["comparisons"]),
)
_register(
    "classes", values.classified_case, "INFERENCE-021", rows=len(values.SPECIAL_ROWS["classes"])
)
_register(
    "divisions", values.division_case, "INFERENCE-005", rows=len(values.INTEGER_ROWS["division"])
)
_register(
    "zero-divisors",
    values.zero_divisor_case,
    "INFERENCE-006",
    rows=len(values.INTEGER_ROWS["division"]),
)
_register(
    "overflows", values.overflow_case, "INFERENCE-007", rows=len(values.INTEGER_ROWS["overflow"])
)
_register("empty", values.empty_case, "INFERENCE-023", rows=len(values.EMPTY_ROWS[False]))
_register(
    "empty-reductions", values.reduced_case, "INFERENCE-024", rows=len(values.EMPTY_ROWS[True])
)
_register("missing-feeds", runs.missing_feed_case, "INFERENCE-009")
_register("indices", runs.index_case, "INFERENCE-010")
_register("cuts", runs.cut_case, "INFERENCE-011")
_register("shapes", runs.shapes_case, "INFERENCE-012", "INFERENCE-013")
_register("fetches", runs.fetches_case, "INFERENCE-014")
_register("control-inputs", runs.control_case, "INFERENCE-015")
_register("branches", control_flow.branch_case, "INFERENCE-016")
_register("loops", control_flow.loop_case, "INFERENCE-016")
_register("functions", control_flow.call_case, "INFERENCE-017")
_register("networks", networks.network_case, "INFERENCE-018")
