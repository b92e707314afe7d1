"""Value domains of random operations: with seeds, so that what they draw is determined."""

from __future__ import annotations

from typing import Final

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__ = ["draw_interval", "draw_seeds", "drawn_shape"]

#: No tensor is drawn at random with more elements.
_MOST_ELEMENTS: Final = 1500


def draw_seeds(draw: Draw) -> None:
    """Two seeds, small, of 64 bits or 0, but not both 0, which would mean none."""
    for name in ("seed", "seed2"):
        bits = draw.random.choice((1, 7, 31, 63))
        draw.attrs[name] = draw.random.randint(-(2**bits), 2**bits - 1)
    if draw.attrs["seed"] == draw.attrs["seed2"] == 0:
        draw.attrs["seed2"] = 1


def drawn_shape(draw: Draw) -> list[int]:
    """A shape of few elements, or a vector's of many."""
    if draw.chance(0.25):
        return [draw.random.randint(0, _MOST_ELEMENTS)]
    return list(draw.shape())


@domain
def drawn(draw: Draw, shape: str) -> Arguments:
    """A shape, and seeds."""
    draw_seeds(draw)
    return draw.arguments(**{shape: draw.integers(shape, drawn_shape(draw))})


def draw_interval(draw: Draw, minval: str) -> tuple[int, int]:
    """The ends of an interval of an input's dtype that is not empty."""
    bits = 8 * BY_NAME[draw.dtype(minval)].itemsize - 1
    least, most = -(2**bits), 2**bits - 1
    low = draw.random.choice(
        (0, least, draw.random.randint(-50, 50), draw.random.randint(least, most - 1))
    )
    high = draw.random.choice(
        (low + 1, most, low + draw.random.randint(1, 100), draw.random.randint(low + 1, most))
    )
    return low, min(high, most)


@domain
def drawn_between(draw: Draw, shape: str, minval: str, maxval: str) -> Arguments:
    """A shape, seeds, and an interval of the dtype that is not empty: short, long or all of it."""
    draw_seeds(draw)
    low, high = draw_interval(draw, minval)
    return draw.arguments(
        **{
            shape: draw.integers(shape, drawn_shape(draw)),
            minval: draw.integers(minval, low),
            maxval: draw.integers(maxval, high),
        }
    )


@domain
def drawn_classes(draw: Draw, logits: str, num_samples: str) -> Arguments:
    """Unnormalised logarithms of probabilities, and how many samples.

    Left out: work large enough to be divided among threads, which TensorFlow draws otherwise.
    """
    draw_seeds(draw)
    rows = (draw.dim(), draw.dim(1))
    return draw.arguments(
        **{
            logits: draw.tensor(logits, rows, "plain"),
            num_samples: draw.integers(num_samples, draw.random.randint(0, 9)),
        }
    )


@domain
def shuffled(draw: Draw, value: str) -> Arguments:
    """A tensor of any dtype, and seeds."""
    draw_seeds(draw)
    return draw.arguments(**{value: draw.tensor(value, drawn_shape(draw))})
