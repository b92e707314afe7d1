"""Kernels of matrix factorizations, eigenvalues and singular values.

Signs and phases of vectors are those of LAPACK; TensorFlow's may differ. BLAS is held
to one thread, as for products.
"""

from __future__ import annotations

import functools
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import require_rank_at_least
from sessrun.reference.kernels.products import one_thread
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra

__all__ = ["REFUSED", "cholesky_factor", "hold", "square"]

#: The exception of numpy and cupy for a matrix without the factorization.
REFUSED: Final = HOST.linalg.LinAlgError
_NAN: Final = float("nan")
#: If there are so many times more matrices than rows, all are factorized at once, since a call of
#: LAPACK takes 1.5 microseconds: for 100 matrices of 8 x 8 three times as long as TensorFlow.
_MATRICES_PER_ROW: Final = 20
#: Holds BLAS to one thread, once in the process.
hold: Final = functools.cache(one_thread)


def square(x: Array) -> Array:
    """Square matrices, 16-bit ones widened.

    Raises:
      KernelError: the arrays are not square matrices.

    """
    hold()
    require_rank_at_least(2, x=x)
    if x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(f"Input matrix must be square, got {x.shape}")
    return x.astype("float32") if x.dtype.itemsize == 2 else x


def cholesky_factor(xp: ArrayModule, x: Array) -> Array:
    """The Cholesky factor of each matrix; NaN if the matrix is not positive definite."""
    try:
        return xp.linalg.cholesky(x)
    except REFUSED:
        if x.ndim == 2:
            return xp.tril(xp.full(x.shape, _NAN, dtype=x.dtype))
    flat = x.reshape((-1, *x.shape[-2:]))
    factors = [cholesky_factor(xp, flat[i]) for i in range(flat.shape[0])]
    return xp.stack(factors).reshape(x.shape)


@kernel("Cholesky", "BatchCholesky")
def cholesky(xp: ArrayModule, x: Array) -> Array:
    """The Cholesky factor of each matrix, of which only the lower triangle is read."""
    return cholesky_factor(xp, square(x)).astype(x.dtype)


