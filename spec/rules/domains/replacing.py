"""Value domains of tensors of which a part is replaced, and of what is put together in parts."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []

#: What TensorFlow's CPU adds to rows and copies.
_NUMBERS = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
)


def _number(draw: Draw) -> None:
    """A dtype of numbers."""
    if draw.attrs["T"] not in _NUMBERS:
        draw.attrs["T"] = draw.random.choice(_NUMBERS)


@domain
def copied(draw: Draw, x: str) -> Arguments:
    """A tensor of numbers."""
    _number(draw)
    return draw.arguments(**{x: draw.tensor(x, draw.shape())})


@domain
def replaced_rows(draw: Draw, x: str, i: str, v: str, often: str = "") -> Arguments:
    """A tensor of rows, numbers of rows, and a row for each; `once` names no row twice."""
    _number(draw)
    shape = draw.shape(1, 4, 1)
    count = draw.random.randint(0, shape[0])
    rows = [draw.random.randrange(shape[0]) for _ in range(count)]
    if often == "once":
        rows = draw.random.sample(range(shape[0]), count)
    far = [row + shape[0] * draw.random.choice([0, 0, -1, 1]) for row in rows]
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "small"),
            i: draw.integers(i, far),
            v: draw.tensor(v, (count, *shape[1:]), "small"),
        }
    )


@domain
def unique_along(draw: Draw, x: str, axis: str) -> Arguments:
    """A tensor in which slices along an axis come again, and that axis; none for a vector."""
    if draw.chance(0.3):
        vector = draw.tensor(x, (draw.random.randint(0, 12),), "small")
        return draw.arguments(**{x: vector, axis: draw.integers(axis, [])})
    shape = draw.shape(1, 4, 1)
    values, along = draw.tensor(x, shape, "small"), draw.axis(len(shape))
    again = [draw.random.randrange(shape[along]) for _ in range(draw.random.randint(1, 6))]
    return draw.arguments(
        **{x: np.take(values, again, axis=along), axis: draw.integers(axis, [along])}
    )


@domain
def unraveled(draw: Draw, indices: str, dims: str) -> Arguments:
    """A shape, and flat indices of its elements, one or a vector."""
    shape = draw.shape(1, 4, 1)
    sizes = () if draw.chance(0.2) else (draw.random.randint(1, 6),)
    places = [draw.random.randrange(int(np.prod(shape))) for _ in range(int(np.prod(sizes)))]
    return draw.arguments(
        **{indices: draw.integers(indices, places).reshape(sizes), dims: draw.integers(dims, shape)}
    )
