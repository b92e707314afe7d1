"""Translations of products of matrices and of linear algebra."""

from __future__ import annotations

from typing import Final

import jax.numpy as jnp
from jax import lax

from sessrun.adapters.jax.rules import NUMBERS, REALS, Array, Node, numpy_of, rule

__all__: list[str] = []

#: What LAPACK computes in.
_LAPACK: Final = frozenset({"float32", "float64", "complex64", "complex128"})


def _adjoint(x: Array) -> Array:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


@rule("MatMul", dtypes=NUMBERS)
def _product(node: Node, a: Array, b: Array) -> Array:
    node.check(a.ndim == b.ndim == 2, "an input is no matrix")
    a = a.T if node["transpose_a"] else a
    b = b.T if node["transpose_b"] else b
    return jnp.matmul(a, b)


@rule("BatchMatMul", dtypes=NUMBERS)
def _batch_product(node: Node, x: Array, y: Array) -> Array:
    node.check(x.shape[:-2] == y.shape[:-2], "the batches differ")
    return _broadcast_product(node, x, y)


@rule("BatchMatMulV2", dtypes=NUMBERS)
def _broadcast_product(node: Node, x: Array, y: Array) -> Array:
    node.check(min(x.ndim, y.ndim) >= 2, "an input is no matrix")
    x = _adjoint(x) if node["adj_x"] else x
    y = _adjoint(y) if node["adj_y"] else y
    return jnp.matmul(x, y)


@rule("BatchMatMulV3", dtypes=NUMBERS)
def _mixed_product(node: Node, x: Array, y: Array) -> Array:
    dtype = numpy_of(node["Tout"])
    return _broadcast_product(node, x.astype(dtype), y.astype(dtype))


@rule("Einsum", dtypes=NUMBERS)
def _einsum(node: Node, inputs: list[Array]) -> Array:
    return jnp.einsum(node["equation"], *inputs)


@rule("Cross", dtypes=REALS)
def _cross(node: Node, a: Array, b: Array) -> Array:
    node.check(a.shape == b.shape and a.shape[-1:] == (3,), "no vectors of three numbers")
    return jnp.cross(a, b)


@rule("Cholesky", dtypes=_LAPACK)
def _cholesky(node: Node, x: Array) -> Array:
    _check_square(node, x)
    return jnp.linalg.cholesky(x, symmetrize_input=False)


def _check_square(node: Node, x: Array) -> None:
    node.check(x.ndim >= 2 and x.shape[-1] == x.shape[-2], f"{x.shape} are no square matrices")


@rule("MatrixDeterminant", dtypes=_LAPACK)
def _determinant(node: Node, x: Array) -> Array:
    _check_square(node, x)
    return jnp.linalg.det(x)


@rule("LogMatrixDeterminant", dtypes=_LAPACK)
def _log_determinant(node: Node, x: Array) -> list[Array]:
    _check_square(node, x)
    sign, logarithm = jnp.linalg.slogdet(x)
    return [sign, logarithm.astype(x.dtype)]


@rule("MatrixInverse", dtypes=_LAPACK)
def _inverse(node: Node, x: Array) -> Array:
    _check_square(node, x)
    return jnp.linalg.inv(_adjoint(x) if node["adjoint"] else x)


@rule("MatrixSolve", dtypes=_LAPACK)
def _solution(node: Node, matrix: Array, rhs: Array) -> Array:
    _check_square(node, matrix)
    node.check(matrix.shape[:-1] == rhs.shape[:-1], "the batches or rows differ")
    return jnp.linalg.solve(_adjoint(matrix) if node["adjoint"] else matrix, rhs)


@rule("MatrixTriangularSolve", dtypes=_LAPACK)
def _triangular_solution(node: Node, matrix: Array, rhs: Array) -> Array:
    """The solution by one triangle; batches broadcast."""
    _check_square(node, matrix)
    node.check(matrix.shape[-1] == rhs.shape[-2], "the rows differ")
    batch = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    if 0 in (*batch, *rhs.shape[-2:]):
        return jnp.zeros((*batch, *rhs.shape[-2:]), rhs.dtype)
    return lax.linalg.triangular_solve(
        jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])),
        jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:])),
        left_side=True,
        lower=node["lower"],
        transpose_a=node["adjoint"],
        conjugate_a=node["adjoint"],
    )


@rule("Qr", dtypes=_LAPACK)
def _qr(node: Node, x: Array) -> list[Array]:
    return list(jnp.linalg.qr(x, "complete" if node["full_matrices"] else "reduced"))


@rule("SelfAdjointEigV2", dtypes=_LAPACK)
def _eigenvalues(node: Node, x: Array) -> list[Array]:
    _check_square(node, x)
    vectors, values = lax.linalg.eigh(x, lower=True, symmetrize_input=False)
    none = jnp.zeros((0,), x.dtype)
    return [values.astype(x.dtype), vectors if node["compute_v"] else none]


@rule("Svd", dtypes=_LAPACK)
def _singular_values(node: Node, x: Array) -> list[Array]:
    none = jnp.zeros((0,), x.dtype)
    if not node["compute_uv"]:
        return [jnp.linalg.svd(x, compute_uv=False).astype(x.dtype), none, none]
    u, s, vh = jnp.linalg.svd(x, full_matrices=node["full_matrices"])
    return [s.astype(x.dtype), u, _adjoint(vh)]


@rule("Lu", dtypes=_LAPACK)
def _lu(node: Node, x: Array) -> list[Array]:
    _check_square(node, x)
    factors, _, permutation = lax.linalg.lu(x)
    return [factors, permutation.astype(numpy_of(node["output_idx_type"]))]
