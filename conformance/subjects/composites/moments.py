"""Rows of moments, normalisations and clipping: where an epsilon stands, what a mean is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.subjects.composites.drawing import (
    Drawing,
    Kind,
    Slices,
    axes_of,
    axis_of,
    chosen,
    like,
    numbers,
    of_shape,
    plainly,
    positive,
    shape_of,
    slices,
    spread_over,
    variant,
)
from sessrun.conformance.subjects.composites.rows import NEAR, Row, items

__all__ = ["ROWS"]

_MOMENTS: Final = ("plain", "shifted", "shifted", "equal", "large", "special", "empty")
_NORMED: Final = ("plain", "tiny", "huge", "equal", "special", "empty")
#: Numbers far from zero have a variance that is known to some digits less.
_FAR: Final = {
    "float16": "close(2e-2, 2e-2)",
    "bfloat16": "close(6e-2, 6e-2)",
    "float32": "close(1e-3, 2e-3)",
    "float64": "close(1e-6, 1e-6)",
}
_RELATIVE: Final = {
    "float16": "close(1e-2, 1e-4)",
    "bfloat16": "close(6e-2, 1e-30)",
    "float32": "close(1e-4, 1e-30)",
    "float64": "close(1e-9, 1e-200)",
}


def _keeps(name: str = "keep_dims") -> dict[str, Kind]:
    return {name: chosen(False, True)}


def _filled_axes(d: Drawing) -> list[int]:
    """Axes of `x`, none of them of size 0: the mean of no numbers is another clause's subject."""
    filled = [axis for axis, size in enumerate(d.values["x"].shape) if size]
    return sorted(d.draw.sample(filled, d.draw.randint(1, len(filled)))) if filled else []


def _channels(d: Drawing) -> Sequence[int]:
    """Numbers of the shape of the last axes of `x`."""
    shape = d.values["x"].shape
    return shape[d.draw.randint(max(len(shape) - 2, 0), len(shape) - 1) :] if shape else ()


def _absent_or(kind: Kind) -> Kind:
    return variant(kind, kind, lambda _: None)


def _image(d: Drawing) -> np.ndarray:
    """A batch of pictures in the drawn data format, with at least two pixels for each channel."""
    return d.array(
        [d.draw.randint(1, 3), d.draw.randint(2, 3), d.draw.randint(2, 4), d.draw.randint(2, 3)]
    )


def _statistic(d: Drawing) -> Sequence[int]:
    first = d.values["data_format"].startswith("NC")
    return [d.values["x"].shape[1 if first else 3]]


def _batch_normed(*, is_training: bool) -> Row:
    given: dict[str, Kind] = (
        {}
        if is_training
        else {
            "mean": of_shape(_statistic),
            "variance": positive(of_shape(_statistic), 0.1),
        }
    )
    return Row(
        "nn.fused_batch_norm",
        "COMPOSITES-014",
        {
            "x": _image,
            "data_format": chosen("NHWC", "NCHW"),
            "scale": plainly(of_shape(_statistic)),
            "offset": plainly(of_shape(_statistic)),
            **given,
            "epsilon": chosen(0.001, 0.0625, 0.5),
            "is_training": lambda _: is_training,
        },
        dtypes=("float32",),
        styles=("plain", "shifted", "equal"),
        near={"float32": "close(2e-3, 2e-2)"},
        is_static=True,
        fetched=items(3 if is_training else 1),
    )


def _tensors(*kinds: Kind) -> Kind:
    """Some tensors, and None among them."""

    def drawn(d: Drawing) -> list[np.ndarray | Slices | None]:
        tensors: list[np.ndarray | Slices | None] = [
            d.draw.choice(kinds)(d) for _ in range(d.draw.randint(1, 3))
        ]
        return [*tensors, None] if d.draw.random() < 0.3 else tensors

    return drawn


def _clipped_and_norm(_: ApiAuthor, result: Symbol, d: Drawing) -> Recordable:
    given = d.values["t_list"]
    return [*(result[0][i] for i, x in enumerate(given) if x is not None), result[1]]


