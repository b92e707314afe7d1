"""Value domains of operations that count, and of the distances between sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sparse import draw_places

__all__: list[str] = []


@domain
def dense_counted(draw: Draw, x: str, size: str, weights: str) -> Arguments:
    """A vector or a matrix of numbers, some not below the size; weights for each, or none."""
    shape = draw.shape(1, 2, 1)
    numbers = draw.values("uint8", shape) % 9
    has_weights = draw.chance(0.5) and not draw.attrs["binary_output"]
    return draw.arguments(
        **{
            x: draw.integers(x, numbers),
            size: draw.integers(size, draw.random.randint(1, 10)),
            weights: draw.tensor(weights, shape if has_weights else (0,), "small"),
        }
    )


@domain
def counted_in_rows(draw: Draw, splits: str, values: str, size: str, weights: str) -> Arguments:
    """Numbers in rows, some not below the size, and weights for each, or none."""
    lengths = [draw.random.randint(0, 3) for _ in range(draw.random.randint(1, 4))]
    ends = np.cumsum([0, *lengths])
    numbers = [draw.random.randint(0, 8) for _ in range(int(ends[-1]))]
    count = len(numbers) if draw.chance(0.5) else 0
    return draw.arguments(
        **{
            splits: draw.integers(splits, ends),
            values: draw.integers(values, numbers),
            size: draw.integers(size, draw.random.randint(0, 10)),
            weights: draw.tensor(weights, (count,), "small"),
        }
    )


@domain
def between_boundaries(draw: Draw, x: str) -> Arguments:
    """Numbers, and some boundaries in order, which may be equal; some numbers are boundaries."""
    boundaries = sorted(draw.random.randint(-4, 4) for _ in range(draw.random.randint(0, 5)))
    draw.attrs["boundaries"] = [float(boundary) for boundary in boundaries]
    return draw.arguments(**{x: draw.tensor(x, draw.shape(), "small")})


@domain
def binned(draw: Draw, values: str, value_range: str, nbins: str) -> Arguments:
    """Values, most of them within a range, and a number of bins.

    Left out: values on the edge of a bin, which rounding decides: the range is a power of two.
    """
    low = float(draw.random.randint(-4, 0))
    wide = draw.random.choice([8.0, 16.0])
    return draw.arguments(
        **{
            values: draw.tensor(values, draw.shape(0, 3), "small"),
            value_range: np.array([low, low + wide]).astype(draw.tensor(value_range, ()).dtype),
            nbins: draw.integers(nbins, draw.random.choice([1, 2, 4, 8])),
        }
    )


@domain
def nth(draw: Draw, x: str, n: str) -> Arguments:
    """Rows that are not empty, without NaN, and which of their numbers in order is wanted."""
    shape = draw.shape(1, 4, 1)
    position = draw.random.randrange(shape[-1])
    return draw.arguments(**{x: draw.tensor(x, shape, "small"), n: draw.integers(n, position)})


def _sequences(draw: Draw, rows: int) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Sequences of a few numbers as a sparse tensor of one shape with others."""
    places, values = [], []
    for row in range(rows):
        for column in range(draw.random.randint(0, 4)):
            places.append([row, column])
            values.append(draw.random.randint(0, 2))
    return np.array(places, np.int64).reshape(-1, 2), values, np.array([rows, 4], np.int64)


@domain
def sequence_pairs(draw: Draw, name: str, other: str) -> Arguments:
    """Two sparse matrices whose rows are sequences of numbers, some of them empty."""
    draw.attrs["T"] = draw.random.choice(["int32", "int64", "float32", "uint8"])
    rows = draw.random.randint(1, 4)
    inputs: dict[str, np.ndarray] = {}
    for word, text in (("hypothesis", name), ("truth", other)):
        indices, values, shape = _sequences(draw, rows)
        numbers = np.array(values).astype(draw.tensor(text, ()).dtype)
        inputs |= {f"{word}_indices": indices, f"{word}_values": numbers, f"{word}_shape": shape}
    return draw.arguments(**inputs)


@domain
def logarithms(draw: Draw, x: str, axis: str) -> Arguments:
    """Numbers of rank 1 at least, and an axis.

    Left out: NaN, which TensorFlow passes over.
    """
    shape = draw.shape(1, 4)
    return draw.arguments(
        **{x: draw.tensor(x, shape, "plain"), axis: draw.integers(axis, draw.axis(len(shape)))}
    )


def _lengths(draw: Draw) -> None:
    for name in ("minlength", "maxlength"):
        draw.attrs[name] = draw.random.choice((-1, -1, 0, 3, 8))


def _weights(draw: Draw, name: str, shape: Sequence[int]) -> np.ndarray:
    return draw.tensor(name, shape if draw.chance(0.5) else (0,) * len(shape), "small")


@domain
def counted_rows(draw: Draw, values: str, weights: str) -> Arguments:
    """A vector or a matrix of small numbers, and weights for each, or none."""
    _lengths(draw)
    shape = draw.shape(1, 2, 1)
    numbers = draw.values("uint8", shape) % 9
    return draw.arguments(
        **{
            values: draw.integers(values, numbers),
            weights: _weights(draw, weights, shape),
        }
    )


def _sparse_numbers(draw: Draw, names: Sequence[str]) -> tuple[dict[str, Any], int]:
    """A sparse vector or matrix of small numbers, and how many it has."""
    shape = [draw.dim(1, 4) for _ in range(draw.rank(1, 2))]
    places = draw_places(draw, shape)
    numbers = [draw.random.randint(0, 8) for _ in places]
    parts = {
        names[0]: np.array(places, np.int64).reshape(-1, len(shape)),
        names[1]: draw.integers(names[1], np.array(numbers, np.int64)),
        names[2]: np.array(shape, np.int64),
    }
    return parts, len(numbers)


@domain
def sparse_counted_rows(
    draw: Draw, indices: str, values: str, shape: str, weights: str
) -> Arguments:
    """A sparse vector or matrix of small numbers, and weights for each, or none.

    Left out: higher ranks, of which the result has other dimensions than TensorFlow's shape says.
    """
    _lengths(draw)
    parts, count = _sparse_numbers(draw, (indices, values, shape))
    return draw.arguments(**parts, **{weights: _weights(draw, weights, (count,))})


@domain
def sparse_counted(
    draw: Draw, indices: str, values: str, shape: str, size: str, weights: str
) -> Arguments:
    """A sparse vector or matrix of small numbers, a size, and weights for each, or none."""
    parts, count = _sparse_numbers(draw, (indices, values, shape))
    return draw.arguments(
        **parts,
        **{
            size: draw.integers(size, draw.random.randint(1, 10)),
            weights: _weights(draw, weights, (count,)),
        },
    )
