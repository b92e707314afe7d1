"""Programs of decompositions of empty matrices, of NaNs, of larger ones, by older operations."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.imported_nodes import run_node

__all__ = ["BEHAVIOURS"]


def _singular_values_of_nothing(tf):
    outcomes = []
    for sizes in ([0, 0], [0, 3], [3, 0], [2, 0, 3], [2, 3, 0], [0, 2, 3]):
        for full in (False, True):
            x = tf.zeros(sizes, tf.float64)
            outcomes += attempt(
                lambda x=x, f=full: run(tf, tf.svd(x, full_matrices=f)),
                lambda x=x: run(tf, tf.svd(x, compute_uv=False)),
            )
    return outcomes


def _joined_eigenvalues(tf):
    """`SelfAdjointEig` of the first releases, which joins eigenvalues and eigenvectors."""
    matrix = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, -2.0]])
    batch = np.stack([matrix, np.diag([3.0, 1.0, 2.0]), matrix * -2.0])

    def rebuilt(packed):
        values, vectors = packed[..., :1, :], packed[..., 1:, :]
        return packed.shape, values, (vectors * values) @ np.swapaxes(vectors, -1, -2)

    def joined(op_type: str, value, producer: int = 10):
        (packed,) = run_node(tf, op_type, [value], {"T": tf.as_dtype(value.dtype)}, producer)
        return rebuilt(packed)

    return attempt(
        *(
            lambda t=op_type, v=value: joined(t, v)
            for op_type in ("SelfAdjointEig", "BatchSelfAdjointEig")
            for value in (matrix, batch, batch[:, :1, :1], matrix.astype("float32"))
        ),
        lambda: joined("SelfAdjointEig", np.zeros([0, 0])),
        lambda: joined("SelfAdjointEig", np.ones([2, 3])),
        lambda: joined("SelfAdjointEig", np.ones([3])),
        lambda: joined("SelfAdjointEig", matrix, 11),
        lambda: joined("SelfAdjointEig", matrix, 12),
        lambda: tf.raw_ops.SelfAdjointEig(input=matrix),
        lambda: run(tf, tf.raw_ops.SelfAdjointEig(input=matrix)),
    )


def _larger_triangles(tf):
    """Triangular systems of 20 equations: the other triangle of the matrix is not read."""
    random = np.random.default_rng(5)
    outcomes = []
    for dtype in ("float32", "float64", "complex128"):
        matrix = random.uniform(-1, 1, size=(2, 20, 20)).astype(dtype) + 6 * np.eye(20, dtype=dtype)
        rhs = random.uniform(-1, 1, size=(2, 20, 3)).astype(dtype)
        if dtype == "complex128":
            matrix, rhs = matrix * (1 + 0.5j), rhs * (1 - 2j)
        for lower in (True, False):
            for adjoint in (True, False):
                for given, wanted in ((matrix, rhs), (matrix[0], rhs[1]), (matrix[0], rhs)):
                    outcomes += attempt(
                        lambda g=given, w=wanted, s=(lower, adjoint): run(
                            tf, tf.linalg.triangular_solve(g, w, *s)
                        )
                    )
    singular = np.tril(np.ones([12, 12])) - np.diag([0.0] * 11 + [1.0])
    outcomes += attempt(
        lambda: run(tf, tf.linalg.triangular_solve(singular, np.ones([12, 1]))),
        lambda: run(tf, tf.linalg.triangular_solve(np.eye(12), np.ones([12, 0]))),
        lambda: run(tf, tf.linalg.triangular_solve(np.eye(12), np.ones([11, 2]))),
    )
    return outcomes


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_singular_values_of_nothing, _joined_eigenvalues, _larger_triangles)
}
