"""Programs of linear systems, decompositions, tridiagonal matrices, functions of matrices."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

_DRAW = np.random.RandomState(0)
_A = (_DRAW.randn(2, 3, 3) + 3 * np.eye(3)).astype("f")
_S = (_A @ _A.transpose(0, 2, 1)).astype("f")
_B = _DRAW.randn(2, 3, 2).astype("f")
_T = _DRAW.randn(5, 3).astype("f")
_D = (_DRAW.randn(2, 3, 4) + np.array([0, 4, 0])[:, None]).astype("f")
_R = _DRAW.randn(2, 4, 2).astype("f")


def _solving(tf):
    wide, known = _T.astype("complex128"), _T[:, :2].astype("complex128")
    return shown(
        tf,
        lambda tf: tf.cholesky_solve(tf.cholesky(_S), _B),
        lambda tf: tf.matrix_triangular_solve(_A, _B, lower=False, adjoint=True),
        lambda tf: tf.linalg.lstsq(_T, _T[:, :2]),
        lambda tf: tf.linalg.lstsq(_T.T, _T.T[:, :2], l2_regularizer=0.5),
        lambda tf: tf.linalg.lstsq(fed(tf, _T, [None, None]), _T[:, :2], l2_regularizer=0.5),
        lambda tf: tf.linalg.lstsq(_T, _T[:, :2], fast=False),
        lambda tf: tf.linalg.lstsq(wide, known, l2_regularizer=0.5),
        lambda tf: tf.linalg.logdet(_S),
        lambda tf: tf.linalg.slogdet(_S),
        lambda tf: tf.linalg.matvec(_A, _B[..., 0]),
        lambda tf: tf.linalg.inv(_A, adjoint=True),
        lambda tf: tf.linalg.inv(np.zeros((2, 2))),
        lambda tf: tf.linalg.solve(_A, _B[:, :2]),
        lambda tf: tf.linalg.solve(np.zeros((2, 2)), np.ones((2, 1))),
        lambda tf: tf.linalg.det(_T),
        lambda tf: tf.linalg.band_part(tf.cholesky(-_S), -1, 0),
        lambda tf: tf.linalg.lu(np.zeros((2, 2))),
    )


def _ranks(tf):
    return shown(
        tf,
        lambda tf: tf.linalg.matrix_rank(_A),
        lambda tf: tf.linalg.matrix_rank([[1.0, 0], [0, 0]]),
        lambda tf: tf.linalg.matrix_rank(fed(tf, _A), validate_args=True),
        lambda tf: tf.linalg.matrix_rank([1.0, 2]),
        lambda tf: tf.linalg.matrix_rank([[1, 2]]),
        lambda tf: tf.linalg.pinv(_A),
        lambda tf: tf.linalg.pinv(_T, rcond=0.1),
        lambda tf: tf.linalg.normalize(_A, axis=1),
        lambda tf: tf.svd(_A, compute_uv=False),
        lambda tf: tf.self_adjoint_eigvals(_S),
        lambda tf: tf.linalg.eigh(_S)[0],
        lambda tf: tf.linalg.pinv(fed(tf, _T), validate_args=True),
    )


def _triangular_factors(tf):
    order = np.array([[0, 1, 2], [1, 0, 2]], "i")
    return shown(
        tf,
        lambda tf: tf.linalg.lu(_A),
        lambda tf: tf.linalg.lu_solve(*tf.linalg.lu(_A), rhs=_B),
        lambda tf: tf.linalg.lu_solve(*tf.linalg.lu(_A[0]), rhs=_B[0], validate_args=True),
        lambda tf: tf.linalg.lu_reconstruct(*tf.linalg.lu(_A)),
        lambda tf: tf.linalg.lu_reconstruct(*tf.linalg.lu(_A[0])),
        lambda tf: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(_A)),
        lambda tf: tf.linalg.lu_solve(_A, [0, 1, 2], _B),
        lambda tf: tf.linalg.lu_solve(_T, order, _B),
        lambda tf: tf.linalg.lu_solve(_A, order, _R),
        lambda tf: tf.linalg.lu_solve(_A, order, [1.0]),
        lambda tf: tf.linalg.lu_solve(fed(tf, _A), fed(tf, order), fed(tf, _B), validate_args=True),
    )


def _reconstructions(tf):
    """Products of decompositions: unlike single vectors they have no arbitrary sign or phase."""

    def of_singular(tf, x, full: bool):
        values, left, right = tf.svd(x, full_matrices=full)
        inner = tf.linalg.set_diag(
            tf.zeros([*left.shape[:-2], left.shape[-1], right.shape[-1]], left.dtype),
            tf.cast(values, left.dtype),
        )
        return tf.matmul(tf.matmul(left, inner), right, adjoint_b=True)

    def of_eigen(tf, x):
        values, vectors = tf.linalg.eigh(x)
        return tf.matmul(
            vectors * tf.cast(values, vectors.dtype)[..., None, :], vectors, adjoint_b=True
        )

    def slope(tf, x, of):
        given = tf.constant(x)
        scale = np.arange(x.size).reshape(x.shape).astype(x.dtype)
        output = of(tf, given)
        return tf.gradients(output * output, given, scale)

    skewed = (_A + 1j * _A.transpose(0, 2, 1)[:, ::-1]).astype("complex64")
    hermitian = (skewed + skewed.transpose(0, 2, 1).conj()).astype("complex64")
    return shown(
        tf,
        lambda tf: of_singular(tf, _A, True),
        lambda tf: of_singular(tf, _T, False),
        lambda tf: of_singular(tf, skewed, True),
        lambda tf: of_eigen(tf, _S),
        lambda tf: of_eigen(tf, hermitian),
        lambda tf: slope(tf, _S, of_eigen),
        lambda tf: slope(tf, _A, lambda tf, x: of_singular(tf, x, False)),
        lambda tf: slope(tf, _T, lambda tf, x: of_singular(tf, x, False)),
        lambda tf: slope(tf, _T.T.copy(), lambda tf, x: of_singular(tf, x, False)),
        lambda tf: slope(tf, skewed, lambda tf, x: of_singular(tf, x, True)),
        lambda tf: slope(tf, _T, lambda tf, x: tf.matmul(*tf.qr(x))),
        digits=1,
    )


def _three_diagonals(tf):
    def rows(tf) -> list[Tensor]:
        return [tf.constant(_D[:, column]) for column in range(3)]

    def solve(tf, diagonals, rhs, **options):
        given = diagonals if isinstance(diagonals, list) else tf.constant(diagonals)
        return tf.linalg.tridiagonal_solve(given, tf.constant(rhs), **options)

    short = (_D[:, 0, :3], _D[:, 1], _D[:, 2, 1:])
    shorter = (_D[:, 0, :2], _D[:, 1], _D[:, 2, 1:])
    return shown(
        tf,
        lambda tf: solve(tf, _D, _R),
        lambda tf: solve(tf, _D, _R, partial_pivoting=False),
        lambda tf: solve(
            tf,
            np.array([[1.0, 0], [1, 1], [0, 1]]),
            np.array([1.0, 2.0]),
            partial_pivoting=True,
            perturb_singular=True,
        ),
        lambda tf: solve(tf, _D, _R[..., 0], conjugate_rhs=True),
        lambda tf: solve(tf, _D, _R.transpose(0, 2, 1), transpose_rhs=True),
        lambda tf: solve(tf, rows(tf), _R, diagonals_format="sequence"),
        lambda tf: solve(tf, list(map(tf.constant, short)), _R, diagonals_format="sequence"),
        lambda tf: solve(tf, list(map(tf.constant, shorter)), _R, diagonals_format="sequence"),
        lambda tf: solve(tf, _A, _B, diagonals_format="matrix"),
        lambda tf: tf.raw_ops.MatrixSolveLs(
            matrix=tf.ones([2, 2]),
            rhs=tf.zeros([2, 0]),
            fast=True,
            l2_regularizer=tf.constant(0.0, tf.float64),
        ),
        lambda tf: solve(tf, _D, _R, diagonals_format="x"),
        lambda tf: solve(tf, _D, _R[0]),
        lambda tf: solve(tf, _D[:, :2], _R),
        lambda tf: solve(tf, _D, _R[:, :3]),
        lambda tf: solve(tf, 0 * _D, _R),
        lambda tf: solve(tf, _D, _R, perturb_singular=True, partial_pivoting=False),
        lambda tf: tf.linalg.tridiagonal_solve(fed(tf, _D), fed(tf, _R)),
        lambda tf: tf.linalg.tridiagonal_matmul(tf.constant(_D), tf.constant(_R)),
        lambda tf: tf.linalg.tridiagonal_matmul(rows(tf), tf.constant(_R), "sequence"),
        lambda tf: tf.linalg.tridiagonal_matmul(tf.constant(_A), tf.constant(_B), "matrix"),
        lambda tf: tf.linalg.tridiagonal_matmul(tf.constant(_A), tf.constant(_B), "z"),
    )


def _functions_of_matrices(tf):
    return shown(
        tf,
        lambda tf: tf.linalg.expm(_A / 4),
        lambda tf: tf.linalg.expm(_A.astype("d") * 1.5),
        lambda tf: tf.linalg.expm(fed(tf, _A[0] * 0.01)),
        lambda tf: tf.linalg.expm([[np.inf]]),
        lambda tf: tf.linalg.expm(np.zeros((0, 0))),
        lambda tf: tf.linalg.expm([[1]]),
        lambda tf: tf.linalg.sqrtm(_S),
        lambda tf: tf.linalg.logm(_S.astype("complex64")),
        digits=2,
    )


def _numbers_that_are_none(tf):
    nan, inf = float("nan"), float("inf")
    matrices = np.array(
        [
            [[nan, 1], [1, 1]],
            [[inf, 1], [1, 1]],
            [[0, 0], [0, nan]],
            [[0, 0], [0, 0]],
            [[inf, -inf], [1, 1]],
        ],
        np.float32,
    )
    empty = np.zeros([2, 0, 0], "complex64")
    return [
        run(tf, [tf.linalg.det(matrices), *tf.linalg.slogdet(matrices)]),
        run(tf, [tf.linalg.logm(empty), tf.linalg.sqrtm(empty), tf.linalg.logm(empty[:, None])]),
    ]


def _no_numbers_of_the_program_are_drawn(tf):
    np.random.seed(3)  # noqa: NPY002 - the global generator is what is asked about
    run(tf, tf.linalg.logm(_S.astype("complex64")))
    return np.random.random(2)  # noqa: NPY002 - the same


def _eigenvalues_of_any_matrices(tf):
    linalg_ops = module_of(tf, "ops.linalg_ops")
    results = []
    for dtype in ("float32", "float64", "complex64", "complex128"):
        values, vectors = linalg_ops.eig(tf.constant(_A.astype(dtype)))
        alone = linalg_ops.eigvals(tf.constant(_A.astype(dtype)), name="alone")
        same = tf.cast(tf.constant(_A.astype(dtype)), values.dtype)
        difference = tf.matmul(vectors, tf.matrix_diag(values)) - tf.matmul(same, vectors)
        known = [values.shape.as_list(), vectors.shape.as_list(), alone.op.name, alone.dtype.name]
        sums = run(tf, [tf.reduce_sum(values, -1), tf.reduce_sum(alone, -1), tf.abs(difference)])
        results.append([known, [np.round(total, 3) + 0 for total in sums]])
    wrong = tf.raw_ops.Eig(input=_A, Tout=tf.complex128, compute_v=True)
    return results, attempt(
        lambda: linalg_ops.eig(tf.constant([[1]])),
        lambda: linalg_ops.eig(tf.constant(1.0)),
        lambda: linalg_ops.eigvals([[1.0]]),
        lambda: run(tf, wrong),
    )


def _gradients(tf):
    def slope(make, value=_S[0], is_known: bool = True):
        def by_input(tf):
            given = tf.constant(value) if is_known else fed(tf, value)
            return tf.gradients(make(tf, given), given)

        return by_input

    def least(tf, x):
        return tf.raw_ops.MatrixSolveLs(matrix=x, rhs=_B[0], l2_regularizer=tf.constant(0.1, "d"))

    return shown(
        tf,
        slope(lambda tf, x: tf.linalg.lstsq(x, _B[0])),
        slope(lambda tf, x: tf.linalg.eigvalsh(x)),
        slope(lambda tf, x: tf.linalg.svd(x, compute_uv=False)),
        slope(lambda tf, x: tf.linalg.tridiagonal_solve(x, _R), _D, is_known=False),
        slope(lambda tf, x: tf.linalg.tridiagonal_matmul(x, _R), _D, is_known=False),
        slope(least),
        slope(lambda tf, x: tf.linalg.lu(x)),
        slope(lambda tf, x: tf.linalg.sqrtm(x)),
        slope(lambda tf, x: tf.qr(x)[0], is_known=False),
        digits=1,
    )


BEHAVIOURS = {
    "eigenvalues_of_any_matrices": _eigenvalues_of_any_matrices,
    "functions_of_matrices": _functions_of_matrices,
    "gradients": _gradients,
    "no_numbers_of_the_program_are_drawn": _no_numbers_of_the_program_are_drawn,
    "numbers_that_are_none": _numbers_that_are_none,
    "ranks": _ranks,
    "reconstructions": _reconstructions,
    "solving": _solving,
    "three_diagonals": _three_diagonals,
    "triangular_factors": _triangular_factors,
}
