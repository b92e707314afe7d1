"""Programs of functions that consist of several operations: nodes and values."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built as _built
from sessrun.conformance.subjects.programs.built_graphs import fed as _fed

# ruff: noqa: B023 - functions that a loop defines are called in the same iteration

__all__ = ["BEHAVIOURS"]


def _clipping(tf):
    def rows():
        return tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([2, 2]))

    def p(shape=(2,), dtype=tf.float32):
        return tf.placeholder(dtype, shape, name="p")

    three = _fed(np.array([3.0, 4.0]))
    return [
        _built(tf, lambda: tf.clip_by_value(p(), 3.0, [4.0, 5.0, 6.0]), three),
        _built(tf, lambda: tf.clip_by_value(p([3]), [[3.0]], 4.0), three),
        _built(tf, lambda: tf.clip_by_value(p([3]), 3.0, [[4.0], [4.0]]), three),
        _built(
            tf,
            lambda: (
                tf.clip_by_value(
                    tf.IndexedSlices(p(), tf.constant([0, 2, 4])), 0.5, 1.0, name="c"
                ).values
            ),
            three,
        ),
        _built(tf, lambda: tf.clip_by_norm(p(), 3.0), three),
        _built(tf, lambda: tf.clip_by_norm(p(), 30.0, name="c"), three),
        _built(tf, lambda: tf.clip_by_norm(p([2, 2]), 1.0, axes=[1]), _fed([[3, 4], [0, 0]])),
        _built(tf, lambda: tf.clip_by_norm(p(None), tf.constant(1.0)), three),
        _built(tf, lambda: tf.clip_by_norm(rows(), 1.0)),
        _built(tf, lambda: tf.clip_by_norm([3.0, 4.0], [1.0, 2.0])),
        _built(tf, lambda: tf.clip_by_norm(p(), [[1.0], [2.0]]), three),
        _built(tf, lambda: tf.clip_by_norm(p(dtype=tf.float64), 1), three),
        *(
            _built(tf, lambda limit=limit: tf.clip_by_norm(p(), limit), three)
            for limit in (-1.0, np.float32(2.0), 0, np.array(1.0, np.float32))
        ),
        _built(tf, lambda: tf.global_norm([p(), None, rows()]), three),
        _built(tf, lambda: tf.global_norm((p(), [1.0])), three),
        _built(tf, lambda: tf.global_norm(p())),
        _built(tf, lambda: tf.global_norm("p")),
        _built(tf, lambda: tf.clip_by_global_norm([p(), None, rows()], 1.0)[0][0], three),
        _built(tf, lambda: tf.clip_by_global_norm([p(), None, rows()], 1.0)[0][2], three),
        _built(tf, lambda: tf.clip_by_global_norm([p(), [1.0]], 1.0, name="n"), three),
        _built(tf, lambda: tf.clip_by_global_norm([p()], 1.0), _fed([np.inf, 1])),
        _built(tf, lambda: tf.clip_by_global_norm([p()], 1.0, use_norm=tf.constant(5.0)), three),
        _built(tf, lambda: tf.clip_by_global_norm(p(), 1.0)),
        _built(tf, lambda: tf.clip_by_average_norm(p(), 1.0), three),
        _built(tf, lambda: tf.clip_by_average_norm(p(None), 1.0, "n"), three),
    ]


def _masks_and_grids(tf):
    def p(shape=(3,), dtype=tf.int32):
        return tf.placeholder(dtype, shape, name="p")

    lengths = _fed([1, 3, 0])
    return [
        _built(tf, lambda: tf.sequence_mask(p()), lengths),
        _built(tf, lambda: tf.sequence_mask(p(dtype=tf.int64), 5, tf.float32), lengths),
        _built(tf, lambda: tf.sequence_mask([1, 2], p([]), name="q"), _fed(2)),
        _built(tf, lambda: tf.sequence_mask(2, 3, dtype=None)),
        _built(tf, lambda: tf.sequence_mask([[1], [2]], tf.constant(3, tf.int64))),
        _built(tf, lambda: tf.sequence_mask([1], [3])),
        _built(tf, lambda: tf.sequence_mask([1.0, 2.5], 3)),
        _built(tf, lambda: tf.sequence_mask(p(None), p(None)), _fed([1], 2)),
        _built(tf, lambda: tf.sequence_mask([-1, 0])),
        _built(tf, lambda: tf.meshgrid(p(), p([2])), _fed([1, 2, 3], [4, 5])),
        _built(tf, lambda: tf.meshgrid(p(), p([2]), indexing="ij"), _fed([1, 2, 3], [4, 5])),
        _built(tf, lambda: tf.meshgrid([1, 2], [3], [4, 5], name="m")),
        _built(tf, lambda: tf.meshgrid(p(None)), _fed([1, 2])),
        _built(tf, lambda: tf.meshgrid(1, [2.0, 3.0])),
        _built(tf, lambda: tf.meshgrid(1, 2)),
        _built(tf, lambda: tf.meshgrid([1], indexing="q")),
        _built(tf, lambda: tf.meshgrid([1], nope=1)),
        _built(tf, lambda: tf.meshgrid([1.5], [2.5], indexing="xy")),
    ]


def _matrices(tf):
    def p(shape=(2, 3), dtype=tf.float32):
        return tf.placeholder(dtype, shape, name="p")

    square, turned = _fed([[1, -2, 3], [4, 5, 6]]), tf.matrix_transpose
    norms = [
        ("euclidean", None),
        (2, 1),
        (1, (0, 1)),
        (np.inf, 0),
        (3, 0),
        ("fro", [-2, -1]),
        (np.inf, [-2, -1]),
        (1, None),
        (1, 0),
        (np.inf, None),
        (2.5, None),
        ("fro", None),
        ("fro", 1),
        (3, (0, 1)),
        ("a", None),
        (-1, None),
        (0, None),
        (1, [0, 1, 2]),
        ("euclidean", (0, 0)),
        ("euclidean", [0, 1]),
        (2, [1]),
    ]
    return [
        *(_built(tf, lambda: tf.norm(p(), *one), square) for one in norms),
        _built(tf, lambda: tf.norm(p(), axis=1, keepdims=True, name="n"), square),
        _built(tf, lambda: tf.norm(p(), ord=1, axis=1, keep_dims=True), square),
        _built(tf, lambda: tf.norm(p(), keepdims=True, keep_dims=True)),
        _built(tf, lambda: tf.linalg.norm(p(dtype=tf.complex64)), _fed([[1j, 1, 0], [2, 3, 4]])),
        _built(tf, lambda: tf.norm(p(None)), square),
        _built(tf, lambda: turned(p()), square),
        _built(tf, lambda: turned(p([2, 3, 4]))),
        _built(tf, lambda: turned(p(None)), square),
        _built(tf, lambda: turned(p([1]))),
        _built(tf, lambda: tf.linalg.transpose(p(), name="t", conjugate=True), square),
        _built(tf, lambda: tf.linalg.adjoint(p(dtype=tf.complex64)), _fed([[1j, 1, 0], [2, 3, 4]])),
        _built(tf, lambda: tf.linalg.adjoint(p(None)), square),
    ]


def _tensor_products(tf):
    def product(shape, other, axes, first=None, second=None):
        def build():
            left, right = (tf.placeholder(tf.float32, sizes, name="p") for sizes in (shape, other))
            return tf.tensordot(left, right, axes)

        feeds = first and _fed(
            np.arange(np.prod(first)).reshape(first), np.arange(np.prod(second)).reshape(second)
        )
        return _built(tf, build, feeds)

    two = [2, 2]
    return [
        product([2, 3], [3, 4], 1, [2, 3], [3, 4]),
        product([2], [3], 0, [2], [3]),
        product([2, 3, 5], [5, 2, 4], [[0, 2], [1, 0]], [2, 3, 5], [5, 2, 4]),
        product([None, 3, None], [3, None], [[1], [0]], [2, 3, 4], [3, 5]),
        product(None, None, [[1], [0]], [2, 3], [3, 2]),
        product(None, None, 1, [2, 3], [3, 2]),
        product([2, 3], [None, 4], 1, [2, 3], [3, 4]),
        product(two, two, [1, 0], two, two),
        product(two, two, [-1, -2], two, two),
        product([2, 3], [3, 4], [(1,), (0,)]),
        product([None, 3], [3, 4], [[-1], [0]], [2, 3], [3, 4]),
        *(
            product(two, two, axes)
            for axes in ([1], [[1], [0], [2]], [[1, 0], [0]], -1, 3, [[5], [0]], 1.5)
        ),
    ]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_clipping, _masks_and_grids, _matrices, _tensor_products)
}
