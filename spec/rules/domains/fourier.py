"""Value domains of Fourier transforms."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__ = ["real_dtypes"]


def _sides(draw: Draw, rank: int) -> list[int]:
    """The lengths of dimensions that are transformed, none of them 0."""
    return [draw.dim(1, 12 if rank == 1 else 5) for _ in range(rank)]


def _batch(draw: Draw) -> tuple[int, ...]:
    return draw.shape(0, 1, 1)


def real_dtypes(draw: Draw) -> None:
    """Let the real dtype and the complex one be of one precision."""
    pairs = [("float32", "complex64"), ("float64", "complex128")]
    draw.attrs["Treal"], draw.attrs["Tcomplex"] = draw.random.choice(pairs)


@domain
def spectrum(draw: Draw, x: str, rank: int) -> Arguments:
    """Complex numbers; no dimension that is transformed is 0."""
    shape = (*_batch(draw), *_sides(draw, rank))
    return draw.arguments(**{x: draw.tensor(x, shape, "plain")})


@domain
def real_signal(draw: Draw, x: str, fft_length: str, rank: int) -> Arguments:
    """Real numbers, and how many of them are transformed: all, or fewer."""
    real_dtypes(draw)
    sides = _sides(draw, rank)
    lengths = [side if draw.chance(0.6) else draw.random.randint(1, side) for side in sides]
    values = draw.tensor(x, (*_batch(draw), *sides), "plain")
    return draw.arguments(**{x: values, fft_length: np.array(lengths, np.int32)})


@domain
def half_spectrum(draw: Draw, x: str, fft_length: str, rank: int) -> Arguments:
    """Half of a spectrum, perhaps with more than is needed, and the lengths of the real signal.

    The first number of the last dimension, and the last one of an even length, are real.
    """
    real_dtypes(draw)
    lengths = _sides(draw, rank)
    half = lengths[-1] // 2 + 1
    more = draw.random.randint(0, 2)
    values = draw.tensor(x, (*_batch(draw), *lengths[:-1], half + more), "plain")
    if rank == 1:
        values[..., 0] = values[..., 0].real
        if lengths[-1] % 2 == 0:
            values[..., half - 1] = values[..., half - 1].real
    return draw.arguments(**{x: values, fft_length: np.array(lengths, np.int32)})
