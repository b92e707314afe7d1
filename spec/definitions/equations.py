"""Definitions of systems of linear equations, of decompositions, and of functions of matrices.

All in float64 or complex128, by elimination and iteration, of one matrix at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide
from sessrun.spec.definitions.matrices import adjoint, product

__all__: list[str] = []

#: The function, where `adjoint` is an attribute.
_adjoint = adjoint


def _of_matrices(function: Callable[..., Array], *batches: Array) -> Array:
    """A function of matrices, of each one of batches that broadcast."""
    shape = np.broadcast_shapes(*(batch.shape[:-2] for batch in batches))
    spread = [np.broadcast_to(wide(b), (*shape, *b.shape[-2:])) for b in batches]
    results = [function(*(b[at] for b in spread)) for at in np.ndindex(*shape)]
    if not results:
        inner = function(*(np.zeros(b.shape[-2:], b.dtype) + np.eye(*b.shape[-2:]) for b in spread))
        return np.zeros((*shape, *inner.shape), inner.dtype)
    return np.array(results).reshape((*shape, *results[0].shape))


def _eliminated(a: Array) -> tuple[Array, list[int], int]:
    """The two triangles of a matrix whose rows are exchanged, their order, the exchanges' sign.

    In each column the row of the largest number (the first of equal ones) goes up.
    """
    lu, order, sign = a.copy(), list(range(len(a))), 1
    for column in range(len(a)):
        best = column + int(np.argmax(np.abs(lu[column:, column])))
        if best != column:
            lu[[column, best]] = lu[[best, column]]
            order[column], order[best] = order[best], order[column]
            sign = -sign
        for row in range(column + 1, len(a)):
            lu[row, column] /= lu[column, column]
            lu[row, column + 1 :] -= lu[row, column] * lu[column, column + 1 :]
    return lu, order, sign


def _forward(lower: Array, b: Array) -> Array:
    """The solution of a system with a lower triangle; what is above the diagonal is not read."""
    x = b.astype(np.result_type(lower, b))
    for row in range(len(lower)):
        x[row] = (x[row] - lower[row, :row] @ x[:row]) / lower[row, row]
    return x


def _backward(upper: Array, b: Array) -> Array:
    return _forward(upper[::-1, ::-1], b[::-1])[::-1]


def _solved(a: Array, b: Array) -> Array:
    lu, order, _ = _eliminated(a)
    lower = np.tril(lu, -1) + np.eye(len(a))
    return _backward(lu, _forward(lower, b[order]))


@definition("MatrixSolve", "BatchMatrixSolve")
def _matrix_solve(matrix: Array, rhs: Array, *, adjoint: bool) -> Array:
    """`x` with `matrix x = rhs`, or with the adjoint matrix."""
    turned = _adjoint(matrix) if adjoint else matrix
    return _of_matrices(_solved, turned, rhs)


@definition("MatrixInverse", "BatchMatrixInverse")
def _matrix_inverse(x: Array, *, adjoint: bool) -> Array:
    turned = _adjoint(x) if adjoint else x
    return _of_matrices(lambda a: _solved(a, np.eye(len(a), dtype=a.dtype)), turned)


def _determinant(a: Array) -> Array:
    lu, _, sign = _eliminated(a)
    return np.asarray(sign * np.prod(np.diag(lu)))


@definition("MatrixDeterminant", "BatchMatrixDeterminant")
def _matrix_determinant(x: Array) -> Array:
    """1 for a matrix without elements."""
    return _of_matrices(_determinant, x)


@definition("LogMatrixDeterminant")
def _log_determinant(x: Array) -> tuple[Array, Array]:
    """The determinant over its size, and the logarithm of that."""
    determinants = _of_matrices(_determinant, x)
    sizes = np.abs(determinants)
    return determinants / sizes, np.log(sizes)


@definition("Lu")
def _lu(x: Array) -> tuple[Array, Array]:
    """Both triangles in one matrix, the lower one's diagonal of 1 left out; the rows' order."""
    orders = _of_matrices(lambda a: np.array(_eliminated(a)[1], np.int64), x)
    return _of_matrices(lambda a: _eliminated(a)[0], x), orders


@definition("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def _triangular(matrix: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Array:
    """As `MatrixSolve`, the other triangle counting as zeros."""
    triangle = np.tril(wide(matrix)) if lower else np.triu(wide(matrix))
    solve = _forward if lower != adjoint else _backward
    return _of_matrices(solve, _adjoint(triangle) if adjoint else triangle, rhs)


def _least_squares(a: Array, b: Array, weight: float) -> Array:
    """The least `x` of those that make `|a x - b|**2 + weight |x|**2` least."""
    rows, columns = a.shape
    turned = adjoint(a)
    if rows >= columns:
        return _solved(product(turned, a) + weight * np.eye(columns), product(turned, b))
    return product(turned, _solved(product(a, turned) + weight * np.eye(rows), b))


@definition("MatrixSolveLs", "BatchMatrixSolveLs")
def _solve_ls(matrix: Array, rhs: Array, weight: Array) -> Array:
    return _of_matrices(lambda a, b: _least_squares(a, b, float(weight)), matrix, rhs)


@definition("BandedTriangularSolve")
def _banded(bands: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Array:
    """A triangle given by its diagonals: row `i` of `bands` holds column by column diagonal `i`.

    Below, the first is the main diagonal; above, the last.
    """
    count, size = bands.shape[-2:]
    matrix = np.zeros((*bands.shape[:-2], size, size), wide(bands).dtype)
    for band in range(count):
        offset = -band if lower else count - 1 - band
        for row in range(size):
            if 0 <= row + offset < size:
                matrix[..., row, row + offset] = bands[..., band, row]
    solve = _forward if lower != adjoint else _backward
    return _of_matrices(solve, _adjoint(matrix) if adjoint else matrix, rhs)


def _tridiagonal(above: Array, main: Array, below: Array) -> Array:
    """Matrices of three diagonals; the last of `above` and the first of `below` are not read."""
    size = main.shape[-1]
    matrix = np.zeros((*main.shape, size), wide(main).dtype)
    for i in range(size):
        matrix[..., i, i] = main[..., i]
        if i + 1 < size:
            matrix[..., i, i + 1] = above[..., i]
            matrix[..., i + 1, i] = below[..., i + 1]
    return matrix


@definition("TridiagonalMatMul")
def _tridiagonal_mat_mul(above: Array, main: Array, below: Array, rhs: Array) -> Array:
    rows = (x[..., 0, :] for x in (above, main, below))
    return product(_tridiagonal(*rows), wide(rhs))


@definition("TridiagonalSolve")
def _tridiagonal_solve(diagonals: Array, rhs: Array) -> Array:
    rows = (diagonals[..., i, :] for i in range(3))
    return _of_matrices(_solved, _tridiagonal(*rows), rhs)


def _cholesky_of(a: Array) -> Array:
    lower = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - np.sum(lower[i, :j] * np.conj(lower[j, :j]))
            lower[i, j] = np.sqrt(rest.real) if i == j else rest / lower[j, j]
    return lower


@definition("Cholesky", "BatchCholesky")
def _cholesky(x: Array) -> Array:
    """The lower triangle with a positive diagonal whose product with its adjoint `x` is.

    Only the lower triangle of `x` is read.
    """
    return _of_matrices(_cholesky_of, x)


def _cholesky_back(lower: Array, grad: Array) -> Array:
    """`L^-T P L^-1`, made symmetric; `P` is the lower triangle of `L^T grad`, its diagonal halved.

    Giles, 2008: Collected matrix derivative results for algorithmic differentiation.
    """
    middle = np.tril(product(lower.T, np.tril(grad)))
    middle -= np.diag(np.diag(middle)) / 2
    inner = _backward(lower.T, _backward(lower.T, middle.T).T)
    return (inner + inner.T) / 2


@definition("CholeskyGrad", "BatchCholeskyGrad")
def _cholesky_grad(lower: Array, grad: Array) -> Array:
    return _of_matrices(_cholesky_back, lower, grad)


def _basis(columns: Array, count: int) -> Array:
    """Orthonormal columns: those given, made so one by one, then what unit vectors add."""
    rows = len(columns)
    vectors: list[Array] = []
    for vector in [*columns.T, *np.eye(rows)]:
        rest = vector.astype(columns.dtype)
        for _ in range(2):
            for known in vectors:
                rest = rest - np.sum(np.conj(known) * rest) * known
        length = np.sqrt(np.sum(np.abs(rest) ** 2))
        if len(vectors) < count and length > 1e-6:
            vectors.append(rest / length)
    return np.array(vectors).reshape(count, rows).T


@definition("Qr")
def _qr(x: Array, *, full_matrices: bool) -> tuple[Array, Array]:
    """Orthonormal columns `q` and an upper triangle `r` with `q r = x`, up to a phase each."""
    rows, columns = x.shape[-2:]
    count = rows if full_matrices else min(rows, columns)
    q = _of_matrices(lambda a: _basis(a[:, : min(rows, columns)], count), x)
    return q, product(adjoint(q), wide(x))


def _eigen(a: Array) -> tuple[Array, Array]:
    """Eigenvalues from the least on, and columns of vectors, of a Hermitian matrix.

    Jacobi's rotations, until nothing is left beside the diagonal. The lower triangle is read.
    """
    a = np.tril(a) + adjoint(np.tril(a, -1))
    size = len(a)
    vectors = np.eye(size, dtype=a.dtype)
    for _ in range(30):
        for i in range(size):
            for j in range(i + 1, size):
                if abs(a[i, j]) < 1e-200:
                    continue
                phase = a[i, j] / abs(a[i, j])
                angle = 0.5 * np.arctan2(2 * abs(a[i, j]), (a[j, j] - a[i, i]).real)
                turn = np.eye(size, dtype=a.dtype)
                turn[i, i] = turn[j, j] = np.cos(angle)
                turn[i, j], turn[j, i] = np.sin(angle) * phase, -np.sin(angle) * np.conj(phase)
                a = adjoint(turn) @ a @ turn
                vectors = vectors @ turn
    values = np.diag(a).real
    order = np.argsort(values)
    return values[order], vectors[:, order]


@definition("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def _self_adjoint_eig(x: Array) -> tuple[Array, Array]:
    """Eigenvalues from the least on, and a column of length 1 for each, up to a phase."""
    return _of_matrices(lambda a: _eigen(a)[0], x), _of_matrices(lambda a: _eigen(a)[1], x)


def _right_factors(a: Array) -> tuple[Array, Array]:
    """Singular values from the largest on, and the columns `v` that belong to them."""
    squares, vectors = _eigen(product(adjoint(a), a))
    count = min(a.shape)
    return np.sqrt(squares[::-1][:count]), vectors[:, ::-1][:, :count]


@definition("Svd", "BatchSvd")
def _svd(x: Array, *, full_matrices: bool) -> tuple[Array, Array, Array]:
    """`s`, `u` and `v` with `u diag(s) adjoint(v) = x`, values falling, up to a phase a pair."""
    rows, columns = x.shape[-2:]
    sides = (rows, columns) if full_matrices else (min(rows, columns),) * 2

    def left(a: Array) -> Array:
        values, v = _right_factors(a)
        return _basis(product(a, v) / values, sides[0])

    return (
        _of_matrices(lambda a: _right_factors(a)[0], x),
        _of_matrices(left, x),
        _of_matrices(lambda a: _basis(_right_factors(a)[1], sides[1]), x),
    )


def _root(a: Array) -> Array:
    """The principal root: Denman's and Beavers' iteration."""
    y, z = a, np.eye(len(a), dtype=a.dtype)
    for _ in range(40):
        y, z = (y + _inverse(z)) / 2, (z + _inverse(y)) / 2
    return y


def _inverse(a: Array) -> Array:
    return _solved(a, np.eye(len(a), dtype=a.dtype))


@definition("MatrixSquareRoot")
def _square_root(x: Array) -> Array:
    """The root whose eigenvalues have positive real parts."""
    return _of_matrices(_root, x)


def _exponential(a: Array) -> Array:
    """The sum of `a**n / n!`, of the matrix over a power of two, squared as often."""
    small, halvings = a, 0
    while a.size and np.abs(small).sum() > 0.5:
        small, halvings = small / 2, halvings + 1
    term = total = np.eye(len(a), dtype=a.dtype)
    for n in range(1, 24):
        term = product(term, small) / n
        total = total + term
    for _ in range(halvings):
        total = product(total, total)
    return total


@definition("MatrixExponential")
def _matrix_exponential(x: Array) -> Array:
    return _of_matrices(_exponential, x)


def _logarithm(a: Array) -> Array:
    """Twice the sum of `z**n / n` over odd `n`, with `z = (r - 1) / (r + 1)` of a root near 1."""
    root, one, roots = a, np.eye(len(a), dtype=a.dtype), 0
    while np.abs(root - one).sum() > 0.2:
        root, roots = _root(root), roots + 1
    z = _solved(root + one, root - one)
    power, total = z, z
    for n in range(3, 40, 2):
        power = product(product(power, z), z)
        total = total + power / n
    return 2.0 ** (roots + 1) * total


@definition("MatrixLogarithm")
def _matrix_logarithm(x: Array) -> Array:
    """The principal logarithm."""
    return _of_matrices(_logarithm, x)


@definition("NearestNeighbors")
def _nearest(points: Array, centers: Array, k: Array) -> tuple[Array, Array]:
    """For each point the `k` nearest centers (all, if fewer), and the squares of the distances."""
    differences = wide(points)[:, None, :] - wide(centers)[None, :, :]
    squares = (differences**2).sum(axis=-1)
    order = np.argsort(squares, axis=-1, kind="stable")[:, : int(k)]
    return order, np.take_along_axis(squares, order, axis=-1)
