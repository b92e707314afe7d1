"""Rows of convolutions and poolings: padding, strides, dilation, ranks, dropout, embeddings."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.subjects.composites.drawing import (
    Drawing,
    Kind,
    chosen,
    fixed,
    numbers,
)
from sessrun.conformance.subjects.composites.rows import WIDE, Row, items

__all__ = ["ROWS"]

_PADDING: Final = chosen("SAME", "SAME", "VALID")
_PLAIN: Final = ("plain",)
_NARROW: Final = ("float32", "float16", "bfloat16", "float64")


def _picture(rank: int, channels: tuple[int, int] = (1, 3)) -> Kind:
    """A batch of pictures of some spatial dimensions, the channels last."""
    return lambda d: d.array(
        [
            d.draw.randint(1, 2),
            *(d.draw.randint(3, 7) for _ in range(rank)),
            d.draw.randint(*channels),
        ]
    )


def _filter(name: str, rank: int, *, turned: bool = False) -> Kind:
    """A filter of even and odd sizes for the channels of another argument."""

    def drawn(d: Drawing) -> np.ndarray:
        sizes = [d.draw.randint(1, 3) for _ in range(rank)]
        last = [d.values[name].shape[-1], d.draw.randint(1, 3)]
        return d.array([*sizes, *(reversed(last) if turned else last)])

    return drawn


def _strides(rank: int, *, same: bool = False) -> Kind:
    """Strides over a batch of pictures."""

    def drawn(d: Drawing) -> list[int]:
        one = d.draw.randint(1, 3)
        return [1, *(one if same else d.draw.randint(1, 3) for _ in range(rank)), 1]

    return drawn


def _strides_of_filter(d: Drawing) -> list[int]:
    """Strides no longer than the filter: TensorFlow's float64 Conv3D miscounts longer ones."""
    return [1, *(d.draw.randint(1, size) for size in d.values["filter"].shape[:-2]), 1]


def _steps(rank: int) -> Kind:
    """Strides, or dilation rates with strides of 1."""
    return lambda d: [d.draw.randint(1, 3) for _ in range(rank)]


def _rates(rank: int) -> Kind:
    def drawn(d: Drawing) -> list[int]:
        plain = all(step == 1 for step in d.values["strides"])
        return [d.draw.randint(1, 2) if plain else 1 for _ in range(rank)]

    return drawn


def _shape_before(d: Drawing) -> list[int]:
    """An output shape for the transposed convolution of `value`."""
    value, taps, strides = (d.values[key] for key in ("value", "filter", "strides"))
    sizes = []
    for axis, size in enumerate(value.shape[1:-1]):
        step, width = strides[1 + axis], taps.shape[axis]
        least = (size - 1) * step + (1 if d.values["padding"] == "SAME" else width)
        sizes.append(least + d.draw.randrange(step))
    return [value.shape[0], *sizes, taps.shape[-2]]


def _strides_of_window(d: Drawing) -> list[int]:
    """Strides no longer than the window: others TensorFlow counts differently for volumes."""
    return [1, *(d.draw.randint(1, size) for size in d.values["ksize"][1:-1]), 1]


def _pooled(function: str, rank: int, value: str = "value") -> Row:
    sizes = lambda d: [1, *(d.draw.randint(1, 3) for _ in range(rank)), 1]  # noqa: E731
    strides = _strides(rank) if rank == 2 else _strides_of_window
    dtypes = _NARROW if rank == 2 else ("float32",)
    return Row(
        f"nn.{function}",
        "COMPOSITES-023",
        {value: _picture(rank), "ksize": sizes, "strides": strides, "padding": _PADDING},
        dtypes=dtypes,
        styles=("plain", "special") if "max" not in function else _PLAIN,
        is_static=True,
    )


