"""Depthwise and separable convolution layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

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
from sessrun.reference.library.keras.layers.window_arguments import format_of_ops
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"]

#: What a convolution has for its one kernel, in the config.
_OF_KERNEL = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")


class SeparableConv(Conv):
    """A depthwise convolution followed by a pointwise (1 x 1) convolution.

    Args:
      rank: how many axes the window moves over.
      filters: how many channels come out.
      kernel_size: the window's size.
      strides: how far it moves each time.
      padding: `valid` or `same`.
      data_format: `channels_last` or `channels_first`.
      dilation_rate: the distance of the window's elements.
      depth_multiplier: how many kernels each channel has.
      activation: a function or its name.
      use_bias: whether a vector is added.
      depthwise_initializer: makes the first values of the channels' kernels.
      pointwise_initializer: the initializer of the pointwise filters.
      bias_initializer: the initializer of the bias.
      depthwise_regularizer: a loss of the channels' kernels.
      pointwise_regularizer: a loss of the mixture.
      bias_regularizer: a loss of the vector.
      activity_regularizer: a loss of the outputs.
      depthwise_constraint: what becomes of the channels' kernels after an update.
      pointwise_constraint: what becomes of the mixture.
      bias_constraint: what becomes of the vector.
      **kwargs: as for Layer.

    """

    _options: tuple[str, ...] = (
        *Conv._options,  # noqa: SLF001 - of its own base
        "depth_multiplier",
        "depthwise_initializer",
        "depthwise_regularizer",
        "depthwise_constraint",
        "pointwise_initializer",
        "pointwise_regularizer",
        "pointwise_constraint",
    )

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        depth_multiplier: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        pointwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        pointwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        pointwise_constraint: Identifier = None,
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
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self._set_rules(
            "depthwise", depthwise_initializer, depthwise_regularizer, depthwise_constraint
        )
        self._set_rules(
            "pointwise", pointwise_initializer, pointwise_regularizer, pointwise_constraint
        )

    def build(self, input_shape: ShapeLike) -> None:
        """Make `depthwise_kernel`, `pointwise_kernel` and `bias`."""
        shape = tf.TensorShape(input_shape)
        channels = channels_of(shape, self._channel_axis)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.depthwise_kernel = self._add_by_rules(
            "depthwise",
            (*self.kernel_size, channels, self.depth_multiplier),
            weight="depthwise_kernel",
        )
        mixed = (*(1,) * self.rank, self.depth_multiplier * channels, self.filters)
        self.pointwise_kernel = self._add_by_rules("pointwise", mixed, weight="pointwise_kernel")
        self._add_bias(self.filters)
        Layer.build(self, input_shape)

    def _biased(self, outputs: Tensor) -> Tensor:
        form = format_of_ops(self.data_format, 4)
        return tf.nn.bias_add(outputs, self.bias, data_format=form)


class SeparableConv1D(SeparableConv):
    """Separable convolutions of sequences; the arguments are those of SeparableConv2D."""

    __init__ = constructor_of(SeparableConv, 1)

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs: sequences as images of one row."""
        if self.padding == "causal":
            inputs = tf.pad(inputs, self._causal_padding(inputs))
        step = self.strides[0]
        is_last = self.data_format == "channels_last"
        strides, row = ((1, step, step, 1), 1) if is_last else ((1, 1, step, step), 2)
        inputs = tf.expand_dims(inputs, row)
        depthwise = tf.expand_dims(self.depthwise_kernel, 0)
        pointwise = tf.expand_dims(self.pointwise_kernel, 0)
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        outputs = tf.nn.separable_conv2d(
            inputs,
            depthwise,
            pointwise,
            strides=strides,
            padding=padding,
            rate=(1, *self.dilation_rate),
            data_format=format_of_ops(self.data_format, 4),
        )
        if self.bias is not None:
            outputs = self._biased(outputs)
        return self._activated(tf.squeeze(outputs, [row]))


