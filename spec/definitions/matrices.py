"""Definitions of matrix products, and of diagonals and bands of matrices."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, numpy_dtype, wide

__all__ = ["adjoint", "product"]


def product(x: Array, y: Array) -> Array:
    """Products of batches of matrices, which broadcast: sums of products of rows and columns."""
    terms = x[..., :, :, None] * y[..., None, :, :]
    return terms.sum(axis=-2, dtype=terms.dtype)


def _turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def adjoint(x: Array) -> Array:
    """Rows and columns exchanged, and complex numbers conjugated."""
    return np.conj(_turned(x)) if x.dtype.kind == "c" else _turned(x)


@definition("MatMul")
def _mat_mul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    """The product, of floats rounded once; a transposed one is not conjugated."""
    left, right = wide(a), wide(b)
    return product(_turned(left) if transpose_a else left, _turned(right) if transpose_b else right)


@definition("SparseMatMul")
def _sparse_mat_mul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    left, right = wide(a), wide(b)
    return product(_turned(left) if transpose_a else left, _turned(right) if transpose_b else right)


@definition("BatchMatMul", "BatchMatMulV2")
def _batch_mat_mul(x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
    """The same of batches; `adj` conjugates, too."""
    left, right = wide(x), wide(y)
    return product(adjoint(left) if adj_x else left, adjoint(right) if adj_y else right)


@definition("BatchMatMulV3")
def _batch_mat_mul_v3(
    x: Array,
    y: Array,
    *,
    adj_x: bool,
    adj_y: bool,
    Tout: str,  # noqa: N803 - the attribute's name
) -> Array:
    """The same of two dtypes, in the dtype of the result if that is one of integers."""
    target = wide(np.zeros((), numpy_dtype(Tout))).dtype
    left, right = x.astype(target), y.astype(target)
    return product(adjoint(left) if adj_x else left, adjoint(right) if adj_y else right)


@definition("Einsum")
def _einsum(inputs: list[Array], *, equation: str) -> Array:
    """For all values of the labels of the result the sum over the others of the products."""
    return np.einsum(equation, *map(wide, inputs))


@definition("Cross")
def _cross(a: Array, b: Array) -> Array:
    """`a[i] b[j] - a[j] b[i]` for (i, j) = (1, 2), (2, 0), (0, 1) of vectors of three."""
    pairs = ((1, 2), (2, 0), (0, 1))
    left, right = wide(a), wide(b)
    parts = [left[..., i] * right[..., j] - left[..., j] * right[..., i] for i, j in pairs]
    return np.stack(parts, axis=-1)


@definition("Diag")
def _diag(diagonal: Array) -> Array:
    """A tensor of twice the rank: at (i, i) the element at i, elsewhere 0."""
    result = np.zeros(diagonal.shape * 2, diagonal.dtype)
    for position in np.ndindex(diagonal.shape):
        result[position + position] = diagonal[position]
    return result


@definition("DiagPart")
def _diag_part(x: Array) -> Array:
    half = x.shape[: x.ndim // 2]
    result = np.empty(half, x.dtype)
    for position in np.ndindex(half):
        result[position] = x[position + position]
    return result


@definition("MatrixDiag", "BatchMatrixDiag")
def _matrix_diag(diagonal: Array) -> Array:
    size = diagonal.shape[-1]
    result = np.zeros((*diagonal.shape, size), diagonal.dtype)
    for i in range(size):
        result[..., i, i] = diagonal[..., i]
    return result


@definition("MatrixDiagPart", "BatchMatrixDiagPart")
def _matrix_diag_part(x: Array) -> Array:
    size = min(x.shape[-2:])
    result = np.empty((*x.shape[:-2], size), x.dtype)
    for i in range(size):
        result[..., i] = x[..., i, i]
    return result


@definition("MatrixSetDiag", "BatchMatrixSetDiag")
def _matrix_set_diag(x: Array, diagonal: Array) -> Array:
    result = x.copy()
    for i in range(min(x.shape[-2:])):
        result[..., i, i] = diagonal[..., i]
    return result


@definition("MatrixBandPart", "BatchMatrixBandPart")
def _band_part(x: Array, lower: Array, upper: Array) -> Array:
    """Zeros more than `lower` below the diagonal and more than `upper` above; negative for all."""
    rows, columns = np.indices(x.shape[-2:])
    low, high = int(np.reshape(lower, ())), int(np.reshape(upper, ()))
    inside = ((rows - columns <= low) | (low < 0)) & ((columns - rows <= high) | (high < 0))
    return np.where(inside, x, np.zeros((), x.dtype))


def _ends(k: Array) -> tuple[int, int]:
    numbers = np.reshape(k, -1)
    return int(numbers[0]), int(numbers[-1])


def _shift(number: int, length: int, longest: int, align: str) -> int:
    """Where in its row a diagonal begins: above the main one the first word counts, else the last.

    The main diagonal counts as one above.
    """
    above, below = align.split("_")
    return longest - length if (above if number >= 0 else below) == "RIGHT" else 0


def _positions(
    rows: int, columns: int, ends: tuple[int, int], align: str
) -> list[tuple[int, int, int, int]]:
    """(row of diagonals, place in it, row, column) of each element of a band.

    The highest diagonal is the first row.
    """
    longest = min(rows + min(ends[1], 0), columns - max(ends[0], 0))
    positions = []
    for which, number in enumerate(range(ends[1], ends[0] - 1, -1)):
        row, column = max(-number, 0), max(number, 0)
        length = min(rows - row, columns - column)
        start = _shift(number, length, longest, align)
        positions += [(which, start + i, row + i, column + i) for i in range(length)]
    return positions


def _of_band(
    diagonal: Array,
    k: Array,
    num_rows: Array,
    num_cols: Array,
    padding: Array,
    align: str,
) -> Array:
    """Matrices with these diagonals, and the padding elsewhere; sides of -1 are the least ones."""
    ends = _ends(k)
    stacked = diagonal if ends[0] != ends[1] else diagonal[..., None, :]
    longest = diagonal.shape[-1]
    least = longest - min(ends[1], 0), longest + max(ends[0], 0)
    rows, columns = int(num_rows), int(num_cols)
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = (least[0] if rows == -1 else rows), (least[1] if columns == -1 else columns)
    result = np.full((*stacked.shape[:-2], rows, columns), padding, diagonal.dtype)
    for which, at, row, column in _positions(rows, columns, ends, align):
        result[..., row, column] = stacked[..., which, at]
    return result


def _band_of(x: Array, k: Array, padding: Array, align: str) -> Array:
    """The diagonals of a band, a row each, filled up with the padding; one alone is a vector."""
    ends = _ends(k)
    rows, columns = x.shape[-2:]
    longest = min(rows + min(ends[1], 0), columns - max(ends[0], 0))
    count = ends[1] - ends[0] + 1
    result = np.full((*x.shape[:-2], count, longest), padding, x.dtype)
    for which, at, row, column in _positions(rows, columns, ends, align):
        result[..., which, at] = x[..., row, column]
    return result if count > 1 else result[..., 0, :]


def _with_band(x: Array, diagonal: Array, k: Array, align: str) -> Array:
    ends = _ends(k)
    stacked = diagonal if ends[0] != ends[1] else diagonal[..., None, :]
    result = x.copy()
    for which, at, row, column in _positions(x.shape[-2], x.shape[-1], ends, align):
        result[..., row, column] = stacked[..., which, at]
    return result


@definition("MatrixDiagV2")
def _matrix_diag_v2(diagonal: Array, k: Array, rows: Array, cols: Array, padding: Array) -> Array:
    return _of_band(diagonal, k, rows, cols, padding, "LEFT_LEFT")


@definition("MatrixDiagV3")
def _matrix_diag_v3(
    diagonal: Array,
    k: Array,
    rows: Array,
    cols: Array,
    padding: Array,
    *,
    align: str,
) -> Array:
    return _of_band(diagonal, k, rows, cols, padding, align)


@definition("MatrixDiagPartV2")
def _matrix_diag_part_v2(x: Array, k: Array, padding: Array) -> Array:
    return _band_of(x, k, padding, "LEFT_LEFT")


@definition("MatrixDiagPartV3")
def _matrix_diag_part_v3(x: Array, k: Array, padding: Array, *, align: str) -> Array:
    return _band_of(x, k, padding, align)


@definition("MatrixSetDiagV2")
def _matrix_set_diag_v2(x: Array, diagonal: Array, k: Array) -> Array:
    return _with_band(x, diagonal, k, "LEFT_LEFT")


@definition("MatrixSetDiagV3")
def _matrix_set_diag_v3(x: Array, diagonal: Array, k: Array, *, align: str) -> Array:
    return _with_band(x, diagonal, k, align)
