"""Programs that assign variables and scatter into their rows."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]

#: Reference variables, resource variables.
KINDS: Final = (False, True)


def assignments(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        updates = [
            v.assign([3.0, 4.0]),
            v.assign_add([1.0, 1.0]),
            v.assign_sub([0.5, 1.0]),
            tf.assign(v, [7.0, 8.0]),
            tf.assign_add(v, [1.0, 1.0]),
            tf.assign_sub(v, v),
            v.assign([3.0, 4.0], read_value=False),
            v.assign_add([3.0, 4.0], read_value=False),
        ]
        with tf.Session() as session:
            session.run(v.initializer)
            for update in updates:
                results += [session.run(update), session.run(v)]
            results.append(session.run(tf.assign(v, [1.0, 1.0]) * 2.0))
    return results


def chains(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable(1.0, use_resource=kind)
        if kind:
            last = v.assign(2.0).assign_add(3.0).assign_sub(1.0)
        else:
            last = tf.assign_sub(tf.assign_add(v.assign(2.0), 3.0), 1.0)
        with tf.Session() as session:
            session.run(v.initializer)
            results += [session.run(last), session.run(v)]
    return results


def wrong_shapes(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=kind)
        outcomes += [
            caught(lambda v=v: v.assign([1.0])),
            caught(lambda v=v: v.assign_add([1.0])),
            caught(lambda v=v: tf.assign(v, [[1.0, 2.0]])),
            caught(lambda v=v: tf.assign_sub(v, 1.0)),
            caught(lambda v=v: v.assign(["a", "b"])),
            caught(lambda v=v: v.assign([1, 2])),
            caught(lambda v=v: v.assign(None)),
            caught(lambda v=v: v.assign(np.array([1.0, 2.0]))),
            caught(lambda v=v: v.assign(tf.constant([1, 2]))),
        ]
        value = tf.placeholder(tf.float32)
        update = v.assign(value)
        with tf.Session() as session:
            session.run(v.initializer)
            outcomes.append(caught(lambda u=update, p=value, s=session: s.run(u, {p: [1.0]})))
            outcomes.append(session.run(v))
            outcomes.append(session.run(update, {value: [5.0, 6.0]}))
    return outcomes


def unvalidated(tf):
    results = []
    for kind in KINDS:
        value = tf.placeholder(tf.float32)
        v = tf.Variable(value, validate_shape=False, use_resource=kind)
        with tf.Session() as session:
            for given in ([1.0], [[1.0, 2.0]], 3.0):
                session.run(v.initializer, {value: given})
                results += [session.run(v), caught(lambda v=v, s=session: s.run(v.assign_add(v)))]
    v = tf.Variable([1.0, 2.0])
    other = tf.assign(v, [[1.0]], validate_shape=False)
    with tf.Session() as session:
        session.run(v.initializer)
        results += [session.run(other), session.run(v)]
    return results


def _scattered_outside(tf, kind, names: list[str]) -> list[Plain]:
    """Errors of scatters to a row that does not exist, on a CPU."""
    with tf.device("/cpu:0"), tf.Session() as session:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=kind)
        session.run(v.initializer)
        updates = [getattr(tf, name)(v, [5], [1.0]) for name in names]
        return attempt(*(partial(session.run, update) for update in updates))


def scatters(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=kind)
        names = ["scatter_update", "scatter_add", "scatter_sub"]
        with tf.Session() as session:
            for name in names:
                session.run(v.initializer)
                update = getattr(tf, name)(v, [0, 2], [10.0, 20.0])
                outcomes += [session.run(update), session.run(v)]
                same = getattr(tf, name)(v, [1, 1], [20.0, 20.0])  # on a GPU the order is undefined
                outcomes.append(session.run(same))
        outcomes.append(_scattered_outside(tf, kind, names))
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.Session() as session:
        for name in ("scatter_mul", "scatter_div", "scatter_min", "scatter_max"):
            session.run(v.initializer)
            outcomes.append(session.run(getattr(tf, name)(v, [0, 2], [10.0, 2.0])))
        for name in ("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"):
            session.run(v.initializer)
            outcomes.append(session.run(getattr(tf, name)(v, [[0], [2]], [10.0, 2.0])))
    outcomes.append(caught(lambda: tf.scatter_add(tf.constant([1.0]), [0], [1.0])))
    outcomes.append(caught(lambda: tf.assign(tf.constant([1.0]), [1.0])))
    outcomes.append(caught(lambda: tf.assign_add(3.0, 1.0)))
    outcomes.append(caught(lambda: tf.count_up_to(v, 3)))
    return outcomes


def counting(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable(0, use_resource=kind)
        count = tf.count_up_to(v, 2)
        with tf.Session() as session:
            session.run(v.initializer)
            outcomes += [caught(lambda c=count, s=session: s.run(c)) for _ in range(4)]
            outcomes.append(session.run(v))
    return outcomes


def scattered_by_slices(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=kind, name=f"v{kind}")
        n = tf.Variable([[7, 8], [9, 10]], use_resource=kind, name=f"n{kind}")
        with tf.Session() as session:
            for name in ("update", "add", "sub", "mul", "div", "min", "max"):
                rows = [0, 2, 1] if name == "update" else [0, 2, 0]  # a GPU has no fixed order
                update = getattr(v, f"scatter_{name}")(tf.IndexedSlices([2.5, 0.5, 4.0], rows))
                ints = getattr(n, f"scatter_{name}")(
                    tf.IndexedSlices(tf.constant([[3, -2]]), tf.constant([1])), use_locking=True
                )
                session.run([v.initializer, n.initializer])
                session.run([update.op, ints.op])
                results += [update.name, session.run([v, n])]
            results += [
                caught(lambda v=v: v.scatter_add([1.0])),
                caught(lambda v=v: v.scatter_min(tf.IndexedSlices(["a"], [0]))),
                caught(
                    lambda s=session, v=v: s.run(
                        v.scatter_max(
                            tf.IndexedSlices([1.0], tf.placeholder_with_default([5], None))
                        )
                    )
                ),
            ]
    graph = tf.get_default_graph().as_graph_def()
    return [results, [[n.name, list(n.input)] for n in graph.node if "Scatter" in n.op]]


def gathered_by_vectors(tf):
    """`gather` and `gather_nd` of a resource variable do not read the whole variable."""
    results = []
    for kind in KINDS:
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=kind, name=f"v{kind}")
        far = tf.placeholder_with_default([[5, 0]], None)
        parts = [tf.gather_nd(v, [[1, 0]]), tf.gather_nd(v, [[1], [0]], name="named")]
        with tf.device("/cpu:0"):  # a GPU cannot report an index out of range
            w = tf.Variable([[1.0, 2.0]], use_resource=kind, name=f"w{kind}")
            outside = tf.gather_nd(w, far)
        with tf.Session() as session:
            session.run([v.initializer, w.initializer])
            results += [
                session.run(parts),
                parts[1].shape.as_list(),
                outside.shape.ndims,
                caught(lambda s=session, o=outside: s.run(o)),
                caught(lambda v=v: tf.gather_nd(v, tf.zeros([2, 3], tf.int32))),
                caught(lambda v=v: v.gather_nd([[1]]).shape.as_list()),
            ]
    graph = tf.get_default_graph().as_graph_def()
    return [results, [[n.name, n.op, list(n.input)] for n in graph.node]]


BEHAVIOURS = {
    program.__name__: program
    for program in (
        assignments,
        chains,
        wrong_shapes,
        unvalidated,
        scatters,
        counting,
        scattered_by_slices,
        gathered_by_vectors,
    )
}
