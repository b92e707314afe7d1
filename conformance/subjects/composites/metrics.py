"""Rows of `tf.metrics`: streams of batches, some of them empty, with and without weights."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.subjects.composites.drawing import Drawing, Kind, chosen, fixed
from sessrun.conformance.subjects.composites.rows import named
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import row_of_numpy

__all__ = ["ROWS", "MetricRow", "case_of_metric"]

_CONTRACT: Final = "close(1e-4, 1e-5)"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of the table.

    Attributes:
      function: its name in `tf.metrics`.
      clause: the clause that its cases without weights test.
      batch: by argument, how a batch is drawn; all arguments have the same number of rows.
      options: by argument, how the others are drawn, which happens first.
      is_weighed: whether it takes weights, one for each row.
      rows: how many rows each batch has; any number if None.

    """

    function: str
    clause: str
    batch: Mapping[str, Kind]
    options: Mapping[str, Kind]
    is_weighed: bool = True
    rows: int | None = None


def _rows(d: Drawing) -> int:
    count: int = d.values["$rows"]
    return count


def _floats(*, width: int = 0, low: float = -2.0, high: float = 2.0) -> Kind:
    """Numbers, one or `width` of them for each row."""

    def drawn(d: Drawing) -> np.ndarray:
        shape = (_rows(d), width) if width else (_rows(d),)
        values = [d.draw.uniform(low, high) for _ in range(int(np.prod(shape)))]
        return np.array(values, np.float32).reshape(shape)

    return drawn


def _integers(high: int, *, width: int = 0, dtype: type[np.generic] = np.int64) -> Kind:
    """Integers below `high`, one or `width` of them for each row."""

    def drawn(d: Drawing) -> np.ndarray:
        shape = (_rows(d), width) if width else (_rows(d),)
        values = [d.draw.randrange(high) for _ in range(int(np.prod(shape)))]
        return np.array(values, dtype).reshape(shape)

    return drawn


def _truths(d: Drawing) -> np.ndarray:
    return np.array([d.draw.random() < 0.5 for _ in range(_rows(d))], bool)


def _eighths(d: Drawing) -> np.ndarray:
    """Probabilities, many of which lie on a threshold."""
    return np.array([d.draw.randint(0, 8) / 8 for _ in range(_rows(d))], np.float32)


def _summation(d: Drawing) -> str:
    """A summation method for the kind of curve that was drawn."""
    first = "trapezoidal" if d.values["curve"] == "ROC" else "careful_interpolation"
    return d.draw.choice((first, "minoring", "majoring"))


_PAIRS: Final[Mapping[str, Kind]] = {"labels": _floats(), "predictions": _floats()}
_ROWS_OF_THREE: Final[Mapping[str, Kind]] = {
    "labels": _floats(width=3),
    "predictions": _floats(width=3),
}
_BINARY: Final[Mapping[str, Kind]] = {"labels": _truths, "predictions": _truths}
_JUDGED: Final[Mapping[str, Kind]] = {"labels": _truths, "predictions": _eighths}
_CLASSES: Final[Mapping[str, Kind]] = {"labels": _integers(3), "predictions": _integers(3)}
_RANKED: Final[Mapping[str, Kind]] = {
    "labels": _integers(5, width=1),
    "predictions": _floats(width=5),
}
_THRESHOLDS: Final = chosen([0.5], [0.25, 0.5, 0.75], [0.0, 0.125, 1.0])


def _at_thresholds(*functions: str) -> list[MetricRow]:
    options = {"thresholds": _THRESHOLDS}
    return [MetricRow(name, "METRICS-009", _JUDGED, options) for name in functions]


