"""Convolutions of sequences, images and volumes as layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import NamedOptions
from sessrun.reference.library.keras.layers.window_arguments import (
    format_of_ops,
    normalized_format,
    normalized_padding,
    normalized_tuple,
    output_lengths,
)
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["Conv", "Conv1D", "Conv2D", "Conv3D", "channels_of"]


class Conv(Layer):
    """activation(convolution(inputs, kernel) + bias) over one, two or three axes.

    Args:
      rank: how many axes the window moves over.
      filters: how many channels come out.
      kernel_size: the window's size, a number or one for each axis.
      strides: how far it moves each time.
      padding: `valid`, `same`, or for sequences `causal`, which sees nothing of what comes later.
      data_format: `channels_last` or `channels_first`.
      dilation_rate: the distance of the window's elements.
      groups: how many parts the channels fall into that are convolved apart.
      activation: a function or its name.
      use_bias: whether a vector is added.
      kernel_initializer: makes the first values of the kernel `[*sizes, channels, filters]`.
      bias_initializer: the initializer of the bias, a vector [filters].
      kernel_regularizer: a loss of the kernel.
      bias_regularizer: a loss of the vector.
      activity_regularizer: a loss of the outputs.
      kernel_constraint: what becomes of the kernel after an update.
      bias_constraint: what becomes of the vector.
      **kwargs: as for Layer.

    Raises:
      ValueError: a number is too small, groups do not divide the filters, or strides and dilation
        are both more than 1; on building: the channels are not known, or nothing would come out.

    """

    _options: tuple[str, ...] = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "groups",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
    )

    def __init__(
        self,
        rank: int,
        filters: int | None,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        groups: int = 1,
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
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.rank = rank
        self.filters = int(filters) if isinstance(filters, float) else filters
        self.groups = groups or 1
        self.kernel_size = normalized_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalized_tuple(strides, rank, "strides", zero=True)
        self.padding = normalized_padding(padding)
        self.data_format = normalized_format(data_format)
        self.dilation_rate = normalized_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._set_rules("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_rules("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(min_ndim=rank + 2)
        self._check_arguments()
        self._form = format_of_ops(self.data_format, rank + 2)

    def _check_arguments(self) -> None:
        if self.filters is not None and self.filters <= 0:
            raise bad_value(
                "Invalid value for argument `filters`. Expected a strictly positive value. "
                f"Received filters={self.filters}."
            )
        if self.filters is not None and self.filters % self.groups != 0:
            raise bad_value(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={self.groups}, filters={self.filters}"
            )
        if not all(self.strides):
            raise bad_value(f"The argument `strides` cannot contains 0(s): {self.strides}")
        if self.padding == "causal" and self.rank != 1:
            raise bad_value("Causal padding is only supported for `Conv1D` and `SeparableConv1D`.")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise bad_value(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    @property
    def _channel_axis(self) -> int:
        """The axis of channels, counted from the end."""
        return -1 - self.rank if self.data_format == "channels_first" else -1

    def build(self, input_shape: ShapeLike) -> None:
        """Make `kernel` and `bias`."""
        shape = tf.TensorShape(input_shape)
        channels = channels_of(shape, self._channel_axis)
        if channels % self.groups != 0:
            raise bad_value(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {channels} channels."
            )
        self.compute_output_shape(shape)  # refuses what would leave nothing
        sizes = (*self.kernel_size, channels // self.groups, self.filters)
        self.kernel = self._add_by_rules("kernel", sizes)
        self._add_bias(self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis: channels})
        super().build(input_shape)

    def _add_bias(self, count: int | None) -> None:
        self.bias = self._add_by_rules("bias", (count,)) if self.use_bias else None

    def convolution_op(self, inputs: Tensor, kernel: Tensor | Variable) -> Tensor:
        """The convolution without bias and activation."""
        padding = "valid" if self.padding == "causal" else self.padding
        padding = padding.upper() if isinstance(padding, str) else padding
        name = type(self).__name__
        is_plain = inputs.shape.rank == self.rank + 2 and set(self.dilation_rate) == {1}
        if not is_plain:
            return tf.nn.convolution(
                inputs,
                kernel,
                strides=list(self.strides),
                padding=padding,
                dilation_rate=list(self.dilation_rate),
                data_format=self._form,
                name=name,
            )
        with tf.name_scope(name) as scope:
            if self.rank == 1:
                return tf.nn.conv1d(
                    inputs, kernel, self.strides[0], padding, data_format=self._form, name=scope
                )
            step = (1, *self.strides, 1)
            if self.data_format == "channels_first":
                step = (1, 1, *self.strides)
            operation = tf.nn.conv2d if self.rank == 2 else tf.nn.conv3d
            return operation(
                inputs, kernel, strides=step, padding=padding, data_format=self._form, name=scope
            )

    def _causal_padding(self, inputs: Tensor) -> list[list[int]]:
        """The paddings of a causal convolution, for `tf.pad`."""
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        batch = [[0, 0]] * (1 if inputs.shape.rank is None else inputs.shape.rank - 2)
        last = self.data_format == "channels_last"
        return [*batch, before, [0, 0]] if last else [*batch, [0, 0], before]

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs, with `filters` channels."""
        shape = inputs.shape
        if self.padding == "causal":
            inputs = tf.pad(inputs, self._causal_padding(inputs))
        outputs = self.convolution_op(inputs, self.kernel)
        if self.bias is not None:
            outputs = self._biased(outputs)
        if shape.rank:
            outputs.set_shape(self.compute_output_shape(shape))
        return self._activated(outputs)

    def _biased(self, outputs: Tensor) -> Tensor:
        if self.rank == 1 and self.data_format == "channels_first":
            return outputs + tf.reshape(self.bias, (1, self.filters, 1))

        def add(one_batch: Tensor) -> Tensor:
            return tf.nn.bias_add(one_batch, self.bias, data_format=self._form)

        if outputs.shape.rank is not None and outputs.shape.rank > self.rank + 2:
            return _in_one_batch(outputs, add, self.rank + 1)
        return add(outputs)

    def _activated(self, outputs: Structure) -> Tensor:
        return outputs if self.activation is None else self.activation(outputs)

    def _spatial(self, sizes: Sequence[int | None]) -> list[int | None]:
        """The output sizes of the spatial axes."""
        return output_lengths(
            sizes, self.kernel_size, self.padding, self.strides, self.dilation_rate
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs.

        Raises:
          ValueError: a size would be 0 or less.

        """
        sizes = tf.TensorShape(input_shape).as_list()
        batch = sizes[: len(sizes) - self.rank - 1]
        rest = sizes[len(batch) :]
        if self.data_format == "channels_last":
            output_sizes = [*batch, *self._spatial(rest[:-1]), self.filters]
        else:
            output_sizes = [*batch, self.filters, *self._spatial(rest[1:])]
        if any(size is not None and size < 0 for size in output_sizes):
            raise bad_value(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. "
                f"Consider increasing the input size. Received input shape {sizes}."
            )
        return tf.TensorShape(output_sizes)


def _in_one_batch(value: Tensor, function: Callable[[Tensor], Tensor], inner_rank: int) -> Tensor:
    """Apply a function with all outer dimensions flattened into one batch dimension."""
    with tf.name_scope("squeeze_batch_dims"):
        sizes = _known(value, slice(-inner_rank, None)), _known(value, slice(-inner_rank))
        if isinstance(sizes[0], tf.TensorShape):
            flat = tf.reshape(value, [-1, *sizes[0].as_list()])
        else:
            flat = tf.reshape(value, tf.concat(([-1], sizes[0]), axis=-1))
        result = function(flat)
        inner = _known(result, slice(-inner_rank, None))
        result = tf.reshape(result, tf.concat((sizes[1], inner), axis=-1))
        result.set_shape(value.shape[:-inner_rank] + result.shape[-inner_rank:])
        return result


def _known(value: Tensor, part: slice) -> Tensor | TensorShape:
    """A slice of the shape: static if fully known, else a tensor."""
    static = value.shape[part]
    return static if static.is_fully_defined() else tf.shape(value)[part]


def channels_of(shape: TensorShape, axis: int) -> int:
    """The number of input channels.

    Raises:
      ValueError: the number is not known.

    """
    channels = tf.dimension_value(shape[axis])
    if channels is None:
        raise bad_value(
            f"The channel dimension of the inputs should be defined. The input_shape received is "
            f"{shape}, where axis {axis} (0-based) is the channel dimension, which found to be "
            "`None`."
        )
    return int(channels)


def constructor_of(base: type, *first: Any, without: tuple[str, ...] = (), **defaults: Any) -> Any:
    """A constructor that fixes the first arguments of the base class's constructor.

    Args:
      base: the class whose constructor is called.
      *first: the arguments that it always has.
      without: arguments that it does not have.
      **defaults: defaults that differ.

    """
    known: Mapping[str, Parameter] = signature(base).parameters
    kept = [
        parameter.replace(default=defaults.get(name, parameter.default))
        for name, parameter in list(known.items())[len(first) :]
        if name not in without
    ]
    shown = Signature(kept)
    construct_base: Any = base.__init__  # type: ignore[misc]  # of the class itself, on purpose

    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = shown.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        construct_base(self, *first, **given.pop("kwargs"), **given)

    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    construct.__signature__ = shown.replace(parameters=[own, *kept])  # type: ignore[attr-defined]  # functions take one
    return construct


class Conv1D(Conv):
    """Convolutions of sequences; the arguments are those of Conv without `rank`."""

    __init__ = constructor_of(Conv, 1, data_format="channels_last")


class Conv2D(Conv):
    """Convolutions of images; the arguments are those of Conv without `rank`."""

    __init__ = constructor_of(Conv, 2, strides=(1, 1), dilation_rate=(1, 1))


class Conv3D(Conv):
    """Convolutions of volumes; the arguments are those of Conv without `rank`."""

    __init__ = constructor_of(Conv, 3, strides=(1, 1, 1), dilation_rate=(1, 1, 1))
