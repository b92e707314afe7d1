"""Rows of `tf.losses`: each loss by itself, and with weights and reductions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.conformance.subjects.composites.drawing import (
    Drawing,
    Kind,
    Name,
    axis_of,
    chosen,
    fixed,
    like,
    numbers,
)
from sessrun.conformance.subjects.composites.rows import NEAR, Row

__all__ = ["ROWS"]

_REDUCTIONS: Final = ("NONE", "SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS")
_NONZERO: Final = Name("losses.Reduction.SUM_BY_NONZERO_WEIGHTS")
_UNREDUCED: Final[Mapping[str, Kind]] = {"reduction": fixed(Name("losses.Reduction.NONE"))}
_DTYPES: Final = ("float32", "float32", "float16", "bfloat16", "float64")
#: They are computed in float32 at most.
_NEAR: Final = {**NEAR, "float64": NEAR["float32"]}
_STYLES: Final = ("plain", "large", "equal", "empty")


def _bits(name: str) -> Kind:
    """Labels 0 and 1 of the shape of another argument."""

    def drawn(d: Drawing) -> np.ndarray | float:
        like_it = d.values[name]
        labels = [d.draw.randint(0, 1) for _ in range(like_it.size)]
        return np.array(labels).reshape(like_it.shape).astype(like_it.dtype)

    return drawn


def _classes(name: str) -> Kind:
    """Labels of which each row has one class."""

    def drawn(d: Drawing) -> np.ndarray | float:
        logits = d.values[name]
        classes = np.zeros(logits.shape, logits.dtype)
        for row in range(len(classes)):
            classes[row, d.draw.randrange(classes.shape[1])] = 1
        return classes

    return drawn


def _between(d: Drawing) -> np.ndarray:
    """Probabilities, 0 and 1 among them."""
    sizes = np.abs(numbers(1, 3)(d).astype(np.float64))
    return d.rounded(list((sizes / (1 + sizes)).ravel()), sizes.shape)


def _logits(d: Drawing) -> np.ndarray:
    rows = 0 if d.style == "empty" else d.draw.randint(1, 4)
    return d.array([rows, d.draw.randint(2, 4)])


def _weights(name: str) -> Kind:
    """Weights: a number, one for each row, or one for each loss, zeros among them."""

    def drawn(d: Drawing) -> np.ndarray | float:
        shape = d.values[name].shape
        # TensorFlow dies of spreading nothing over nothing.
        way = d.draw.randrange(2 if d.style == "empty" else 4)
        if way == 0 or not shape:
            return d.draw.choice((0.0, 1.0, 0.5, 2.0))
        sizes = shape if way == 1 else (shape[0], *(1 for _ in shape[1:]))
        if way == 3:
            sizes = tuple(size if d.draw.random() < 0.5 else 1 for size in shape)
        count = int(np.prod(sizes))
        weights = [d.draw.choice((0.0, 0.0, 1.0, 0.5, 3.0, -1.0)) for _ in range(count)]
        return np.array(weights, np.float32).reshape(sizes)

    return drawn


def _weighing(d: Drawing) -> str:
    """The clause that a loss with weights shows: of its reduction, or of how weights spread."""
    weights = d.values["weights"]
    if d.values["reduction"] != _NONZERO:
        return "LOSSES-003"
    if not np.any(weights):
        return "LOSSES-002"
    return "LOSSES-004" if isinstance(weights, np.ndarray) and 1 in weights.shape else "LOSSES-001"


_STATIC: Final = "LOSSES-020"


def _alone(function: str, clause: str, **arguments: Kind) -> Row:
    """A row of a loss that takes no weights and no reduction."""
    return Row(
        f"losses.{function}",
        clause,
        {**arguments, **_UNREDUCED},
        dtypes=_DTYPES,
        styles=_STYLES,
        near=_NEAR,
        static_clause=_STATIC,
    )


def _weighed(function: str, **arguments: Kind) -> Row:
    """A row of a loss with weights and a reduction."""
    first = next(iter(arguments))
    reductions = chosen(*(Name(f"losses.Reduction.{name}") for name in _REDUCTIONS), _NONZERO)
    given = {**arguments, "weights": _weights(first), "reduction": reductions}
    return Row(
        f"losses.{function}",
        _weighing,
        given,
        styles=("plain", "empty"),
        dtypes=("float32", "float16"),
        static_clause=_STATIC,
    )


ROWS: Final = (
    _alone("absolute_difference", "LOSSES-019", labels=numbers(), predictions=like("labels")),
    _alone("mean_squared_error", "LOSSES-019", labels=numbers(), predictions=like("labels")),
    _alone(
        "huber_loss",
        "LOSSES-010",
        labels=numbers(),
        predictions=like("labels"),
        delta=chosen(0.5, 1.0, 2.0),
    ),
    _alone(
        "log_loss",
        "LOSSES-011",
        predictions=_between,
        labels=_bits("predictions"),
        epsilon=chosen(0.0625, 0.125),
    ),
    _alone("hinge_loss", "LOSSES-012", logits=numbers(1, 3), labels=_bits("logits")),
    _alone(
        "cosine_distance",
        "LOSSES-013",
        labels=numbers(1, 3),
        predictions=like("labels"),
        axis=axis_of("labels"),
    ),
    _alone(
        "sigmoid_cross_entropy",
        "LOSSES-015",
        logits=numbers(1, 3),
        multi_class_labels=_bits("logits"),
        label_smoothing=chosen(0, 0, 0.25),
    ),
    _alone(
        "softmax_cross_entropy",
        "LOSSES-015",
        logits=_logits,
        onehot_labels=_classes("logits"),
        label_smoothing=chosen(0, 0, 0.25),
    ),
    Row(
        "losses.mean_pairwise_squared_error",
        "LOSSES-014",
        {
            "labels": lambda d: d.array([d.draw.randint(1, 3), d.draw.randint(2, 4)]),
            "predictions": like("labels"),
            "weights": chosen(1.0, 0.5),
        },
        styles=("plain",),
        dtypes=("float32",),
        static_clause=_STATIC,
    ),
    _weighed("compute_weighted_loss", losses=numbers(0, 3)),
    _weighed("absolute_difference", labels=numbers(0, 3), predictions=like("labels")),
    _weighed("mean_squared_error", labels=numbers(0, 3), predictions=like("labels")),
    _weighed("huber_loss", labels=numbers(0, 3), predictions=like("labels")),
    _weighed("hinge_loss", logits=numbers(0, 3), labels=_bits("logits")),
    _weighed("log_loss", predictions=_between, labels=_bits("predictions")),
    _weighed("sigmoid_cross_entropy", logits=numbers(1, 3), multi_class_labels=_bits("logits")),
)