@kernel("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def self_adjoint_eig(xp: ArrayModule, x: Array, *, compute_v: bool) -> tuple[Array, Array]:
    """Eigenvalues in rising order, and vectors, of the lower triangles of Hermitian matrices."""
    wide = square(x)
    if x.size and not xp.all(xp.isfinite(wide)):
        raise InvalidArgument("Self-adjoint eigen decomposition was not successful.")
    if compute_v:
        values, vectors = xp.linalg.eigh(wide)
        return values.astype(x.dtype), vectors.astype(x.dtype)
    return xp.linalg.eigvalsh(wide).astype(x.dtype), xp.empty((0,), dtype=x.dtype)


@kernel("SelfAdjointEig", "BatchSelfAdjointEig")
def joined_self_adjoint_eig(xp: ArrayModule, x: Array) -> Array:
    """Eigenvalues as a row above the vectors."""
    values, vectors = self_adjoint_eig(xp, x, compute_v=True)
    return xp.concatenate([values[..., None, :], vectors], axis=-2)


@kernel("Eig", devices=("CPU",))
def eig(xp: ArrayModule, x: Array, *, compute_v: bool, Tout: str) -> tuple[Array, Array]:
    """Eigenvalues and vectors of any square matrices, both complex."""
    wide, target = square(x), dtype_of(Tout)
    if target.itemsize != x.dtype.itemsize * (1 if x.dtype.kind == "c" else 2):
        raise InvalidArgument(f"Invalid output dtype {Tout} vs {x.dtype}")
    if x.size and not xp.all(xp.isfinite(wide)):
        raise InvalidArgument("Eigen decomposition was not successful.")
    if compute_v:
        values, vectors = xp.linalg.eig(wide)
        return values.astype(target), vectors.astype(target)
    return xp.linalg.eigvals(wide).astype(target), xp.empty((0,), dtype=target)


@kernel("Svd", "BatchSvd")
def svd(
    xp: ArrayModule, x: Array, *, compute_uv: bool, full_matrices: bool
) -> tuple[Array, Array, Array]:
    """Singular values in falling order, and the vectors on the left and on the right."""
    hold()
    require_rank_at_least(2, x=x)
    wide = x.astype("float32") if x.dtype.itemsize == 2 else x
    none = xp.empty((0,), dtype=x.dtype)
    if not x.size:
        values, left, right = _filled(xp, x, 0.0, full_matrices)
        left, right = (
            vectors + xp.eye(*vectors.shape[-2:], dtype=x.dtype) for vectors in (left, right)
        )
        return values, *((left, right) if compute_uv else (none, none))
    if not compute_uv:
        return _singular_values(xp, wide).astype(x.dtype), none, none
    try:
        left, values, right = xp.linalg.svd(wide, full_matrices=full_matrices)
    except REFUSED:
        return _filled(xp, x, _NAN, full_matrices)
    right = xp.conj(xp.swapaxes(right, -1, -2))
    return values.astype(x.dtype), left.astype(x.dtype), right.astype(x.dtype)


def _filled(
    xp: ArrayModule, x: Array, value: float, full_matrices: bool
) -> tuple[Array, Array, Array]:
    """Singular values and vectors filled with one number."""
    rows, columns = x.shape[-2:]
    inner = min(rows, columns)
    widths = (rows, columns) if full_matrices else (inner, inner)
    shapes = (inner,), (rows, widths[0]), (columns, widths[1])
    values, left, right = (xp.full((*x.shape[:-2], *s), value, dtype=x.dtype) for s in shapes)
    return values, left, right


def _singular_values(xp: ArrayModule, x: Array) -> Array:
    try:
        return xp.linalg.svd(x, compute_uv=False)
    except REFUSED:
        return xp.full((*x.shape[:-2], min(x.shape[-2:])), _NAN, dtype=x.dtype)


@kernel("Lu", devices=("CPU",))
def lu(xp: ArrayModule, x: Array, *, output_idx_type: str) -> tuple[Array, Array]:
    """The LU factors of each matrix in one matrix, and the permutation of its rows.

    Raises:
      KernelError: a matrix is not invertible.

    """
    wide = square(x)
    size = x.shape[-1]
    factors = xp.empty(x.shape, dtype=x.dtype)
    orders = xp.empty(x.shape[:-1], dtype=dtype_of(output_idx_type))
    if not x.size:
        return factors, orders
    many, many_orders = factors.reshape((-1, size, size)), orders.reshape((-1, size))
    many[:] = wide.reshape(many.shape)
    many_orders[:] = xp.arange(size)
    is_many = many.shape[0] > _MATRICES_PER_ROW * size
    (_eliminate if is_many else _factorize)(xp, many, many_orders)
    if not xp.all(xp.absolute(xp.diagonal(many, axis1=1, axis2=2)) > 0):
        raise InvalidArgument("The input is not invertible.")
    return factors, orders


def _factorize(xp: ArrayModule, matrices: Array, orders: Array) -> None:
    """Factorize the matrices in place, one by one, and permute the row numbers likewise."""
    (factorize,) = linear_algebra().get_lapack_funcs(("getrf",), (matrices,))
    swaps = xp.empty(orders.shape, dtype="int64")
    for i, matrix in enumerate(matrices):
        matrices[i], swaps[i], _ = factorize(matrix)
    for row in range(orders.shape[1]):
        _exchange(xp, orders, row, swaps[:, row])


def _eliminate(xp: ArrayModule, matrices: Array, orders: Array) -> None:
    """As `_factorize`, but all matrices at once: faster for many small ones."""
    for row in range(orders.shape[1]):
        pivots = row + xp.argmax(xp.absolute(matrices[:, row:, row]), axis=1)
        _exchange(xp, matrices, row, pivots)
        _exchange(xp, orders, row, pivots)
        below = matrices[:, row + 1 :]
        below[:, :, row] /= matrices[:, row, row, None]
        below[:, :, row + 1 :] -= below[:, :, row, None] * matrices[:, row, None, row + 1 :]


def _exchange(xp: ArrayModule, many: Array, row: int, others: Array) -> None:
    """Exchange a row, the same in all arrays, with another one, a different one in each array."""
    numbers = xp.arange(many.shape[0])
    kept = many[:, row].copy()
    many[:, row] = many[numbers, others]
    many[numbers, others] = kept


@kernel("Qr")
def qr(xp: ArrayModule, x: Array, *, full_matrices: bool) -> tuple[Array, Array]:
    """The orthogonal and the upper triangular factor of each matrix, by Householder reflections.

    The diagonal of the second factor has the signs that the reflections give, as in TensorFlow.
    """
    hold()
    require_rank_at_least(2, x=x)
    rows, columns = x.shape[-2:]
    inner = rows if full_matrices else min(rows, columns)
    shapes = (*x.shape[:-2], rows, inner), (*x.shape[:-2], inner, columns)
    if not x.size:
        # The factor of a matrix without columns may be any orthogonal one.
        unit = xp.broadcast_to(xp.eye(rows, inner, dtype=x.dtype), shapes[0])
        return unit, xp.zeros(shapes[1], dtype=x.dtype)
    wide = x.astype("float32") if x.dtype == "float16" else x
    q, r = xp.linalg.qr(wide, mode="complete" if full_matrices else "reduced")
    return q.astype(x.dtype), r.astype(x.dtype)
