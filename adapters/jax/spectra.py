"""Translations of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from sessrun.adapters.jax.rules import NUMBERS, Array, Node, numpy_of, rule

__all__: list[str] = []


def _complex(function: Callable[..., Array], rank: int) -> Callable[..., Array]:
    """A transform of the last axes."""

    def translate(_node: Node, x: Array) -> Array:
        return function(x, axes=tuple(range(-rank, 0))) if x.size else x

    return translate


def _real(rank: int) -> Callable[..., Array]:
    """A transform of real numbers, cropped or padded to `fft_length`."""

    def translate(node: Node, x: Array, length: Array) -> Array:
        sizes = length.tolist()
        node.check(len(sizes) == rank, f"fft_length has not {rank} numbers")
        half = (*sizes[:-1], sizes[-1] // 2 + 1 if sizes[-1] else 0)
        shape, dtype = (*x.shape[:-rank], *half), numpy_of(node["Tcomplex"])
        if 0 in shape or x.size == 0:
            return jnp.zeros(shape, dtype)
        return jnp.fft.rfftn(x, sizes, tuple(range(-rank, 0))).astype(dtype)

    return translate


def _inverse_real(rank: int) -> Callable[..., Array]:
    """The inverse, of which half is given."""

    def translate(node: Node, x: Array, length: Array) -> Array:
        sizes = length.tolist()
        node.check(len(sizes) == rank, f"fft_length has not {rank} numbers")
        shape, dtype = (*x.shape[:-rank], *sizes), numpy_of(node["Treal"])
        if 0 in shape or x.size == 0:
            return jnp.zeros(shape, dtype)
        return jnp.fft.irfftn(x, sizes, tuple(range(-rank, 0))).astype(dtype)

    return translate


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    rule(f"FFT{_suffix}", dtypes=NUMBERS)(_complex(jnp.fft.fftn, _rank))
    rule(f"IFFT{_suffix}", dtypes=NUMBERS)(_complex(jnp.fft.ifftn, _rank))
    rule(f"RFFT{_suffix}", dtypes=NUMBERS, constants="fft_length")(_real(_rank))
    rule(f"IRFFT{_suffix}", dtypes=NUMBERS, constants="fft_length")(_inverse_real(_rank))
