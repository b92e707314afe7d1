"""Programs of `tf.losses` and `tf.confusion_matrix`: nodes, values, collections, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built, fed
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]

_X = np.array([[0.25, 0.5, 0.75], [0.125, 1.0, 0.5]], np.float32)
_Z = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)
_COLUMN = np.array([[1.0], [0.0]], np.float32)


def _p(tf, shape=(2, 3), dtype=None):
    return tf.placeholder(tf.float32 if dtype is None else dtype, shape, name="p")


def _fed(graph):
    """Feeds of the same value for every placeholder."""
    return {op.outputs[0]: _X for op in graph.get_operations() if op.type == "Placeholder"}


def _in_own_graphs(tf, *builds: Action, feeds=None) -> list[Plain]:
    """What each function builds and computes in a graph of its own, with the collected losses."""

    def collecting(build: Action) -> Action:
        return lambda: [build(), tf.losses.get_losses()]

    return [built(tf, collecting(build), feeds or _fed) for build in builds]


def _of_numbers(tf):
    losses, way = tf.losses, tf.losses.Reduction
    return _in_own_graphs(
        tf,
        lambda: losses.mean_squared_error(_Z, _p(tf)),
        lambda: losses.mean_squared_error(_Z, _p(tf), _COLUMN, scope="s"),
        lambda: losses.mean_squared_error(_Z, _p(tf), reduction=way.NONE),
        lambda: losses.mean_squared_error(_Z, _p(tf), 2, loss_collection=None, reduction=way.SUM),
        lambda: losses.mean_squared_error(_Z, _p(tf), 0.0),
        lambda: losses.mean_squared_error(_Z, _p(tf, dtype=tf.float64), reduction=way.MEAN),
        lambda: losses.absolute_difference(_Z, _p(tf), 0.5, reduction=way.SUM_OVER_BATCH_SIZE),
        lambda: losses.absolute_difference([[1, 2, 3], [4, 5, 6]], _p(tf), _Z, "a", "mine"),
        lambda: losses.huber_loss(_Z, _p(tf)),
        lambda: losses.huber_loss(_Z, _p(tf), delta=0.3),
        lambda: losses.log_loss(_Z, _p(tf)),
        lambda: losses.log_loss(_Z, _p(tf), epsilon=0.1),
        lambda: losses.cosine_distance(_Z, _p(tf), 1),
        lambda: losses.cosine_distance(_Z, _p(tf)),
        lambda: losses.cosine_distance(_Z, _p(tf), dim=0, weights=[[1.0, 2.0, 0.0]]),
        lambda: losses.cosine_distance(_Z, _p(tf), 1, dim=1),
        lambda: losses.mean_pairwise_squared_error(_Z, _p(tf)),
        lambda: losses.mean_pairwise_squared_error(_Z, _p(tf), _COLUMN, "m"),
        lambda: losses.mean_pairwise_squared_error(_Z, _p(tf), 0),
        lambda: losses.mean_squared_error(_Z[0], _p(tf)),
        lambda: losses.mean_squared_error(None, _p(tf)),
        lambda: losses.absolute_difference(_Z, None),
        lambda: losses.absolute_difference(_Z, _Z),
        lambda: losses.huber_loss(None, None),
        lambda: losses.log_loss(_Z, _p(tf), [1.0, 2.0]),
        lambda: losses.mean_squared_error(_Z, _p(tf), [[1.0], [2.0], [3.0]]),
        lambda: losses.mean_squared_error(_Z, _p(tf), reduction="nope"),
        lambda: losses.mean_pairwise_squared_error(_Z, _p(tf), [1.0]),
    )


def _of_classes(tf):
    losses = tf.losses
    return _in_own_graphs(
        tf,
        lambda: losses.hinge_loss(_Z, _p(tf)),
        lambda: losses.hinge_loss(_Z, _p(tf), _COLUMN, "h"),
        lambda: losses.hinge_loss(None, _Z),
        lambda: losses.hinge_loss(_Z, _Z),
        lambda: losses.hinge_loss(_Z, None),
        lambda: losses.hinge_loss(_Z[0], _p(tf)),
        lambda: losses.sigmoid_cross_entropy(_Z, _p(tf)),
        lambda: losses.sigmoid_cross_entropy(_Z, _p(tf), [[1.0], [2.0]], 0.1, "c"),
        lambda: losses.sigmoid_cross_entropy([[1, 0, 1], [0, 0, 1]], _p(tf)),
        lambda: losses.sigmoid_cross_entropy(None, _p(tf)),
        lambda: losses.softmax_cross_entropy(_Z, _p(tf)),
        lambda: losses.softmax_cross_entropy(_Z, _p(tf), [1.0, 0.0], 0.1, "c"),
        lambda: losses.softmax_cross_entropy(_Z, _p(tf), [[1.0], [0.0]]),
        lambda: losses.softmax_cross_entropy(_Z[0], _p(tf)),
        lambda: losses.sparse_softmax_cross_entropy([0, 2], _p(tf)),
        lambda: losses.sparse_softmax_cross_entropy([[0], [2]], _p(tf), [[1.0], [0.5]], "s"),
        lambda: losses.sparse_softmax_cross_entropy([0, 2], _p(tf), [1.0, 0.0]),
        lambda: losses.sparse_softmax_cross_entropy([0, 2, 1], _p(tf)),
        lambda: losses.sparse_softmax_cross_entropy([0, 2], _p(tf), None),
        lambda: losses.sparse_softmax_cross_entropy(None, _p(tf)),
    )


def _collected(tf):
    losses = tf.losses
    before = attempt(losses.get_total_loss, losses.get_regularization_loss)
    with tf.name_scope("one"):
        losses.add_loss(tf.constant(1.0, name="a"))
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.5, name="r"))
    losses.add_loss(tf.constant(2.0, name="b"))
    losses.add_loss(tf.constant(4.0), loss_collection="other")
    losses.add_loss(tf.constant(8.0), None)
    totals = [
        losses.get_total_loss(),
        losses.get_total_loss(False, "t"),
        losses.get_total_loss(scope="one"),
        losses.get_regularization_loss(),
        losses.get_regularization_loss("two"),
    ]
    way = losses.Reduction
    return (
        before,
        totals,
        run(tf, totals),
        losses.get_losses(),
        losses.get_losses("one"),
        losses.get_losses(loss_collection="other"),
        losses.get_regularization_losses("one"),
        way.all(),
        attempt(lambda: way.validate("x"), lambda: way.validate("none")),
    )


def _weighted(tf):
    loss, way = tf.losses.compute_weighted_loss, tf.losses.Reduction
    return _in_own_graphs(
        tf,
        lambda: loss(_p(tf)),
        lambda: loss(_p(tf), _COLUMN, "s", "c", way.MEAN),
        lambda: loss(_p(tf), _Z),
        lambda: loss(_p(tf), np.zeros([2, 3])),
        lambda: loss(_p(tf), tf.constant(2, tf.int32)),
        *(lambda key=key: loss(_p(tf), [[1.0, 0.0, 2.0]], reduction=key) for key in way.all()),
        lambda: loss([1, 2, 3]),
        lambda: loss(tf.constant([1.0, 2.0], tf.float64), 0.5),
        lambda: loss(_p(tf, None)),
        lambda: loss(_p(tf, [None, 3]), _p(tf, None)),
        lambda: loss(_p(tf, [None, 3]), [[1.0, 2.0, 0.0]]),
        lambda: loss(_p(tf, [None, 3]), 2.0, reduction=way.SUM_OVER_BATCH_SIZE),
        lambda: loss(_p(tf), [1.0, 2.0, 3.0]),
        lambda: loss(_p(tf), [[1.0, 2.0]]),
    )


def _confusion(tf):
    matrix = tf.confusion_matrix
    p = tf.int32

    def q(*shape):
        return tf.placeholder(tf.int32, shape or None, name="p")

    def graph(*builds: Action):
        return [built(tf, build, fed([0, 1, 2])) for build in builds]

    return graph(
        lambda: matrix([0, 1, 2], q(3)),
        lambda: matrix([0, 1, 1], q(3), 3, tf.float32, "m"),
        lambda: matrix([0, 1, 1], q(3), tf.constant(4), weights=[0.5, 1.5, 2.5]),
        lambda: tf.math.confusion_matrix([[0], [1], [1]], q(3), 3, weights=[1, 2, 3]),
        lambda: matrix([0, 1, 1], q(3), 2),
        lambda: matrix([0, -1, 1], q(3)),
        lambda: matrix([0, 1, 2], q()),
        lambda: matrix([0, 1], q(3)),
        lambda: matrix([0, 1, 2], q(3), weights=[1.0]),
        lambda: matrix(np.array([0, 1, 2], np.float32), tf.cast(q(3), p), 3),
    )


BEHAVIOURS = {
    "of numbers": _of_numbers,
    "of classes": _of_classes,
    "collected": _collected,
    "weighted": _weighted,
    "confusion": _confusion,
}