ROWS: Final = (
    Row(
        "nn.moments",
        "COMPOSITES-008",
        {"x": numbers(1), "axes": _filled_axes, **_keeps()},
        styles=_MOMENTS,
        near=_FAR,
    ),
    Row(
        "math.reduce_variance",
        "COMPOSITES-009",
        {"input_tensor": numbers(1), "axis": axes_of("input_tensor"), **_keeps("keepdims")},
        styles=("plain", "shifted", "equal", "special"),
        near=_FAR,
    ),
    Row(
        "math.reduce_std",
        "COMPOSITES-009",
        {"input_tensor": numbers(1), "axis": axes_of("input_tensor"), **_keeps("keepdims")},
        styles=("plain", "special"),
        near=_FAR,
    ),
    Row(
        "nn.weighted_moments",
        "COMPOSITES-010",
        {
            "x": numbers(1),
            "axes": _filled_axes,
            "frequency_weights": positive(like("x"), 0.25),
            **_keeps(),
        },
        styles=("plain", "shifted", "equal"),
        near=_FAR,
    ),
    Row(
        "nn.sufficient_statistics",
        "COMPOSITES-011",
        {"x": numbers(1), "axes": _filled_axes, "shift": _absent_or(of_shape(lambda _: ()))},
        styles=("plain", "special"),
        near=_FAR,
        is_static=True,
        fetched=items(3),
    ),
    Row(
        "nn.batch_normalization",
        "COMPOSITES-012",
        {
            "x": numbers(1),
            "mean": of_shape(_channels),
            "variance": positive(like("mean")),
            "offset": _absent_or(like("mean")),
            "scale": _absent_or(like("mean")),
            "variance_epsilon": chosen(0.001, 0.25),
        },
        styles=("plain", "special", "empty"),
        near=_FAR,
    ),
    Row(
        "nn.l2_normalize",
        "COMPOSITES-013",
        {"x": numbers(1), "axis": axis_of("x"), "epsilon": chosen(1e-12, 0.0625, 4.0)},
        styles=("plain", "equal", "special", "huge", "empty"),
    ),
    Row(
        "linalg.l2_normalize",
        "COMPOSITES-013",
        {"x": numbers(1), "axis": axes_of("x", or_all=False)},
        styles=("plain", "equal"),
    ),
    _batch_normed(is_training=True),
    _batch_normed(is_training=False),
    Row(
        "nn.local_response_normalization",
        "COMPOSITES-015",
        {
            "input": lambda d: d.array([*shape_of(d, (3, 3), 3), d.draw.randint(1, 7)]),
            "depth_radius": chosen(1, 2, 5),
            "bias": chosen(0.5, 1.0, 2.0),
            "alpha": chosen(0.25, 1.0),
            "beta": chosen(0.5, 0.75, 1.0),
        },
        dtypes=("float32",),
        styles=("plain", "equal", "empty"),
    ),
    Row(
        "clip_by_value",
        "COMPOSITES-016",
        {
            "t": numbers(),
            "clip_value_min": chosen(-2.0, -0.5, 0.25),
            "clip_value_max": chosen(0.5, 1.0, 2.5),
        },
        near="exact",
    ),
    Row(
        "clip_by_norm",
        "COMPOSITES-017",
        {
            "t": variant(
                numbers(), lambda d: 0 * d.array([2, 3]) if d.style == "plain" else d.array([2, 3])
            ),
            "clip_norm": chosen(0.5, 1.0, 100.0),
            "axes": axes_of("t"),
        },
        styles=("plain", "plain", "huge", "empty"),
        near=_RELATIVE,
    ),
    Row(
        "clip_by_norm",
        "COMPOSITES-017",
        {"t": slices(), "clip_norm": chosen(0.5, 100.0)},
        styles=("plain", "empty"),
        near=NEAR,
    ),
    Row(
        "clip_by_global_norm",
        "COMPOSITES-018",
        {"t_list": _tensors(numbers(), slices()), "clip_norm": chosen(0.5, 1.0, 100.0)},
        styles=("plain", "plain", "special"),
        dtypes=("float32", "float64", "float16"),
        fetched=_clipped_and_norm,
    ),
    Row(
        "global_norm",
        "COMPOSITES-018",
        {"t_list": _tensors(numbers(), slices())},
        styles=("plain", "special"),
        dtypes=("float32", "float64", "float16"),
    ),
    Row(
        "clip_by_average_norm",
        "COMPOSITES-019",
        {"t": numbers(), "clip_norm": chosen(0.125, 0.5, 100.0)},
        dtypes=("float32",),
        styles=("plain", "tiny"),
        near=_RELATIVE,
    ),
    Row(
        "norm",
        "COMPOSITES-020",
        {
            "tensor": numbers(1, 3),
            "ord": chosen("euclidean", 1, 2, 3.0, float("inf")),
            "axis": axis_of("tensor"),
            **_keeps("keepdims"),
        },
        styles=("plain", "special"),
        dtypes=("float32", "float64"),
    ),
    Row(
        "math.reduce_euclidean_norm",
        "COMPOSITES-020",
        {"input_tensor": numbers(1), "axis": axes_of("input_tensor"), **_keeps("keepdims")},
        styles=("plain", "special", "empty"),
        dtypes=("float32", "float64"),
    ),
    Row(
        "math.reduce_logsumexp",
        "COMPOSITES-021",
        {"input_tensor": numbers(1), "axis": axes_of("input_tensor"), **_keeps("keepdims")},
        styles=("plain", "large", "special"),
    ),
    Row(
        "math.cumulative_logsumexp",
        "COMPOSITES-021",
        {
            "x": numbers(1),
            "axis": axis_of("x"),
            "exclusive": chosen(False, True),
            "reverse": chosen(False, True),
        },
        styles=("plain", "large"),
        dtypes=("float32", "float64"),
    ),
    Row(
        "math.squared_difference",
        "COMPOSITES-034",
        {"x": numbers(), "y": spread_over("x")},
        styles=("plain", "large", "special", "empty"),
    ),
)
