"""Faults of Fourier transforms."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.fourier import real_dtypes
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def rank_below(draw: Draw, x: str, rank: int) -> Fault:
    """A tensor with fewer dimensions than are transformed."""
    if "Treal" in draw.attrs:
        real_dtypes(draw)
    arguments = valid(draw)
    return changed(draw, arguments, "shapes", **{x: draw.tensor(x, (4,) * (rank - 1), "plain")})


@fault
def length_beyond(draw: Draw, x: str, fft_length: str) -> Fault:
    """A length of more than there is."""
    arguments = valid(draw)
    lengths = arguments.inputs[fft_length].copy()
    lengths[0] = 2 * arguments.inputs[x].shape[-lengths.size] + 2
    return changed(draw, arguments, "run", **{fft_length: lengths.astype(np.int32)})
