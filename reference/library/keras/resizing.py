"""Repetition of elements and resizing of images and volumes, of `tf.keras.backend`.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import sessrun.reference as tf
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["repeat_elements", "resize_images", "resize_volumes"]

#: The interpolations of `resize_images`: Keras' names and those of `tf.image.resize`.
_METHODS: Final = {
    "area": "area",
    "bicubic": "bicubic",
    "bilinear": "bilinear",
    "gaussian": "gaussian",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "mitchellcubic": "mitchellcubic",
    "nearest": "nearest",
}


def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Repeat each element `rep` times along an axis, as `np.repeat` does."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = tf.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        positive_axis = axis % x.shape.rank if axis < 0 else axis
        return tf.concat([part for part in parts for _ in range(rep)], positive_axis)
    counts = np.ones(len(sizes) + 1)
    counts[axis + 1] = rep
    shape = tf.shape(x)
    repeated = tf.tile(tf.expand_dims(x, axis=axis + 1), counts)
    factors = np.delete(counts, axis + 1)
    factors[axis] = rep
    shape *= tf.constant(factors, dtype="int32")
    repeated = tf.reshape(repeated, shape)
    repeated.set_shape(sizes)
    return repeated


def resize_images(
    x: Tensor,
    height_factor: int,
    width_factor: int,
    data_format: str,
    interpolation: str = "nearest",
) -> Tensor:
    """Resize images by integer factors of height and width.

    Raises:
      ValueError: the data format or the interpolation is unknown.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid `data_format` argument: {data_format}")
    is_first = data_format == "channels_first"
    rows = 2 if is_first else 1
    known = x.shape[rows : rows + 2]
    if known.is_fully_defined():
        sizes = tf.constant(known.as_list(), dtype="int32")
    else:
        sizes = tf.shape(x)[rows : rows + 2]
    sizes *= tf.constant(np.array([height_factor, width_factor], dtype="int32"))
    if is_first:
        x = tf.transpose(x, perm=[0, 2, 3, 1])
    if interpolation not in _METHODS:
        names = '"' + '", "'.join(_METHODS) + '"'
        raise bad_value(
            f'`interpolation` argument should be one of: {names}. Received: "{interpolation}".'
        )
    from sessrun.reference.api.images.resizing import resize_images_v2  # noqa: PLC0415 - few resize

    x = resize_images_v2(x, sizes, method=_METHODS[interpolation])
    return tf.transpose(x, perm=[0, 3, 1, 2]) if is_first else x


def resize_volumes(
    x: Tensor, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Tensor:
    """Resize volumes by repeating elements along depth, height and width.

    Raises:
      ValueError: the data format is unknown.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for offset, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis=first + offset)
    return x
