"""Upsampling layers (tf_keras 2.21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Unpack

import sessrun.reference as tf
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.window_arguments import (
    normalized_format,
    normalized_tuple,
)
from sessrun.reference.library.keras.resizing import repeat_elements, resize_images, resize_volumes

__all__ = ["UpSampling1D", "UpSampling2D", "UpSampling3D"]

#: The ways of resizing that a layer takes.
_INTERPOLATIONS: Final = ("area", "bicubic", "bilinear", "nearest")


class UpSampling1D(Layer):
    """Repeats each time step `size` times.

    Args:
      size: how often.
      **kwargs: as for Layer.

    """

    _options = ("size",)

    def __init__(self, size: int = 2, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, each step `size` times."""
        return repeat_elements(inputs, self.size, 1)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], sizes[1] and sizes[1] * self.size, sizes[2]])


class UpSampling(Layer):
    """Base class of upsampling layers of images and volumes."""

    size: tuple[int, ...]

    def _set_up(self, size: int | Sequence[int], data_format: str | None, rank: int) -> None:
        self.data_format = normalized_format(data_format)
        self.size = normalized_tuple(size, rank, "size")

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for axis, factor in enumerate(self.size, first):
            sizes[axis] = sizes[axis] and sizes[axis] * factor
        return tf.TensorShape(sizes)


class UpSampling2D(UpSampling):
    """Upsamples images by integer factors.

    Args:
      size: how many times, a number or one for each axis.
      data_format: `channels_last` or `channels_first`.
      interpolation: `nearest`, `bilinear`, `bicubic` or `area`.
      **kwargs: as for Layer.

    Raises:
      ValueError: there is no such format, or a size is not positive.
      NotImplementedError: there is no such interpolation.

    """

    _options = ("size", "data_format", "interpolation")

    def __init__(
        self,
        size: int | Sequence[int] = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(size, data_format, 2)
        self.input_spec = InputSpec(ndim=4)
        self.interpolation = interpolation.lower()
        if self.interpolation not in _INTERPOLATIONS:
            raise NotImplementedError(
                f'Value not recognized for `interpolation`: "{interpolation}". Supported values '
                f"are: {list(_INTERPOLATIONS)}"
            )

    def call(self, inputs: Tensor) -> Tensor:
        """The upsampled images."""
        height, width = self.size
        return resize_images(inputs, height, width, self.data_format, self.interpolation)


class UpSampling3D(UpSampling):
    """Upsamples volumes by repetition; the inputs' rank is not checked, as in Keras.

    Args:
      size: how often, a number or one for each axis.
      data_format: `channels_last` or `channels_first`.
      **kwargs: as for Layer.

    Raises:
      ValueError: there is no such format, or a size is not positive.

    """

    _options = ("size", "data_format")

    def __init__(
        self,
        size: int | Sequence[int] = (2, 2, 2),
        data_format: str | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._set_up(size, data_format, 3)

    def call(self, inputs: Tensor) -> Tensor:
        """The upsampled volumes."""
        depth, height, width = self.size
        return resize_volumes(inputs, depth, height, width, self.data_format)
