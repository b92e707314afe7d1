"""Programs of `linspace`, norms by singular values, counts of rows, identity matrices."""

from __future__ import annotations

import importlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_DRAW = np.random.RandomState(0)
_A = _DRAW.randn(2, 3, 4).astype("f")


def _spaced(tf):
    return shown(
        tf,
        lambda tf: tf.linspace(1.0, 2.0, 5),
        lambda tf: tf.linspace(1.0, 2.0, 1),
        lambda tf: tf.linspace([1.0, 2.0], [3.0, 5.0], 4, axis=-1, name="mine"),
        lambda tf: tf.linspace([[1.0], [2.0]], [3.0, 5.0], 3, axis=1),
        lambda tf: tf.linspace(fed(tf, np.ones(2), [None]), 3.0, np.int64(4)),
        lambda tf: tf.lin_space(1.0, 2.0, 0),
        lambda tf: tf.linspace(1.0, 2.0, 2.5),
        lambda tf: tf.linspace(1.0, 2.0, -1),
        lambda tf: tf.linspace(1.0, 2.0, 3, axis=1),
    )


def _greatest_singular_values(tf):
    return shown(
        tf,
        lambda tf: tf.norm(_A, ord=2, axis=(-2, -1)),
        lambda tf: tf.norm(_A, ord=2, axis=[0, 1], keepdims=True),
        lambda tf: tf.norm(fed(tf, _A), ord=2, axis=(2, 0)),
        lambda tf: tf.norm(_A, axis=[[1]]),
        lambda tf: tf.norm(_A, axis=3.5),
        lambda tf: tf.norm(_A, ord=3, axis=(0, 1)),
        lambda tf: tf.norm(_A, axis=[1.0, 2]),
    )


def _counts_of_rows(tf):
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    count = importlib.import_module(f"{root}.python.ops.bincount_ops").bincount
    rows, weights = [[1, 2, 2], [0, 2, 1]], [[1.0, 2.0, 0.5], [0.25, 4.0, 3.0]]
    return shown(
        tf,
        lambda _: count(rows),
        lambda _: count(rows, axis=-1),
        lambda _: count(rows, weights),
        lambda _: count(rows, weights, axis=-1),
        lambda _: count(rows, binary_output=True),
        lambda _: count(rows, axis=-1, binary_output=True, maxlength=2, name="mine"),
        lambda _: count(rows, weights, binary_output=True),
        lambda _: count(rows, axis=1),
        lambda tf: tf.bincount(rows, minlength=5, dtype=tf.float64),
    )


def _shapes_of_fed_sizes(tf):
    side, rows = tf.placeholder(tf.int32), tf.placeholder(tf.int32, [])
    return (
        tf.tensordot(_A, _A, (np.array([2, 1]), np.array([2, 1]))).shape.as_list(),
        tf.argsort(tf.placeholder(tf.float32, [1, None, 5]), axis=0).shape.as_list(),
        tf.argsort(tf.placeholder(tf.float32, [1, None, 5]), axis=1).shape.as_list(),
        [
            matrix.shape.as_list()
            for matrix in (
                tf.eye(side, batch_shape=[2, 3]),
                tf.eye(side, 4, batch_shape=[2]),
                tf.eye(rows, side),
                tf.fill([side, 2], 0),
                tf.fill(tf.concat([[2], [side]], 0), 0),
            )
        ],
        attempt(
            lambda: run(tf, tf.einsum("...ij,...jk->ik", _A, np.ones((4, 2), "f"))),
            lambda: run(tf, tf.einsum("...ij,jk->ik", _A[0], np.ones((4, 2), "f"))),
        ),
    )


def _replaced_rows(tf):
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    rows = importlib.import_module(f"{root}.python.ops.inplace_ops")
    x, v = np.arange(6.0).reshape(3, 2), np.ones((2, 2))
    return shown(
        tf,
        lambda _: rows.inplace_update(x, [0, 2], v),
        lambda _: rows.inplace_add(x, [0, 0], v),
        lambda _: rows.inplace_sub(x, 1, v[0]),
        lambda _: rows.inplace_add(x, None, x),
        lambda tf: rows.alias_inplace_add(fed(tf, x), [-1, 4], v),
        lambda tf: rows.alias_inplace_update(fed(tf, x), [1], v),
        lambda _: rows.alias_inplace_sub(x, [[1]], v[:1]),
    )


def _clipped(tf):
    rows = tf.IndexedSlices(tf.constant([[1.0, -3.0]]), tf.constant([2]), tf.constant([4, 2]))
    clipped = tf.clip_by_value(rows, -1.0, 0.5)
    return (
        run(tf, [clipped.values, clipped.indices, clipped.dense_shape]),
        clipped.values.name,
        attempt(
            lambda: tf.clip_by_value(tf.ones([2, 3, 1]), 0.0, [1.0, 2.0]).shape,
            lambda: tf.clip_by_value(tf.ones([2, 1]), [0.0, 1.0, 2.0], 5.0).shape,
        ),
        shown(
            tf,
            lambda tf: tf.clip_by_value(_A, -0.5, np.float32(0.5)),
            lambda tf: tf.clip_by_value([1, 2, 3], 2, 2, name="mine"),
        ),
    )


def _distinct_slices(tf):
    unique, counts = tf.raw_ops.UniqueV2, tf.raw_ops.UniqueWithCountsV2
    x = np.array([[1, 2, 1], [1, 2, 1], [0, 2, 0]])
    return shown(
        tf,
        lambda _: unique(x=x, axis=[0]),
        lambda _: counts(x=x, axis=[-1]),
        lambda _: counts(x=[b"a", b"b", b"a"], axis=np.int32([])),
        lambda _: unique(x=x, axis=np.int32([])),
        lambda _: unique(x=x, axis=[2]),
        lambda _: unique(x=x, axis=[0, 1]),
        lambda _: unique(x=x, axis=0),
        lambda tf: unique(x=fed(tf, x), axis=[1], out_idx=tf.int64),
        lambda tf: unique(x=fed(tf, x, [None, 3]), axis=fed(tf, [1])),
        lambda tf: unique(x=fed(tf, x), axis=fed(tf, [3])),
    )


BEHAVIOURS = {
    "clipped": _clipped,
    "distinct-slices": _distinct_slices,
    "replaced-rows": _replaced_rows,
    "spaced": _spaced,
    "greatest-singular-values": _greatest_singular_values,
    "counts-of-rows": _counts_of_rows,
    "shapes-of-fed-sizes": _shapes_of_fed_sizes,
}
