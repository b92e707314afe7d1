"""Programs of learning rate decays with unusual or missing steps, boundaries and rates."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _rate_and_graph(tf, make):
    """The rate, the nodes that compute it, and its value."""
    with tf.Graph().as_default() as graph:
        rate = make()
        lines = nodes(graph)
        with tf.Session() as session:
            return rate, lines, session.run(rate)


def _pieces(tf):
    """`piecewise_constant` with steps and boundaries of equal and of different dtypes."""
    steps = (
        lambda: tf.constant(3),
        lambda: tf.constant(3, tf.int64),
        lambda: tf.constant(3.0),
        lambda: tf.constant(3.0, tf.float64),
        lambda: 3,
        lambda: 3.0,
        lambda: np.int64(3),
    )
    bounds = ([2, 5], [2.0, 5.0], [np.int64(2), np.int64(5)], [3, 5], [2], [], [[2, 5]], None)
    values = ([1.0, 0.5, 0.25], [1, 2, 3], [1.0, 0.5], [1.0, 2, 3.0], [np.float64(1), 2.0, 3.0])
    return attempt(
        *(
            lambda s=step, b=bound, v=value: _rate_and_graph(
                tf, lambda: tf.train.piecewise_constant(s(), b, v)
            )
            for step in steps
            for bound in bounds
            for value in values
        )
    )


def _decays(tf):
    """Every decay without a step, with steps of several dtypes, past its end, and rare settings."""
    train = tf.train
    kinds = (
        (train.exponential_decay, {"decay_steps": 4, "decay_rate": 0.5}),
        (train.exponential_decay, {"decay_steps": 4, "decay_rate": 0.5, "staircase": True}),
        (train.natural_exp_decay, {"decay_steps": 4, "decay_rate": 0.5}),
        (train.natural_exp_decay, {"decay_steps": 4, "decay_rate": 0.5, "staircase": True}),
        (train.inverse_time_decay, {"decay_steps": 4, "decay_rate": 0.5}),
        (train.inverse_time_decay, {"decay_steps": 4, "decay_rate": 0.5, "staircase": True}),
        (train.polynomial_decay, {"decay_steps": 4}),
        (train.polynomial_decay, {"decay_steps": 4, "power": 2.0, "cycle": True}),
        (train.cosine_decay, {"decay_steps": 4, "alpha": 0.25}),
        (train.cosine_decay_restarts, {"first_decay_steps": 4}),
        (train.cosine_decay_restarts, {"first_decay_steps": 4, "t_mul": 1.0, "m_mul": 0.5}),
        (train.linear_cosine_decay, {"decay_steps": 4, "num_periods": 1.5, "beta": 0.125}),
    )
    steps = (None, 0, 3, 4, 5, 9, 2.5, -1, np.int64(6), np.float64(7))
    rates = (0.5, 2, np.float64(0.25))
    return attempt(
        *(
            lambda k=kind, o=options, r=rate, s=step: _rate_and_graph(tf, lambda: k(r, s, **o))
            for kind, options in kinds
            for rate in rates
            for step in steps
        )
    )


BEHAVIOURS = {"pieces": _pieces, "decays": _decays}
