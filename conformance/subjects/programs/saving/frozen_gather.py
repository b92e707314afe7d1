"""Programs that freeze variables of which only rows or slices are read."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _variable(tf):
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    return tf.get_variable("v", initializer=value, use_resource=True)


def _frozen(tf, *outputs: str, **options):
    """The graph with its variables converted to constants, and its value."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        definition = tf.graph_util.convert_variables_to_constants(
            session, tf.get_default_graph().as_graph_def(), list(outputs), **options
        )
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        return [nodes(graph), attempt(lambda: run(tf, [f"{name}:0" for name in outputs]))]


def _rows(tf):
    v = _variable(tf)
    tf.identity(tf.gather(v, [2, 0]), name="rows")
    tf.identity(tf.nn.embedding_lookup(v, tf.constant([1], tf.int64)), name="embedded")
    return attempt(lambda: _frozen(tf, "rows"), lambda: _frozen(tf, "rows", "embedded"))


def _slices(tf):
    v = _variable(tf)
    tf.identity(tf.gather_nd(v, [[2, 1], [0, 0]]), name="slices")
    tf.identity(v.sparse_read([1]), name="read")
    return attempt(lambda: _frozen(tf, "slices"), lambda: _frozen(tf, "slices", "read"))


def _batches(tf):
    """Gathers along a later axis, and with batch dimensions, which are refused."""
    v = _variable(tf)
    tf.identity(tf.gather(v, [1], axis=1), name="columns")
    tf.raw_ops.ResourceGather(
        resource=v.handle, indices=[[0], [1], [1]], batch_dims=1, dtype=tf.float32, name="batch"
    )
    return attempt(lambda: _frozen(tf, "columns"), lambda: _frozen(tf, "batch"))


def _none(tf):
    """Graphs in which no variable is converted."""
    v = _variable(tf)
    with tf.control_dependencies([v.initializer]):
        tf.constant(3.0, name="plain")
    tf.add(v, 1.0, name="sum")
    return attempt(
        lambda: _frozen(tf, "plain"),
        lambda: _frozen(tf, "sum"),
        lambda: _frozen(tf, "sum", variable_names_blacklist=["v"]),
    )


BEHAVIOURS = {
    "rows": _rows,
    "slices": _slices,
    "batches": _batches,
    "none": _none,
}
