"""Rows of activations, softmax and cross entropies: what must stay finite for large logits."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.subjects.composites.drawing import (
    Drawing,
    Kind,
    axis_of,
    chosen,
    integers,
    like,
    numbers,
    per_channel,
    positive,
    spread_over,
)
from sessrun.conformance.subjects.composites.rows import NEAR, STYLES, Row

__all__ = ["ROWS"]

_LOGITS: Final = ("plain", "large", "large", "masked", "equal", "empty")
_FINITE: Final = ("plain", "large", "large", "equal", "empty")
#: Small probabilities count, too.
_SMALL: Final = {
    **NEAR,
    "float16": "close(1e-2, 1e-6)",
    "bfloat16": "close(6e-2, 1e-30)",
    "float32": "close(1e-4, 1e-30)",
    "float64": "close(1e-9, 1e-290)",
}


def _probabilities(name: str, axis: str) -> Kind:
    """Probabilities along an axis, of the shape of another argument."""

    def drawn(d: Drawing) -> np.ndarray:
        logits: np.ndarray = d.values[name]
        weights = np.array([d.draw.randint(0, 3) for _ in range(logits.size)], np.float64)
        weights = weights.reshape(logits.shape) + 0.25
        along = d.values.get(axis, -1)
        probabilities: np.ndarray = weights / weights.sum(axis=along, keepdims=True)
        return probabilities.astype(logits.dtype)

    return drawn


def _axis_of_classes(d: Drawing) -> int:
    """An axis of the logits: from the back only the last, others TensorFlow refuses."""
    return d.draw.randrange(-1, d.values["logits"].ndim)


def _format_of_value(d: Drawing) -> str:
    """A data format; the channels come first only where other dimensions follow them."""
    first = ("NCHW", "NC...") if d.values["value"].ndim > 2 else ()
    formats: tuple[str, ...] = ("NHWC", "N...C", *first)
    return d.draw.choice(formats)


def _labels(name: str) -> Kind:
    """A class for each row of the logits."""
    return lambda d: integers(
        0, max(d.values[name].shape[-1] - 1, 0), lambda _: d.values[name].shape[:-1]
    )(d)


def _rows_of_logits(d: Drawing) -> np.ndarray:
    """Logits of rank 2 or 3 with at least one class."""
    rows = 0 if d.style == "empty" else d.draw.randint(1, 4)
    middle = [d.draw.randint(1, 3)] if d.draw.random() < 0.3 else []
    return d.array([rows, *middle, d.draw.randint(1, 5)])


def _activation(name: str, clause: str, **options: Kind) -> Row:
    return Row(f"nn.{name}", clause, {"features": numbers(), **options}, styles=STYLES)


def _layer(name: str) -> Row:
    """A row of a product with weights to which biases are added."""
    return Row(
        f"nn.{name}",
        "COMPOSITES-006",
        {
            "x": numbers(2, 2),
            "weights": lambda d: d.array([d.values["x"].shape[1], 3]),
            "biases": per_channel("weights"),
        },
        styles=("plain",),
    )


ROWS: Final = (
    Row(
        "nn.softmax",
        "COMPOSITES-001",
        {"logits": numbers(1), "axis": axis_of("logits")},
        styles=_LOGITS,
        near=_SMALL,
    ),
    Row(
        "nn.log_softmax",
        "COMPOSITES-001",
        {"logits": numbers(1), "axis": axis_of("logits")},
        styles=_LOGITS,
    ),
    Row(
        "nn.sigmoid_cross_entropy_with_logits",
        "COMPOSITES-002",
        {"logits": numbers(), "labels": positive(like("logits"))},
        styles=_FINITE,
    ),
    Row(
        "nn.weighted_cross_entropy_with_logits",
        "COMPOSITES-002",
        {"logits": numbers(), "labels": like("logits"), "pos_weight": chosen(0.25, 1.0, 3.0)},
        styles=("plain", "empty", "equal"),
        dtypes=("float32", "float64", "float16"),
    ),
    Row(
        "nn.softmax_cross_entropy_with_logits_v2",
        "COMPOSITES-032",
        {
            "logits": numbers(2, 4),
            "axis": _axis_of_classes,
            "labels": _probabilities("logits", "axis"),
        },
        styles=_FINITE,
    ),
    Row(
        "nn.softmax_cross_entropy_with_logits",
        "COMPOSITES-032",
        {"logits": _rows_of_logits, "labels": _probabilities("logits", "dim")},
        styles=_FINITE,
    ),
    Row(
        "nn.sparse_softmax_cross_entropy_with_logits",
        "COMPOSITES-032",
        {"logits": _rows_of_logits, "labels": _labels("logits")},
        styles=_FINITE,
        is_static=True,
    ),
    Row(
        "nn.log_poisson_loss",
        "COMPOSITES-004",
        {
            "targets": positive(numbers()),
            "log_input": like("targets"),
            "compute_full_loss": chosen(False, True),
        },
        styles=("plain", "empty", "equal"),
        dtypes=("float32", "float64"),
    ),
    Row("nn.l2_loss", "COMPOSITES-004", {"t": numbers()}, styles=("plain", "special", "empty")),
    _activation("softplus", "COMPOSITES-028"),
    _activation("softsign", "COMPOSITES-031"),
    _activation("elu", "COMPOSITES-029"),
    _activation("selu", "COMPOSITES-029"),
    _activation("relu6", "COMPOSITES-031"),
    _activation("leaky_relu", "COMPOSITES-031", alpha=chosen(0.0, 0.2, 1.5)),
    Row("nn.swish", "COMPOSITES-031", {"features": numbers()}, styles=("plain", "large", "empty")),
    Row("nn.crelu", "COMPOSITES-030", {"features": numbers(1), "axis": axis_of("features")}),
    Row("math.log_sigmoid", "COMPOSITES-028", {"x": numbers()}, styles=("plain", "large", "empty")),
    Row(
        "nn.bias_add",
        "COMPOSITES-006",
        {"value": numbers(2, 5), "data_format": _format_of_value, "bias": per_channel("value")},
    ),
    _layer("xw_plus_b"),
    _layer("relu_layer"),
    Row(
        "math.xlogy",
        "COMPOSITES-007",
        {"x": numbers(), "y": positive(spread_over("x"))},
        styles=("plain", "special", "empty"),
    ),
    Row(
        "math.xlog1py",
        "COMPOSITES-007",
        {"x": numbers(), "y": positive(spread_over("x"))},
        styles=("plain", "special", "empty"),
        dtypes=("float32", "float64"),
    ),
    Row(
        "math.divide_no_nan",
        "COMPOSITES-007",
        {"x": numbers(), "y": spread_over("x")},
        styles=("plain", "special", "empty"),
    ),
    Row(
        "math.multiply_no_nan",
        "COMPOSITES-007",
        {"x": numbers(), "y": spread_over("x")},
        styles=("plain", "special", "empty"),
        dtypes=("float32", "float64"),
    ),
)
