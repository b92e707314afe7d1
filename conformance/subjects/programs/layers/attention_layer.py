"""Programs of ConvLSTM layers and of depthwise convolutions of sequences."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["BEHAVIOURS"]


def _one(tf, make: Program, *inputs, **options):
    """The outputs of a layer, its variables and its losses."""

    def build(*given):
        layer = make(tf.keras.layers)
        out = layer(*given)
        return [out, [[v.name, v.shape.as_list()] for v in layer.weights], layer.losses]

    return layered(tf, build, *inputs, **options)


def _images(tf):
    x, line, volume = examples(2, 3, 5, 4, 2), examples(2, 3, 5, 2), examples(1, 2, 3, 3, 3, 2)
    wide = {"shape": (2, 3, 5, 4, 2)}
    return [
        _one(tf, lambda k: k.ConvLSTM2D(3, 2), x),
        _one(
            tf,
            lambda k: k.ConvLSTM2D(
                3, (3, 2), padding="same", return_sequences=True, return_state=True
            ),
            x,
            **wide,
        ),
        _one(tf, lambda k: k.ConvLSTM2D(3, 2, (2, 1), use_bias=False, go_backwards=True), x),
        _one(
            tf,
            lambda k: k.ConvLSTM2D(
                2,
                2,
                dilation_rate=2,
                unit_forget_bias=False,
                activation="relu",
                recurrent_activation="sigmoid",
            ),
            x,
        ),
        _one(tf, lambda k: k.ConvLSTM2D(3, 2, stateful=True), x, **wide),
        _one(tf, lambda k: k.ConvLSTM2D(2, 2, "kernel_regularizer"), x),
        _one(
            tf,
            lambda k: k.ConvLSTM2D(
                2,
                2,
                kernel_regularizer="l1",
                recurrent_regularizer="l2",
                bias_regularizer="l2",
                activity_regularizer="l2",
            ),
            x,
        ),
        _one(tf, lambda k: k.ConvLSTM2D(2, 2, unroll=True), x),
        _one(tf, lambda k: k.ConvLSTM2D(2, 2), line),
        _one(tf, lambda k: k.ConvLSTM1D(2, 3, padding="same"), line),
        _one(tf, lambda k: k.ConvLSTM3D(2, 2), volume),
    ]


def _channels_first(tf):
    layers = tf.keras.layers
    results = []
    for kind, shape in (
        (layers.ConvLSTM1D, (2, 3, 2, 4)),
        (layers.ConvLSTM2D, (2, 3, 2, 4, 3)),
        (layers.ConvLSTM3D, (1, 2, 2, 3, 3, 3)),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.keras.backend.set_session(session)
            layer = kind(
                3,
                2,
                data_format="channels_first",
                kernel_initializer="ones",
                recurrent_initializer="ones",
                return_state=True,
            )
            out = layer(tf.constant(examples(*shape)))
            session.run(tf.global_variables_initializer())
            shapes = layer.compute_output_shape(shape)
            results.append([[np.round(v, 3).tolist() for v in session.run(out)], str(shapes)])
            tf.keras.backend.set_session(None)
    return results


def _image_states(tf):
    layers, backend = tf.keras.layers, tf.keras.backend
    x = tf.constant(examples(2, 3, 4, 4, 1))
    with tf.Session() as sess:
        backend.set_session(sess)
        layer = layers.ConvLSTM2D(
            2, 2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones"
        )
        out = layer(tf.constant(examples(2, 3, 4, 4, 1)))
        sess.run(tf.global_variables_initializer())
        step = [out, layer.updates]
        sums = [np.round(sess.run(step)[0].sum(), 1) for _ in range(2)]
        layer.reset_states()
        sums.append(np.round(sess.run(step)[0].sum(), 1))
        layer.reset_states([np.ones((2, 3, 3, 2)), np.zeros((2, 3, 3, 2))])
        sums.append(np.round(sess.run(step)[0].sum(), 1))
        refused = [
            attempt(lambda: layer.reset_states([np.ones((2, 3, 3, 2))])),
            attempt(lambda: layer.reset_states([np.ones((2, 3, 3, 2)), np.ones((1, 3, 3, 2))])),
            attempt(lambda: layers.ConvLSTM2D(2, 2).reset_states()),
        ]
        given = layers.ConvLSTM2D(2, 2, recurrent_initializer="ones", kernel_initializer="ones")
        out = given(x, initial_state=[tf.ones([2, 3, 3, 2]), tf.ones([2, 3, 3, 2])])
        sess.run(tf.variables_initializer(given.weights))
        values = np.round(sess.run(out), 4).tolist()
        backend.set_session(None)
    config = layers.ConvLSTM2D(2, (2, 3), name="config", dropout=0.2).get_config()
    again = layers.ConvLSTM2D.from_config(config)
    shapes = [
        layers.ConvLSTM2D(2, 2, **options).compute_output_shape((None, 3, 4, 4, 1))
        for options in ({}, {"return_sequences": True}, {"padding": "same", "return_state": True})
    ]
    return [
        sums,
        refused,
        values,
        sorted(map(str, config.items())),
        again.get_config() == config,
        str(shapes),
    ]


def _channels_apart(tf):
    x, first = examples(2, 5, 3), examples(2, 3, 5)
    return [
        _one(tf, lambda k: k.DepthwiseConv1D(2), x),
        _one(tf, lambda k: k.DepthwiseConv1D(2, 2, "same", 2, activation="relu"), x),
        _one(tf, lambda k: k.DepthwiseConv1D(2, dilation_rate=2, use_bias=False), x),
        attempt(
            lambda: tf.keras.layers.DepthwiseConv1D(
                2,
                data_format="channels_first",
                depth_multiplier=2,
            ).compute_output_shape(first.shape)
        ),
        _one(tf, lambda k: k.DepthwiseConv1D(2), examples(2, 5, 3, 1)),
        sorted(map(str, tf.keras.layers.DepthwiseConv1D(2, name="apart").get_config().items())),
    ]


def _windows(tf):
    backend = tf.keras.backend
    x, y, z = examples(1, 5, 2), examples(1, 4, 4, 2), examples(1, 3, 3, 3, 2)
    line, image, volume = (np.ones((*[2] * n, 2, 3), np.float32) for n in (1, 2, 3))
    return [
        layered(tf, lambda p: backend.conv1d(p, tf.constant(line), padding="causal"), x),
        layered(tf, lambda p: backend.conv1d(p, tf.constant(line), (2,), "same"), x),
        layered(tf, lambda p: backend.conv2d(p, image), y),
        layered(
            tf,
            lambda p: backend.conv2d(
                tf.transpose(p, [0, 3, 1, 2]), image, padding="same", data_format="channels_first"
            ),
            y,
        ),
        layered(tf, lambda p: backend.conv3d(p, volume, dilation_rate=(1, 2, 1)), z),
        layered(tf, lambda p: backend.bias_add(p, tf.ones([2])), y),
        layered(tf, lambda p: backend.bias_add(p, tf.ones([4, 4, 2])), y),
        layered(tf, lambda p: backend.bias_add(p, tf.ones([4, 2])), y),
        layered(tf, lambda p: backend.conv2d(p, image, data_format="x"), y),
        layered(tf, lambda p: backend.conv2d(p, image, padding="full"), y),
    ]


BEHAVIOURS = {
    "recurrent layers of images": _images,
    "recurrent layers of images with channels first": _channels_first,
    "states of recurrent layers of images": _image_states,
    "channels of sequences apart": _channels_apart,
    "convolutions of Keras' backend": _windows,
}
