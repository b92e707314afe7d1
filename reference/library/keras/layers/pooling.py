"""Max and average pooling layers, over windows and global.

Source: tf_keras 2.21 in graph mode on a machine without a GPU, whose graphs they make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import CommonOptions, LayerOptions
from sessrun.reference.library.keras.layers.convolutional import constructor_of
from sessrun.reference.library.keras.layers.window_arguments import (
    format_of_ops,
    normalized_format,
    normalized_padding,
    normalized_tuple,
    output_length,
)

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
]


class Pooling(Layer):
    """Base class of window pooling.

    Args:
      rank: how many axes the window moves over.
      pool_size: its size, a number or one for each axis.
      strides: how far it moves each time; by default its size.
      padding: `valid` or `same`.
      data_format: `channels_last` or `channels_first`.
      name: the layer's name.
      **kwargs: as for Layer.

    Raises:
      ValueError: a size or a name of padding or format is wrong.

    """

    _options = ("pool_size", "strides", "padding", "data_format")
    #: `max` or `avg`.
    _kind: str

    def __init__(
        self,
        rank: int,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Unpack[CommonOptions],
    ) -> None:
        super().__init__(name=name, **kwargs)
        strides = pool_size if strides is None else strides
        self.pool_size = normalized_tuple(pool_size, rank, "pool_size")
        self.strides = normalized_tuple(strides, rank, "strides", zero=True)
        self.padding = normalized_padding(padding)
        self.data_format = normalized_format(data_format)
        self.input_spec = InputSpec(ndim=rank + 2)

    @property
    def _is_first(self) -> bool:
        return self.data_format == "channels_first"

    def _operation(self, rank: int) -> Callable[..., Tensor]:
        names = {"max": {2: "max_pool", 3: "max_pool3d"}, "avg": {2: "avg_pool", 3: "avg_pool3d"}}
        operation: Callable[..., Tensor] = getattr(tf.nn, names[self._kind][rank])
        return operation

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled windows."""
        rank = len(self.pool_size)
        if rank == 1:
            return self._pooled_sequences(inputs)
        form = {"data_format": format_of_ops(self.data_format, rank + 2)} if rank == 2 else {}
        size: tuple[int, ...] = (1, *self.pool_size, 1)
        step: tuple[int, ...] = (1, *self.strides, 1)
        if rank == 2 and self._is_first:
            size, step = (1, 1, *self.pool_size), (1, 1, *self.strides)
        if rank == 3 and self._is_first:
            inputs = tf.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = self._operation(rank)(
            inputs, ksize=size, strides=step, padding=self.padding.upper(), **form
        )
        if rank == 3 and self._is_first:
            outputs = tf.transpose(outputs, (0, 4, 1, 2, 3))
        return outputs

    def _pooled_sequences(self, inputs: Tensor) -> Tensor:
        """Sequences as images of one column, with channels last while they are computed."""
        column = 3 if self._is_first else 2
        inputs = tf.expand_dims(inputs, column)
        if self._is_first:
            inputs = tf.transpose(inputs, (0, 2, 3, 1))
        outputs = self._operation(2)(
            inputs,
            (1, *self.pool_size, 1, 1),
            (1, *self.strides, 1, 1),
            padding=self.padding.upper(),
            data_format="NHWC",
        )
        if self._is_first:
            outputs = tf.transpose(outputs, (0, 3, 1, 2))
        return tf.squeeze(outputs, column)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = 2 if self._is_first else 1
        moved = [
            output_length(size, window, self.padding, stride)
            for size, window, stride in zip(
                sizes[first : first + len(self.pool_size)],
                self.pool_size,
                self.strides,
                strict=True,
            )
        ]
        if self._is_first:
            return tf.TensorShape([sizes[0], sizes[1], *moved])
        return tf.TensorShape([sizes[0], *moved, sizes[-1]])


class MaxPooling1D(Pooling):
    """The largest element of each window of sequences."""

    _kind = "max"
    __init__ = constructor_of(Pooling, 1, data_format="channels_last")


class MaxPooling2D(Pooling):
    """The largest element of each window of images."""

    _kind = "max"
    __init__ = constructor_of(Pooling, 2, pool_size=(2, 2))


