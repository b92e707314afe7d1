"""Programs of stateless random numbers, of gamma and Poisson numbers, of random boxes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _stateless(tf) -> list[Tensor]:
    random, rows = tf.random, np.array([[0.5, -1.0, 2.0]])
    seed = [3, -7]
    return [
        random.stateless_uniform([5], seed),
        random.stateless_uniform([2, 3], seed, -2, 5, tf.float64),
        random.stateless_uniform([5], seed, 3, 900, tf.int32, name="i"),
        random.stateless_uniform([4], seed, None, None, tf.uint64),
        random.stateless_uniform([4], seed, 0, 5, tf.int64, alg="philox"),
        random.stateless_normal([6], seed, 1.0, 2.0),
        random.stateless_truncated_normal([50], seed),
        random.stateless_normal([3], tf.constant(seed, tf.int64), dtype=tf.float64, alg=1),
        random.stateless_gamma([4, 2], seed, [0.5, 3.0]),
        random.stateless_gamma([3], seed, 2.0, 5.0),
        random.stateless_poisson([5, 2], seed, [0.5, 30.0]),
        random.stateless_multinomial(rows, 5, seed),
        random.stateless_categorical(rows, 3, seed, dtype=tf.int32),
        random.split(seed, 3),
        random.fold_in(seed, 5),
    ]


def _without_state(tf):
    return [built(tf, lambda: _stateless(tf)), run(tf, _stateless(tf))]


def _streams(tf):
    tf.set_random_seed(9)
    tensors = [
        tf.random_gamma([40], [0.3, 1.0, 2.5]),
        tf.random_gamma([3], 2.0, 4.0, tf.float64, seed=2),
        tf.random_poisson([0.7, 9.0, 11.0, 200.0], [30]),
        tf.random.poisson(3.0, [2, 2], tf.int32),
        tf.random_poisson(1.0, [0]),
        tf.random_gamma([2], np.zeros([0], np.float32)),
        tf.random_crop(np.arange(24).reshape(4, 6), [2, 3], seed=5),
    ]
    with tf.Session() as session:
        return [
            [session.run(tensors) for _ in range(3)],
            built(
                tf,
                lambda: tf.random_gamma([3], 2.0),
                lambda: tf.random_poisson(1.5, [2], name="p"),
                lambda: tf.random_crop(tf.placeholder(tf.int32), [2], name="c"),
            ),
        ]


def _gradient(tf):
    alpha = tf.constant([0.4, 1.0, 6.0])
    (gradient,) = tf.gradients(tf.random_gamma([5], alpha, seed=3), alpha)
    return [gradient, run(tf, gradient)]


def _refusals(tf):
    random, fed = tf.random, tf.placeholder_with_default([1, 2, 3], None)
    raw = tf.raw_ops
    return attempt(
        lambda: random.stateless_uniform([2], [1]),
        lambda: run(tf, random.stateless_uniform([2], fed)),
        lambda: random.stateless_uniform([2], [1, 2], dtype=tf.int8),
        lambda: random.stateless_uniform([2], [1, 2], 1, None, tf.int32),
        lambda: random.stateless_uniform([2], [1, 2], 1, 5, tf.uint32),
        lambda: random.stateless_uniform([2], [1, 2], alg="best"),
        lambda: random.stateless_uniform([2], [1, 2], alg=1.5),
        lambda: run(tf, random.stateless_uniform([2], [1, 2], 5, 5, tf.int32)),
        lambda: run(tf, random.stateless_poisson([3], [1, 2], [1.0, 2.0])),
        lambda: random.stateless_categorical([[1.0]], 2, [1, 2], tf.float32),
        lambda: random.stateless_categorical([1.0], 2, [1, 2]),
        lambda: run(tf, tf.random_crop([1, 2], [3])),
        lambda: tf.random_gamma([2], 1.0, dtype=tf.int32),
        lambda: tf.random_gamma(2.5, 1.0),
        lambda: run(
            tf,
            raw.StatelessRandomUniformV2(
                shape=[2], key=np.array([1], np.uint64), counter=np.array([1, 2], np.uint64), alg=7
            ),
        ),
        *(
            lambda n=n, p=p: run(
                tf,
                random.stateless_binomial(
                    [2, 1], [1, 2], counts=[n], probs=[p], output_dtype=tf.float32
                ),
            )
            for n, p in ((5.0, -0.0), (5.0, 0.0), (5.0, 1.0), (0.0, 0.5))
        ),
    )


BEHAVIOURS = {
    "gradient": _gradient,
    "refusals": _refusals,
    "streams": _streams,
    "without_state": _without_state,
}
