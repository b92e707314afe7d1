"""Sums and products of the columns of matrices in host memory, in blocks that stay in the cache.

numpy works row by row, and short rows cost it more than their elements. So each block of rows is
taken as a matrix of fewer and longer rows, in which the columns repeat. Threads that shared the
blocks made it slower.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST

__all__ = [
    "column_sums",
    "has_short_rows",
    "leading_sums",
    "scaled",
    "scaled_difference",
    "shifted",
]

#: The elements of a long row, about, and of a block.
_ROW: Final = 1024
_BLOCK: Final = 65536
#: The elements of a block where two matrices are combined, and another holds what is between.
_SHORT_BLOCK: Final = 32768


def has_short_rows(x: Array) -> bool:
    """Whether these are many floats in rows so short that longer ones are worth it."""
    is_float = x.dtype.kind == "f" and x.dtype.itemsize > 2
    return is_float and x.size >= _SHORT_BLOCK and x.shape[-1] < _ROW and x.flags.c_contiguous


def _blocks(count: int, columns: int, most: int = _BLOCK) -> Iterator[tuple[slice, int]]:
    """Blocks of rows, and how many rows of each make a long one."""
    repeats = max(1, _ROW // max(1, columns))
    size = max(1, most // (repeats * max(1, columns))) * repeats
    regular = count // repeats * repeats
    for start in range(0, regular, size):
        yield slice(start, min(start + size, regular)), repeats
    if regular < count:
        yield slice(regular, count), 1


def column_sums(pairs: Sequence[tuple[Array, Array | None]]) -> list[Array]:
    """The sums of each column of products, float64.

    Long sums are of sums of blocks, so that rounding errors stay small.

    Args:
      pairs: pairs of float matrices of one shape, whose elements are multiplied; in place of the
        second one None for 1.

    """
    first = pairs[0][0]
    count, columns = first.shape
    blocks = list(_blocks(count, columns))
    width = columns * max(1, _ROW // max(1, columns))
    sums = HOST.zeros((len(pairs), len(blocks), width), first.dtype)
    for number, (block, repeats) in enumerate(blocks):
        for partial, (left, right) in zip(sums, pairs, strict=True):
            wide = left[block].reshape(-1, repeats * columns)
            out = partial[number, : repeats * columns]
            if right is None:
                HOST.add.reduce(wide, axis=0, out=out)
            else:
                HOST.einsum("ij,ij->j", wide, right[block].reshape(wide.shape), out=out)
    totals = HOST.add.reduce(sums, axis=1, dtype="float64")
    return list(HOST.add.reduce(totals.reshape(len(pairs), -1, columns), axis=1))


def leading_sums(xp: ArrayModule, x: Array) -> Array:
    """The sums over all dimensions but the last, of the dtype of `x`."""
    if xp is HOST and has_short_rows(x):
        (sums,) = column_sums([(x.reshape(-1, x.shape[-1]), None)])
        return sums.astype(x.dtype)
    return xp.add.reduce(x, axis=tuple(range(x.ndim - 1)), dtype=x.dtype)


def shifted(rows: Array, offsets: Array) -> Array:
    """The matrix rows + offsets, a vector of one number a column."""
    out = HOST.empty(rows.shape, rows.dtype)
    repeated = _repeated(offsets)
    for block, repeats in _blocks(*rows.shape):
        (offset,) = repeated(repeats)
        target = out[block].reshape(-1, len(offset))
        HOST.add(rows[block].reshape(target.shape), offset, out=target)
    return out


def scaled(rows: Array, factors: Array, offsets: Array) -> Array:
    """The matrix rows * factors + offsets, the vectors one number a column."""
    out = HOST.empty(rows.shape, rows.dtype)
    repeated = _repeated(factors, offsets)
    for block, repeats in _blocks(*rows.shape):
        factor, offset = repeated(repeats)
        target = out[block].reshape(-1, len(factor))
        HOST.multiply(rows[block].reshape(target.shape), factor, out=target)
        HOST.add(target, offset, out=target)
    return out


def scaled_difference(
    above: Array, factors: Array, rows: Array, slopes: Array, offsets: Array
) -> Array:
    """The matrix above * factors - (rows * slopes + offsets), the vectors one number a column."""
    out = HOST.empty(rows.shape, rows.dtype)
    repeated = _repeated(factors, slopes, offsets)
    count, columns = rows.shape
    scratch = HOST.empty(max(_SHORT_BLOCK, columns), rows.dtype)
    for block, repeats in _blocks(count, columns, _SHORT_BLOCK):
        factor, slope, offset = repeated(repeats)
        target = out[block].reshape(-1, len(factor))
        taken = scratch[: target.size].reshape(target.shape)
        HOST.multiply(rows[block].reshape(target.shape), slope, out=taken)
        HOST.add(taken, offset, out=taken)
        HOST.multiply(above[block].reshape(target.shape), factor, out=target)
        HOST.subtract(target, taken, out=target)
    return out


def _repeated(*vectors: Array) -> Callable[[int], list[Array]]:
    """The function from a number of times to the vectors, each repeated so often."""
    return functools.cache(lambda times: [HOST.tile(vector, times) for vector in vectors])
