"""Programs of the Keras backend: cross entropies, pooling, loops, random numbers."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered

__all__ = ["BEHAVIOURS"]


def _crossentropies(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    x = examples(2, 3, 4)
    flat = examples(3, 4)
    shares = (np.abs(x) / np.abs(x).sum(-1, keepdims=True)).astype(np.float32)
    true = np.eye(4, dtype=np.float32)[[[0, 1, 3], [2, 2, 1]]]
    numbers = np.array([[0, 1, 3], [2, 2, 1]])

    def of(*calls):
        return [layered(tf, call, *inputs) for call, *inputs in calls]

    return of(
        (lambda p: K.binary_crossentropy(tf.constant(true), p), shares),
        (lambda p: K.binary_crossentropy(tf.constant(true), p, from_logits=True), x),
        (lambda p: K.binary_crossentropy(tf.constant(true), tf.sigmoid(p)), x),
        (lambda p: K.categorical_crossentropy(tf.constant(true), p), shares),
        (lambda p: K.categorical_crossentropy(tf.constant(true), p, True), x),
        (lambda p: K.categorical_crossentropy(tf.constant(true), tf.nn.softmax(p)), x),
        (lambda p: K.categorical_crossentropy(tf.constant(true), p, axis=1), shares),
        (lambda p: K.categorical_crossentropy(tf.constant(true[0]), p), shares),
        (lambda p: K.sparse_categorical_crossentropy(tf.constant(numbers), p), shares),
        (lambda p: K.sparse_categorical_crossentropy(tf.constant(numbers[..., None]), p), shares),
        (lambda p: K.sparse_categorical_crossentropy(tf.constant(numbers), p, True), x),
        (lambda p: K.sparse_categorical_crossentropy(tf.constant(numbers), tf.nn.softmax(p)), x),
        (lambda p: K.sparse_categorical_crossentropy(tf.constant([0, 1, 1]), p), np.abs(flat)),
        (
            lambda p: K.sparse_categorical_crossentropy(
                tf.constant([[0, 1, 2, 2], [1, 1, 0, 0]]), p, axis=1
            ),
            shares,
        ),
        (
            lambda p: K.sparse_categorical_crossentropy(
                tf.constant(numbers), tf.placeholder_with_default(p, None), axis=1
            ),
            shares,
        ),
    )


def _windows(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    x, y = examples(1, 4, 5, 2), examples(1, 4, 3, 4, 2)
    K.pool2d(tf.zeros([1, 2, 2, 1]), (1, 1), data_format="channels_first")  # looks for GPUs
    calls = [
        (lambda p: K.pool2d(p, (2, 2)), x),
        (lambda p: K.pool2d(p, (2, 3), (1, 2), "same", pool_mode="avg"), x),
        (lambda p: K.pool2d(p, (2, 2), pool_mode="sum"), x),
        (lambda p: K.pool2d(p, (2, 2, 2)), x),
        (lambda p: K.pool2d(p, (2, 2), data_format="x"), x),
        (lambda p: K.pool3d(p, (2, 2, 2)), y),
        (lambda p: K.pool3d(p, (2, 1, 2), (1, 1, 2), "same", pool_mode="avg"), y),
        (lambda p: K.spatial_2d_padding(p, ((1, 0), (2, 1))), x),
        (lambda p: K.spatial_2d_padding(p, data_format="channels_first"), x),
        (lambda p: K.spatial_3d_padding(p, ((1, 0), (2, 1), (0, 3))), y),
        (lambda p: K.spatial_3d_padding(p, data_format="channels_first"), y),
    ]
    return [layered(tf, call, value) for call, value in calls]


def _others(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    x = examples(3, 4)
    calls = (
        lambda p: [K.var(p), K.std(p, axis=1, keepdims=True), K.var(p > 0.0), K.std(p > 0.0)],
        lambda p: [K.arange(3), K.arange(1, 7, 2), K.arange(-1), K.arange(3, dtype="float32"), p],
        lambda p: [K.eye(3), K.eye(2, "float64", name="e"), p],
        lambda p: [
            K.map_fn(lambda row: row * 2.0, p),
            K.foldl(lambda a, b: a + b, p),
            K.foldr(lambda a, b: a - b, p, tf.zeros([4])),
        ],
        lambda p: [K.map_fn(lambda row: tf.cast(row, tf.int32), p, dtype=tf.int32), p],
        lambda p: [K.dropout(p, 0.5, seed=3), K.random_bernoulli((3,), 0.5, seed=4)],
        lambda p: [
            K.in_top_k(p, tf.constant([0, 1, 2]), 2),
            K.is_sparse(p),
            K.to_dense(p),
            K.to_dense(tf.sparse.from_dense(p)),
            K.is_sparse(tf.sparse.from_dense(p)),
        ],
    )
    return [layered(tf, call, x) for call in calls]


def _graph_functions(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [])
    variable = K.variable(3.0)
    count = K.variable(0.0)
    outputs = [x * y + variable, {"sum": K.sum(x)}]
    with tf.Session() as session:
        K.set_session(session)
        added = tf.assign_add(count, 1.0)
        call = K.function([x, y], outputs, updates=[(variable, y), added.op], name="f")
        rows = np.array([[1, 2], [3, 4]])
        values = [call([rows, 2.0]), call((rows, tf.constant(4.0)))]
        after = session.run([variable, count])
        fed = K.function([x], [x + y], feed_dict={y: 7.0}, fetches=[x * 2.0])
        seen = []
        fed.fetch_callbacks[fed.fetches[0]] = lambda value: seen.append(value.tolist())
        more = [fed([rows]), seen, K.function(x, x + 1.0)([rows]), call.name, len(call.outputs)]
        K.set_session(None)
    return [
        tf.nest.map_structure(np.asarray, values),
        after,
        more,
        attempt(lambda: K.function([x], [x], updates=variable)),
        attempt(lambda: K.function([x], [x], other=1)),
    ]


def _average(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    kept = tf.Variable([1.0, 2.0], name="kept")

    def build(p):
        average = tf.get_variable("kept", [4], initializer=tf.zeros_initializer())
        return [K.moving_average_update(average, p[0], 0.75), p]

    return [layered(tf, build, examples(3, 4)), kept.name]


BEHAVIOURS = {
    "cross entropies of Keras' backend": _crossentropies,
    "pools and margins of Keras' backend": _windows,
    "other functions of Keras' backend": _others,
    "functions of parts of graphs": _graph_functions,
    "moving averages of Keras' backend": _average,
}
