"""`tf.layers`: convolutions, as classes and as functions."""

from __future__ import annotations

from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.library.keras.layers import convolutional as keras_convolutional
from sessrun.reference.library.keras.layers import separable_convolutions, transposed_convolutions
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.layers.signatures import function_of, older_constructor

__all__ = [
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "SeparableConv1D",
    "SeparableConv2D",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "separable_conv1d",
    "separable_conv2d",
]

#: The kernel is initialized as the variable scope says.
_OF_ONE: Final[dict[str, Any]] = {
    "data_format": "channels_last",
    "kernel_initializer": None,
    "bias_initializer": tf.zeros_initializer(),
}
_OF_TWO: Final[dict[str, Any]] = {
    "data_format": "channels_last",
    "depthwise_initializer": None,
    "pointwise_initializer": None,
    "bias_initializer": tf.zeros_initializer(),
}
_NEWER: Final = ("output_padding", "dilation_rate")


class Conv1D(keras_convolutional.Conv1D, Layer):
    """`tf.keras.layers.Conv1D` with variables of a variable scope."""

    __init__ = older_constructor(keras_convolutional.Conv1D, without=("groups",), **_OF_ONE)


class Conv2D(keras_convolutional.Conv2D, Layer):
    """`tf.keras.layers.Conv2D` with variables of a variable scope."""

    __init__ = older_constructor(keras_convolutional.Conv2D, without=("groups",), **_OF_ONE)


class Conv3D(keras_convolutional.Conv3D, Layer):
    """`tf.keras.layers.Conv3D` with variables of a variable scope."""

    __init__ = older_constructor(keras_convolutional.Conv3D, without=("groups",), **_OF_ONE)


class Conv2DTranspose(transposed_convolutions.Conv2DTranspose, Layer):
    """`tf.keras.layers.Conv2DTranspose` with variables of a variable scope."""

    __init__ = older_constructor(transposed_convolutions.Conv2DTranspose, without=_NEWER, **_OF_ONE)


class Conv3DTranspose(transposed_convolutions.Conv3DTranspose, Layer):
    """`tf.keras.layers.Conv3DTranspose` with variables of a variable scope."""

    __init__ = older_constructor(transposed_convolutions.Conv3DTranspose, without=_NEWER, **_OF_ONE)


class SeparableConv1D(separable_convolutions.SeparableConv1D, Layer):
    """`tf.keras.layers.SeparableConv1D` with variables of a variable scope."""

    __init__ = older_constructor(separable_convolutions.SeparableConv1D, **_OF_TWO)


class SeparableConv2D(separable_convolutions.SeparableConv2D, Layer):
    """`tf.keras.layers.SeparableConv2D` with variables of a variable scope."""

    __init__ = older_constructor(separable_convolutions.SeparableConv2D, **_OF_TWO)


conv1d = function_of(Conv1D)
conv2d = function_of(Conv2D)
conv3d = function_of(Conv3D)
conv2d_transpose = function_of(Conv2DTranspose)
conv3d_transpose = function_of(Conv3DTranspose)
separable_conv1d = function_of(SeparableConv1D)
separable_conv2d = function_of(SeparableConv2D)
