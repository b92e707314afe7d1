"""Programs of functions that rearrange arrays: static shapes, and errors when built or when run."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, on_a_cpu, run

__all__ = ["BEHAVIOURS"]


def _axes(tf):
    x, u = tf.reshape(tf.range(24), [2, 3, 4]), tf.placeholder(tf.float32)
    p = tf.placeholder(tf.float32, [None, 3])
    return attempt(
        lambda: tf.expand_dims(x, -1),
        lambda: tf.expand_dims(x, 5),
        lambda: tf.expand_dims(u, 0),
        lambda: tf.expand_dims(x),
        lambda: tf.expand_dims(x, axis=0, dim=1),
        lambda: tf.squeeze(p),
        lambda: tf.squeeze(p, [0]),
        lambda: tf.squeeze(p, 1),
        lambda: tf.squeeze(p, squeeze_dims=0),
        lambda: tf.squeeze(p, axis=0, squeeze_dims=1),
        lambda: tf.reverse(x, [0, 0]),
        lambda: tf.reverse(x, [5]),
        lambda: tf.reverse(x, 0),
        lambda: tf.transpose(x, [2, 0, 1]),
        lambda: tf.transpose(u),
        lambda: tf.transpose(x, [0, 0, 1]),
        lambda: tf.tile(p, [2]),
        lambda: tf.unstack(p),
        lambda: tf.unstack(p, axis=1),
        lambda: tf.unstack(u),
        lambda: tf.unstack(tf.ones([2, 3]), axis=-2),
        lambda: tf.unstack(u, 3),
        lambda: tf.unstack(x, axis=7),
        lambda: tf.unstack(x, num=3),
        lambda: tf.concat([p, p], -1),
        lambda: tf.concat([1, 2], 0),
        lambda: tf.concat([], 0),
        lambda: tf.concat([tf.ones([2])], [0]),
        lambda: tf.concat([x, [1]], 0),
        lambda: tf.concat([p, u], 0),
        lambda: tf.concat(x, 0),
    )


def _parts(tf):
    x, p = tf.reshape(tf.range(24), [2, 3, 4]), tf.placeholder(tf.float32, [None, 3])
    u = tf.placeholder(tf.int32)
    return attempt(
        lambda: tf.split(x, 3, 1),
        lambda: tf.split(x, [1, -1], 1),
        lambda: tf.split(x, 5),
        lambda: tf.split(x, u),
        lambda: tf.split(x, u, 1, num=2),
        lambda: tf.split(p, 3, 1),
        lambda: tf.split(x, tf.placeholder(tf.int32, [3]), 1),
        lambda: tf.slice(x, [0], [1]),
        lambda: tf.slice(p, [0, 0], [-1, 2]),
        lambda: tf.strided_slice(p, [0, 0], [1, 2]),
        lambda: tf.strided_slice(x, [0], [1], [1], shrink_axis_mask=1),
        lambda: tf.boolean_mask(x, [True]),
        lambda: tf.boolean_mask(p, [[True, False, True]]),
        lambda: tf.boolean_mask(x, [True, False, True], axis=1),
        lambda: tf.boolean_mask(u, [True]),
        lambda: tf.boolean_mask(x, tf.placeholder(tf.bool)),
        lambda: tf.boolean_mask(x, True),
        lambda: tf.pad(p, [[1, 1], [0, 2]]),
        lambda: tf.pad(p, [[1, 1], [0, 2]], "reflect"),
        lambda: tf.pad(p, [[1, 1], [0, 2]], "zzz"),
        lambda: tf.pad(p, [[1, 1]]),
        lambda: tf.pad(p, [[1, 1], [0, 2]], constant_values=5),
    )


def _checked_when_run(tf):
    x = tf.reshape(tf.range(24), [2, 3, 4])
    variable = tf.get_variable("v", [2, 2], use_resource=True)
    places = ([[0]], [[0], [1]], [[0], [1], [2]])

    def gathered(indices, axis: int | None, batch: int):
        build = partial(tf.gather, x, indices, axis=axis, batch_dims=batch)
        return run(tf, on_a_cpu(tf, build))

    rows = [
        attempt(
            lambda i=indices, a=axis, b=batch: tf.gather(x, i, axis=a, batch_dims=b),
            lambda i=indices, a=axis, b=batch: gathered(i, a, b),
        )
        for indices in places
        for axis in (None, 0, 1, 2, -1)
        for batch in (0, 1, -1)
    ]
    return (
        rows,
        attempt(
            lambda: tf.gather(variable, [0]),
            lambda: tf.gather(variable, [0], axis=tf.constant(0)),
            lambda: tf.gather(variable, [0], axis=1),
            lambda: tf.reshape(x, [5]),
            lambda: tf.reshape(x, [-1, 5]),
            lambda: tf.reshape(x, [2, None]),
        ),
        [
            attempt(lambda s=shape: tf.reshape(x, s), lambda s=shape: run(tf, tf.reshape(x, s)))
            for shape in ([-1, -1], [-1, -1, 5], [-1, 24], [-1, -1, 24], [2, -1], [-2])
        ],
        attempt(lambda: run(tf, tf.reshape(np.zeros([0]), [-1, -1]))),
    )


BEHAVIOURS = {"axes": _axes, "parts": _parts, "found_when_run": _checked_when_run}
