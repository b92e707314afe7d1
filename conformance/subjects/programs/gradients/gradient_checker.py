"""Programs of Jacobians by gradients and by differences, of tensors and of functions."""

from __future__ import annotations

import importlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _rounded(value):
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return np.round(np.asarray(value, "d"), 3)


def _of_tensors(tf):
    check, error = tf.test.compute_gradient, tf.test.compute_gradient_error
    with tf.Session():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
        z = tf.placeholder(tf.complex128, [2])
        start, other = np.array([[1.0, 2.0], [0.5, 4.0]]), np.array([1 + 2j, 3 - 1j])
        factor = tf.placeholder(tf.float64, [])
        rows = tf.gather(x, [0, 0])
        return attempt(
            lambda: _rounded(check(x, [2, 2], x * x, [2, 2], start)),
            lambda: _rounded(
                check(x, [2, 2], x * factor, [2, 2], start, extra_feed_dict={factor: 3.0})
            ),
            lambda: _rounded(check(z, [2], z * z, [2], other)),
            lambda: _rounded(check(z, [2], tf.abs(z), [2], other)),
            lambda: _rounded(
                check(
                    [x, z],
                    [[2, 2], [2]],
                    tf.real(z) * x,
                    [2, 2],
                    [start, other],
                    extra_feed_dict={z: other, x: start},
                )
            ),
            lambda: _rounded(check(x, [2, 2], rows, [2, 2], start)),
            lambda: _rounded(check(x, [2, 2], tf.stop_gradient(x) * x, [2, 2], start)),
            lambda: float(error(x, [2, 2], tf.stop_gradient(x) * x, [2, 2], start)) > 0.4,
            lambda: check(x, [2, 2], tf.zeros([0], tf.float64), [0], start),
            lambda: check(x, [2], x, [2, 2], start),
            lambda: check(tf.constant([1]), [1], x, [2, 2]),
            lambda: check(x, [2, 2], x, [2, 2], start, init_targets=tf.no_op()),
            lambda: float(error(x, [2, 2], tf.reshape(x[:, :0], [2, 0]), [2, 0], start)),
        )


def _of_functions(tf):
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    checker = importlib.import_module(f"{root}.python.ops.gradient_checker_v2")
    start, other = np.array([[1.0, 2.0], [0.5, 4.0]]), np.array([1 + 2j, 3 - 1j])
    with tf.Session():
        return attempt(
            lambda: _rounded(checker.compute_gradient(tf.square, [start])),
            lambda: _rounded(checker.compute_gradient(lambda x, z: tf.real(z) * x, [start, other])),
            lambda: _rounded(checker.compute_gradient(lambda x: tf.gather(x, [1, 1]), [start])),
            lambda: float(checker.max_error(*checker.compute_gradient(tf.sin, [start]))) < 1e-5,
            lambda: checker.compute_gradient(tf.sin, start),
            lambda: checker.compute_gradient(tf.identity, [np.array([1])]),
            lambda: checker.max_error([np.zeros(0)], [np.zeros(0)]),
        )


BEHAVIOURS = {"of-tensors": _of_tensors, "of-functions": _of_functions}
