"""Kernels of linear systems, inverses and determinants of matrices."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.decompositions import REFUSED, cholesky_factor, hold, square
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra, singular_raises

__all__ = ["solve_triangular"]

#: Triangular systems of at most this many rows are solved row by row, larger ones by halves.
_SMALL: Final = 8


def _adjoint(xp: ArrayModule, x: Array) -> Array:
    return xp.conj(xp.swapaxes(x, -1, -2))


@kernel("MatrixDeterminant", "BatchMatrixDeterminant")
def determinant(xp: ArrayModule, x: Array) -> Array:
    """The determinant of each matrix."""
    determinants = xp.linalg.det(square(x)).astype(x.dtype)
    return xp.where(_has_nan(xp, x), xp.asarray(float("nan"), dtype=x.dtype), determinants)


def _has_nan(xp: ArrayModule, x: Array) -> Array:
    """Which matrices contain a NaN, which LAPACK may take for a pivot of 0."""
    return xp.any(xp.isnan(x), axis=(-2, -1))


@kernel("LogMatrixDeterminant")
def log_determinant(xp: ArrayModule, x: Array) -> tuple[Array, ...]:
    """The sign or phase of each determinant, and the logarithm of its absolute value."""
    sign, logarithm = xp.linalg.slogdet(square(x))
    is_none = xp.isnan(logarithm) | _has_nan(xp, x)
    none = xp.asarray(float("nan"), dtype=x.dtype)
    return tuple(xp.where(is_none, none, part.astype(x.dtype)) for part in (sign, logarithm))


@kernel("MatrixInverse", "BatchMatrixInverse")
def inverse(xp: ArrayModule, x: Array, *, adjoint: bool) -> Array:
    """The inverse of each matrix, or of its adjoint.

    Raises:
      KernelError: a matrix has no inverse, or is not square.

    """
    wide = square(x)
    try:
        with singular_raises(xp):
            inverses = xp.linalg.inv(_adjoint(xp, wide) if adjoint else wide)
    except REFUSED as error:
        raise InvalidArgument("The input is not invertible.") from error
    if x.size and xp.any(xp.isnan(x)):
        raise InvalidArgument("The input is not invertible.")
    return inverses.astype(x.dtype)


def _same_rows(matrix: Array, rhs: Array, *, is_broadcast: bool = False) -> None:
    """Check that right-hand sides and matrices have the same batch and number of rows.

    Raises:
      KernelError: the batches or the numbers of rows differ.

    """
    if min(matrix.ndim, rhs.ndim) < 2:
        raise InvalidArgument(f"Both inputs must have rank >= 2: {matrix.ndim}, {rhs.ndim}")
    if not is_broadcast and matrix.shape[:-2] != rhs.shape[:-2]:
        raise InvalidArgument(
            f"All input tensors must have the same outer dimensions: {matrix.shape}, {rhs.shape}"
        )
    if matrix.shape[-2] != rhs.shape[-2]:
        raise InvalidArgument(f"Input matrix and rhs are incompatible: {matrix.shape}, {rhs.shape}")


@kernel("MatrixSolve", "BatchMatrixSolve")
def solve(xp: ArrayModule, matrix: Array, rhs: Array, *, adjoint: bool) -> Array:
    """The solution of each linear system with a square matrix, or with its adjoint.

    Raises:
      KernelError: a matrix is not invertible, or the shapes do not fit.

    """
    _same_rows(matrix, rhs)
    wide = square(matrix)
    known = rhs.astype("float32") if rhs.dtype.itemsize == 2 else rhs
    try:
        with singular_raises(xp):
            solution = xp.linalg.solve(_adjoint(xp, wide) if adjoint else wide, known)
    except REFUSED as error:
        raise InvalidArgument("The input matrix is not invertible.") from error
    if rhs.size and xp.any(xp.isnan(matrix)):
        raise InvalidArgument("The input matrix is not invertible.")
    return solution.astype(rhs.dtype)


def solve_triangular(xp: ArrayModule, matrix: Array, rhs: Array, *, lower: bool) -> Array:
    """The solution by substitution; elements on the other side of the diagonal are not read.

    A zero on the diagonal gives infinity or NaN. In host memory BLAS solves
    larger systems; elsewhere the halves of a large system are solved one after the other, with
    the first solution substituted by a matrix product.
    """
    rows = matrix.shape[-1]
    if rows > _SMALL and xp is HOST and rhs.size:
        return _by_blas(matrix, rhs, lower=lower)
    if rows > _SMALL:
        half = rows // 2
        first, second = (slice(half), slice(half, None))[:: 1 if lower else -1]
        one = solve_triangular(xp, matrix[..., first, first], rhs[..., first, :], lower=lower)
        rest = rhs[..., second, :] - xp.matmul(matrix[..., second, first], one)
        other = solve_triangular(xp, matrix[..., second, second], rest, lower=lower)
        return xp.concatenate([one, other] if lower else [other, one], axis=-2)
    known = rhs.copy()
    for row in range(rows) if lower else range(rows - 1, -1, -1):
        known[..., row, :] = known[..., row, :] / matrix[..., row, row, None]
        later = slice(row + 1, None) if lower else slice(row)
        known[..., later, :] = (
            known[..., later, :] - matrix[..., later, row, None] * known[..., row, None, :]
        )
    return known


def _by_blas(matrix: Array, rhs: Array, *, lower: bool) -> Array:
    """Systems one by one; BLAS gets them transposed, which is the memory order that it takes."""
    (substitute,) = linear_algebra().get_blas_funcs(("trsm",), (matrix, rhs))
    solutions = HOST.empty(rhs.shape, dtype=rhs.dtype)
    matrices = HOST.broadcast_to(matrix, (*rhs.shape[:-2], *matrix.shape[-2:]))
    for number in HOST.ndindex(rhs.shape[:-2]):
        solved = substitute(1, matrices[number].T, rhs[number].T, side=1, lower=not lower)
        solutions[number] = solved.T
    return solutions


def _spread(xp: ArrayModule, matrix: Array, rhs: Array) -> Array:
    """The right-hand sides broadcast to the batch of matrices."""
    try:
        batch = HOST.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError as error:
        raise InvalidArgument("The batches of both inputs do not broadcast") from error
    return xp.broadcast_to(rhs, (*batch, *rhs.shape[-2:]))


@kernel("CholeskyGrad", "BatchCholeskyGrad")
def cholesky_gradient(xp: ArrayModule, factor: Array, gradient: Array) -> Array:
    """The gradient of the Cholesky factor by its symmetric matrix.

    Raises:
      KernelError: the factors are not square, or the gradients not of their shape.

    """
    wide = square(factor)
    require_same_shape(gradient=gradient, factor=factor)
    middle = xp.tril(_adjoint(xp, wide) @ xp.tril(gradient.astype(wide.dtype)))
    steps = xp.arange(wide.shape[-1])
    middle[..., steps, steps] *= 0.5
    upper = _adjoint(xp, wide)
    left = solve_triangular(xp, upper, middle, lower=False)
    half = _adjoint(xp, solve_triangular(xp, upper, _adjoint(xp, left), lower=False))
    return ((half + _adjoint(xp, half)) * 0.5).astype(factor.dtype)


@kernel("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def triangular_solve(
    xp: ArrayModule, matrix: Array, rhs: Array, *, lower: bool, adjoint: bool
) -> Array:
    """The solution of each linear system with a triangular matrix, or with its adjoint."""
    _same_rows(matrix, rhs, is_broadcast=True)
    wide = square(matrix)
    known = rhs.astype("float32") if rhs.dtype.itemsize == 2 else rhs
    right = _spread(xp, wide, known)
    if adjoint:
        wide, lower = _adjoint(xp, wide), not lower
    return solve_triangular(xp, wide, right, lower=lower).astype(rhs.dtype)


@kernel("BandedTriangularSolve")
def banded_triangular_solve(
    xp: ArrayModule, matrix: Array, rhs: Array, *, lower: bool, adjoint: bool
) -> Array:
    """The solution of each linear system with a triangular matrix given by its bands.

    The bands are rows: the diagonal is the first one of a lower triangular matrix, the last one of
    an upper one; an element's column in them is its row in the matrix.

    Raises:
      KernelError: an input is empty, or the shapes do not fit.

    """
    if min(matrix.ndim, rhs.ndim) < 2:
        raise InvalidArgument(f"Both inputs must have rank >= 2: {matrix.ndim}, {rhs.ndim}")
    bands, rows = matrix.shape[-2:]
    if not matrix.size or not rhs.size or rhs.shape[-2] != rows:
        raise InvalidArgument(f"Input matrix and rhs are incompatible: {matrix.shape}, {rhs.shape}")
    dense = xp.zeros((*matrix.shape[:-2], rows, rows), dtype=matrix.dtype)
    for band in range(bands):  # elements beyond the last row are ignored
        off = band if lower else bands - 1 - band
        columns = xp.arange(off, rows) if lower else xp.arange(rows - off)
        dense[..., columns, columns + (-off if lower else off)] = matrix[..., band, :][..., columns]
    if xp.any(matrix[..., 0 if lower else -1, :] == 0):
        raise InvalidArgument("The input matrix is not invertible.")
    if adjoint:
        dense, lower = _adjoint(xp, dense), not lower
    return solve_triangular(xp, dense, _spread(xp, dense, rhs), lower=lower)


@kernel("MatrixSolveLs", "BatchMatrixSolveLs", host_inputs=("l2_regularizer",))
def solve_least_squares(
    xp: ArrayModule, matrix: Array, rhs: Array, l2_regularizer: Array, *, fast: bool
) -> Array:
    """The least-squares solution of each system: by a Gramian matrix, or by singular values.

    Raises:
      KernelError: the Gramian is not positive definite, or the regularizer is no scalar >= 0.

    """
    _same_rows(matrix, rhs)
    require_rank(0, l2_regularizer=l2_regularizer)
    weight = float(l2_regularizer)
    if weight < 0:
        raise InvalidArgument("l2_regularizer must be >= 0.")
    rows, columns = matrix.shape[-2:]
    shape = (*matrix.shape[:-2], columns, rhs.shape[-1])
    if not matrix.size or not rhs.size:
        return xp.zeros(shape, dtype=rhs.dtype)
    hold()
    if not fast:
        return xp.matmul(xp.linalg.pinv(matrix), rhs)
    adjoint = _adjoint(xp, matrix)
    is_tall = rows >= columns
    gramian = xp.matmul(adjoint, matrix) if is_tall else xp.matmul(matrix, adjoint)
    gramian = gramian + weight * xp.eye(min(rows, columns), dtype=matrix.dtype)
    factor = cholesky_factor(xp, gramian.astype(matrix.dtype))
    if xp.any(xp.isnan(factor)):
        raise InvalidArgument(
            "MatrixSolveLs: the matrix is rank deficient or ill-conditioned; fast=False or a "
            "larger l2_regularizer may help"
        )
    known = xp.matmul(adjoint, rhs) if is_tall else rhs
    halfway = solve_triangular(xp, factor, known, lower=True)
    solution = solve_triangular(xp, _adjoint(xp, factor), halfway, lower=False)
    return solution if is_tall else xp.matmul(adjoint, solution)
