"""Solvers of systems of linear equations, log-determinants, and matrix-vector products."""

from __future__ import annotations

import math
from typing import Any, Final

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze
from sessrun.reference.api.ops.cast_ops import real
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.matrix_diagonals import eye, matrix_diag_part
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import cholesky, log
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["cholesky_solve", "gramian_factor", "triangular_solve"]

#: The size in bytes above which a batch of many small matrices is solved by one operation.
_LARGE: Final = 256_000


def _triangular(matrix: TensorLike, rhs: TensorLike, lower: bool, adjoint: bool) -> Tensor:
    inputs = {"matrix": matrix, "rhs": rhs}
    attrs = {"lower": lower, "adjoint": adjoint}
    solution: Tensor = apply_op("MatrixTriangularSolve", inputs, attrs, None).outputs[0]
    return solution


@public("linalg.triangular_solve", "matrix_triangular_solve")
def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solve systems of linear equations with triangular matrices.

    Args:
      matrix: of shape `[..., m, m]`.
      rhs: of shape `[..., m, k]`.
      lower: whether the matrices are lower triangular.
      adjoint: whether to solve with the adjoint matrices.
      name: the scope of the operation.

    """
    with name_scope(name, "triangular_solve", [matrix, rhs]):
        return _triangular(matrix, rhs, lower, adjoint)


@public("cholesky_solve", "linalg.cholesky_solve")
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solve systems of linear equations whose matrices are given by Cholesky factors.

    Args:
      chol: the factors, of shape `[..., m, m]`.
      rhs: of shape `[..., m, k]`.
      name: the operations' scope.

    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        halfway = _triangular(chol, rhs, lower=True, adjoint=False)
        return _triangular(chol, halfway, lower=True, adjoint=True)


def gramian_factor(matrix: Tensor, l2_regularizer: TensorLike, first_kind: bool) -> Tensor:
    """The Cholesky factor of A^H A (or A A^H) + l2_regularizer * I."""
    gramian = matmul(matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        sizes = shape(matrix)
        batch = sizes[:-2]
        axis = -1 if first_kind else -2
        identity = eye(sizes[axis], batch_shape=batch, dtype=matrix.dtype)
        side = matrix.shape[axis]
        identity.set_shape(matrix.shape[:-2].concatenate([side, side]))
        gramian = gramian + l2_regularizer * identity
    return cholesky(gramian)


def _is_composed(matrix: Tensor, fast: bool) -> bool:
    """Whether several operations compute the solution; one solves a large batch of small ones."""
    if fast is False:
        return False
    sizes = matrix.shape
    if not sizes.is_fully_defined():
        return True
    known: Any = sizes.as_list()
    many = math.prod(known[:-2]) > min(known[-2:])
    return not (math.prod(known) * matrix.dtype.size > _LARGE and many)


def _tall(matrix: Tensor, rhs: TensorLike, l2_regularizer: TensorLike) -> Tensor:
    factor = gramian_factor(matrix, l2_regularizer, first_kind=True)
    return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))


def _wide(matrix: Tensor, rhs: TensorLike, l2_regularizer: TensorLike) -> Tensor:
    factor = gramian_factor(matrix, l2_regularizer, first_kind=False)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


@public("linalg.lstsq", "matrix_solve_ls")
def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """Solve systems of linear equations in the least-squares sense.

    Args:
      matrix: of shape `[..., m, n]`.
      rhs: of shape `[..., m, k]`.
      l2_regularizer: a scalar, the weight of the squared norm of the solution.
      fast: whether the solution is computed by a Cholesky decomposition.
      name: the operations' scope, or the one operation's name.

    Raises:
      NotImplementedError: the matrices are complex128 and `l2_regularizer` is not 0.

    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to "
            "poor accuracy."
        )
    if not _is_composed(matrix, fast):
        inputs = {"matrix": matrix, "rhs": rhs, "l2_regularizer": l2_regularizer}
        return apply_op("MatrixSolveLs", inputs, {"fast": fast}, name).outputs[0]
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        sides: Any = matrix.shape[-2:]
        if sides.is_fully_defined():
            return (_tall if sides[-2] >= sides[-1] else _wide)(matrix, rhs, l2_regularizer)
        sides = shape(matrix)[-2:]
        solution: Tensor = cond(
            sides[-2] >= sides[-1],
            lambda: _tall(matrix, rhs, l2_regularizer),
            lambda: _wide(matrix, rhs, l2_regularizer),
        )
        return solution


@public("linalg.logdet")
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of Hermitian positive definite matrices.

    Args:
      matrix: of shape `[..., m, m]`.
      name: the operations' scope.

    """
    with name_scope(name, "logdet", [matrix]):
        factor = cholesky(matrix)
        return 2.0 * reduce_sum(log(real(matrix_diag_part(factor))), axis=[-1])


@public("linalg.matvec")
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of matrices and vectors; arguments and errors as for `matmul`."""
    with name_scope(name, "MatVec", [a, b]):
        product = matmul(
            a,
            expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return squeeze(product, axis=-1)
