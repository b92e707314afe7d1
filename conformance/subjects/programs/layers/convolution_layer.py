"""Programs of convolution and pooling layers of `tf.layers` and of Keras."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered, look_for_gpus

__all__ = ["BEHAVIOURS"]

_SEQUENCE, _IMAGE, _VOLUME = examples(2, 6, 3), examples(2, 6, 5, 3), examples(1, 4, 5, 4, 2)


def _convolutions(tf):
    layers = tf.layers
    l2 = tf.keras.regularizers.l2(0.1)
    return [
        layered(tf, lambda p: layers.conv1d(p, 4, 3), _SEQUENCE),
        layered(tf, lambda p: layers.conv1d(p, 4, 2, strides=2, padding="same"), _SEQUENCE),
        layered(tf, lambda p: layers.conv2d(p, 4, 3), _IMAGE),
        layered(tf, lambda p: layers.conv2d(p, 4, 3), _IMAGE, shape=[None, None, None, 3]),
        layered(
            tf,
            lambda p: layers.conv2d(
                p, 2, [2, 3], (2, 1), "SAME", activation=tf.nn.relu, use_bias=False, name="c"
            ),
            _IMAGE,
        ),
        layered(
            tf,
            lambda p: layers.conv2d(
                p, 2, 3, kernel_regularizer=l2, bias_initializer=tf.ones_initializer()
            ),
            _IMAGE,
        ),
        layered(
            tf,
            lambda p: [
                layers.conv2d(p, 2, 3, name="c"),
                layers.conv2d(p, 2, 3, name="c", reuse=True),
            ],
            _IMAGE,
        ),
        layered(tf, lambda p: layers.conv3d(p, 3, 2), _VOLUME),
        layered(tf, lambda p: layers.conv3d(p, 3, (1, 2, 3), padding="same"), _VOLUME),
        layered(
            tf, lambda p: tf.gradients(layers.conv2d(p, 4, 3), tf.trainable_variables()), _IMAGE
        ),
        layered(tf, lambda p: tf.keras.layers.Conv1D(2, 3, padding="causal")(p), _SEQUENCE),
        layered(tf, lambda p: tf.keras.layers.Conv2D(2, 3, activation="relu")(p), _IMAGE),
        layered(
            tf,
            lambda p: tf.keras.layers.Conv3D(
                2, 2, kernel_initializer="he_normal", bias_initializer="ones"
            )(p),
            _VOLUME,
        ),
        layered(tf, lambda p: tf.keras.layers.Conv1D(2, 3)(p), _IMAGE),
        layered(tf, lambda p: tf.keras.layers.Conv2D(2, 2)(p), _VOLUME),
        layered(tf, lambda p: tf.keras.layers.Conv2D(2, 2)(p), _VOLUME, shape=[None] * 4 + [2]),
    ]


def _dilated(tf):
    layers = tf.layers
    return [
        layered(tf, lambda p: layers.conv1d(p, 2, 2, dilation_rate=2), _SEQUENCE),
        layered(tf, lambda p: layers.conv2d(p, 2, 2, dilation_rate=2), _IMAGE),
        layered(tf, lambda p: layers.conv2d(p, 2, 2, dilation_rate=(1, 2), padding="same"), _IMAGE),
        layered(
            tf,
            lambda p: tf.keras.layers.Conv1D(2, 2, dilation_rate=2, padding="causal")(p),
            _SEQUENCE,
        ),
    ]


def _transposed(tf):
    layers, keras = tf.layers, tf.keras.layers
    look_for_gpus(tf)
    return [
        layered(tf, lambda p: layers.conv2d_transpose(p, 4, 3), _IMAGE),
        layered(tf, lambda p: layers.conv2d_transpose(p, 4, 3, 2, "same", use_bias=False), _IMAGE),
        layered(
            tf, lambda p: layers.conv2d_transpose(p, 4, 3), _IMAGE, shape=[None, None, None, 3]
        ),
        layered(
            tf,
            lambda p: layers.conv2d_transpose(p, 2, 3, data_format="channels_first"),
            examples(2, 3, 4, 5),
        ),
        layered(tf, lambda p: layers.conv3d_transpose(p, 3, 2, activation=tf.nn.relu), _VOLUME),
        layered(tf, lambda p: keras.Conv2DTranspose(2, 3, 2, output_padding=1)(p), _IMAGE),
        layered(tf, lambda p: keras.Conv1DTranspose(2, 3, 2)(p), _SEQUENCE),
        layered(tf, lambda p: keras.Conv3DTranspose(2, 2)(p), _VOLUME),
        attempt(
            lambda: keras.Conv2DTranspose(2, 3, 2, output_padding=2),
            lambda: keras.Conv2DTranspose(2, 3)(tf.constant([1.0])),
            lambda: layers.Conv2DTranspose(2, 3)(tf.zeros([1, 2, 3])),
            lambda: keras.Conv3DTranspose(2, 3).get_config(),
            lambda: keras.Conv3DTranspose(1, 2, dilation_rate=2).compute_output_shape(
                [1, 3, 3, 3, 1]
            ),
            lambda: layers.Conv2DTranspose(2, 3).get_config(),
        ),
    ]


def _separable(tf):
    layers, keras = tf.layers, tf.keras.layers
    return [
        layered(tf, lambda p: layers.separable_conv1d(p, 4, 3), _SEQUENCE),
        layered(tf, lambda p: layers.separable_conv2d(p, 4, 3, depth_multiplier=2), _IMAGE),
        layered(tf, lambda p: keras.SeparableConv1D(4, 3, padding="causal")(p), _SEQUENCE),
        layered(tf, lambda p: keras.SeparableConv2D(4, 3, strides=2, padding="same")(p), _IMAGE),
        layered(tf, lambda p: keras.DepthwiseConv2D(3)(p), _IMAGE),
        layered(
            tf,
            lambda p: keras.DepthwiseConv2D((2, 3), depth_multiplier=2, activation="relu")(p),
            _IMAGE,
        ),
        attempt(
            lambda: keras.DepthwiseConv2D(3).get_config(),
            lambda: keras.SeparableConv2D(2, 3).get_config(),
            lambda: keras.SeparableConv2D(2, 3)(tf.placeholder(tf.float32, [1, 9, 9, None])),
            lambda: keras.DepthwiseConv2D(3)(tf.zeros([1, 2, 3])),
            lambda: str(keras.DepthwiseConv2D(3).compute_output_shape([None, 5, 5, 2])),
        ),
    ]


def _pooled(tf):
    layers, keras = tf.layers, tf.keras.layers
    first = examples(2, 3, 6, 5)
    look_for_gpus(tf)
    return [
        layered(tf, lambda p: layers.max_pooling1d(p, 2, 2), _SEQUENCE),
        layered(tf, lambda p: layers.average_pooling1d(p, 2, 1, "same", name="a"), _SEQUENCE),
        layered(tf, lambda p: layers.max_pooling2d(p, 2, 2), _IMAGE),
        layered(tf, lambda p: layers.max_pooling2d(p, [2, 3], [1, 2], padding="same"), _IMAGE),
        layered(tf, lambda p: layers.average_pooling2d(p, (2, 2), (2, 2)), _IMAGE),
        layered(tf, lambda p: layers.max_pooling3d(p, 2, 2), _VOLUME),
        layered(tf, lambda p: layers.average_pooling3d(p, 2, 1), _VOLUME),
        layered(tf, lambda p: tf.gradients(layers.max_pooling2d(p, 2, 2), p), _IMAGE),
        layered(
            tf, lambda p: layers.average_pooling1d(p, 2, 1, data_format="channels_first"), _SEQUENCE
        ),
        layered(tf, lambda p: keras.MaxPooling3D(2, data_format="channels_first")(p), _VOLUME),
        layered(
            tf,
            lambda p: [
                keras.MaxPooling2D()(p),
                keras.MaxPool2D(3, 1)(p),
                keras.AveragePooling2D()(p),
                keras.AvgPool2D()(p),
                keras.GlobalMaxPooling2D()(p),
                keras.GlobalAvgPool2D()(p),
                keras.GlobalAveragePooling2D(keepdims=True)(p),
                keras.GlobalMaxPool2D(data_format="channels_first")(p),
            ],
            first,
        ),
        layered(
            tf,
            lambda p: [
                keras.MaxPooling1D()(p),
                keras.AveragePooling1D(3)(p),
                keras.GlobalMaxPooling1D()(p),
                keras.GlobalAveragePooling1D()(p),
            ],
            _SEQUENCE,
        ),
        layered(
            tf,
            lambda p: [
                keras.MaxPooling3D()(p),
                keras.AveragePooling3D()(p),
                keras.GlobalMaxPooling3D()(p),
                keras.GlobalAveragePooling3D()(p),
            ],
            _VOLUME,
        ),
    ]


def _refused(tf):
    layers, keras = tf.layers, tf.keras.layers
    image = tf.zeros([1, 5, 5, 3])
    open_image = tf.placeholder(tf.float32, [None, None, None, None])
    return attempt(
        lambda: layers.conv2d(image, 2, 7),
        lambda: layers.conv2d(open_image, 2, 3),
        lambda: layers.conv2d(tf.zeros([1, 5, 5]), 2, 3),
        lambda: layers.conv2d(image, 0, 3),
        lambda: layers.conv2d(image, -1, 3),
        lambda: layers.conv2d(image, 2, 0),
        lambda: layers.conv2d(image, 2, [1, 2, 3]),
        lambda: layers.conv2d(image, 2, 3, strides=0),
        lambda: layers.conv2d(image, 2, "a"),
        lambda: layers.conv2d(image, 2, 3, padding="nope"),
        lambda: layers.conv2d(image, 2, 3, padding="causal"),
        lambda: layers.conv2d(image, 2, 3, data_format="nope"),
        lambda: layers.conv2d(image, 2, 3, strides=2, dilation_rate=2),
        lambda: layers.conv2d(image, 2, 3, groups=2),
        lambda: layers.conv2d(image, 2),
        lambda: layers.Conv2D(2, 3, groups=3),
        lambda: tf.keras.layers.Conv2D(3, 2, groups=0).groups,
        lambda: layers.max_pooling2d(image, 2, None),
        lambda: layers.max_pooling2d(image, 2),
        lambda: layers.max_pooling2d(image, 0, 1),
        lambda: layers.max_pooling2d(image[0], 2, 2),
        lambda: layers.max_pooling1d(tf.zeros([1, 4, 2]), 2, 2, padding="nope"),
        lambda: layers.MaxPooling2D(2, 2).get_config(),
        lambda: layers.Conv1D(2, 3).get_config(),
        lambda: keras.Conv2D(2, 3, padding="same").get_config(),
        lambda: str(keras.Conv2D(2, 3).compute_output_shape([None, 5, None, 3])),
        lambda: str(keras.MaxPooling2D(2).compute_output_shape([None, 5, None, 3])),
        lambda: str(keras.Conv2DTranspose(2, 3).compute_output_shape([None, 5, None, 3])),
        lambda: keras.GlobalMaxPooling2D()(tf.zeros([1, 0, 2, 3])),
        lambda: keras.MaxPooling2D().get_config(),
        lambda: keras.MaxPooling1D(3).get_config(),
    )


BEHAVIOURS = {
    "convolutions": _convolutions,
    "dilated": _dilated,
    "transposed": _transposed,
    "separable": _separable,
    "pooled": _pooled,
    "refused": _refused,
}
