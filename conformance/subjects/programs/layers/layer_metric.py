"""Programs of metrics that layers add when they are called, and of the metrics of Keras."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _measuring(tf):
    """A class of layers that add metrics of their inputs."""

    class Measuring(tf.keras.layers.Layer):  # type: ignore[misc]  # of a namespace
        def build(self, shape) -> None:
            self.inner = tf.keras.layers.Dense(1, kernel_initializer="ones")
            self.own = tf.keras.metrics.Sum(name="own")
            super().build(shape)

        def call(self, inputs):
            self.add_metric(tf.reduce_sum(inputs, 1), name="sums", aggregation="mean")
            self.add_metric(self.own(inputs))
            return self.inner(inputs)

    return Measuring


def _added(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    layer = _measuring(tf)()
    out = layer(x)
    names = [[m.name, type(m).__name__, [v.name for v in m.variables]] for m in layer.metrics]
    graph = nodes(tf.get_default_graph())
    results = [metric.result() for metric in layer.metrics]
    updates = [update for metric in layer.metrics for update in metric.updates]
    with tf.Session() as sess:
        tf.keras.backend.set_session(sess)
        sess.run(tf.global_variables_initializer())
        sess.run([v.initializer for metric in layer.metrics for v in metric.variables])
        values = []
        for row in ([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]):
            sess.run([out, updates], {x: row})
            values.append([float(value) for value in sess.run(results)])
        layer.metrics[0].reset_states()
        values.append([float(value) for value in sess.run(results)])
        tf.keras.backend.set_session(None)
    return [
        names,
        graph,
        values,
        [v.name for v in layer.weights],
        len(layer.updates),
        [v.name for v in tf.local_variables() + tf.global_variables()],
    ]


def _refused(tf):
    layer = tf.keras.layers.Layer()
    value = tf.constant([1.0])

    class Kept(tf.keras.layers.Layer):  # type: ignore[misc]  # of a namespace
        def call(self, inputs):
            self.add_metric(inputs, aggregation="mean", name="mean")
            own = tf.keras.metrics.Mean(name="own")
            self.add_metric(own(inputs))
            return inputs

    kept = Kept(dtype="float64")
    kept(tf.constant([1.0, 2.0], tf.float64))
    return [
        [(metric.name, metric.dtype, metric.result().dtype) for metric in kept.metrics],
        attempt(lambda: layer.add_metric(value)),
        attempt(lambda: layer.add_metric(value, name="x")),
        attempt(lambda: layer.add_metric(value, name="x", aggregation="sum")),
        layer.metrics,
        attempt(lambda: layer.add_metric(value, name="x", aggregation="mean")),
        attempt(lambda: layer.add_metric(value, name="x", aggregation="mean")),
        [metric.name for metric in layer.metrics],
        layer.metrics[0].get_config(),
    ]


def _weighted(tf):
    values = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    results = []
    for make in (tf.keras.metrics.Mean, tf.keras.metrics.Sum):
        for weights in (
            None,
            2.0,
            [1.0, 0.0, 2.0],
            [[1.0, 2.0]] * 3,
            np.ones((3, 2, 1)),
            np.ones((3, 2, 2, 1)),
        ):
            with tf.Graph().as_default() as graph:
                metric = make()
                result = metric(tf.constant(values), sample_weight=weights)
                built = nodes(graph)
                with tf.Session() as sess:
                    sess.run([variable.initializer for variable in metric.variables])
                    runs = [round(float(sess.run(result)), 3) for _ in range(2)]
                results.append([metric.name, result.name, built, runs])
    return [results, str(tf.keras.metrics.Mean("m", dtype="float64").get_config())]


BEHAVIOURS = {
    "metrics that layers add": _added,
    "refused metrics of layers": _refused,
    "metrics of weighted values": _weighted,
}
