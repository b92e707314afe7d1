"""Programs of losses averaged over a batch, and of dropout with random numbers of the program."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _built(tf, make: Action) -> Action:
    """What a call builds in a graph of its own: the tensor, the nodes and the value."""

    def call():
        with tf.Graph().as_default() as graph:
            loss = make()
            return [loss, nodes(graph), attempt(lambda: run(tf, loss))]

    return call


def _averages(tf):
    average = tf.nn.compute_average_loss

    def unknown(value):
        return tf.placeholder_with_default(np.asarray(value, np.float32), None)

    losses = [[1.0, 2.0], [3.0, 5.0]]
    return attempt(
        *(
            _built(tf, make)
            for make in (
                lambda: average([1.0, 2.0, 6.0]),
                lambda: average([1.0, 2.0], global_batch_size=4),
                lambda: average(losses),
                lambda: average([1.0, 2.0], sample_weight=[2.0, 0.5]),
                lambda: average(losses, sample_weight=[2.0, 0.5]),
                lambda: average([1.0], 3.0),
                lambda: average([1.0, 2.0], sample_weight=[[2.0], [0.5]]),
                lambda: average(tf.constant([1.0, 2.0], tf.float16), sample_weight=[2, 3]),
                lambda: average(unknown([1.0, 2.0])),
                lambda: average(unknown(3.0)),
                lambda: average(unknown(losses), sample_weight=unknown([2.0, 0.5])),
                lambda: average(unknown([1.0, 2.0]), sample_weight=unknown([[2.0], [0.5]])),
                lambda: average(unknown([1.0, 2.0]), sample_weight=unknown(2.0)),
                lambda: average(3.0),
                lambda: average([1.0], global_batch_size=2.5),
                lambda: average([1.0], global_batch_size=-1),
                lambda: average([1.0], global_batch_size=[1]),
                lambda: average(tf.zeros([0])),
                lambda: average([[1.0, 2.0]], sample_weight=[1.0, 2.0, 3.0]),
            )
        )
    )


def _regularization(tf):
    scale = tf.nn.scale_regularization_loss
    return attempt(
        *(
            _built(tf, make)
            for make in (
                lambda: scale(3.0),
                lambda: scale([1.0, 2.0]),
                lambda: scale([tf.constant(1.0), 2.0]),
            )
        )
    )


def _dropped(tf):
    """Dropout with a function that draws the random numbers, or with a seed."""
    general = tf.nn.experimental.general_dropout
    stateless = tf.nn.experimental.stateless_dropout

    def rising(shape, dtype):
        count = tf.reduce_prod(shape)
        return tf.reshape(tf.cast(tf.range(count) / count, dtype), shape)

    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
    return attempt(
        *(
            _built(tf, make)
            for make in (
                lambda: general(x, 0.5, rising),
                lambda: general(x, 0.5, rising, noise_shape=[2, 1]),
                lambda: general(x, tf.constant(0.25), rising, name="kept"),
                lambda: general(x, 0, rising),
                lambda: general(x, 1.0, rising),
                lambda: general([1, 2], 0.5, rising),
                lambda: stateless(x, 0.5, [1, 2]),
                lambda: stateless(x, 0.5, [1, 2], rng_alg="threefry"),
                lambda: stateless(x, 0.3, [3, 4], noise_shape=[1, 3], name="kept"),
                lambda: stateless(x, 0.0, [3, 4]),
                lambda: stateless(x, -0.5, [3, 4]),
            )
        )
    )


def _fractional(tf):
    """Fractional pooling by the deprecated functions with two seeds."""
    x = np.arange(36, dtype=np.float32).reshape(1, 6, 6, 1)
    options = {"deterministic": True, "seed": 3, "seed2": 7}
    ratio = [1.0, 1.5, 1.5, 1.0]
    max_pool, mean_pool = tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool

    def pooled(pooling):
        # TensorFlow's static shapes of the regions' borders are one too short.
        return run(tf, [tf.placeholder_with_default(part, None) for part in pooling])

    return attempt(
        lambda: pooled(max_pool(x, ratio, **options)),
        lambda: pooled(max_pool(x, ratio, True, True, **options)),
        lambda: pooled(mean_pool(x, ratio, **options)),
        lambda: max_pool(x, [1.0, 0.5, 1.5, 1.0], **options),
    )


def _errors(tf):
    """Sparse softmax cross entropies, one of them with a label out of range."""
    cost = tf.nn.sparse_softmax_cross_entropy_with_logits
    rows = tf.constant([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])

    def outside():
        with tf.device("/cpu:0"):  # a GPU cannot report a label out of range
            return cost(labels=[0, 2], logits=[[1.0, 2.0], [0.0, 1.0]])

    return attempt(
        *(
            _built(tf, make)
            for make in (
                outside,
                lambda: cost(labels=[[0, 1]], logits=[[[1.0, 2.0], [0.0, 1.0]]]),
                lambda: cost(labels=[1], logits=rows[:1]),
                lambda: cost(labels=[1, 2, 0], logits=rows),
                lambda: cost(labels=1, logits=rows),
                lambda: cost(labels=1, logits=rows[0]),
            )
        )
    )


BEHAVIOURS = {
    "averages": _averages,
    "regularization": _regularization,
    "dropped": _dropped,
    "fractional": _fractional,
    "errors": _errors,
}
