"""Sums and maxima along the last axis, which numpy takes row by row: short rows by other ways."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import product

__all__ = ["row_maxima", "row_sums"]

#: The longest rows that BLAS sums, and the longest that are halved for their maxima.
_SUMMED: Final = 2048
_HALVED: Final = 128
#: The elements from which on that is worth it.
_MANY: Final = 1024


def row_sums(xp: ArrayModule, x: Array) -> Array:
    """The sums along the last axis, which stays with the size 1.

    Short rows of float32 are multiplied by ones: BLAS adds them in as many partial sums as numpy
    does, and has less to do for each row.
    """
    length = x.shape[-1]
    if xp is HOST and x.dtype == "float32" and 0 < length <= _SUMMED and x.size >= _MANY:
        ones = HOST.ones((length, 1), x.dtype)
        return product(HOST, x.reshape(-1, length), ones).reshape(*x.shape[:-1], 1)
    # numpy sums pairwise along a contiguous axis only; else rounding errors add up.
    return xp.add.reduce(xp.ascontiguousarray(x), axis=-1, keepdims=True)


def row_maxima(xp: ArrayModule, x: Array) -> Array:
    """The maxima along the last axis, which stays with the size 1; NaN where a row has one."""
    if xp is HOST and x.ndim and x.shape[-1] <= _HALVED and x.size >= _MANY:
        while x.shape[-1] % 2 == 0:
            half = x.shape[-1] // 2
            x = HOST.maximum(x[..., :half], x[..., half:])
    return xp.max(x, axis=-1, keepdims=True)
