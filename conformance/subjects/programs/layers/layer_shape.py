"""Programs of `compute_output_shape` and `get_config` of Keras layers."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.subjects.programs.described import caught
from sessrun.conformance.subjects.programs.program import Layer

__all__ = ["BEHAVIOURS"]


def _shapes(tf, layers: list[tuple[Layer, list[Sequence[int | None]]]]):
    """The output shape that each layer computes for some input shapes."""

    def output_shape(layer, shape):
        return str(tf.TensorShape(layer.compute_output_shape(tf.TensorShape(shape))))

    return [
        [caught(lambda layer=layer, shape=shape: output_shape(layer, shape)) for shape in shapes]
        for layer, shapes in layers
    ]


def _elementwise(tf):
    keras = tf.keras.layers
    shapes = [[2, 3], [None, 4], [None]]
    kinds = [
        keras.Activation("relu"),
        keras.Dropout(0.5),
        keras.Masking(),
        keras.ELU(0.5),
        keras.ThresholdedReLU(2.0),
        keras.Softmax(),
        keras.LeakyReLU(),
        keras.PReLU(),
        keras.GaussianNoise(0.1),
        keras.GaussianDropout(0.1),
        keras.AlphaDropout(0.1),
        keras.ActivityRegularization(0.1),
        keras.LayerNormalization(),
        keras.BatchNormalization(),
    ]
    return _shapes(tf, [(kind, shapes) for kind in kinds])


def _of_windows(tf):
    keras = tf.keras.layers
    pictures = [[1, 8, 9, 3], [None, 7, None, 4]]
    rows = [[2, 9, 4], [None, None, 4]]
    volumes = [[1, 5, 6, 7, 2], [None, 5, None, 7, 2]]
    return _shapes(
        tf,
        [
            (keras.Conv1D(4, 3, 2), rows),
            (keras.Conv1D(4, 3, padding="causal"), rows),
            (keras.Conv2D(4, 3, 2, "same"), pictures),
            (keras.Conv2D(4, (2, 3), dilation_rate=2), pictures),
            (keras.Conv3D(4, 2), volumes),
            (keras.DepthwiseConv2D(3), pictures),
            (keras.SeparableConv2D(5, 3), pictures),
            (keras.Conv2DTranspose(4, 3, 2), pictures),
            (keras.Conv2DTranspose(4, 3, 2, "same"), pictures),
            (keras.Conv3DTranspose(2, 2, 2), volumes),
            (keras.MaxPooling1D(2), rows),
            (keras.AveragePooling1D(3, 2, "same"), rows),
            (keras.MaxPooling2D(2), pictures),
            (keras.AveragePooling2D((2, 3), 1, "same"), pictures),
            (keras.MaxPooling3D(2), volumes),
            (keras.GlobalMaxPooling1D(), rows),
            (keras.GlobalAveragePooling2D(), pictures),
            (keras.GlobalMaxPooling3D(), volumes),
            (keras.ZeroPadding1D(2), rows),
            (keras.Cropping1D((1, 2)), rows),
            (keras.ZeroPadding2D(((1, 2), (0, 3))), pictures),
            (keras.Cropping2D(1), pictures),
            (keras.ZeroPadding3D(1), volumes),
            (keras.Cropping3D(1), volumes),
            (keras.UpSampling1D(3), rows),
            (keras.UpSampling2D((2, 3)), pictures),
            (keras.UpSampling3D(2), volumes),
        ],
    )


def _of_rearranging(tf):
    keras = tf.keras.layers
    shapes = [[2, 3, 4], [None, 3, 4], [None, None, 4]]
    return _shapes(
        tf,
        [
            (keras.Dense(5), shapes),
            (keras.Flatten(), shapes),
            (keras.Reshape([4, -1]), shapes),
            (keras.Reshape([12]), shapes),
            (keras.Permute((2, 1)), shapes),
            (keras.RepeatVector(3), [[2, 4], [None, 4]]),
            (keras.Embedding(10, 4), [[2, 3], [None, None]]),
            (keras.LocallyConnected1D(2, 2), [[2, 5, 3]]),
            (keras.TimeDistributed(keras.Dense(2)), shapes),
            (keras.LSTM(5), shapes),
            (keras.GRU(5, return_sequences=True), shapes),
            (keras.SimpleRNN(5, return_state=False), shapes),
            (keras.Bidirectional(keras.LSTM(3)), shapes),
            (keras.Bidirectional(keras.GRU(3, return_sequences=True), merge_mode="sum"), shapes),
        ],
    )


def _of_several_inputs(tf):
    keras = tf.keras.layers
    two = [tf.TensorShape([2, 3]), tf.TensorShape([None, 3])]
    ragged = [tf.TensorShape([2, 3, 4]), tf.TensorShape([2, 5, 4])]
    makes = [
        (keras.Add(), two),
        (keras.Subtract(), two),
        (keras.Multiply(), two),
        (keras.Average(), two),
        (keras.Maximum(), two),
        (keras.Minimum(), two),
        (keras.Concatenate(), two),
        (keras.Concatenate(axis=1), ragged),
        (keras.Concatenate(), ragged),
        (keras.Dot(1), two),
        (keras.Add(), [tf.TensorShape([2, 3])]),
    ]
    return [
        caught(
            lambda layer=layer, shapes=shapes: str(
                tf.TensorShape(layer.compute_output_shape(shapes))
            )
        )
        for layer, shapes in makes
    ]


def _options(tf):
    """A layer that is restored by `from_config` has the same config."""
    keras = tf.keras.layers
    layers = [
        keras.Dense(3, "relu", use_bias=False, name="a"),
        keras.ELU(0.5, name="b"),
        keras.ThresholdedReLU(2.0, name="c"),
        keras.Softmax(axis=1, name="d"),
        keras.Conv2D(4, 3, 2, "same", name="e"),
        keras.LSTM(3, unroll=True, name="f"),
        keras.Bidirectional(keras.GRU(2, name="inner"), name="g"),
        keras.Lambda(abs, name="h"),
        keras.BatchNormalization(momentum=0.5, name="i"),
        keras.Embedding(5, 2, mask_zero=True, name="j"),
        keras.Dropout(0.25, seed=3, name="k"),
    ]
    results = []
    for layer in layers[:7] + layers[8:]:
        config = layer.get_config()
        again = type(layer).from_config(config)
        kept = ("name", "trainable", "dtype", "units", "rate", "filters", "strides", "momentum")
        results.append(
            [
                sorted(config),
                [config.get(key) for key in kept],
                again.get_config() == config,
            ]
        )
    return results


BEHAVIOURS = {
    "of elementwise layers": _elementwise,
    "of windows": _of_windows,
    "of rearranging layers": _of_rearranging,
    "of layers of several inputs": _of_several_inputs,
    "options": _options,
}