ROWS: Final = (
    MetricRow("mean", "METRICS-002", {"values": _floats()}, {}),
    MetricRow("mean", "METRICS-002", {"values": _floats(width=2)}, {}),
    MetricRow(
        "mean_tensor", "METRICS-001", {"values": _floats(width=2)}, {}, is_weighed=False, rows=2
    ),
    MetricRow("accuracy", "METRICS-007", _CLASSES, {}),
    MetricRow(
        "accuracy", "METRICS-007", {"labels": _integers(3), "predictions": _floats(high=3)}, {}
    ),
    MetricRow("mean_absolute_error", "METRICS-002", _PAIRS, {}),
    MetricRow("mean_squared_error", "METRICS-002", _ROWS_OF_THREE, {}, is_weighed=False),
    MetricRow("root_mean_squared_error", "METRICS-002", _PAIRS, {}),
    MetricRow(
        "mean_relative_error",
        "METRICS-024",
        {**_PAIRS, "normalizer": _integers(3, dtype=np.float32)},
        {},
        is_weighed=False,
    ),
    MetricRow(
        "mean_cosine_distance", "METRICS-025", _ROWS_OF_THREE, {"dim": fixed(1)}, is_weighed=False
    ),
    MetricRow(
        "percentage_below", "METRICS-017", {"values": _eighths}, {"threshold": chosen(0.25, 0.5)}
    ),
    *(
        MetricRow(name, clause, _BINARY, {})
        for name, clause in (
            ("precision", "METRICS-026"),
            ("recall", "METRICS-027"),
            ("true_positives", "METRICS-028"),
            ("true_negatives", "METRICS-028"),
            ("false_positives", "METRICS-028"),
            ("false_negatives", "METRICS-028"),
        )
    ),
    *_at_thresholds(
        "precision_at_thresholds",
        "recall_at_thresholds",
        "true_positives_at_thresholds",
        "false_negatives_at_thresholds",
        "true_negatives_at_thresholds",
        "false_positives_at_thresholds",
    ),
    MetricRow(
        "auc",
        "METRICS-011",
        _JUDGED,
        {
            "num_thresholds": chosen(3, 9, 50),
            "curve": chosen("ROC", "PR"),
            "summation_method": _summation,
        },
    ),
    MetricRow(
        "sensitivity_at_specificity",
        "METRICS-029",
        _JUDGED,
        {"specificity": chosen(0.25, 0.5, 0.75), "num_thresholds": chosen(5, 20)},
    ),
    MetricRow(
        "specificity_at_sensitivity",
        "METRICS-030",
        _JUDGED,
        {"sensitivity": chosen(0.25, 0.5, 0.75), "num_thresholds": chosen(5, 20)},
    ),
    MetricRow("mean_iou", "METRICS-012", _CLASSES, {"num_classes": chosen(3, 5)}),
    MetricRow("mean_per_class_accuracy", "METRICS-013", _CLASSES, {"num_classes": chosen(3, 5)}),
    MetricRow("precision_at_k", "METRICS-014", _RANKED, {"k": chosen(1, 2, 4)}),
    MetricRow("recall_at_k", "METRICS-014", _RANKED, {"k": chosen(1, 2, 4)}),
    MetricRow(
        "average_precision_at_k",
        "METRICS-015",
        {"labels": _integers(5, width=2), "predictions": _floats(width=5)},
        {"k": chosen(1, 2, 4)},
    ),
)


def _weights(d: Drawing) -> np.ndarray:
    """A weight for each row, zeros among them."""
    weights = [d.draw.choice((0.0, 0.5, 1.0, 3.0)) for _ in range(_rows(d))]
    return np.array(weights, np.float32)


def _batch(row: MetricRow, drawing: Drawing, weigh: Kind | None) -> Any:
    """The arrays of a batch by argument."""
    drawing.values["$rows"] = row.rows or drawing.draw.choice((0, 1, 2, 3, 5))
    arrays = {name: kind(drawing) for name, kind in row.batch.items()}
    if weigh is not None:
        rank = max((array.ndim for name, array in arrays.items() if name == "values"), default=1)
        weights = weigh(drawing)
        arrays["weights"] = weights.reshape(-1, *(1,) * (rank - 1))
    return arrays


def case_of_metric(draw: random.Random, id_: str, row: MetricRow) -> Case:
    """A case: the metric over several batches, its update and its value after each."""
    drawing = Drawing(draw, "float32", "plain")
    for name, kind in row.options.items():
        drawing.values[name] = kind(drawing)
    options = dict(drawing.values)
    is_weighed = row.is_weighed and draw.random() < 0.4
    weigh = _weights if is_weighed else None
    batches = [_batch(row, drawing, weigh) for _ in range(draw.randint(2, 4))]
    c = ApiAuthor()
    given = {name: _placeholder(c, array, row.rows) for name, array in batches[0].items()}
    metric = named(c, f"metrics.{row.function}")(**given, **options)
    value, update = metric[0], metric[1]
    clause = "METRICS-006" if is_weighed else row.clause
    c.static_types_as_by_oracle([value, update], "METRICS-021")
    session = c.tf.Session()
    session.run(c.tf.local_variables_initializer())
    for batch in batches:
        feeds = {given[name]: array for name, array in batch.items()}
        c.against_oracle(session.run(update, feeds), _CONTRACT)
        c.blame(clause)
        if draw.random() < 0.7:
            c.against_oracle(session.run(value), _CONTRACT)
            c.blame(clause)
    weighed = "weighed" if is_weighed else "all alike"
    title = f"{row.function} of batches, {weighed}, gives what was seen so far."
    return c.case(id_, title, tuple(sorted((clause, "METRICS-021"))))


def _placeholder(c: ApiAuthor, array: np.ndarray, rows: int | None) -> Symbol:
    """A placeholder for arrays of such rows; None for an unknown number of rows."""
    row = row_of_numpy(array.dtype)
    assert row is not None
    return c.tf.placeholder(getattr(c.tf, row.name), [rows, *array.shape[1:]])