class SeparableConv2D(SeparableConv):
    """Separable convolutions of images; the arguments are those of SeparableConv without rank."""

    __init__ = constructor_of(SeparableConv, 2, strides=(1, 1), dilation_rate=(1, 1))

    def call(self, inputs: TensorLike) -> Tensor:
        """The outputs, with `filters` channels."""
        is_last = self.data_format == "channels_last"
        strides = (1, *self.strides, 1) if is_last else (1, 1, *self.strides)
        outputs = tf.nn.separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=strides,
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=self._form,
        )
        if self.bias is not None:
            outputs = self._biased(outputs)
        return self._activated(outputs)


class DepthwiseConv(Conv):
    """A depthwise convolution of images: each channel has its own kernels.

    Args:
      kernel_size: the window's size.
      strides: how far it moves each time.
      padding: `valid` or `same`.
      depth_multiplier: how many kernels each channel has.
      data_format: `channels_last` or `channels_first`.
      dilation_rate: the distance of the window's elements.
      activation: a function or its name.
      use_bias: whether a vector is added.
      depthwise_initializer: makes the first values of the kernels.
      bias_initializer: the initializer of the bias.
      depthwise_regularizer: a loss of the kernels.
      bias_regularizer: a loss of the vector.
      activity_regularizer: a loss of the outputs.
      depthwise_constraint: what becomes of the kernels after an update.
      bias_constraint: what becomes of the vector.
      **kwargs: as for Layer.

    """

    _options: tuple[str, ...] = (
        *(name for name in Conv._options if name not in {*_OF_KERNEL, "filters"}),  # noqa: SLF001 - of its own base
        "depth_multiplier",
        "depthwise_initializer",
        "depthwise_regularizer",
        "depthwise_constraint",
    )

    def __init__(
        self,
        rank: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(
            rank,
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self._set_rules(
            "depthwise", depthwise_initializer, depthwise_regularizer, depthwise_constraint
        )

    def build(self, input_shape: ShapeLike) -> None:
        """Make `depthwise_kernel` and `bias`."""
        shape = tf.TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise bad_value(
                f"Inputs to `DepthwiseConv` should have rank {self.rank + 2}. Received "
                f"input_shape={shape}."
            )
        channels = channels_of(shape, self._channel_axis)
        sizes = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = self._add_by_rules("depthwise", sizes, weight="depthwise_kernel")
        self._add_bias(channels * self.depth_multiplier)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis: channels})
        Layer.build(self, input_shape)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        if self.data_format == "channels_first":
            channels = sizes[1] * self.depth_multiplier
            return tf.TensorShape([sizes[0], channels, *self._spatial(sizes[2:])])
        channels = sizes[-1] * self.depth_multiplier
        return tf.TensorShape([sizes[0], *self._spatial(sizes[1:-1]), channels])


class DepthwiseConv1D(DepthwiseConv):
    """Each channel of sequences convolved; the arguments are those of DepthwiseConv2D."""

    __init__ = constructor_of(DepthwiseConv, 1)

    def call(self, inputs: TensorLike) -> Tensor:
        """The outputs: sequences as images of one row."""
        is_last = self.data_format == "channels_last"
        step = self.strides * 2
        row, strides = (1, (1, *step, 1)) if is_last else (2, (1, 1, *step))
        outputs = tf.nn.depthwise_conv2d(
            tf.expand_dims(inputs, row),
            tf.expand_dims(self.depthwise_kernel, axis=0),
            strides=strides,
            padding=self.padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format=format_of_ops(self.data_format, 4),
        )
        if self.bias is not None:
            form = format_of_ops(self.data_format, 4)
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=form)
        return self._activated(tf.squeeze(outputs, [row]))


class DepthwiseConv2D(DepthwiseConv):
    """A depthwise convolution of images: each channel has its own kernels."""

    __init__ = constructor_of(DepthwiseConv, 2, strides=(1, 1), dilation_rate=(1, 1))

    def call(self, inputs: TensorLike) -> Tensor:
        """The outputs; computed in NHWC, which the CPU supports."""
        is_first = self.data_format == "channels_first"
        if is_first:
            inputs = tf.transpose(inputs, (0, 2, 3, 1))
        outputs = tf.nn.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=(1, *self.strides, 1),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format="NHWC",
        )
        if is_first:
            outputs = tf.transpose(outputs, (0, 3, 1, 2))
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=self._form)
        return self._activated(outputs)
