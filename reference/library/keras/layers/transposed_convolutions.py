"""Transposed convolution layers.

Source: tf_keras 2.21 in graph mode on a machine without a GPU, whose graphs they make.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import NamedOptions
from sessrun.reference.library.keras.layers.convolutional import Conv, channels_of, constructor_of
from sessrun.reference.library.keras.layers.window_arguments import (
    format_of_ops,
    normalized_tuple,
    transposed_length,
)
from sessrun.reference.library.keras.object_configs import Config, Identifier

__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]


class Transposed(Conv):
    """The transposed convolution over one, two or three axes.

    Args:
      rank: how many axes the window moves over.
      filters: how many channels come out.
      kernel_size: the window's size.
      strides: how far apart its places are in the outputs.
      padding: `valid` or `same`.
      output_padding: how much longer the outputs are than they must be.
      **kwargs: as for Conv.

    Raises:
      ValueError: as Conv, or the output padding is not less than the strides.

    """

    _options = (*Conv._options, "output_padding")  # noqa: SLF001 - of its own base

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        output_padding: int | Sequence[int] | None = None,
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(
            rank,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.output_padding = None
        if output_padding is not None:
            more = normalized_tuple(output_padding, rank, "output_padding", zero=True)
            self.output_padding = more
            if any(extra >= stride for extra, stride in zip(more, self.strides, strict=True)):
                raise bad_value(
                    "Strides must be greater than output padding. Received "
                    f"strides={self.strides}, output_padding={more}."
                )

    def build(self, input_shape: ShapeLike) -> None:
        """Make `kernel`, `[*sizes, filters, channels]`, and `bias`."""
        shape = tf.TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise bad_value(
                f"Inputs should have rank {self.rank + 2}. Received input_shape={shape}."
            )
        axis = self._channel_axis
        channels = channels_of(shape, axis)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.kernel = self._add_by_rules("kernel", (*self.kernel_size, self.filters, channels))
        self._add_bias(self.filters)
        Layer.build(self, input_shape)

    def _lengths(self, sizes: Sequence[int | Tensor | None]) -> list[int | Tensor | None]:
        """The output sizes of the spatial axes."""
        more = self.output_padding or (None,) * self.rank
        dilations = (1,) * self.rank if self.rank == 3 else self.dilation_rate
        return [
            transposed_length(size, window, self.padding, extra, stride, dilation)
            for size, window, extra, stride, dilation in zip(
                sizes, self.kernel_size, more, self.strides, dilations, strict=True
            )
        ]

    def _placed(
        self, batch: int | Tensor | None, sizes: Sequence[int | Tensor | None]
    ) -> list[int | Tensor | None]:
        """The shape of batch, spatial sizes and filters, in the data format's order."""
        if self.data_format == "channels_first":
            return [batch, self.filters, *sizes]
        return [batch, *sizes, self.filters]

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs, with `filters` channels."""
        sizes = tf.shape(inputs)
        batch = sizes[0]
        first = 2 if self.data_format == "channels_first" else 1
        axes = range(first, first + self.rank)
        known = inputs.shape.as_list() if inputs.shape.rank is not None else [None] * 5
        if self.rank != 2:  # Keras uses the static shape of images only.
            known = [None] * (self.rank + 2)
        now = [sizes[axis] if known[axis] is None else known[axis] for axis in axes]
        shape = tf.stack(self._placed(batch, self._lengths(now)))
        outputs = self._transposed(inputs, shape)
        if inputs.shape.rank:
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.bias is not None:
            form = format_of_ops(self.data_format, 3 if self.rank == 1 else 4)
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=form)
        return self._activated(outputs)

    @abstractmethod
    def _transposed(self, inputs: Tensor, shape: TensorShape) -> Tensor:
        """The transposed convolution, of this shape."""

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        return tf.TensorShape(
            self._placed(sizes[0], self._lengths(sizes[first : first + self.rank]))
        )


class Conv1DTranspose(Transposed):
    """Transposed convolutions of sequences; the arguments are those of Conv1D."""

    __init__ = constructor_of(Transposed, 1)

    def _transposed(self, inputs: TensorLike, shape: TensorShape) -> Tensor:
        return tf.nn.conv1d_transpose(
            inputs,
            self.kernel,
            shape,
            strides=self.strides,
            padding=self.padding.upper(),
            data_format=self._form,
            dilations=self.dilation_rate,
        )


class Conv2DTranspose(Transposed):
    """Transposed convolutions of images; the arguments are those of Conv2D."""

    __init__ = constructor_of(Transposed, 2, strides=(1, 1), dilation_rate=(1, 1))

    def _transposed(self, inputs: TensorLike, shape: TensorShape) -> Tensor:
        """The transposed convolution, computed in NHWC, which the CPU supports."""
        is_first = self.data_format == "channels_first"
        if is_first:
            inputs = tf.transpose(inputs, (0, 2, 3, 1))
            shape = tf.stack([shape[0], shape[2], shape[3], shape[1]])
        else:
            shape[0]  # Keras asks whether the batch is known: nodes that nothing uses
        padding = self.padding.upper()
        if set(self.dilation_rate) == {1}:
            outputs = tf.nn.conv2d_transpose(
                inputs,
                self.kernel,
                shape,
                (1, *self.strides, 1),
                padding=padding,
                data_format="NHWC",
            )
        else:
            if len(set(self.dilation_rate)) > 1:
                raise bad_value(
                    "Expected the 2 dimensions of the `dilation_rate` argument to be equal to each "
                    f"other. Received: dilation_rate={self.dilation_rate}"
                )
            outputs = tf.nn.atrous_conv2d_transpose(
                inputs, self.kernel, shape, rate=self.dilation_rate[0], padding=padding
            )
        return tf.transpose(outputs, (0, 3, 1, 2)) if is_first else outputs


class Conv3DTranspose(Transposed):
    """Transposed convolutions of volumes; the arguments are those of Conv3D, undilated."""

    __init__ = constructor_of(Transposed, 3, strides=(1, 1, 1), dilation_rate=(1, 1, 1))

    def _transposed(self, inputs: TensorLike, shape: TensorShape) -> Tensor:
        is_first = self.data_format == "channels_first"
        strides = (1, 1, *self.strides) if is_first else (1, *self.strides, 1)
        return tf.nn.conv3d_transpose(
            inputs,
            self.kernel,
            shape,
            strides,
            data_format=self._form,
            padding=self.padding.upper(),
        )

    def get_config(self) -> Config:
        """The arguments of the constructor, without a dilation."""
        config = super().get_config()
        del config["dilation_rate"]
        return config
