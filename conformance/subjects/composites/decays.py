"""Rows of decays: learning rates as functions of the step, at its corners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.subjects.composites.drawing import Drawing, Kind, chosen
from sessrun.conformance.subjects.composites.rows import Row

__all__ = ["ROWS"]

#: Rates are asked in what optimizers take them in.
_DTYPES: Final = ("float32", "float32", "float64")
#: A step more or less than a multiple of the decay's steps is where stairs and cycles begin.
_STEPS: Final = 6


def _step(d: Drawing) -> np.ndarray:
    """A step, fed or constant: an integer below, at and above some multiples of the steps."""
    at = d.draw.choice((0, 1, 2, 3)) * _STEPS + d.draw.randint(-1, 1)
    return np.array(max(at, 0), d.draw.choice((np.int32, np.int64)))


def _rate(d: Drawing) -> np.ndarray:
    return d.rounded([d.draw.choice((0.1, 0.5, 2.0))], ())


def _pieces(d: Drawing) -> list[float]:
    return [d.draw.choice((1.0, 0.5)), 0.25, 0.125]


_COMMON: Final[dict[str, Kind]] = {
    "learning_rate": _rate,
    "global_step": _step,
    "decay_steps": chosen(_STEPS),
}

ROWS: Final[Sequence[Row]] = (
    Row(
        "train.exponential_decay",
        "OPTIMIZERS-053",
        {**_COMMON, "decay_rate": chosen(0.5, 0.96), "staircase": chosen(False)},
        dtypes=_DTYPES,
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
    Row(
        "train.exponential_decay",
        "OPTIMIZERS-054",
        {**_COMMON, "decay_rate": chosen(0.5, 0.96), "staircase": chosen(True)},
        dtypes=_DTYPES,
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
    Row(
        "train.piecewise_constant",
        "OPTIMIZERS-043",
        {"x": _step, "boundaries": lambda _: [_STEPS, 2 * _STEPS], "values": _pieces},
        dtypes=("float32",),
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
    Row(
        "train.polynomial_decay",
        "OPTIMIZERS-055",
        {
            **_COMMON,
            "end_learning_rate": chosen(0.0, 0.05),
            "power": chosen(0.5, 1.0, 2.0),
            "cycle": chosen(False),
        },
        dtypes=("float32",),
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
    Row(
        "train.polynomial_decay",
        "OPTIMIZERS-056",
        {
            **_COMMON,
            "end_learning_rate": chosen(0.0, 0.05),
            "power": chosen(0.5, 1.0, 2.0),
            "cycle": chosen(True),
        },
        dtypes=("float32",),
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
    Row(
        "train.cosine_decay",
        "OPTIMIZERS-045",
        {**_COMMON, "alpha": chosen(0.0, 0.25)},
        dtypes=("float32",),
        styles=("plain",),
        static_clause="OPTIMIZERS-052",
    ),
)
