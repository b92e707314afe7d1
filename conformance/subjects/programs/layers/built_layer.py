"""Programs of layers that are built for a shape before any call, and of their input specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import look_for_gpus
from sessrun.conformance.subjects.programs.program import Plain, Program

__all__ = ["BEHAVIOURS"]

#: The name of a Keras layer, its arguments, and the shape that it is built for.
Row = tuple[str, tuple[Plain, ...], Mapping[str, Plain], Plain]
_DEMANDS: Final = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
_FIRST: Final = {"data_format": "channels_first"}
#: Shapes with channels last and first, of sequences, images and volumes.
_SHAPES = {
    1: ((None, 7, 2), (None, 2, 7)),
    2: ((None, 7, 5, 2), (None, 2, 7, 5)),
    3: ((None, 4, 5, 6, 2), (None, 2, 4, 5, 6)),
}


def _demanded(tf, layer):
    """The input spec of a layer as a dictionary."""
    return [
        spec and {key: getattr(spec, key) for key in _DEMANDS}
        for spec in tf.nest.flatten(layer.input_spec)
    ]


def _built(tf, name: str, arguments, options, shape):
    """The weights and input spec of a built layer, and its output shape."""
    with tf.Graph().as_default() as graph:
        layer = getattr(tf.keras.layers, name)(*arguments, name="layer", **options)
        before = layer.built, _demanded(tf, layer)
        layer.build(shape)
        weights = [[w.name, w.shape, w.dtype, w.trainable] for w in layer.weights]
        given = tf.TensorShape(layer.compute_output_shape(tf.TensorShape(shape)))
        types = [node.op for node in graph.as_graph_def().node]
        return before, layer.built, weights, _demanded(tf, layer), given, types


def _of(rows: Sequence[Row]) -> Program:
    """A program that builds these layers one by one."""

    def program(tf):
        return attempt(*(lambda row=row: _built(tf, *row) for row in rows))

    return program


def _windows(name: str, rank: int, *arguments, **options) -> list[Row]:
    """A convolution or pooling layer with channels last and with channels first."""
    last, first = _SHAPES[rank]
    return [(name, arguments, options, last), (name, arguments, {**options, **_FIRST}, first)]


def _called(tf):
    """Convolution layers in graphs of their own, on inputs of known and of unknown sizes."""

    def called(name: str, arguments, options, shape):
        with tf.Graph().as_default() as graph:
            layer = getattr(tf.keras.layers, name)(*arguments, name="layer", **options)
            known = [
                layer(tf.placeholder(tf.float32, input_shape))
                for input_shape in (shape, [None if size != 2 else size for size in shape])
            ]
            return known, nodes(graph)

    transposed = {"output_padding": None, "use_bias": False}
    rows = [
        *_windows("Conv2DTranspose", 2, 3, (2, 3), dilation_rate=(2, 2)),
        *_windows("Conv2DTranspose", 2, 3, (2, 3), padding="same", dilation_rate=3, **transposed),
        *_windows("Conv2DTranspose", 2, 3, (2, 3), dilation_rate=(1, 2)),
        *_windows("Conv2DTranspose", 2, 3, (2, 3), strides=(3, 2), output_padding=(2, 1)),
        *_windows("Conv1DTranspose", 1, 3, 4, strides=3, padding="same", output_padding=1),
        *_windows("Conv1DTranspose", 1, 3, 4, dilation_rate=2),
        *_windows("Conv3DTranspose", 3, 3, (1, 2, 3), strides=(3, 2, 1), output_padding=(1, 1, 0)),
        *_windows("Conv2D", 2, 4, (2, 3), dilation_rate=(2, 1), padding="same"),
        *_windows("Conv3D", 3, 4, (1, 2, 3), strides=(3, 2, 1), padding="same"),
        *_windows("Conv1D", 1, 4, 3, padding="causal", dilation_rate=2),
        *_windows("DepthwiseConv2D", 2, (2, 3), depth_multiplier=3, dilation_rate=(2, 2)),
        *_windows("SeparableConv2D", 2, 5, (2, 3), depth_multiplier=3),
        *_windows("SeparableConv1D", 1, 5, 3, depth_multiplier=3, strides=2),
    ]
    look_for_gpus(tf)
    return attempt(*(lambda row=row: called(*row) for row in rows))


BEHAVIOURS = {
    "called": _called,
    "elementwise": _of(
        [
            ("Activation", ("relu",), {}, (None, 3)),
            ("Dropout", (0.5,), {}, (None, 3)),
            ("Embedding", (5, 2), {}, (None, 3)),
            ("Embedding", (5, 2), {"input_length": 4}, (None, 4)),
            ("Embedding", (5, 2), {"input_length": 4}, (None, 3)),
            ("Embedding", (5, 2), {"mask_zero": True}, None),
            ("Masking", (), {}, (None, 3, 2)),
            ("Dense", (4,), {}, (None, 3)),
            ("Dense", (4,), {}, (None, 5, 3)),
            ("Dense", (4,), {"use_bias": False, "dtype": "float64"}, (2, 3)),
            ("Dense", (4,), {}, (None, None)),
            ("Dense", (4,), {"dtype": "int32"}, (2, 3)),
            ("PReLU", (), {}, (None, 3, 2)),
            ("PReLU", (), {"shared_axes": [2]}, (None, 3, 2, 4)),
            ("LayerNormalization", (), {}, (None, 3, 2)),
            ("LayerNormalization", (), {"axis": [1, 2], "scale": False}, (None, 3, 2)),
            ("BatchNormalization", (), {}, (None, 3, 2)),
            ("BatchNormalization", (), {"axis": 1, "center": False}, (None, 3, 2, 5)),
            ("BatchNormalization", (), {"axis": [1, 2]}, (None, 3, 2, 5)),
            ("Reshape", ((3, 2),), {}, (None, 6)),
            ("Permute", ((2, 1),), {}, (None, 6, 2)),
            ("RepeatVector", (3,), {}, (None, 2)),
            ("Flatten", (), {}, (None, 6, 2)),
            ("ThresholdedReLU", (2.0,), {}, (None, 3)),
            ("LeakyReLU", (0.2,), {}, (None, 3)),
        ]
    ),
    "recurrent": _of(
        [
            *(
                (name, (3,), {"return_sequences": True}, (None, 5, 2))
                for name in ("LSTM", "GRU", "SimpleRNN")
            ),
            *((name, (3,), {}, (None, 2)) for name in ("LSTMCell", "GRUCell", "SimpleRNNCell")),
            ("LSTM", (3,), {"unit_forget_bias": False, "use_bias": False}, (2, 5, 4)),
            ("LSTM", (3,), {"stateful": True}, (2, 5, 4)),
            ("GRU", (3,), {"reset_after": True}, (2, 5, 4)),
        ]
    ),
    "windows": _of(
        [
            *_windows("Conv1D", 1, 4, 3),
            *_windows("Conv2D", 2, 4, (3, 2)),
            *_windows("Conv3D", 3, 4, (3, 2, 1)),
            *_windows("Conv2D", 2, 4, 3, groups=2),
            *_windows("Conv2D", 2, 3, 3, groups=3),
            *_windows("Conv2D", 2, 3, 9),
            *_windows("Conv1DTranspose", 1, 4, 3, 2),
            *_windows("Conv2DTranspose", 2, 4, (3, 2), 2),
            *_windows("Conv3DTranspose", 3, 4, (3, 2, 1), 2),
            *_windows("SeparableConv1D", 1, 4, 3, depth_multiplier=2),
            *_windows("SeparableConv2D", 2, 4, (3, 2), depth_multiplier=2),
            *_windows("DepthwiseConv2D", 2, (3, 2), depth_multiplier=3),
            *_windows("LocallyConnected1D", 1, 4, 3, 2)[:1],
            *_windows("LocallyConnected2D", 2, 4, (3, 2), (2, 1))[:1],
            *_windows("MaxPooling1D", 1, 2),
            *_windows("AveragePooling2D", 2, (2, 3), 1, "same"),
            *_windows("MaxPooling3D", 3, (2, 1, 3)),
            *_windows("GlobalMaxPooling1D", 1),
            *_windows("GlobalAveragePooling2D", 2),
            *_windows("GlobalMaxPooling3D", 3, keepdims=True),
            *_windows("UpSampling2D", 2, (2, 3)),
            *_windows("ZeroPadding2D", 2, ((1, 2), (3, 4))),
            *_windows("Cropping2D", 2, ((1, 2), (0, 3))),
            *_windows("UpSampling3D", 3, (1, 2, 3)),
            *_windows("ZeroPadding3D", 3, (1, 2, 3)),
            *_windows("Cropping3D", 3, ((1, 0), (0, 2), (1, 1))),
        ]
    ),
}
