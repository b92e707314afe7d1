"""Definitions of Fourier transforms: sums of products with roots of 1, in complex128."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide

__all__: list[str] = []


def _transformed(x: Array, axis: int, sign: int) -> Array:
    """`sum over k of x[k] exp(sign 2 pi i j k / n)` along an axis, of `n` elements."""
    size = x.shape[axis]
    numbers = np.arange(size)
    roots = np.exp(sign * 2j * np.pi * (numbers[:, None] * numbers % max(size, 1)) / max(size, 1))
    return np.moveaxis(np.tensordot(np.moveaxis(x, axis, -1), roots, 1), -1, axis)


def _of_axes(x: Array, rank: int, sign: int) -> Array:
    """Along each of the last `rank` dimensions; the inverse is over the number of elements."""
    result = x.astype(np.complex128)
    for axis in range(-rank, 0):
        result = _transformed(result, axis, sign)
        if sign > 0:
            result = result / x.shape[axis]
    return result


def _cut(x: Array, lengths: list[int]) -> Array:
    """The first elements along the last dimensions, zeros behind them where there are too few."""
    for axis, length in zip(range(-len(lengths), 0), lengths, strict=True):
        rows = np.moveaxis(x, axis, 0)[:length]
        more = np.zeros((length - len(rows), *rows.shape[1:]), x.dtype)
        x = np.moveaxis(np.concatenate([rows, more]), 0, axis)
    return x


def _real_inverse(x: Array, length: int) -> Array:
    """The real signal of that length of half a spectrum along the last dimension.

    The numbers that are not there are the conjugates of those that are; of the first, and of the
    last one of an even length, the real part counts.
    """
    half = _cut(x, [length // 2 + 1])
    times = np.arange(length)
    total = np.zeros((*x.shape[:-1], length))
    for k in range(length // 2 + 1):
        wave = half[..., k, None] * np.exp(2j * np.pi * (k * times % length) / length)
        total += wave.real * (1 if k in {0, length / 2} else 2)
    return total / length


def _define(rank: int, name: str) -> None:
    @definition(f"FFT{name}")
    def forward(x: Array) -> Array:
        return _of_axes(x, rank, -1)

    @definition(f"IFFT{name}")
    def inverse(x: Array) -> Array:
        return _of_axes(x, rank, 1)

    @definition(f"RFFT{name}")
    def real(x: Array, fft_length: Array) -> Array:
        """The first half of the spectrum along the last dimension, `n // 2 + 1` numbers."""
        lengths = [int(length) for length in fft_length]
        return _of_axes(_cut(wide(x), lengths), rank, -1)[..., : lengths[-1] // 2 + 1]

    @definition(f"IRFFT{name}")
    def real_inverse(x: Array, fft_length: Array) -> Array:
        lengths = [int(length) for length in fft_length]
        half = _cut(wide(x), [*lengths[:-1], lengths[-1] // 2 + 1])
        for axis, length in zip(range(-rank, -1), lengths, strict=False):
            half = _transformed(half, axis, 1) / length
        return _real_inverse(half, lengths[-1])


for _rank, _name in ((1, ""), (2, "2D"), (3, "3D")):
    _define(_rank, _name)
