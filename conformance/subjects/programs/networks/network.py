"""Programs of functions of `tf.nn`: nodes, values and errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built, fed
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]

_X = np.array([[1.0, -2.0, 0.25], [0.5, 1.5, 2.0]], np.float32)


def _p(tf, shape=(2, 3), dtype=None):
    return tf.placeholder(tf.float32 if dtype is None else dtype, shape, name="p")


def _in_own_graphs(tf, *builds: Action, feeds=None) -> list[Plain]:
    return [built(tf, build, feeds) for build in builds]


def _activations(tf):
    nn = tf.nn
    x = fed(_X)
    return _in_own_graphs(
        tf,
        lambda: nn.relu6(_p(tf)),
        lambda: nn.relu6([7.0, -1.0], name="n"),
        lambda: nn.relu6(["a"]),
        lambda: nn.crelu(_p(tf)),
        lambda: nn.crelu(_p(tf), axis=0, name="c"),
        lambda: nn.leaky_relu(_p(tf)),
        lambda: nn.leaky_relu([1, -2], alpha=np.array(0.5)),
        lambda: nn.softmax(_p(tf)),
        lambda: nn.softmax(_p(tf), axis=0),
        lambda: nn.softmax(_p(tf), axis=-2, name="s"),
        lambda: nn.log_softmax(_p(tf), dim=0),
        lambda: nn.softmax(_p(tf, None), 0),
        lambda: nn.softmax(_p(tf), axis=2),
        lambda: nn.softmax(_p(tf), axis=tf.constant(0)),
        lambda: nn.softmax(_p(tf), 0, dim=0),
        lambda: nn.softmax(_p(tf), axis=tf.placeholder_with_default(0, [])),
        lambda: nn.l2_normalize(_p(tf), 1),
        lambda: nn.l2_normalize(_p(tf), dim=[0, 1]),
        lambda: nn.l2_normalize([1 + 2j, 3 - 1j], 0),
        lambda: nn.l2_normalize(_p(tf), 0, 1.0, "l"),
        lambda: nn.xw_plus_b(_p(tf), np.ones([3, 2], np.float32), [1.0, 2.0]),
        lambda: nn.relu_layer(_p(tf), np.ones([3, 2], np.float32), [1.0, -22.0], name="r"),
        lambda: nn.bias_add(_p(tf), [1.0, 2.0, 3.0], "NHWC"),
        lambda: nn.bias_add(_p(tf), [1.0, 2.0], "NCX"),
        lambda: nn.bias_add(_p(tf), [1.0], "HN"),
        lambda: nn.elu(_p(tf)),
        lambda: nn.selu(_p(tf)),
        lambda: nn.softplus(_p(tf)),
        lambda: nn.softsign(_p(tf)),
        lambda: nn.l2_loss(_p(tf)),
        feeds=x,
    )


def _swishes(tf):
    def built_and_run(beta):
        x = tf.constant(_X)
        slope = tf.constant(beta)
        output = tf.nn.swish(x, slope)
        tensors = [output, *tf.gradients(output, [x, slope])]
        kinds = [[op.name, op.type] for op in tf.get_default_graph().get_operations()]
        return tensors, kinds, run(tf, tensors)

    return attempt(
        lambda: built_and_run(1.0),
        lambda: built_and_run(0.5),
        lambda: tf.nn.silu([1, 2]),
        lambda: run(tf, tf.nn.silu([1.0, -1.0])),
    )


def _rankings(tf):
    nn = tf.nn
    return _in_own_graphs(
        tf,
        lambda: nn.top_k(_p(tf), 2),
        lambda: nn.top_k(_p(tf), k=1, sorted=False, name="t"),
        lambda: nn.top_k(_p(tf), 2, True, tf.int64),
        lambda: nn.top_k(_p(tf), 5),
        lambda: nn.in_top_k(_p(tf), [0, 2], 1),
        lambda: nn.in_top_k(_p(tf), [0, 2], 2, name="i"),
        feeds=fed(_X),
    )


def _losses_of_examples(tf):
    nn = tf.nn
    z = np.array([[1.0, 0.0, 0.5], [0.0, 0.25, 3.0]], np.float32)
    return _in_own_graphs(
        tf,
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=z, logits=_p(tf)),
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=z, logits=_p(tf, None), name="n"),
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=z[0], logits=_p(tf)),
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=z),
        lambda: nn.weighted_cross_entropy_with_logits(z, _p(tf), 2.0),
        lambda: nn.weighted_cross_entropy_with_logits(targets=z, logits=_p(tf), pos_weight=0.5),
        lambda: nn.weighted_cross_entropy_with_logits(z, _p(tf), 2.0, targets=z),
        lambda: nn.weighted_cross_entropy_with_logits(z, _p(tf), tf.constant([1.0, 2.0, 3.0])),
        lambda: nn.weighted_cross_entropy_with_logits(z[:, :2], _p(tf), 2.0),
        lambda: nn.log_poisson_loss(z, _p(tf)),
        lambda: nn.log_poisson_loss(z, _p(tf), True, "l"),
        lambda: nn.log_poisson_loss(z[0], _p(tf)),
        feeds=fed(_X),
    )


def _losses_of_classes(tf):
    nn = tf.nn
    z = np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]], np.float32)
    v2 = nn.softmax_cross_entropy_with_logits_v2
    first = nn.softmax_cross_entropy_with_logits
    of_numbers = nn.sparse_softmax_cross_entropy_with_logits
    return _in_own_graphs(
        tf,
        lambda: v2(z, _p(tf)),
        lambda: v2(labels=z, logits=_p(tf), axis=0),
        lambda: v2(z, _p(tf), axis=1, name="v"),
        lambda: v2(z, _p(tf, None)),
        lambda: v2(z, _p(tf, [None, 3]), -2),
        lambda: v2(z, _p(tf), dim=0, axis=0),
        lambda: v2(z[None], tf.expand_dims(_p(tf), 0)),
        lambda: v2(z, tf.cast(_p(tf), tf.float16)),
        lambda: v2(z[:, :2], _p(tf)),
        lambda: v2(None, _p(tf)),
        lambda: first(labels=z, logits=_p(tf)),
        lambda: first(z, _p(tf), 0, "f"),
        lambda: first(labels=z, logits=_p(tf), axis=0),
        lambda: first(labels=z, logits=_p(tf), dim=None, axis=0),
        lambda: first(logits=_p(tf)),
        lambda: of_numbers(labels=[0, 2], logits=_p(tf)),
        lambda: of_numbers([[0, 2]], tf.expand_dims(_p(tf), 0), "s"),
        lambda: of_numbers(tf.placeholder_with_default([0, 1], None), _p(tf, None)),
        lambda: of_numbers(tf.placeholder_with_default([0, 1, 1], None), _p(tf, None)),
        lambda: of_numbers([1, 2], tf.cast(_p(tf), tf.float16)),
        lambda: of_numbers([1], _p(tf)),
        lambda: of_numbers([[1, 2]], _p(tf)),
        lambda: of_numbers(1, tf.reduce_sum(_p(tf))),
        lambda: of_numbers(1, _p(tf)[0]),
        lambda: of_numbers(labels=[1, 2]),
        feeds=fed(_X),
    )


def _statistics(tf):
    nn = tf.nn
    half = tf.float16
    return _in_own_graphs(
        tf,
        lambda: nn.moments(_p(tf), [0]),
        lambda: nn.moments(_p(tf), [0, 1], keep_dims=True),
        lambda: nn.moments(_p(tf, None), 1, name="m"),
        lambda: nn.moments(_p(tf, None, half), [1]),
        lambda: nn.moments(_p(tf), [0], keepdims=True, keep_dims=True),
        lambda: nn.moments(_p(tf), [5]),
        lambda: nn.moments([1.0], [0]),
        lambda: nn.weighted_moments(_p(tf), [0], [[1.0], [3.0]]),
        lambda: nn.weighted_moments(_p(tf), [0, 1], 2, keepdims=True, name="w"),
        lambda: nn.weighted_moments(_p(tf, None, half), [1], np.float32(2)),
        lambda: nn.weighted_moments(_p(tf), 0, 0.0),
        lambda: nn.sufficient_statistics(_p(tf), [0])[:3],
        lambda: nn.sufficient_statistics(_p(tf), [1, 0], shift=1.0, keep_dims=True, name="s"),
        lambda: nn.sufficient_statistics(_p(tf, [None, 3]), [0, -1])[:3],
        lambda: nn.sufficient_statistics(_p(tf, None), [0, -1])[:3],
        lambda: nn.normalize_moments(2.0, _p(tf), _p(tf) * 2, None),
        lambda: nn.normalize_moments(2.0, _p(tf), _p(tf) * 2, tf.constant(0.5), name="n"),
        lambda: nn.zero_fraction(_p(tf)),
        lambda: nn.zero_fraction(_p(tf, None), name="z"),
        lambda: nn.zero_fraction(tf.zeros([0])),
        lambda: tf.math.zero_fraction([0, 1, 0]),
        feeds=fed(_X),
    )


def _normalization(tf):
    nn = tf.nn
    one, two = tf.constant, np.array([1.0, 2.0, 3.0], np.float32)
    old = nn.batch_norm_with_global_normalization
    return _in_own_graphs(
        tf,
        lambda: nn.batch_normalization(_p(tf), one(0.5), one(2.0), None, None, 1e-3),
        lambda: nn.batch_normalization(_p(tf), one(two), one(two), one(two), one(two), 0.1, "b"),
        lambda: nn.batch_normalization(_p(tf), one(two), one(two), None, one(two), 0.1),
        lambda: nn.batch_normalization(
            tf.cast(_p(tf), tf.float16), one(two), one(two), one(two), None, 0.1
        ),
        lambda: old(_p(tf), one(two), one(two), one(two), one(two), 0.1, False),
        lambda: old(_p(tf), one(two), one(two), one(two), one(two), 0.1, True, name="g"),
        lambda: old(
            input=_p(tf),
            mean=one(two),
            variance=one(two),
            beta=one(two),
            gamma=None,
            variance_epsilon=0.1,
            scale_after_normalization=True,
        ),
        lambda: old(_p(tf), one(two), one(two), one(two), one(two), 0.1, True, mean=one(two)),
        feeds=fed(_X),
    )


def _dropout(tf):
    def seeded(graph_seed: int, *arguments, **named) -> Action:
        def build():
            tf.set_random_seed(graph_seed)
            return tf.nn.dropout(_p(tf), *arguments, **named), tf.random_uniform([2])

        return build

    def with_rate(rate, dtype=tf.float32) -> Action:
        return lambda: tf.nn.dropout(
            _p(tf), rate=tf.placeholder_with_default(tf.constant(rate, dtype), []), seed=3
        )

    return _in_own_graphs(
        tf,
        seeded(5, rate=0.5),
        seeded(5, keep_prob=0.25),
        seeded(7, rate=0.5, seed=11, name="d"),
        seeded(5, rate=0),
        seeded(5, 1.0),
        seeded(5, 0.5, noise_shape=[2, 1]),
        seeded(5, 0.5, [None, 1]),
        seeded(5, 0.5, [1]),
        seeded(5, 0.5, tf.TensorShape([1, None])),
        with_rate(0.4),
        with_rate(0.4, tf.float64),
        with_rate(0.0),
        with_rate([0.4]),
        lambda: tf.nn.dropout(_p(tf), keep_prob=tf.placeholder_with_default(0.5, []), seed=1),
        lambda: tf.nn.dropout(
            _p(tf), noise_shape=tf.placeholder_with_default([2, 1], [2]), rate=0.5, seed=1
        ),
        lambda: tf.nn.dropout(tf.cast(_p(tf), tf.float16), rate=0.5, seed=1),
        lambda: tf.nn.dropout(_p(tf)),
        lambda: tf.nn.dropout(_p(tf), "a"),
        lambda: tf.nn.dropout(_p(tf), rate="a"),
        lambda: tf.nn.dropout(_p(tf), rate=1.0),
        lambda: tf.nn.dropout(_p(tf), rate=-0.1),
        lambda: tf.nn.dropout([1, 2], rate=0.5),
        lambda: tf.nn.dropout(_p(tf), 0.5, rate=0.5),
        lambda: tf.nn.dropout(_p(tf), 2.0),
        feeds=fed(_X),
    ), attempt(lambda: tf.nn.dropout(1.0, rate=0.5))


BEHAVIOURS = {
    "activations": _activations,
    "swishes": _swishes,
    "rankings": _rankings,
    "losses of examples": _losses_of_examples,
    "losses of classes": _losses_of_classes,
    "statistics": _statistics,
    "normalization": _normalization,
    "dropout": _dropout,
}
