"""Programs that set or read parts of a variable: `v[0].assign(...)`, `tf.gather(v, ...)`."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]


def _nodes(tf) -> list[Plain]:
    return [
        [n.name, n.op, n.device, list(n.attr["_class"].list.s), *n.input]
        for n in tf.get_default_graph().as_graph_def().node
    ]


def _assigned(tf, *, is_resource: bool):
    zeros = tf.zeros_initializer()
    v = tf.get_variable("v", [2, 3], initializer=zeros, use_resource=is_resource)
    row, part = v[0].assign([1.0, 2.0, 3.0]), v[1, 1:].assign([7.0, 8.0])
    nodes = _nodes(tf)
    changes = [
        lambda: row,
        lambda: part,
        lambda: v[:, 0].assign(5.0),
        lambda: v[:, 1].assign([6.0]),
        lambda: v[0].assign([1.0, 2.0]),
        lambda: v[0].assign([[1.0, 2.0, 3.0]]),
        lambda: v[::-1, 0].assign([1.0, 9.0]),
        lambda: v[0, 0].assign("a"),
        lambda: v[..., tf.newaxis].assign(tf.zeros([2, 3, 1])),
        lambda: v[0].assign([1, 2, 3], name="named"),
        lambda: v[tf.constant(1)].assign([4.0, 5.0, 6.0]),
        lambda: v[5].assign(3.0),
        lambda: (v + 0)[0].assign(1.0),
        lambda: v[0][1].assign(3.0),
        lambda: v,
    ]
    with tf.Session() as session:
        early = attempt(lambda: session.run(row))
        session.run(v.initializer)
        values = attempt(*(lambda make=make: session.run(make()) for make in changes))
    return [nodes, early, values, row.name, row.dtype.name]


def _gathered(tf):
    """Gathers from a resource variable, which read the rows only."""
    ones = tf.ones_initializer()
    v = tf.get_variable("v", [3, 2], initializer=ones, use_resource=True)
    rows = [
        v.sparse_read([0]),
        v.sparse_read([1, 1], name="named"),
        tf.gather(v, [2]),
        tf.gather(v, [1], axis=1),
    ]
    nodes = _nodes(tf)
    with tf.Session() as session:
        early = attempt(*(lambda row=row: session.run(row) for row in rows))
        session.run(v.initializer)
        values = session.run(rows)
    with tf.device("/cpu:0"), tf.Session() as session:  # a GPU cannot report an index out of range
        w = tf.get_variable("w", [3, 2], initializer=ones, use_resource=True)
        session.run(w.initializer)
        wrong = attempt(
            lambda: session.run(w.sparse_read([3])), lambda: session.run(tf.gather(w, -1))
        )
    return [rows, nodes, early, values, wrong]


def _different(tf):
    difference = tf.setdiff1d([1, 2, 3], [2])
    return [type(difference).__name__, difference.out, difference.idx, run(tf, difference.out)]


BEHAVIOURS = {
    "of_reference": lambda tf: _assigned(tf, is_resource=False),
    "gathered": _gathered,
    "different": _different,
    "of_resource": lambda tf: _assigned(tf, is_resource=True),
}
