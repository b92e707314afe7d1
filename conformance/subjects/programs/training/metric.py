"""Programs of `tf.metrics`: nodes, values over several batches, collections, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]

_X = np.array([[0.25, 0.5, 0.75], [0.125, 1.0, 0.5]], np.float32)
_Z = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], np.float32)
_COLUMN = np.array([[1.0], [0.5]], np.float32)


def _p(tf, shape=(2, 3), dtype=None):
    return tf.placeholder(tf.float32 if dtype is None else dtype, shape, name="p")


def _seen(tf, build: Action, batches):
    """A metric in a graph of its own: outputs, variables, nodes, and values after every batch."""

    def build_and_run():
        with tf.Graph().as_default() as graph:
            outputs = build()
            variables = [
                [variable.name, variable.shape, variable.dtype]
                for variable in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
            ]
            places = [op for op in graph.get_operations() if op.type == "Placeholder"]
            built = nodes(graph)
            with tf.Session() as session:
                session.run(tf.local_variables_initializer())
                seen = [session.run(outputs[0])]
                for batch in batches:
                    fed = {placeholder.outputs[0]: batch for placeholder in places}
                    seen.append(attempt(lambda fed=fed: session.run(outputs[1], fed)))
                    seen.append(session.run(outputs[0]))
            return outputs, variables, built, seen

    return attempt(build_and_run)


def _in_own_graphs(tf, *builds: Action, batches=(_X, _X / 2)) -> list[Plain]:
    return [_seen(tf, build, batches) for build in builds]


def _averages(tf):
    metrics = tf.metrics
    return _in_own_graphs(
        tf,
        lambda: metrics.mean(_p(tf)),
        lambda: metrics.mean(_p(tf), _COLUMN, "m", ["u", "v"], "n"),
        lambda: metrics.mean(_p(tf, None), np.ones([2, 3], np.float32)),
        lambda: metrics.mean(_p(tf, None), 0.5),
        lambda: metrics.mean(_p(tf, None), [[1.0], [0.0]]),
        lambda: metrics.mean(_p(tf), [1.0, 2.0]),
        lambda: metrics.mean(_p(tf), 0),
        lambda: metrics.mean_tensor(_p(tf)),
        lambda: metrics.mean_tensor(_p(tf), _COLUMN, name="t"),
        lambda: metrics.accuracy(_Z, _p(tf)),
        lambda: metrics.accuracy([[1, 0, 1], [0, 1, 1]], _p(tf), _COLUMN),
        lambda: metrics.accuracy(_Z[0], _p(tf)),
        lambda: metrics.accuracy(_Z, _p(tf, None)),
        lambda: metrics.mean_absolute_error(_Z, _p(tf), name="e"),
        lambda: metrics.mean_squared_error(_Z, _p(tf), _COLUMN),
        lambda: metrics.root_mean_squared_error(_Z, _p(tf), None, "m", "u"),
        lambda: metrics.mean_relative_error(_Z, _p(tf), _Z),
        lambda: metrics.percentage_below(_p(tf), 0.4),
        lambda: metrics.percentage_below(_p(tf), 0.4, _COLUMN, name="b"),
        lambda: metrics.mean_cosine_distance(_Z, _p(tf), 1, metrics_collections="m"),
        lambda: metrics.mean_cosine_distance(_Z, _p(tf), 0, [[1.0, 0.5, 2.0]], None, "u", "c"),
    )


def _counts(tf):
    metrics = tf.metrics
    names = [
        "false_negatives",
        "false_positives",
        "true_negatives",
        "true_positives",
        "precision",
        "recall",
    ]
    bools = (_X > 0.3, _X > 2)
    results = []
    for name in names:
        metric = getattr(metrics, name)
        results.append(
            _in_own_graphs(
                tf,
                lambda metric=metric: metric(_Z, _p(tf, dtype=tf.bool)),
                lambda metric=metric: metric(_Z > 0, _p(tf, dtype=tf.bool), _COLUMN, "m", "u", "n"),
                batches=bools,
            )
        )
    return results, _in_own_graphs(
        tf,
        lambda: metrics.precision(_Z, _p(tf, dtype=tf.bool), [[1.0], [2.0], [3.0]]),
        lambda: metrics.true_positives(_Z, _p(tf, None, tf.bool), 2),
        lambda: metrics.recall(_Z[0], _p(tf, dtype=tf.bool)),
        batches=bools,
    )


def _thresholds(tf):
    metrics = tf.metrics
    at = [0.2, 0.6]
    names = [
        "false_negatives",
        "false_positives",
        "true_negatives",
        "true_positives",
        "precision",
        "recall",
    ]
    results = [
        _in_own_graphs(
            tf,
            lambda name=name: getattr(metrics, f"{name}_at_thresholds")(
                _Z, _p(tf), at, _COLUMN, "m", "u"
            ),
        )
        for name in names
    ]
    return results, _in_own_graphs(
        tf,
        lambda: metrics.precision_at_thresholds(_Z, _p(tf, None), at),
        lambda: metrics.sensitivity_at_specificity(_Z, _p(tf), 0.5, num_thresholds=5),
        lambda: metrics.specificity_at_sensitivity(_Z, _p(tf), 0.5, num_thresholds=5, name="s"),
        lambda: metrics.sensitivity_at_specificity(_Z, _p(tf), 1.5),
        lambda: metrics.specificity_at_sensitivity(_Z, _p(tf), -0.5),
        lambda: metrics.recall_at_thresholds(_Z, _p(tf), at, [[1.0, 2.0]]),
        batches=(_X, _X * 2, _X / 2),
    )


def _areas(tf):
    def area(**options) -> Action:
        return lambda: tf.metrics.auc(_Z, _p(tf), num_thresholds=4, **options)

    methods = ["trapezoidal", "careful_interpolation", "minoring", "majoring"]
    return _in_own_graphs(
        tf,
        *(
            area(curve=curve, summation_method=method)
            for curve in ("ROC", "PR")
            for method in methods
        ),
        area(thresholds=[0.7, 0.3], weights=_COLUMN, name="a", metrics_collections="m"),
        area(curve="X"),
        area(summation_method="X"),
    )


def _by_class(tf):
    metrics, numbers = tf.metrics, (np.array([0, 1, 2, 2]), np.array([2, 1, 2, 0]))

    def p():
        return tf.placeholder(tf.int64, [4], name="p")

    true = [0, 1, 1, 2]
    return _in_own_graphs(
        tf,
        lambda: metrics.mean_per_class_accuracy(true, p(), 4),
        lambda: metrics.mean_per_class_accuracy(
            true, tf.cast(p(), tf.int32), 3, tf.constant([1.0, 0.5, 2.0, 0.0]), "m", "u", "n"
        ),
        lambda: metrics.mean_per_class_accuracy(true[:3], p(), 4),
        lambda: metrics.mean_iou(tf.constant(true), p(), 4),
        lambda: metrics.mean_iou(
            tf.constant([true]),
            tf.reshape(p(), [1, 4]),
            3,
            tf.constant([[1.0, 0.5, 2.0, 1.0]]),
            "m",
            "u",
            "n",
        ),
        lambda: metrics.mean_iou(tf.constant(true), p(), 2),
        batches=numbers,
    )


def _at_k(tf):
    metrics, labels = tf.metrics, np.array([[0, 2], [1, -1]])

    def sparse():
        fed = tf.placeholder_with_default(np.array([[0, 0], [0, 1], [1, 0]], np.int64), [None, 2])
        return tf.SparseTensor(fed, np.array([0, 2, 1], np.int64), [2, 2])

    return _in_own_graphs(
        tf,
        lambda: metrics.sparse_precision_at_k(sparse(), _p(tf), 2, class_id=1),
        lambda: metrics.precision_at_k(sparse(), _p(tf), 2),
        lambda: metrics.recall_at_k(sparse(), _p(tf), 1, weights=2.0),
        lambda: metrics.average_precision_at_k(sparse(), _p(tf), 2),
        lambda: metrics.precision_at_k(labels, _p(tf), 2),
        lambda: metrics.precision_at_k(labels, _p(tf), 1, 2, [1.0, 0.5], "m", "u", "n"),
        lambda: metrics.sparse_precision_at_k(labels, _p(tf), 2),
        lambda: metrics.recall_at_k(labels, _p(tf), 2, name="r"),
        lambda: metrics.recall_at_k(labels[:, 0], _p(tf), 2, class_id=0, weights=[[1.0], [2.0]]),
        lambda: metrics.average_precision_at_k(labels, _p(tf), 2),
        lambda: metrics.average_precision_at_k(labels, _p(tf), 1, [1.0, 0.5], "m", "u"),
        lambda: metrics.sparse_average_precision_at_k(labels[:, 0], _p(tf), 3),
        lambda: metrics.average_precision_at_k(labels, _p(tf), 0),
        lambda: metrics.precision_at_k(labels, _p(tf), 5),
        lambda: metrics.precision_at_k(labels[None, None], _p(tf), 1),
    ), _in_own_graphs(
        tf,
        lambda: metrics.precision_at_top_k(labels, _p(tf, (2, 2), tf.int64)),
        lambda: metrics.recall_at_top_k(labels, _p(tf, (2, 2), tf.int64), class_id=1, k=2),
        batches=(labels, labels[::-1]),
    )


BEHAVIOURS = {
    "averages": _averages,
    "counts": _counts,
    "thresholds": _thresholds,
    "areas": _areas,
    "by class": _by_class,
    "at k": _at_k,
}
