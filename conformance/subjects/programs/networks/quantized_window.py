"""Programs of quantized pooling and convolutions."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _quantized(tf, *shape: int, step: int = 37):
    numbers = (np.arange(int(np.prod(shape))).reshape(shape) * step % 251).astype("uint8")
    return tf.bitcast(tf.constant(numbers), tf.quint8)


def _plain(tf, outputs):
    """The integers of a quantized tensor, and its range."""
    first, *ranges = outputs
    integer = tf.int32 if first.dtype == tf.qint32 else tf.uint8
    return [first.dtype, first.shape, *run(tf, [tf.bitcast(first, integer), *ranges])]


def _poolings(tf):
    x = _quantized(tf, 2, 5, 4, 3)
    # The means are integers: oneDNN rounds other ones differently.
    sixties = (np.arange(120).reshape(2, 5, 4, 3) * 37 % 5 * 60).astype("uint8")
    even = tf.bitcast(tf.constant(sixties), tf.quint8)
    results = []
    for pool, pictures in ((tf.nn.quantized_avg_pool, even), (tf.nn.quantized_max_pool, x)):
        for ksize, strides, padding in (
            ([1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
            ([1, 3, 2, 1], [1, 1, 2, 1], "SAME"),
            ([1, 5, 4, 1], [1, 1, 1, 1], "VALID"),
        ):
            results.append(_plain(tf, pool(pictures, -1.0, 2.5, ksize, strides, padding)))
    pool = tf.nn.quantized_max_pool
    return results, attempt(
        lambda: pool(x, 0.0, 1.0, [1, 2, 2, 1], [1, 2, 2, 1], "NOPE"),
        lambda: pool(tf.zeros([1, 2, 2, 1]), 0.0, 1.0, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        lambda: pool(x, 0.0, 1.0, [1, 2], [1, 2, 2, 1], "SAME"),
        lambda: pool(
            input=x,
            min_input=0.0,
            max_input=1.0,
            ksize=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            padding="SAME",
            name="named",
        ),
        lambda: tf.nn.quantized_avg_pool(x, 0.0, 1.0, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", "mean"),
    )


def _convolutions(tf):
    x, w = _quantized(tf, 1, 4, 5, 2), _quantized(tf, 2, 3, 2, 4, step=91)
    conv, results = tf.nn.quantized_conv2d, []
    for strides, padding in (
        ([1, 1, 1, 1], "SAME"),
        ([1, 2, 2, 1], "VALID"),
        ([1, 2, 2, 1], "SAME"),
    ):
        results.append(_plain(tf, conv(x, w, -1.0, 2.0, -0.5, 3.0, strides, padding)))
    return results, attempt(
        lambda: conv(x, w, 0.0, 1.0, 0.0, 1.0, [1, 1, 1, 1], "SAME", name="named"),
        lambda: conv(
            input=x,
            filter=w,
            min_input=0.0,
            max_input=1.0,
            min_filter=0.0,
            max_filter=1.0,
            strides=[1, 1, 1, 1],
            padding="VALID",
            out_type=tf.qint32,
        ),
        lambda: conv(x, w, 0.0, 1.0, 0.0, 1.0, [1, 1, 1, 1], "SAME", tf.float32),
        lambda: conv(x, _quantized(tf, 2, 3, 3, 4), 0.0, 1.0, 0.0, 1.0, [1, 1, 1, 1], "SAME"),
    )


BEHAVIOURS = {"poolings": _poolings, "convolutions": _convolutions}
