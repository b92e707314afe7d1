"""Programs of `map_fn` over tensors and sparse tensors: graphs, static shapes, values, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]


def _nodes(tf) -> list[Plain]:
    """All operations of the graph, with inputs and with attributes that are dtypes or shapes."""
    rows = []
    for node in tf.get_default_graph().as_graph_def().node:
        kept = {
            key: str(node.attr[key])
            for key in sorted(node.attr)
            if key in {"dtype", "out_type", "element_shape", "T", "shape"}
        }
        rows.append([node.name, node.op, list(node.input), kept])
    return rows


def _matrix(tf, shape=(3, 4)):
    return tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1.0, 2.0, 3.0], shape)


def _rows_of_sparse(tf):
    m = _matrix(tf)
    same = tf.map_fn(lambda row: row, m)
    sums = tf.map_fn(tf.sparse.reduce_sum, m, dtype=tf.float32)
    doubled = tf.map_fn(
        lambda row: row * 2.0, m, fn_output_signature=tf.SparseTensorSpec([4], tf.float32)
    )
    return same, sums, doubled, doubled.shape, run(tf, [same, sums, doubled]), _nodes(tf)


def _sparse_of_dense(tf):
    x = tf.constant([[1.0, 0.0], [0.0, 2.0]])
    free = tf.map_fn(tf.sparse.from_dense, x, fn_output_signature=tf.SparseTensorSpec(None))
    partly = tf.map_fn(
        lambda row: tf.sparse.expand_dims(tf.sparse.from_dense(row), 0),
        x,
        fn_output_signature=tf.SparseTensorSpec([None, 2]),
    )
    return free.shape, partly.shape, partly, run(tf, [free, partly]), _nodes(tf)


def _mixed(tf):
    hole = tf.sparse_placeholder(tf.int64, [None, 4])
    pair = {"a": hole, "b": tf.placeholder(tf.int64, [None])}
    both = tf.map_fn(
        lambda pair: {"a": pair["a"], "b": tf.sparse.reduce_sum(pair["a"]) + pair["b"]}, pair
    )
    fed = {hole: (np.array([[1, 2]]), np.array([5]), np.array([2, 4])), pair["b"]: [3, 4]}
    return both, both["a"].shape, both["b"].shape, run(tf, both, fed), _nodes(tf)


def _spelled_out(tf):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [None, None])
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    fixed = tf.map_fn(lambda row: row[:1], x, fn_output_signature=tf.TensorSpec([1]))
    nested = tf.map_fn(
        lambda row: (row, tf.size(row)),
        x,
        fn_output_signature=(tf.float32, tf.TensorSpec([], tf.int32)),
    )
    empty = tf.map_fn(lambda element: element, tf.zeros([0, 2]))
    folded = tf.foldl(lambda a, b: a + b, tf.zeros([0, 2]), initializer=tf.zeros([2]))
    read = tf.map_fn(lambda element: element + 1.0, v)
    fetched = [fixed, nested, empty, folded]
    return fetched, read, run(tf, fetched), _nodes(tf)


def _refused(tf):
    m, x = _matrix(tf), tf.constant([[1.0], [2.0]])
    rows = tf.IndexedSlices(x, tf.constant([0, 1]), tf.constant([2, 1]))
    spec = tf.SparseTensorSpec([4], tf.float32)
    scalar = tf.SparseTensor(np.zeros([1, 0], np.int64), [1.0], np.zeros([0], np.int64))
    return attempt(
        lambda: tf.map_fn(lambda row: row, rows, tf.float32),
        lambda: tf.map_fn(lambda row: row, scalar),
        lambda: tf.map_fn(lambda _: x, m, fn_output_signature=spec),
        lambda: tf.map_fn(lambda row: tf.sparse.expand_dims(row, 0), m, fn_output_signature=spec),
        lambda: tf.map_fn(lambda row: row, x, fn_output_signature=tf.IndexedSlicesSpec([1])),
        lambda: tf.map_fn(lambda element: element[0], (m, tf.zeros([2]))),
        lambda: tf.map_fn(lambda element: element, (x, tf.zeros([3]))),
        lambda: tf.map_fn(lambda element: element, (x, tf.constant(1.0))),
        lambda: tf.map_fn(3, x),
        lambda: tf.foldl(3, x),
        lambda: tf.scan("f", x),
        lambda: tf.foldl(tf.add, m),
        lambda: tf.scan(tf.add, m),
        lambda: tf.map_fn(lambda row: (row, row), m),
    )


_PROGRAMS = (_rows_of_sparse, _sparse_of_dense, _mixed, _spelled_out, _refused)
BEHAVIOURS = {
    **{program.__name__.strip("_").replace("_", "-"): program for program in _PROGRAMS},
    **{
        f"{program.__name__.strip('_').replace('_', '-')}-in-functions": functional(program)
        for program in _PROGRAMS
    },
}