class MaxPooling3D(Pooling):
    """The largest element of each window of volumes."""

    _kind = "max"
    __init__ = constructor_of(Pooling, 3, pool_size=(2, 2, 2))


class AveragePooling1D(Pooling):
    """The mean of each window of sequences."""

    _kind = "avg"
    __init__ = constructor_of(Pooling, 1, data_format="channels_last")


class AveragePooling2D(Pooling):
    """The mean of each window of images."""

    _kind = "avg"
    __init__ = constructor_of(Pooling, 2, pool_size=(2, 2))


class AveragePooling3D(Pooling):
    """The mean of each window of volumes."""

    _kind = "avg"
    __init__ = constructor_of(Pooling, 3, pool_size=(2, 2, 2))


class GlobalPooling(Layer):
    """Base class of global pooling.

    Args:
      rank: how many axes there are places along.
      data_format: `channels_last` or `channels_first`.
      keepdims: whether these axes stay, with size 1.
      **kwargs: as for Layer.

    """

    _options = ("data_format", "keepdims")

    def __init__(
        self,
        rank: int,
        data_format: str | None = None,
        keepdims: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = normalized_format(data_format)
        self.keepdims = keepdims
        self.input_spec = InputSpec(ndim=rank + 2)
        first = 2 if self.data_format == "channels_first" else 1
        self._axes = tuple(range(first, first + rank))

    def build(self, input_shape: ShapeLike) -> None:
        """Check that the spatial sizes are not 0.

        Raises:
          ValueError: a spatial size is 0.

        """
        sizes = tf.TensorShape(input_shape).as_list()
        if any(sizes[axis] == 0 for axis in self._axes):
            raise bad_value(f"Incorrect input shape {sizes} with dimension 0 at a reduction axis.")

    def _reduced(self, reduce: Callable[..., Tensor], value: TensorLike) -> Tensor:
        axis = list(self._axes) if len(self._axes) > 1 else self._axes[0]
        return reduce(value, axis=axis, keepdims=self.keepdims)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        if self.keepdims:
            return tf.TensorShape([1 if n in self._axes else s for n, s in enumerate(sizes)])
        return tf.TensorShape([s for n, s in enumerate(sizes) if n not in self._axes])


class GlobalMax(GlobalPooling):
    """The largest element of each channel."""

    def call(self, inputs: TensorLike) -> Tensor:
        """The pooled channels."""
        return self._reduced(tf.reduce_max, inputs)


class GlobalAverage(GlobalPooling):
    """The mean of each channel."""

    def call(self, inputs: TensorLike) -> Tensor:
        """The pooled channels."""
        return self._reduced(tf.reduce_mean, inputs)


class GlobalMaxPooling1D(GlobalMax):
    """The largest element of each channel of sequences."""

    __init__ = constructor_of(GlobalMax, 1, data_format="channels_last")


class GlobalMaxPooling2D(GlobalMax):
    """The largest element of each channel of images."""

    __init__ = constructor_of(GlobalMax, 2)


class GlobalMaxPooling3D(GlobalMax):
    """The largest element of each channel of volumes."""

    __init__ = constructor_of(GlobalMax, 3)


class GlobalAveragePooling1D(GlobalPooling):
    """The mean of each channel of sequences, over the steps that are not masked."""

    def __init__(self, data_format: str = "channels_last", **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(1, data_format=data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The pooled channels."""
        if mask is None:
            return self._reduced(tf.reduce_mean, inputs)
        mask = tf.cast(mask, inputs[0].dtype)  # Keras asks the first example: nodes nothing uses
        mask = tf.expand_dims(mask, 2 if self.data_format == "channels_last" else 1)
        total = self._reduced(tf.reduce_sum, inputs * mask)
        return total / self._reduced(tf.reduce_sum, mask)

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> None:
        """None: the time axis is pooled away."""
        del inputs, mask


class GlobalAveragePooling2D(GlobalAverage):
    """The mean of each channel of images."""

    __init__ = constructor_of(GlobalAverage, 2)


class GlobalAveragePooling3D(GlobalAverage):
    """The mean of each channel of volumes."""

    __init__ = constructor_of(GlobalAverage, 3)
