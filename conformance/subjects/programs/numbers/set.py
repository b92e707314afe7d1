"""Programs of `tf.sets`: dense and sparse operands in either order, and errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built

__all__ = ["BEHAVIOURS"]

_A = np.array([[1, 2, 2], [3, 4, 5]], np.int32)
_B = np.array([[2, 9], [5, 3]], np.int32)


def _sparse(tf, rows, dtype=np.int32):
    """A sparse matrix with these rows."""
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([value for row in rows for value in row], dtype)
    shape = [len(rows), max(map(len, rows))]
    return tf.SparseTensor(np.array(places, np.int64).reshape(-1, 2), values, shape)


def _pairs(tf):
    one, other = _sparse(tf, [[1, 2, 2], [], [7]]), _sparse(tf, [[2, 3], [4], []])
    dense, more = tf.constant([[1, 2], [3, 4], [7, 7]]), tf.constant([[2], [9], [7]])
    return [(one, other), (one, dense), (dense, one), (dense, more)]


def _operations(tf):
    sets = tf.sets
    return [
        run(tf, make)
        for a, b in _pairs(tf)
        for make in (
            sets.union(a, b),
            sets.intersection(a, b),
            sets.difference(a, b),
            sets.set_difference(a, b, aminusb=False),
            sets.set_union(a, b, False),
        )
    ]


def _sizes(tf):
    value = tf.SparseTensorValue([[0, 0, 1], [0, 0, 2], [1, 1, 0]], [b"a", b"a", b"b"], [2, 2, 3])
    return [run(tf, tf.sets.size(_sparse(tf, [[1, 2, 2], [], [7]]))), run(tf, tf.sets.size(value))]


def _graphs(tf):
    known, fed = tf.constant(_A), tf.placeholder(tf.int32)
    unshaped = tf.sparse_placeholder(tf.int32)
    return [
        built(tf, *(lambda f=f: f(_A, _B) for f in (tf.sets.union, tf.sets.difference))),
        *(
            [
                part.shape.as_list() if part.shape.ndims is not None else None
                for part in (union.indices, union.values, union.dense_shape)
            ]
            for a in (known, fed, unshaped)
            for b in (known, fed, unshaped)
            for union in [tf.sets.union(a, b)]
        ),
        str(tf.sets.size(unshaped).shape),
    ]


def _refusals(tf):
    sets = tf.sets
    back = tf.SparseTensor([[0, 1], [0, 0]], [1, 2], [1, 3])
    out = tf.SparseTensor([[0, 5]], [1], [1, 3])
    raw = tf.raw_ops.DenseToDenseSetOperation
    return attempt(
        lambda: sets.size(_A),
        lambda: sets.size(_sparse(tf, [[1.5]], np.float32)),
        lambda: sets.union(_A, _B.astype(np.int64)),
        lambda: sets.union(_A * 1.5, _B),
        lambda: sets.union(_A, _B[:1]),
        lambda: sets.union(_A[0], _B[0]),
        lambda: run(tf, sets.union(tf.placeholder_with_default(_A, None), _B[:1])),
        lambda: run(tf, sets.size(back)),
        lambda: run(tf, sets.size(back, False)),
        lambda: run(tf, sets.size(out)),
        lambda: run(tf, sets.union(back, back)),
        lambda: run(tf, raw(set1=_A, set2=_B, set_operation="A-B")),
        lambda: run(tf, raw(set1=_A, set2=_B, set_operation="c-d")),
        lambda: run(tf, sets.size(tf.SparseTensor([[0]], [1], [3]))),
    )


BEHAVIOURS = {"graphs": _graphs, "operations": _operations, "refusals": _refusals, "sizes": _sizes}
