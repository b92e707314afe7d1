"""Programs of repeated moving averages, weighted ones, and those of variables."""

from __future__ import annotations

import itertools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.training.training import nodes_of

__all__ = ["BEHAVIOURS"]


def _run_thrice(tf, graph, fetches):
    """The values of three runs, all variables afterwards, and the nodes."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(fetches) for _ in range(3)]
        kept = [(v.name, session.run(v)) for v in tf.global_variables()]
    return values, kept, nodes_of(graph)


def _bias_corrected(tf):
    """A variable that is averaged up to four times, with bias correction, in several scopes."""
    moving = module_of(tf, "training.moving_averages")

    def averaged(kind: bool, dtype: str, *scopes):
        with tf.Graph().as_default() as graph:
            v = tf.get_variable("v", initializer=np.array([10.0, 11.0], dtype), use_resource=kind)
            updates = []
            for number, scope in enumerate(scopes):
                value = tf.constant([number + 1.0, 4.0], dtype)
                name, reuse = scope
                with tf.variable_scope(name or tf.get_variable_scope(), reuse=reuse):
                    updates.append(moving.assign_moving_average(v, value, 0.25 + number / 8.0))
            return _run_thrice(tf, graph, updates[-1:]), [update.name for update in updates]

    ways = (
        ((None, None),) * 4,
        (("s", None), ("s", None), ("t", None)),
        (("s", None), ("s", True)),
        (("s", tf.AUTO_REUSE), ("s", tf.AUTO_REUSE)),
        (("s", True),),
    )
    return attempt(
        *(
            lambda kind=kind, dtype=dtype, way=way: averaged(kind, dtype, *way)
            for kind, dtype, way in itertools.product((False, True), ("float32", "float64"), ways)
        )
    )


def _weighted(tf):
    """Weighted averages of scalars and vectors, each built twice."""
    moving = module_of(tf, "training.moving_averages")

    def averaged(value, weight, **options):
        with tf.Graph().as_default() as graph:
            averages = [
                moving.weighted_moving_average(
                    tf.constant(value), 0.75, tf.constant(weight), **options
                )
                for _ in range(2)
            ]
            keys = sorted(graph.get_all_collection_keys())
            return _run_thrice(tf, graph, averages), [average.name for average in averages], keys

    return attempt(
        lambda: averaged([2.0, 3.0], [1.0, 4.0]),
        lambda: averaged(2.0, 3.0, name="w"),
        lambda: averaged([2.0, 3.0], 0.5, collections=["mine"]),
        lambda: averaged([2, 3], [1, 4]),
        lambda: averaged([2.0, 3.0], [1.0, 4.0], truediv=False),
    )


def _of_variables(tf):
    """ExponentialMovingAverage applied twice, with several options, and the names for restoring."""

    def applied(kind: bool, **options):
        with tf.Graph().as_default() as graph:
            with tf.variable_scope("outer"):
                v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=kind)
            w = tf.get_variable("w", initializer=3.0, use_resource=kind, trainable=False)
            average = tf.train.ExponentialMovingAverage(0.5, **options)
            with tf.name_scope("scope"):
                first = average.apply([v])
            with tf.control_dependencies([v.assign_add([1.0, 1.0]), w.assign_add(2.0)]):
                second = average.apply([v, w, v + w])
            facts = [
                average.average_name(v),
                average.average_name(w),
                average.name,
                sorted((key, x.name) for key, x in average.variables_to_restore().items()),
                sorted(average.variables_to_restore([w])),
                [x.name for x in tf.moving_average_variables()],
                average.average(tf.Variable(1.0, name="other")),
            ]
            return facts, first, second, _run_thrice(tf, graph, second)[1:]

    def default(kind: bool):
        with tf.Graph().as_default() as graph:
            tf.get_variable("a", initializer=[1.0, 2.0], use_resource=kind)
            tf.get_variable("b", initializer=3.0, trainable=False, use_resource=kind)
            update = tf.train.ExponentialMovingAverage(tf.constant(0.5), num_updates=7).apply()
            return update, _run_thrice(tf, graph, update)

    return attempt(
        *(
            lambda kind=kind, options=options: applied(kind, **options)
            for kind in (False, True)
            for options in ({}, {"zero_debias": True}, {"num_updates": 2, "name": "Mine"})
        ),
        lambda: default(False),
        lambda: default(True),
    )


BEHAVIOURS = {
    "again": _bias_corrected,
    "of variables": _of_variables,
    "weighted": _weighted,
}
