"""Shape rules of Fourier transforms of real numbers."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    as_dim,
    at_least,
    exactly,
    rule,
    with_rank,
)

__all__: list[str] = []


def _lengths(shape: Shape, fft_length: Known, rank: int) -> tuple[Shape, list[Dim]]:
    """The dimensions that are not transformed, and the lengths of the others."""
    dims = at_least(shape, rank)
    (count,) = with_rank(fft_length.shape, 1)
    exactly(count, rank)
    lengths = [as_dim(size) for size in fft_length.elements(rank)]
    return None if dims is None else dims[: len(dims) - rank], lengths


@rule
def real_spectrum(shape: Shape, fft_length: Known, rank: int) -> list[Shape]:
    """Half of the last dimension and one more, of a signal of the given lengths."""
    batch, lengths = _lengths(shape, fft_length, rank)
    if batch is None:
        return [None]
    last = lengths[-1]
    half = last // 2 + 1 if last else last
    return [(*batch, *lengths[:-1], half)]


@rule
def real_signal(shape: Shape, fft_length: Known, rank: int) -> list[Shape]:
    """The given lengths in the last dimensions."""
    batch, lengths = _lengths(shape, fft_length, rank)
    return [None if batch is None else (*batch, *lengths)]
