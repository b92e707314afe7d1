"""Programs of embedding lookups, dense, partitioned and sparse, and of sampled losses."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, on_a_cpu
from sessrun.conformance.subjects.programs.program import Action, Plain
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

_ROWS = np.arange(12, dtype=np.float32).reshape(6, 2) / 4


def _seen(tf, build: Action):
    """What `build` returns in a graph of its own, the nodes and the values."""

    def build_and_run():
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            outputs = build()
            start = tf.global_variables_initializer()
            built = nodes(graph)
            with tf.Session() as session:
                session.run(start)
                values = attempt(lambda: session.run(outputs))
            return outputs, built, values

    return attempt(build_and_run)


def _in_own_graphs(tf, *builds: Action) -> list[Plain]:
    return [_seen(tf, build) for build in builds]


def _parts(tf) -> list[Tensor]:
    return [tf.constant(_ROWS[:3]), tf.constant(_ROWS[3:])]


def _variable(tf, *, resource: bool, parts: int = 1):
    return tf.get_variable(
        "v",
        [6, 2],
        initializer=tf.ones_initializer(),
        use_resource=resource,
        partitioner=tf.fixed_size_partitioner(parts) if parts > 1 else None,
    )


def _lookups(tf):
    lookup = tf.nn.embedding_lookup
    ids = [[0, 5], [3, 1]]
    unknown = tf.int32
    return _in_own_graphs(
        tf,
        lambda: lookup(_ROWS, ids),
        lambda: lookup(tf.constant(_ROWS), [2], name="n"),
        lambda: lookup(_parts(tf), ids),
        lambda: lookup(_parts(tf), ids, "div", name="d"),
        lambda: lookup(_parts(tf), ids, "other"),
        lambda: lookup(None, ids),
        lambda: lookup([], 1),
        lambda: lookup(_variable(tf, resource=False), ids),
        lambda: lookup(_variable(tf, resource=True), ids, max_norm=1.0),
        lambda: lookup(_variable(tf, resource=True, parts=2), ids),
        lambda: lookup(_variable(tf, resource=False, parts=3), tf.constant(ids, tf.int64), "div"),
        lambda: lookup(_ROWS, 1, max_norm=0.5),
        lambda: lookup(_parts(tf), ids, max_norm=0.5),
        lambda: lookup([tf.placeholder_with_default(_ROWS[:3], None), _ROWS[3:]], ids),
        lambda: lookup([tf.placeholder_with_default(_ROWS[:3], [None, 2]), _ROWS[3:]], ids, "div"),
        lambda: lookup(_ROWS, tf.placeholder_with_default([1, 2], None), max_norm=1.0),
        lambda: on_a_cpu(tf, lambda: lookup(_ROWS, tf.cast([1, 2], unknown) + 7)),
    )


def _gradients(tf):
    def of(params: Action) -> Action:
        def build():
            given = params()
            ids = tf.placeholder_with_default([[0, 5], [3, 0]], [2, 2])
            rows = tf.nn.embedding_lookup(given, ids)
            parts = given if isinstance(given, list) else [given]
            return [tf.convert_to_tensor(gradient) for gradient in tf.gradients(rows, parts)]

        return build

    return _in_own_graphs(
        tf,
        of(lambda: tf.constant(_ROWS)),
        of(lambda: _parts(tf)),
        of(lambda: _variable(tf, resource=True)),
    )


def _sparse(tf, ids=(0, 5, 3), *, weights: bool = False):
    places = [[0, 0], [0, 1], [1, 0]]
    values = np.array([0.5, 2.0, 1.0], np.float32) if weights else np.array(ids, np.int64)
    fed = tf.placeholder_with_default(np.array(places, np.int64), [None, 2])
    return tf.SparseTensor(fed, values, [3, 2])


def _sparse_lookups(tf):
    lookup, safe = tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse

    def ids(*numbers: int):
        return _sparse(tf, numbers or (0, 5, 3))

    def weights():
        return _sparse(tf, weights=True)

    return _in_own_graphs(
        tf,
        *(
            lambda how=how: lookup(_ROWS, ids(), None, combiner=how)
            for how in ("sum", "mean", "sqrtn", "max")
        ),
        *(
            lambda how=how: lookup(_ROWS, ids(), weights(), combiner=how, name="n")
            for how in ("sum", "mean", "sqrtn")
        ),
        lambda: lookup(_parts(tf), ids(), None),
        lambda: lookup(_parts(tf), ids(), weights()),
        lambda: lookup(_variable(tf, resource=True), ids(), None),
        lambda: lookup(_variable(tf, resource=False), ids(), weights(), max_norm=1.0),
        lambda: lookup(_ROWS, ids(), weights(), allow_fast_lookup=True),
        lambda: lookup(tf.constant(_ROWS, tf.float16), ids(), weights()),
        lambda: lookup(_ROWS, [1], None),
        lambda: lookup(_ROWS, ids(), [1.0]),
        lambda: safe([tf.ones([6, 2], tf.float64)], ids(), weights()),
        lambda: safe([np.ones([6, 2])], ids(), weights()),
        lambda: safe(_ROWS, ids()),
        lambda: safe(_ROWS, ids(0, -1, -1), default_id=2, name="n"),
        lambda: safe(_ROWS, ids(0, -1, 2), weights(), combiner="sum"),
        lambda: safe(_parts(tf), ids(1, 2, 3), weights()),
        lambda: safe(None, ids()),
        lambda: safe(_variable(tf, resource=True), ids(), max_norm=0.5),
        lambda: safe([], ids()),
    )


def _sampled(tf):
    biases = np.linspace(-1, 1, 6, dtype=np.float32)
    inputs = np.array([[1.0, -1.0], [0.5, 2.0]], np.float32)
    nce, softmax = tf.nn.nce_loss, tf.nn.sampled_softmax_loss

    def values():
        return (
            tf.constant([1, 3, 5], tf.int64),
            tf.constant([[0.5], [0.25]]),
            tf.constant([0.5, 0.25, 0.125]),
        )

    given = (_ROWS, biases, tf.constant)

    def arguments(true=((1,), (2,))):
        return tf.constant(given[0]), tf.constant(given[1]), tf.constant(true), tf.constant(inputs)

    return _in_own_graphs(
        tf,
        lambda: nce(*arguments(), 3, 6, sampled_values=values()),
        lambda: nce(*arguments(), 3, 6, sampled_values=values(), remove_accidental_hits=True),
        lambda: softmax(*arguments(), 3, 6, sampled_values=values()),
        lambda: softmax(
            *arguments(), 3, 6, sampled_values=values(), name="s", remove_accidental_hits=False
        ),
        lambda: softmax(*arguments(), 3, 6, seed=5),
        lambda: nce(*arguments(), 3, 6),
        lambda: nce(
            _parts(tf),
            [tf.constant(biases[:3]), tf.constant(biases[3:])],
            *arguments(((1, 2), (0, 5)))[2:],
            3,
            6,
            2,
            partition_strategy="div",
        ),
    )


BEHAVIOURS = {
    "lookups": _lookups,
    "gradients": _gradients,
    "sparse lookups": _sparse_lookups,
    "sampled": _sampled,
}
