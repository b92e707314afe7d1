"""Value domains of reductions, running sums and segments."""

from __future__ import annotations

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__ = ["some_axes"]


def some_axes(draw: Draw, rank: int) -> list[int]:
    """Different axes of a tensor, counted from the front or the back; perhaps none."""
    axes = draw.random.sample(range(rank), draw.random.randint(0, rank))
    return [axis - rank if draw.chance(0.3) else axis for axis in axes]


def _style(draw: Draw, dtype: str) -> str:
    """Values whose sums and products stay in range: extremes only of dtypes that wrap."""
    if BY_NAME[dtype].kind in {"int", "uint"}:
        return "any" if draw.chance(0.3) else "small"
    if "prod" in draw.operation.name.lower():
        return "factor"
    return draw.random.choice(["small", "unit", "plain"])


@domain
def reduction(draw: Draw, x: str, indices: str) -> Arguments:
    """A tensor and the axes to reduce: a vector, or a scalar for one axis.

    Left out: the integer mean of no elements, and NaN among the numbers that are compared.
    """
    least = 1 if draw.operation.name == "Mean" else 0
    shape = draw.shape(0, 5, least)
    axes: object = some_axes(draw, len(shape))
    if shape and draw.chance(0.2):
        axes = draw.axis(len(shape))
    values = draw.tensor(x, shape, _style(draw, draw.dtype(x)))
    return draw.arguments(**{x: values, indices: draw.integers(indices, axes)})


@domain
def arg_reduction(draw: Draw, x: str, dimension: str) -> Arguments:
    """A tensor of rank 1 at least, its axis not empty; equal elements are frequent.

    Left out: NaN, whose order is the backend's own affair.
    """
    shape = draw.shape(1, 5, 1)
    values = draw.tensor(x, shape, draw.random.choice(["small", "finite"]))
    return draw.arguments(**{x: values, dimension: draw.integers(dimension, draw.axis(len(shape)))})


@domain
def cumulative(draw: Draw, x: str, axis: str) -> Arguments:
    """A tensor of rank 1 at least and an axis."""
    shape = draw.shape(1, 4)
    values = draw.tensor(x, shape, _style(draw, draw.dtype(x)))
    return draw.arguments(**{x: values, axis: draw.integers(axis, draw.axis(len(shape)))})


def _numbers(draw: Draw, name: str) -> str:
    """As `_style`, without NaN."""
    style = _style(draw, draw.dtype(name))
    return "plain" if style == "unit" else style


@domain
def sorted_segments(draw: Draw, data: str, segment_ids: str) -> Arguments:
    """Rows and rising segment ids, some left out.

    Left out: empty data, of which TensorFlow makes an empty tensor or an error by dtype; NaN,
    which its maxima and minima pass over.
    """
    shape = draw.shape(1, 4, 1)
    steps = [draw.random.choice([0, 0, 1, 2]) for _ in range(shape[0])]
    ids = np.cumsum(steps)
    values = draw.tensor(data, shape, _numbers(draw, data))
    return draw.arguments(**{data: values, segment_ids: draw.integers(segment_ids, ids)})


@domain
def segments(draw: Draw, data: str, segment_ids: str, num_segments: str) -> Arguments:
    """Slices, ids in any order (negative ones go nowhere), and how many segments.

    Left out: NaN, as in `sorted_segments`.
    """
    shape = draw.shape(1, 4, 1)
    ranks = draw.random.randint(1, len(shape))
    count = draw.random.randint(1, 6)
    number = int(np.prod(shape[:ranks]))
    ids = [draw.random.randint(-1, count - 1) for _ in range(number)]
    values = draw.tensor(data, shape, _numbers(draw, data))
    return draw.arguments(
        **{
            data: values,
            segment_ids: draw.integers(segment_ids, ids).reshape(shape[:ranks]),
            num_segments: draw.integers(num_segments, count),
        }
    )


@domain
def counted(draw: Draw, arr: str, size: str, weights: str) -> Arguments:
    """Numbers, some not below the size; weights for each, or none."""
    shape = draw.shape(1, 3)
    numbers = draw.values("uint8", shape) % 9
    weighed = shape if draw.chance(0.5) else (0,)
    return draw.arguments(
        **{
            arr: draw.integers(arr, numbers),
            size: draw.integers(size, draw.random.randint(1, 10)),
            weights: draw.tensor(weights, weighed, "small"),
        }
    )
