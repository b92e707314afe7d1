"""The tables of composites, walked row by row: functions on drawn arguments against the oracle."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from sessrun.conformance.property import prop
from sessrun.conformance.subjects.composites import (
    activations,
    averages,
    decays,
    losses,
    metrics,
    moments,
    windows,
)
from sessrun.conformance.subjects.composites.rows import Row, case_of_row
from sessrun.spec.cases.model import Case

_COMPOSITES: Final = (*activations.ROWS, *moments.ROWS, *windows.ROWS)
_LOSSES: Final = losses.ROWS


def _row(rows: Sequence[Row], id_: str) -> Row:
    """The row of the case with this index: successive indices take successive rows."""
    return rows[int(id_.rpartition(":")[2]) % len(rows)]


def _clauses_of(rows: Sequence[Row]) -> list[str]:
    """The clauses that cases of these rows can show false."""
    return sorted({str(row.clause) for row in rows} | {row.static_clause for row in rows})


@prop("composites", *_clauses_of(_COMPOSITES), weight=4)
def composites(draw: random.Random, id_: str) -> Case:
    """A function composed of operations gives what its definition says, at its corners, too."""
    return case_of_row(draw, id_, _row(_COMPOSITES, id_))


@prop(
    "losses",
    *(f"LOSSES-0{number:02}" for number in (1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 19, 20)),
    weight=2,
)
def weighed_losses(draw: random.Random, id_: str) -> Case:
    """A loss, weighed and reduced, gives what its formula says."""
    return case_of_row(draw, id_, _row(_LOSSES, id_))


@prop(
    "streaming-metrics",
    *sorted({"METRICS-006", "METRICS-021", *(row.clause for row in metrics.ROWS)}),
)
def streaming_metrics(draw: random.Random, id_: str) -> Case:
    """A metric over several batches, empty ones among them, gives what was seen so far."""
    rows = metrics.ROWS
    return metrics.case_of_metric(draw, id_, rows[int(id_.rpartition(":")[2]) % len(rows)])


@prop("decays", *_clauses_of(decays.ROWS))
def decayed_rates(draw: random.Random, id_: str) -> Case:
    """A learning rate decays with the step as its formula says, where stairs and cycles begin."""
    return case_of_row(draw, id_, _row(decays.ROWS, id_))


@prop("moving-averages", "OPTIMIZERS-046", "OPTIMIZERS-047")
def moving_averages(draw: random.Random, id_: str) -> Case:
    """Moving averages follow variables and tensors as their decay says."""
    return averages.case_of_average(draw, id_)
