"""Value domains of fractional poolings."""

from __future__ import annotations

import itertools

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


@domain
def fractional(draw: Draw, x: str) -> Arguments:
    """Images, ratios of 1 to 2 and seeds; every run gives the same."""
    draw.attrs.update(
        deterministic=True,
        seed=draw.random.randint(1, 1000),
        seed2=draw.random.randint(0, 1000),
        pooling_ratio=(1.0, *(draw.random.uniform(1.0, 2.0) for _ in range(2)), 1.0),
    )
    shape = (draw.dim(1, 2), draw.random.randint(2, 7), draw.random.randint(2, 7), draw.dim(1, 3))
    return draw.arguments(**{x: draw.tensor(x, shape, "plain")})


def _borders(draw: Draw, size: int) -> list[int]:
    """The borders of at least one window, from 0 to the size."""
    inner = [border for border in range(1, size) if draw.chance(0.5)]
    return [0, *inner, size]


def _spans(draw: Draw, borders: list[int], size: int) -> list[slice]:
    more = 1 if draw.attrs["overlapping"] else 0
    return [slice(a, min(b + more, size)) for a, b in itertools.pairwise(borders)]


@domain
def fractional_back(draw: Draw, x: str, y: str, grad: str, rows: str, columns: str) -> Arguments:
    """Images, the maxima of windows between random borders, and a gradient of them.

    Left out are more pairs of borders than numbers, which TensorFlow refuses.
    """
    shape = (draw.dim(1, 2), draw.random.randint(2, 6), draw.random.randint(2, 6), draw.dim(1, 3))
    values = draw.tensor(x, shape, "small")
    borders = [_borders(draw, size) for size in shape[1:3]]
    if len(borders[0]) * len(borders[1]) > values.size:
        borders = [[0, size] for size in shape[1:3]]
    spans = [_spans(draw, edges, size) for edges, size in zip(borders, shape[1:3], strict=True)]
    largest = np.stack(
        [
            np.stack([values[:, row, column].max(axis=(1, 2)) for column in spans[1]], axis=1)
            for row in spans[0]
        ],
        axis=1,
    )
    return draw.arguments(
        **{
            x: values,
            y: largest,
            grad: draw.tensor(grad, largest.shape, "small"),
            rows: draw.integers(rows, borders[0]),
            columns: draw.integers(columns, borders[1]),
        }
    )


@domain
def fractional_mean_back(draw: Draw, sizes: str, grad: str, rows: str, columns: str) -> Arguments:
    """The sizes of images, and a gradient of the means of windows between random borders."""
    shape = (draw.dim(1, 2), draw.random.randint(2, 6), draw.random.randint(2, 6), draw.dim(1, 3))
    borders = [_borders(draw, size) for size in shape[1:3]]
    above = (shape[0], len(borders[0]) - 1, len(borders[1]) - 1, shape[3])
    return draw.arguments(
        **{
            sizes: draw.integers(sizes, shape),
            grad: draw.tensor(grad, above, "small"),
            rows: draw.integers(rows, borders[0]),
            columns: draw.integers(columns, borders[1]),
        }
    )
