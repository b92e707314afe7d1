"""Kernels that take matrices apart into factors, or find their eigenvalues.

Signs and phases of vectors are those that LAPACK gives; TensorFlow's may be others. BLAS is held
to one thread, as for products.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.products import one_thread
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra

__all__ = ["REFUSED", "cholesky_factor", "hold", "square"]

#: What numpy and cupy raise where there is no result.
REFUSED: Final = HOST.linalg.LinAlgError
_NAN: Final = float("nan")
#: So many more matrices than rows are factorized all at once. Of fewer each costs a call of LAPACK,
#: 1.5 microseconds: 100 matrices of 8 x 8 take three times as long as in TensorFlow.
_MATRICES_PER_ROW: Final = 20
#: Holds BLAS to one thread, once in the process.
hold: Final = functools.cache(one_thread)


def square(x: Any) -> Any:
    """Square matrices, 16-bit ones widened.

    Raises:
      KernelError: they are not square, or no matrices.

    """
    hold()
    if x.ndim < 2:
        raise InvalidArgument(f"Input tensor 0 must have rank >= 2, got {x.ndim}")
    if x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(f"Input matrix must be square, got {x.shape}")
    return x.astype("float32") if x.dtype.itemsize == 2 else x


def cholesky_factor(xp: Any, x: Any) -> Any:
    """The lower triangular factor of each matrix; NaN below the diagonal where there is none."""
    try:
        return xp.linalg.cholesky(x)
    except REFUSED:
        if x.ndim == 2:
            return xp.tril(xp.full(x.shape, _NAN, dtype=x.dtype))
    flat = x.reshape((-1, *x.shape[-2:]))
    factors = [cholesky_factor(xp, flat[place]) for place in range(flat.shape[0])]
    return xp.stack(factors).reshape(x.shape)


@kernel("Cholesky", "BatchCholesky")
def cholesky(xp: Any, x: Any) -> Any:
    """The lower triangular factor of each positive definite matrix, of its lower triangle."""
    return cholesky_factor(xp, square(x)).astype(x.dtype)


@kernel("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def self_adjoint_eig(xp: Any, x: Any, *, compute_v: bool) -> Any:
    """Eigenvalues in rising order, and vectors, of the lower triangles of Hermitian matrices."""
    wide = square(x)
    if x.size and not xp.all(xp.isfinite(wide)):
        raise InvalidArgument("Self-adjoint eigen decomposition was not successful.")
    if compute_v:
        values, vectors = xp.linalg.eigh(wide)
        return values.astype(x.dtype), vectors.astype(x.dtype)
    return xp.linalg.eigvalsh(wide).astype(x.dtype), xp.empty((0,), dtype=x.dtype)


@kernel("SelfAdjointEig", "BatchSelfAdjointEig")
def joined_self_adjoint_eig(xp: Any, x: Any) -> Any:
    """Eigenvalues as a row above the vectors."""
    values, vectors = self_adjoint_eig(xp, x, compute_v=True)
    return xp.concatenate([values[..., None, :], vectors], axis=-2)


@kernel("Eig", devices=("CPU",))
def eig(xp: Any, x: Any, *, compute_v: bool, Tout: str) -> Any:  # noqa: N803 - the attribute's name
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
def svd(xp: Any, x: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    """Singular values in falling order, and the vectors on the left and on the right."""
    hold()
    if x.ndim < 2:
        raise InvalidArgument(f"Input must have rank >= 2, got {x.ndim}")
    wide = x.astype("float32") if x.dtype.itemsize == 2 else x
    none = xp.empty((0,), dtype=x.dtype)
    if not x.size:
        values, left, right = _filled(xp, x, 0.0, full_matrices)
        left, right = (each + xp.eye(*each.shape[-2:], dtype=x.dtype) for each in (left, right))
        return values, *((left, right) if compute_uv else (none, none))
    if not compute_uv:
        return _singular_values(xp, wide).astype(x.dtype), none, none
    try:
        left, values, right = xp.linalg.svd(wide, full_matrices=full_matrices)
    except REFUSED:
        return _filled(xp, x, _NAN, full_matrices)
    right = xp.conj(xp.swapaxes(right, -1, -2))
    return values.astype(x.dtype), left.astype(x.dtype), right.astype(x.dtype)


def _filled(xp: Any, x: Any, value: float, full_matrices: bool) -> Any:
    """Values and vectors all of one number."""
    rows, columns = x.shape[-2:]
    inner = min(rows, columns)
    widths = (rows, columns) if full_matrices else (inner, inner)
    shapes = (inner,), (rows, widths[0]), (columns, widths[1])
    return tuple(xp.full((*x.shape[:-2], *shape), value, dtype=x.dtype) for shape in shapes)


def _singular_values(xp: Any, x: Any) -> Any:
    try:
        return xp.linalg.svd(x, compute_uv=False)
    except REFUSED:
        return xp.full((*x.shape[:-2], min(x.shape[-2:])), _NAN, dtype=x.dtype)


@kernel("Lu", devices=("CPU",))
def lu(xp: Any, x: Any, *, output_idx_type: str) -> Any:
    """Both triangular factors of each matrix in one, and the order of its rows.

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
        raise InvalidArgument("Input is not invertible.")
    return factors, orders


def _factorize(xp: Any, matrices: Any, orders: Any) -> None:
    """Put factors in the matrices' place, and rows in order, one matrix after the other."""
    (factorize,) = linear_algebra().get_lapack_funcs(("getrf",), (matrices,))
    swaps = xp.empty(orders.shape, dtype="int64")
    for place, matrix in enumerate(matrices):
        matrices[place], swaps[place], _ = factorize(matrix)
    for row in range(orders.shape[1]):
        _exchange(xp, orders, row, swaps[:, row])


def _eliminate(xp: Any, matrices: Any, orders: Any) -> None:
    """As `_factorize`, all matrices at once: a call for each of many small ones takes longer."""
    for row in range(orders.shape[1]):
        pivots = row + xp.argmax(xp.absolute(matrices[:, row:, row]), axis=1)
        _exchange(xp, matrices, row, pivots)
        _exchange(xp, orders, row, pivots)
        below = matrices[:, row + 1 :]
        below[:, :, row] /= matrices[:, row, row, None]
        below[:, :, row + 1 :] -= below[:, :, row, None] * matrices[:, row, None, row + 1 :]


def _exchange(xp: Any, many: Any, row: int, others: Any) -> None:
    """Exchange in each of many arrays one row, the same in all, and another one."""
    places = xp.arange(many.shape[0])
    kept = many[:, row].copy()
    many[:, row] = many[places, others]
    many[places, others] = kept


@kernel("Qr")
def qr(xp: Any, x: Any, *, full_matrices: bool) -> Any:
    """An orthogonal and an upper triangular factor of each matrix, by Householder's reflections.

    The diagonal of the second factor has whatever signs the reflections give, as TensorFlow's.
    """
    hold()
    if x.ndim < 2:
        raise InvalidArgument(f"Input must have rank >= 2, got {x.ndim}")
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
