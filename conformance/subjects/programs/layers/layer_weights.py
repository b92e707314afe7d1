"""Programs that set the weights of layers: outputs, shapes, configs, trainable weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Layer, Program
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]

#: From the namespace's `keras.layers` to a layer.
_Make = Callable[[Namespace], Layer]


def _ramp(shape: Sequence[int]) -> np.ndarray:
    """Numbers that rise from -0.5 to 0.5, in this shape."""
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32) / max(count - 1, 1) - 0.5).reshape(shape)


def _facts_of(tf, make: _Make, shape: tuple[int, ...]):
    """The outputs of a layer whose weights are set, its weights, and its config."""
    layer = make(tf.keras.layers)
    x = tf.placeholder(tf.float32, [None, *shape[1:]])
    y = layer(x)
    with tf.Session() as session, session.as_default():
        session.run(tf.global_variables_initializer())
        layer.set_weights([_ramp(weight.shape) for weight in layer.get_weights()])
        out = session.run(y, {x: _ramp(shape)})
        kept = layer.get_weights()
    weights = [(w.name, w.shape.as_list(), w.trainable) for w in layer.weights]
    trained = [w.name for w in layer.trainable_weights]
    layer.trainable = False
    frozen = len(layer.trainable_weights), len(layer.non_trainable_weights)
    config = {
        name: list(value) if isinstance(value, list) else value  # TensorFlow's list wrapper
        for name, value in layer.get_config().items()
    }
    return (
        out,
        y,
        kept,
        weights,
        trained,
        frozen,
        layer.count_params(),
        layer.compute_output_shape(shape),
        config,
    )


def _of(table: Sequence[tuple[_Make, tuple[int, ...]]]) -> Program:
    """A program of these layers."""

    def program(tf):
        return attempt(*(lambda row=row: _facts_of(tf, *row) for row in table))

    return program


_DENSE: Final = (
    (lambda k: k.Dense(3, activation="relu", name="one"), (2, 4)),
    (lambda k: k.Dense(2, use_bias=False, name="one"), (2, 3, 4)),
    (lambda k: k.Embedding(5, 2, name="one"), (2, 3)),
    (lambda k: k.PReLU(name="one"), (2, 3)),
    (lambda k: k.PReLU(shared_axes=[1], name="one"), (2, 3, 4)),
    (lambda k: k.LayerNormalization(name="one"), (2, 3)),
    (lambda k: k.LayerNormalization(axis=[1, 2], scale=False, name="one"), (2, 3, 4)),
    (lambda k: k.BatchNormalization(name="one"), (4, 3)),
    (lambda k: k.BatchNormalization(axis=1, center=False, name="one"), (2, 3, 4)),
    (lambda k: k.LocallyConnected1D(2, 2, name="one"), (2, 4, 3)),
)

_CONVOLUTIONS: Final = (
    (lambda k: k.Conv1D(2, 3, padding="causal", name="one"), (2, 5, 3)),
    (lambda k: k.Conv1D(2, 2, strides=2, dilation_rate=1, name="one"), (2, 6, 3)),
    (lambda k: k.Conv2D(2, (2, 3), padding="same", name="one"), (2, 4, 5, 3)),
    (lambda k: k.Conv2D(2, 2, dilation_rate=2, activation="tanh", name="one"), (1, 5, 5, 2)),
    (lambda k: k.Conv3D(2, 2, name="one"), (1, 3, 3, 3, 2)),
    (lambda k: k.Conv2DTranspose(2, 3, strides=2, padding="same", name="one"), (1, 3, 4, 2)),
    (lambda k: k.Conv2DTranspose(2, 2, output_padding=1, strides=2, name="one"), (1, 3, 3, 2)),
    (lambda k: k.Conv3DTranspose(1, 2, name="one"), (1, 2, 2, 2, 2)),
    (lambda k: k.SeparableConv1D(3, 2, depth_multiplier=2, name="one"), (2, 5, 2)),
    (lambda k: k.SeparableConv2D(3, 2, padding="same", name="one"), (1, 4, 4, 2)),
    (lambda k: k.DepthwiseConv2D(2, depth_multiplier=2, name="one"), (1, 4, 4, 2)),
)

_RECURRENT: Final = (
    (lambda k: k.SimpleRNN(3, name="one"), (2, 4, 2)),
    (lambda k: k.SimpleRNN(3, return_sequences=True, go_backwards=True, name="one"), (2, 4, 2)),
    (lambda k: k.GRU(2, reset_after=False, name="one"), (2, 3, 2)),
    (lambda k: k.LSTM(2, return_sequences=True, unit_forget_bias=False, name="one"), (2, 3, 2)),
    (lambda k: k.LSTM(2, implementation=1, unroll=True, name="one"), (2, 3, 2)),
    (lambda k: k.RNN([k.GRUCell(2), k.LSTMCell(3)], name="one"), (2, 3, 2)),
    (lambda k: k.Bidirectional(k.LSTM(2, return_sequences=True), name="one"), (2, 3, 2)),
    (lambda k: k.Bidirectional(k.GRU(2), merge_mode="sum", name="one"), (2, 3, 2)),
    (lambda k: k.TimeDistributed(k.Dense(3), name="one"), (2, 3, 2)),
    (lambda k: k.ConvLSTM2D(2, 2, name="one"), (1, 2, 3, 3, 2)),
)

BEHAVIOURS = {
    "dense": _of(_DENSE),
    "convolutions": _of(_CONVOLUTIONS),
    "recurrent": _of(_RECURRENT),
}
