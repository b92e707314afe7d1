"""Layers that repeat steps, rows and columns, or resize pictures. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

import sessrun.reference as tf
from sessrun.reference.errors import bad_value
from sessrun.reference.keras.engine.base_layer import Layer
from sessrun.reference.keras.engine.input_spec import InputSpec
from sessrun.reference.keras.layers.sizes import normalized_format, normalized_tuple

__all__ = ["UpSampling1D", "UpSampling2D", "UpSampling3D", "repeat_elements", "resize_images",
           "resize_volumes"]  # fmt: skip

#: The operation of each way of resizing, and whether it counts from the middle of pixels.
_RESIZES: Final[Mapping[str, tuple[str, bool]]] = {
    "nearest": ("ResizeNearestNeighbor", True), "bilinear": ("ResizeBilinear", True),
    "bicubic": ("ResizeBicubic", True), "area": ("ResizeArea", False),
}  # fmt: skip


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """A tensor with each slice along an axis `rep` times.

    Args:
      x: a tensor of known rank.
      rep: how often.
      axis: the axis.

    """
    known = x.shape.as_list()
    if known[axis] is not None:
        parts = tf.split(value=x, num_or_size_splits=known[axis], axis=axis)
        return tf.concat([part for part in parts for _ in range(rep)], axis)
    sizes = tf.shape(x)
    longer = np.ones(len(known) + 1)  # floats, as Keras has them
    longer[axis + 1] = rep
    repeated = tf.tile(tf.expand_dims(x, axis=axis + 1), longer)
    factors = [1] * len(known)
    factors[axis] = rep
    repeated = tf.reshape(repeated, sizes * tf.constant(factors, dtype=tf.int32))
    repeated.set_shape(known)
    return repeated


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Any:
    """Pictures, so many times as high and wide.

    Args:
      x: of shape [batch, rows, columns, channels], or with channels second.
      height_factor: how many times as high.
      width_factor: how many times as wide.
      data_format: `channels_last` or `channels_first`.
      interpolation: `nearest`, `bilinear`, `bicubic` or `area`.

    Raises:
      ValueError: there is no such format or interpolation.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid `data_format` argument: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    known = x.shape[first : first + 2]
    if known.is_fully_defined():
        sizes = tf.constant(known.as_list(), dtype=tf.int32)
    else:
        sizes = tf.shape(x)[first : first + 2]
    sizes *= tf.constant(np.array([height_factor, width_factor], dtype=np.int32))
    if data_format == "channels_first":
        x = tf.transpose(x, [0, 2, 3, 1])
    if interpolation not in _RESIZES:
        raise bad_value(
            f"`interpolation` argument should be one of: {sorted(_RESIZES)}. "
            f'Received: "{interpolation}".'
        )
    x = _resized(x, sizes, interpolation)
    return tf.transpose(x, [0, 3, 1, 2]) if data_format == "channels_first" else x


def _resized(images: Any, sizes: Any, interpolation: str) -> Any:
    """Pictures of other sizes, as `tf.image.resize` of TensorFlow 2 makes them."""
    kind, from_middle = _RESIZES[interpolation]
    with tf.name_scope("resize"):
        options = {"half_pixel_centers": True} if from_middle else {}
        return getattr(tf.raw_ops, kind)(images=images, size=sizes, **options)


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Volumes with each slice of the three axes so many times.

    Raises:
      ValueError: there is no such format.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = repeat_elements(x, factor, axis)
    return x


class UpSampling1D(Layer):
    """Each step of sequences, several times.

    Args:
      size: how often.
      **kwargs: those of Layer.

    """

    _options = ("size",)

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs: Any) -> Any:
        """The inputs, each step `size` times."""
        return repeat_elements(inputs, self.size, 1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], sizes[1] and sizes[1] * self.size, sizes[2]])


class UpSampling(Layer):
    """The base of layers that make pictures or volumes larger."""

    size: tuple[int, ...]

    def _set_up(self, size: Any, data_format: str | None, rank: int) -> None:
        self.data_format = normalized_format(data_format)
        self.size = normalized_tuple(size, rank, "size")
        self.input_spec = InputSpec(ndim=rank + 2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for axis, factor in enumerate(self.size, first):
            sizes[axis] = sizes[axis] and sizes[axis] * factor
        return tf.TensorShape(sizes)


class UpSampling2D(UpSampling):
    """Pictures, so many times as high and wide.

    Args:
      size: how many times, a number or one for each axis.
      data_format: `channels_last` or `channels_first`.
      interpolation: `nearest`, `bilinear`, `bicubic` or `area`.
      **kwargs: those of Layer.

    Raises:
      ValueError: there is no such format, or a size is not positive.
      NotImplementedError: there is no such interpolation.

    """

    _options = ("size", "data_format", "interpolation")

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(size, data_format, 2)
        self.interpolation = interpolation.lower()
        if self.interpolation not in _RESIZES:
            raise NotImplementedError(
                f'Value not recognized for `interpolation`: "{interpolation}". Supported values '
                f"are: {sorted(_RESIZES)}"
            )

    def call(self, inputs: Any) -> Any:
        """The pictures, larger."""
        height, width = self.size
        return resize_images(inputs, height, width, self.data_format, self.interpolation)


class UpSampling3D(UpSampling):
    """Volumes with each slice of the three axes several times.

    Args:
      size: how often, a number or one for each axis.
      data_format: `channels_last` or `channels_first`.
      **kwargs: those of Layer.

    Raises:
      ValueError: there is no such format, or a size is not positive.

    """

    _options = ("size", "data_format")

    def __init__(
        self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(size, data_format, 3)

    def call(self, inputs: Any) -> Any:
        """The volumes, larger."""
        depth, height, width = self.size
        return resize_volumes(inputs, depth, height, width, self.data_format)