def _morphological(function: str, value: str, kernel: str) -> Row:
    """A row of a dilation or an erosion, with a kernel for each channel."""
    sizes: Kind = lambda d: d.array(  # noqa: E731
        [d.draw.randint(1, 3), d.draw.randint(1, 3), d.values[value].shape[-1]]
    )
    return Row(
        f"nn.{function}",
        "COMPOSITES-022",
        {
            value: _picture(2),
            kernel: sizes,
            "strides": _strides(2),
            "rates": fixed([1, 1, 1, 1]),
            "padding": _PADDING,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    )


def _kept_or_scaled(c: ApiAuthor, result: Symbol, d: Drawing) -> list[Symbol]:
    """Whether each element is 0 or x / (1 - rate), and how many elements are not 0."""
    kept = 1 - d.values["rate"]
    scaled = c.tf.constant(d.values["x"]) / kept
    near = c.tf.abs(result - scaled) <= c.tf.abs(scaled) * 1e-3
    return [c.tf.reduce_all(c.tf.logical_or(c.tf.equal(result, 0), near)), c.tf.shape(result)]


def _lookups(d: Drawing) -> np.ndarray:
    """Ids of rows of `params`."""
    count = d.draw.randint(1, 5)
    rows = len(d.values["params"])
    return np.array([d.draw.randrange(rows) for _ in range(count)], np.int64)


def _segments(d: Drawing) -> np.ndarray:
    """A segment for each row of `data`; negative ones are left out."""
    rows = len(d.values["data"])
    return np.array([d.draw.randint(-1, 3) for _ in range(rows)], np.int32)


ROWS: Final = (
    Row(
        "nn.conv1d",
        "COMPOSITES-022",
        {
            "value": _picture(1),
            "filters": _filter("value", 1),
            "stride": chosen(1, 2, 3),
            "padding": _PADDING,
        },
        dtypes=_NARROW,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.conv2d",
        "COMPOSITES-022",
        {
            "input": _picture(2),
            "filter": _filter("input", 2),
            "strides": _strides(2),
            "padding": _PADDING,
        },
        dtypes=_NARROW,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.conv3d",
        "COMPOSITES-022",
        {
            "input": _picture(3),
            "filter": _filter("input", 3),
            "strides": _strides_of_filter,
            "padding": _PADDING,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.convolution",
        "COMPOSITES-022",
        {
            "input": _picture(2),
            "filter": _filter("input", 2),
            "strides": _steps(2),
            "dilation_rate": _rates(2),
            "padding": _PADDING,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.atrous_conv2d",
        "COMPOSITES-022",
        {
            "value": _picture(2),
            "filters": _filter("value", 2),
            "rate": chosen(1, 2, 3),
            "padding": fixed("SAME"),
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.depthwise_conv2d",
        "COMPOSITES-022",
        {
            "input": _picture(2),
            "filter": _filter("input", 2),
            "strides": _strides(2, same=True),
            "padding": _PADDING,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.separable_conv2d",
        "COMPOSITES-022",
        {
            "input": _picture(2),
            "depthwise_filter": _filter("input", 2),
            "pointwise_filter": lambda d: d.array(
                [1, 1, int(np.prod(d.values["depthwise_filter"].shape[2:])), 2]
            ),
            "strides": _strides(2, same=True),
            "padding": _PADDING,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.conv2d_transpose",
        "COMPOSITES-022",
        {
            "value": _picture(2),
            "filter": _filter("value", 2, turned=True),
            "strides": _strides(2),
            "padding": _PADDING,
            "output_shape": _shape_before,
        },
        dtypes=WIDE,
        styles=_PLAIN,
        is_static=True,
    ),
    _morphological("dilation2d", "input", "filter"),
    _morphological("erosion2d", "value", "kernel"),
    _pooled("max_pool", 2),
    _pooled("avg_pool", 2),
    _pooled("max_pool3d", 3, "input"),
    _pooled("avg_pool3d", 3, "input"),
    Row(
        "nn.pool",
        "COMPOSITES-023",
        {
            "input": _picture(2),
            "window_shape": lambda d: [d.draw.randint(1, 2) for _ in range(2)],
            "pooling_type": chosen("MAX", "AVG"),
            "strides": lambda d: [d.draw.randint(1, n) for n in d.values["window_shape"]],
            "dilation_rate": _rates(2),
            "padding": lambda d: "VALID" if max(d.values["dilation_rate"]) > 1 else "SAME",
        },
        dtypes=("float32",),
        styles=_PLAIN,
        is_static=True,
    ),
    Row(
        "nn.max_pool_with_argmax",
        "COMPOSITES-023",
        {
            "input": _picture(2),
            "ksize": lambda d: [1, *_steps(2)(d), 1],
            "strides": _strides(2),
            "padding": _PADDING,
            "include_batch_in_index": chosen(False, True),
        },
        dtypes=("float32",),
        styles=_PLAIN,
        is_static=True,
        fetched=items(2),
    ),
    Row(
        "nn.dropout",
        "COMPOSITES-024",
        {"x": lambda d: d.array([d.draw.randint(1, 20), 4]), "rate": chosen(0.0, 0.25, 0.5, 0.9)},
        dtypes=("float32",),
        styles=_PLAIN,
        is_static=True,
        fetched=_kept_or_scaled,
    ),
    Row(
        "nn.embedding_lookup",
        "COMPOSITES-025",
        {
            "params": lambda d: d.array([d.draw.randint(1, 5), 3]),
            "ids": _lookups,
            "max_norm": chosen(None, 0.5, 2.0),
        },
        dtypes=("float32",),
        styles=_PLAIN,
    ),
    *(
        Row(
            f"math.unsorted_segment_{name}",
            "COMPOSITES-026",
            {"data": numbers(1, 3), "segment_ids": _segments, "num_segments": chosen(4, 6)},
            dtypes=WIDE,
            styles=("plain", "empty"),
            is_static=True,
        )
        for name in ("mean", "sqrt_n")
    ),
    Row(
        "math.segment_mean",
        "COMPOSITES-026",
        {"data": numbers(1, 3), "segment_ids": lambda d: np.sort(_segments(d).clip(0))},
        dtypes=WIDE,
        styles=("plain",),
    ),
)
