"""Products with transposed factors in host memory, as gradients of dense layers are.

BLAS copies the factors of a product into an order of its own first, which takes longer if they are
transposed. For processors with AVX-512 OpenBLAS has kernels for small products, which read both
factors where they lie: there a product with a low matrix is computed as several small ones.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import product, rows_at_once

__all__ = ["host_product"]

#: The most multiplications of a product that `dot` computes: it begins sooner than `matmul`.
_TINY: Final = 2**16
#: The columns or rows of a part of a product, and the most of its other sizes.
_PART: Final = 32
_LOW: Final = 32
#: The most elements of a matrix in a batch whose columns are copied to rows: they stay in cache.
_COPIED: Final = 2**14


def host_product(left: Array, right: Array) -> Array:
    """The product of two float matrices (m, k) and (k, n), or of batches, in host memory."""
    if left.ndim == right.ndim == 2 and left.size * right.shape[1] <= _TINY:
        return HOST.dot(left, right)
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
    # What is small as it is, or too large in parts, is left to BLAS.
    if not is_low or not rows_at_once(inner, columns) < rows <= rows_at_once(inner, _PART):
        return product(HOST, left, right)
    out = HOST.empty((rows, columns), left.dtype)
    parts = right.T.reshape(-1, _PART, inner).swapaxes(1, 2)
    HOST.matmul(left, parts, out=out.reshape(rows, -1, _PART).swapaxes(0, 1))
    return out


def _by_rows(left: Array, right: Array) -> Array:
    """A product with a transposed left factor, in parts of its rows where that is faster."""
    (rows, inner), columns = left.shape, right.shape[1]
    is_short = 1 < inner <= _LOW and rows % _PART == 0 and rows > _PART
    if not is_short or not _PART <= rows_at_once(inner, columns) < rows:
        return product(HOST, left, right)
    out = HOST.empty((rows, columns), left.dtype)
    parts = left.reshape(-1, _PART, inner)
    HOST.matmul(parts, right, out=out.reshape(-1, _PART, columns))
    return out
