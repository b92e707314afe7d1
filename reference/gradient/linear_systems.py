"""Gradients of inverses, determinants and systems of linear equations. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, expand_dims, pad, reshape, stack
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.linalg_ops import matrix_transpose
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.matrix_diagonals import matrix_diag_part
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.api.ops.solving_ops import cholesky_solve, gramian_factor, triangular_solve
from sessrun.reference.api.ops.tridiagonal_ops import solve_compact
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import matrix_band_part, matrix_inverse, matrix_solve
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


@gradient("MatrixInverse")
def _matrix_inverse(op: Operation, grad: Tensor) -> Gradients:
    inverse, is_adjoint = op.outputs[0], op.get_attr("adjoint")
    inner = matmul(grad, inverse, adjoint_a=is_adjoint, adjoint_b=not is_adjoint)
    return -matmul(inverse, inner, adjoint_a=not is_adjoint)


def _scaled_inverse(a: Tensor, scales: Callable[[], Tensor], numbers: Tensor) -> Tensor:
    """The adjoints of the inverses of matrices times numbers.

    Args:
      a: the matrices.
      scales: makes the numbers, after the inverses.
      numbers: a tensor of the shape of these numbers.

    """
    adjoint = matrix_inverse(a, adjoint=True)
    return reshape(scales(), concat([shape(numbers), [1, 1]], 0)) * adjoint


@gradient("MatrixDeterminant")
def _determinant(op: Operation, grad: Tensor) -> Gradients:
    value = op.outputs[0]
    return _scaled_inverse(op.inputs[0], lambda: grad * value, value)


@gradient("LogMatrixDeterminant")
def _log_determinant(op: Operation, _: Tensor, grad: Tensor) -> Gradients:
    return _scaled_inverse(op.inputs[0], lambda: grad, op.outputs[1])


def _by_matrix(op: Operation, by_rhs: Tensor) -> Tensor:
    """The gradient by the matrix, from that by the right-hand side."""
    solution = op.outputs[0]
    if op.get_attr("adjoint"):
        return -matmul(solution, by_rhs, adjoint_b=True)
    return -matmul(by_rhs, solution, adjoint_b=True)


@gradient("MatrixSolve")
def _matrix_solve(op: Operation, grad: Tensor) -> Gradients:
    by_rhs = matrix_solve(op.inputs[0], grad, adjoint=not op.get_attr("adjoint"))
    return _by_matrix(op, by_rhs), by_rhs


def _over_batches(op: Operation, by_matrix: Tensor, by_rhs: Tensor) -> tuple[Tensor, Tensor]:
    """Both gradients, summed over the batch axes that were broadcast."""
    a, b = op.inputs
    if a.shape.is_fully_defined() and b.shape.is_fully_defined() and a.shape[:-2] == b.shape[:-2]:
        return by_matrix, by_rhs
    of_a, of_b = shape(a), shape(b)
    axes = nodes("BroadcastGradientArgs", of_a[:-2], of_b[:-2])
    return (
        reshape(reduce_sum(by_matrix, axis=axes[0]), of_a),
        reshape(reduce_sum(by_rhs, axis=axes[1]), of_b),
    )


@gradient("MatrixTriangularSolve")
def _triangular(op: Operation, grad: Tensor) -> Gradients:
    is_lower = op.get_attr("lower")
    by_rhs = triangular_solve(
        op.inputs[0], grad, lower=is_lower, adjoint=not op.get_attr("adjoint")
    )
    by_full_matrix = _by_matrix(op, by_rhs)
    band = matrix_band_part(by_full_matrix, *((-1, 0) if is_lower else (0, -1)))
    return _over_batches(op, band, by_rhs)


@gradient("BandedTriangularSolve")
def _banded(op: Operation, grad: Tensor) -> Gradients:
    bands, is_lower = shape(op.inputs[0])[-2], op.get_attr("lower")
    attrs = {"lower": is_lower, "adjoint": not op.get_attr("adjoint")}
    by_rhs = node("BandedTriangularSolve", op.inputs[0], grad, **attrs)
    by_full_matrix = _by_matrix(op, by_rhs)
    diagonals = (-(bands - 1), 0) if is_lower else (0, bands - 1)
    return _over_batches(
        op, matrix_diag_part(by_full_matrix, k=diagonals, align="LEFT_RIGHT"), by_rhs
    )


@gradient("MatrixSolveLs")
def _least_squares(op: Operation, grad: Tensor) -> Gradients:
    if op.get_attr("fast") is False:
        raise bad_value("Gradient not defined for fast=False")
    sides = op.inputs[0].shape[-2:]
    if sides.is_fully_defined():
        rows, columns = (size or 0 for size in sides.as_list())
        return (_tall if rows >= columns else _wide)(op, grad)
    dynamic = shape(op.inputs[0])[-2:]
    gradients: Gradients = cond(
        dynamic[-2] >= dynamic[-1], lambda: _tall(op, grad), lambda: _wide(op, grad)
    )
    return gradients


def _tall(op: Operation, grad: Tensor) -> Gradients:
    a, b, solution = op.inputs[0], op.inputs[1], op.outputs[0]
    weight = cast(op.inputs[2], a.dtype.base_dtype)
    z = cholesky_solve(gramian_factor(a, weight, first_kind=True), grad)
    product = matmul(solution, z, adjoint_b=True)
    both = product + matrix_transpose(product)
    by_a = -matmul(a, both) + matmul(b, z, adjoint_b=True)
    return by_a, matmul(a, z), None


def _wide(op: Operation, grad: Tensor) -> Gradients:
    a, b = op.inputs[:2]
    weight = cast(op.inputs[2], a.dtype.base_dtype)
    factor = gramian_factor(a, weight, first_kind=False)
    by_b = cholesky_solve(factor, matmul(a, grad))
    solved = cholesky_solve(factor, b)
    first = -matmul(by_b, matmul(solved, a, adjoint_a=True))
    rest = grad - matmul(a, by_b, adjoint_a=True)
    return first + matmul(solved, rest, adjoint_b=True), by_b, None


def _shifted_up(x: Tensor) -> Tensor:
    """The rows moved up by one, zeros below."""
    nothing = zeros((rank(x) - 2, 2), dtype="int32")
    below = concat([nothing, constant([[0, 1], [0, 0]])], axis=0)
    return pad(x[..., 1:, :], below)


def _shifted_down(x: Tensor) -> Tensor:
    """The rows moved down by one, zeros above."""
    nothing = zeros((rank(x) - 2, 2), dtype="int32")
    above = concat([nothing, constant([[1, 0], [0, 0]])], axis=0)
    return pad(x[..., :-1, :], above)


@gradient("TridiagonalMatMul")
def _tridiagonal_product(op: Operation, grad: Tensor) -> Gradients:
    above, main, below = (matrix_transpose(diagonal, conjugate=True) for diagonal in op.inputs[:3])
    rhs = conj(op.inputs[3])
    by_above = reduce_sum(_shifted_up(rhs) * grad, axis=-1)
    by_main = reduce_sum(rhs * grad, axis=-1)
    by_below = reduce_sum(_shifted_down(rhs) * grad, axis=-1)
    by_rhs = _shifted_down(above * grad) + main * grad + _shifted_up(below * grad)
    rows = [expand_dims(diagonal_grad, -2) for diagonal_grad in (by_above, by_main, by_below)]
    return *rows, by_rhs


@gradient("TridiagonalSolve")
def _tridiagonal_solve(op: Operation, grad: Tensor) -> Gradients:
    names = ("partial_pivoting", "perturb_singular")
    pivoting = {name: op.get_attr(name) for name in names}
    by_rhs = solve_compact(_transposed(op.inputs[0]), grad, pivoting)
    return -_three_diagonals(by_rhs, op.outputs[0]), by_rhs


def _transposed(diagonals: Tensor) -> Tensor:
    """The diagonals of the transposed matrices."""
    main = diagonals[..., 1, :]
    if diagonals.shape.is_fully_defined():
        zero = zeros([*diagonals.shape[:-2].as_list(), 1], dtype=diagonals.dtype)
        above = concat((diagonals[..., 2, 1:], zero), axis=-1)
        below = concat((zero, diagonals[..., 0, :-1]), axis=-1)
    else:
        nothing = zeros((rank(diagonals) - 2, 2), dtype="int32")
        after = concat((nothing, constant([[0, 1]])), axis=0)
        above = pad(diagonals[..., 2, 1:], after)
        before = concat((nothing, constant([[1, 0]])), axis=0)
        below = pad(diagonals[..., 0, :-1], before)
    return stack([above, main, below], axis=-2)


def _three_diagonals(x: Tensor, y: Tensor) -> Tensor:
    """Three diagonals of the products of x and the transposed y."""
    main = reduce_sum(x * y, axis=-1)
    if y.shape.is_fully_defined():
        zero = zeros([*x.shape[:-2].as_list(), 1, x.shape[-1]], dtype=x.dtype)
        above = reduce_sum(x * concat((y[..., 1:, :], zero), axis=-2), axis=-1)
        below = reduce_sum(x * concat((zero, y[..., :-1, :]), axis=-2), axis=-1)
    else:
        nothing = zeros((rank(y) - 2, 2), dtype="int32")
        after = concat((nothing, constant([[0, 1], [0, 0]])), axis=0)
        above = reduce_sum(x * pad(y[..., 1:, :], after), axis=-1)
        before = concat((nothing, constant([[1, 0], [0, 0]])), axis=0)
        below = reduce_sum(x * pad(y[..., :-1, :], before), axis=-1)
    return stack([above, main, below], axis=-2)
