"""Spaced numbers, norms by singular values, counts of rows, identity matrices of fed sizes."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from described import attempt, run
from graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_DRAW = np.random.RandomState(0)
_A = _DRAW.randn(2, 3, 4).astype("f")


def _spaced(tf: Any) -> Any:
    return shown(
        tf,
        lambda tf: tf.linspace(1.0, 2.0, 5), lambda tf: tf.linspace(1.0, 2.0, 1),
        lambda tf: tf.linspace([1.0, 2.0], [3.0, 5.0], 4, axis=-1, name="mine"),
        lambda tf: tf.linspace([[1.0], [2.0]], [3.0, 5.0], 3, axis=1),
        lambda tf: tf.linspace(fed(tf, np.ones(2), [None]), 3.0, np.int64(4)),
        lambda tf: tf.lin_space(1.0, 2.0, 0), lambda tf: tf.linspace(1.0, 2.0, 2.5),
        lambda tf: tf.linspace(1.0, 2.0, -1), lambda tf: tf.linspace(1.0, 2.0, 3, axis=1),
    )  # fmt: skip


def _greatest_singular_values(tf: Any) -> Any:
    return shown(
        tf,
        lambda tf: tf.norm(_A, ord=2, axis=(-2, -1)),
        lambda tf: tf.norm(_A, ord=2, axis=[0, 1], keepdims=True),
        lambda tf: tf.norm(fed(tf, _A), ord=2, axis=(2, 0)),
        lambda tf: tf.norm(_A, axis=[[1]]), lambda tf: tf.norm(_A, axis=3.5),
        lambda tf: tf.norm(_A, ord=3, axis=(0, 1)), lambda tf: tf.norm(_A, axis=[1.0, 2]),
    )  # fmt: skip


def _counts_of_rows(tf: Any) -> Any:
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    count = importlib.import_module(f"{root}.python.ops.bincount_ops").bincount
    rows, weights = [[1, 2, 2], [0, 2, 1]], [[1.0, 2.0, 0.5], [0.25, 4.0, 3.0]]
    return shown(
        tf,
        lambda _: count(rows), lambda _: count(rows, axis=-1), lambda _: count(rows, weights),
        lambda _: count(rows, weights, axis=-1), lambda _: count(rows, binary_output=True),
        lambda _: count(rows, axis=-1, binary_output=True, maxlength=2, name="mine"),
        lambda _: count(rows, weights, binary_output=True), lambda _: count(rows, axis=1),
        lambda tf: tf.bincount(rows, minlength=5, dtype=tf.float64),
    )  # fmt: skip


def _shapes_of_fed_sizes(tf: Any) -> Any:
    side, rows = tf.placeholder(tf.int32), tf.placeholder(tf.int32, [])
    return (
        [matrix.shape.as_list() for matrix in (
            tf.eye(side, batch_shape=[2, 3]), tf.eye(side, 4, batch_shape=[2]), tf.eye(rows, side),
            tf.fill([side, 2], 0), tf.fill(tf.concat([[2], [side]], 0), 0))],
        attempt(lambda: run(tf, tf.einsum("...ij,...jk->ik", _A, np.ones((4, 2), "f"))),
                lambda: run(tf, tf.einsum("...ij,jk->ik", _A[0], np.ones((4, 2), "f")))),
    )  # fmt: skip


BEHAVIOURS = {
    "spaced": _spaced,
    "greatest-singular-values": _greatest_singular_values,
    "counts-of-rows": _counts_of_rows,
    "shapes-of-fed-sizes": _shapes_of_fed_sizes,
}
