"""Products with transposed factors in host memory, as gradients of dense layers are.

BLAS copies the factors of a product into an order of its own first, which takes longer if they are
transposed. For processors with AVX-512 OpenBLAS has kernels for small products, which read both
factors where they lie: there a product with a low matrix is computed as several small ones.
"""

from __future__ import annotations

import functools
from typing import Final

import threadpoolctl

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import one_thread, product

__all__ = ["host_product"]

#: Processors for which OpenBLAS has kernels for small products, by the names that it gives them.
_WITH_SMALL_KERNELS: Final = frozenset({"SkylakeX", "Cooperlake", "SapphireRapids"})
#: The most multiplications of a product that they compute.
_SMALL: Final = 1_000_000
#: The columns or rows of a part of a product, and the most of its other sizes.
_PART: Final = 32
_LOW: Final = 32
#: The most elements of a matrix in a batch whose columns are copied to rows: they stay in cache.
_COPIED: Final = 2**14


@functools.cache
def _has_small_kernels() -> bool:
    """Whether BLAS computes small products without copying their factors first."""
    one_thread()
    return any(
        library.get("architecture") in _WITH_SMALL_KERNELS
        for library in threadpoolctl.threadpool_info()
    )


def host_product(left: Array, right: Array) -> Array:
    """The product of two float matrices (m, k) and (k, n), or of batches, in host memory."""
    if left.dtype == "float32" and left.size and right.size:
        if left.ndim == right.ndim == 2:
            if right.strides[1] != right.itemsize == right.strides[0]:
                return _by_columns(left, right)
            if left.strides[1] != left.itemsize == left.strides[0]:
                return _by_rows(left, right)
        elif right.strides[-1] != right.itemsize and right.ndim > 2:
            rows, inner, columns = left.shape[-2], *right.shape[-2:]
            if rows >= _PART and inner * columns <= _COPIED:
                right = HOST.ascontiguousarray(right)
    return product(HOST, left, right)


def _by_columns(left: Array, right: Array) -> Array:
    """A product with a transposed right factor, in parts of its columns where that is faster."""
    (rows, inner), columns = left.shape, right.shape[1]
    is_low = 1 < rows <= _LOW and columns % _PART == 0 and columns > _PART
    size = rows * inner * columns  # what is small already is left to BLAS
    if not is_low or size <= _SMALL or size * _PART > _SMALL * columns or not _has_small_kernels():
        return product(HOST, left, right)
    out = HOST.empty((rows, columns), left.dtype)
    parts = right.T.reshape(-1, _PART, inner).swapaxes(1, 2)
    HOST.matmul(left, parts, out=out.reshape(rows, -1, _PART).swapaxes(0, 1))
    return out


def _by_rows(left: Array, right: Array) -> Array:
    """A product with a transposed left factor, in parts of its rows where that is faster."""
    (rows, inner), columns = left.shape, right.shape[1]
    is_short = 1 < inner <= _LOW and rows % _PART == 0 and rows > _PART
    size = rows * inner * columns
    if not is_short or size <= _SMALL or size * _PART > _SMALL * rows or not _has_small_kernels():
        return product(HOST, left, right)
    out = HOST.empty((rows, columns), left.dtype)
    parts = left.reshape(-1, _PART, inner)
    HOST.matmul(parts, right, out=out.reshape(-1, _PART, columns))
    return out
