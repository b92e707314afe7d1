"""`tf.layers`: maxima and means over windows, as classes and as functions."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter

from sessrun.reference.errors import bad_value
from sessrun.reference.library.keras.layers import pooling as keras_pooling
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.layers.signatures import function_of, older_constructor

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
]


def _constructor(keras_class: type) -> Callable[..., None]:
    """A constructor to which size and strides must be given."""
    return older_constructor(
        keras_class,
        trainable=False,
        pool_size=Parameter.empty,
        strides=Parameter.empty,
        data_format="channels_last",
        checked=_check,
    )


def _check(given: dict[str, object]) -> None:
    if given["strides"] is None:
        raise bad_value("Argument `strides` must not be None.")


class AveragePooling1D(keras_pooling.AveragePooling1D, Layer):
    """The mean of each window of sequences."""

    __init__ = _constructor(keras_pooling.AveragePooling1D)


class AveragePooling2D(keras_pooling.AveragePooling2D, Layer):
    """The mean of each window of images."""

    __init__ = _constructor(keras_pooling.AveragePooling2D)


class AveragePooling3D(keras_pooling.AveragePooling3D, Layer):
    """The mean of each window of volumes."""

    __init__ = _constructor(keras_pooling.AveragePooling3D)


class MaxPooling1D(keras_pooling.MaxPooling1D, Layer):
    """The largest element of each window of sequences."""

    __init__ = _constructor(keras_pooling.MaxPooling1D)


class MaxPooling2D(keras_pooling.MaxPooling2D, Layer):
    """The largest element of each window of images."""

    __init__ = _constructor(keras_pooling.MaxPooling2D)


class MaxPooling3D(keras_pooling.MaxPooling3D, Layer):
    """The largest element of each window of volumes."""

    __init__ = _constructor(keras_pooling.MaxPooling3D)


average_pooling1d = function_of(AveragePooling1D, has_variables=False)
average_pooling2d = function_of(AveragePooling2D, has_variables=False)
average_pooling3d = function_of(AveragePooling3D, has_variables=False)
max_pooling1d = function_of(MaxPooling1D, has_variables=False)
max_pooling2d = function_of(MaxPooling2D, has_variables=False)
max_pooling3d = function_of(MaxPooling3D, has_variables=False)
