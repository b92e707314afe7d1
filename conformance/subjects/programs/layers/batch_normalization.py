"""Programs of batch normalization layers: values, moving moments, updates, fused operations."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered

__all__ = ["BEHAVIOURS"]


def _in_parts(tf):
    x = examples(5, 3)

    def normalized(**options):
        return lambda p: tf.layers.batch_normalization(p, **options)

    return [
        layered(tf, normalized(), x),
        layered(tf, normalized(training=True), x),
        layered(tf, normalized(training=True, center=False, momentum=0.5, name="b"), x),
        layered(tf, normalized(training=True, scale=False, epsilon=0.1), x),
        layered(tf, normalized(training=True, trainable=False), x),
        layered(
            tf, lambda p, t: tf.layers.batch_normalization(p, training=t[0] > 0.0), x, examples(2)
        ),
        layered(tf, normalized(training=True, axis=1), examples(4, 2, 3)),
        layered(tf, normalized(training=True, axis=[1, 2]), examples(4, 2, 3)),
        layered(tf, normalized(training=True, fused=False), examples(2, 3, 3, 2)),
        layered(tf, normalized(training=True), x.astype("float16")),
        layered(tf, normalized(training=True), x.astype("float64")),
        layered(tf, normalized(training=True, virtual_batch_size=2), examples(4, 3)),
        layered(
            tf,
            lambda p: tf.layers.batch_normalization(
                p,
                training=True,
                adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 3.0)),
            ),
            x,
        ),
        layered(
            tf,
            lambda p: tf.gradients(
                tf.layers.batch_normalization(p, training=True), [p, *tf.trainable_variables()]
            ),
            x,
        ),
    ]


def _renormalized(tf):
    x = examples(5, 3)
    limits = {"rmax": 2.0, "rmin": 0.5, "dmax": 1.0}
    return [
        layered(tf, lambda p: tf.layers.batch_normalization(p, training=True, renorm=True), x),
        layered(
            tf,
            lambda p: tf.layers.batch_normalization(
                p, training=True, renorm=True, renorm_clipping=limits, renorm_momentum=0.5
            ),
            x,
        ),
        layered(
            tf,
            lambda p, t: tf.layers.batch_normalization(p, training=t[0] > 0.0, renorm=True),
            x,
            examples(2),
        ),
    ]


def _fused(tf):
    x = examples(2, 3, 3, 2)

    def normalized(**options):
        return lambda p: tf.layers.batch_normalization(p, **options)

    return [
        layered(tf, normalized(), x),
        layered(tf, normalized(training=True), x),
        layered(tf, normalized(training=True, center=False, scale=False), x),
        layered(
            tf, lambda p, t: tf.layers.batch_normalization(p, training=t[0] > 0.0), x, examples(2)
        ),
        layered(
            tf,
            lambda p: tf.gradients(
                tf.layers.batch_normalization(p, training=True), tf.trainable_variables()
            ),
            x,
        ),
        layered(tf, lambda p: tf.keras.layers.BatchNormalization()(p, training=True), x),
    ]


def _of_keras(tf):
    def built(p):
        layer = tf.keras.layers.BatchNormalization(name="b")
        return [
            layer(p, training=True),
            layer.updates,
            layer.get_updates_for(p),
            layer.losses,
            layer.get_updates_for(None),
            [v.name for v in layer.weights],
            [v.name for v in layer.trainable_weights],
        ]

    def phases(p):
        return tf.keras.layers.BatchNormalization()(p)

    def fixed(p):
        tf.keras.backend.set_learning_phase(1)
        return tf.keras.layers.BatchNormalization(fused=False, beta_regularizer="l2")(p)

    return [
        layered(tf, built, examples(4, 3)),
        layered(tf, phases, examples(4, 3)),
        layered(tf, fixed, examples(2, 3, 3, 2)),
    ]


def _refused(tf):
    def normalized(shape, **options):
        return tf.layers.batch_normalization(tf.placeholder(tf.float32, shape), **options)

    return attempt(
        lambda: normalized([None, None]),
        lambda: normalized(None),
        lambda: normalized([2, 3], axis=2),
        lambda: normalized([2, 3], axis=[1, 1]),
        lambda: normalized([2, 3], axis="a"),
        lambda: normalized([2, 3], axis=None),
        lambda: normalized([2, 3], virtual_batch_size=0),
        lambda: normalized([2, 3], virtual_batch_size=2, axis=0),
        lambda: normalized([2, 3], renorm=True, renorm_clipping={"a": 1}),
        lambda: normalized([2, 3], training="a"),
        lambda: normalized([2, 3], nope=1),
        lambda: normalized([2, 3, 4, 5], axis=2),
        lambda: tf.layers.BatchNormalization(renorm=True, virtual_batch_size=3).get_config(),
        lambda: tf.layers.BatchNormalization(axis=[1, 2]).get_config(),
    )


def _examples_alone(tf):
    layers = tf.keras.layers
    return [
        layered(tf, lambda p: layers.LayerNormalization(axis=1)(p), examples(3, 4, 2)),
        layered(tf, lambda p: layers.LayerNormalization(epsilon=1e-6)(p), examples(3, 4)),
        layered(
            tf, lambda p: layers.LayerNormalization(epsilon=1e-6, axis=[1, 2])(p), examples(3, 4, 2)
        ),
        layered(tf, lambda p: layers.LayerNormalization()(p), examples(3, 4)),
        attempt(
            lambda: layers.LayerNormalization(axis="a"),
            lambda: layers.LayerNormalization(axis=5)(tf.constant([[1.0]])),
            lambda: layers.LayerNormalization(scale=False).get_config(),
        ),
    ]


BEHAVIOURS = {
    "in-parts": _in_parts,
    "renormalized": _renormalized,
    "fused": _fused,
    "of-keras": _of_keras,
    "refused": _refused,
    "examples-alone": _examples_alone,
}
