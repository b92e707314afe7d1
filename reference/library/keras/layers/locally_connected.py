"""Locally connected layers: convolutions with unshared kernels (tf_keras 2.21)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

import sessrun.reference as tf
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations, regularizers
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import NamedOptions
from sessrun.reference.library.keras.layers.convolutional import constructor_of
from sessrun.reference.library.keras.layers.window_arguments import (
    normalized_format,
    normalized_padding,
    normalized_tuple,
    output_length,
)
from sessrun.reference.library.keras.local_convolutions import local_conv
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


class LocallyConnected(Layer):
    """activation(unshared convolution + bias): each output position has its own kernel.

    Args:
      rank: how many axes the window moves over.
      filters: how many channels come out.
      kernel_size: the window's size, a number or one for each axis.
      strides: how far it moves each time.
      padding: `valid`; or `same`, if the implementation is not 1.
      data_format: `channels_last` or `channels_first`.
      activation: a function or its name.
      use_bias: whether a bias of each position is added.
      kernel_initializer: makes the first values of the kernels.
      bias_initializer: the initializer of the bias.
      kernel_regularizer: a loss of the kernels.
      bias_regularizer: a loss of the bias.
      activity_regularizer: a loss of the outputs.
      kernel_constraint: what becomes of the kernels after an update.
      bias_constraint: what becomes of the bias.
      implementation: 1 for a product for each position, 2 for one with a masked matrix, 3 for one
        with a sparse matrix.
      **kwargs: as for Layer.

    Raises:
      ValueError: the padding does not fit; on building: sizes are not known, or nothing comes out.

    """

    _options: tuple[str, ...] = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
        "implementation",
    )

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        implementation: int = 1,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.rank = rank
        self.filters = filters
        self.kernel_size = normalized_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalized_tuple(strides, rank, "strides", zero=True)
        self.padding = normalized_padding(padding)
        if self.padding != "valid" and implementation == 1:
            raise bad_value(
                f"Invalid border mode for {type(self).__name__} "
                f'(only "valid" is supported if implementation is 1): {padding}'
            )
        self.data_format = normalized_format(data_format)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._set_rules("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_rules("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=rank + 2)

    def _is_last(self) -> bool:
        return self.data_format == "channels_last"

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernels and bias.

        Raises:
          ValueError: sizes are not known, the output is empty, or `implementation` is unknown.

        """
        sizes = tf.TensorShape(input_shape).as_list()
        channels = sizes[-1 if self._is_last() else 1]
        input_sizes = sizes[1:-1] if self._is_last() else sizes[2:]
        if None in {channels, *input_sizes}:
            raise bad_value(
                f"The sizes of the inputs to a {type(self).__name__} layer should be fully-defined,"
                f" but layer received the inputs shape {tuple(sizes)}"
            )
        self._output_sizes = tuple(self._lengths(input_sizes))
        if min(self._output_sizes) <= 0:
            raise bad_value(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. "
                f"Consider increasing the input size. Received input shape {tuple(sizes)}"
            )
        self.kernel = self._add_by_rules("kernel", self._kernel_shape(channels, input_sizes))
        bias = (*self._output_sizes, self.filters)
        self.bias = self._add_by_rules("bias", bias) if self.use_bias else None
        axes = {-1 if self._is_last() else 1: channels}
        self.input_spec = InputSpec(ndim=self.rank + 2, axes=axes)
        super().build(input_shape)

    def _lengths(self, input_sizes: Sequence[int]) -> list[Any]:
        """The output sizes of the spatial axes."""
        windows = zip(input_sizes, self.kernel_size, self.strides, strict=True)
        return [
            output_length(size, window, self.padding, stride) for size, window, stride in windows
        ]

    def _kernel_shape(self, channels: int, input_sizes: Sequence[int]) -> tuple[int, ...]:
        """The shape of the kernel; implementations 2 and 3 also store which elements connect."""
        if self.implementation == 1:
            return (
                math.prod(self._output_sizes),
                math.prod(self.kernel_size) * channels,
                self.filters,
            )
        if self.implementation not in {2, 3}:
            raise bad_value(f"Unrecognized implementation mode: {self.implementation}.")
        mask = self._connected(input_sizes)
        if self.implementation == 2:
            ends = (self.rank, -1) if self._is_last() else (0, -self.rank - 1)
            for axis in ends:
                mask = np.expand_dims(mask, axis)
            self.kernel_mask = mask.astype(np.float32)
            if self._is_last():
                return (*input_sizes, channels, *self._output_sizes, self.filters)
            return (channels, *input_sizes, self.filters, *self._output_sizes)
        ways = mask.reshape(math.prod(input_sizes), math.prod(self._output_sizes)).T
        shape = [ways.shape[0], self.filters, ways.shape[1], channels]
        order = (0, 1, 2, 3) if self._is_last() else (1, 0, 3, 2)
        connected = np.broadcast_to(ways[:, None, :, None], shape).transpose(order)
        self.kernel_shape = (shape[0] * shape[1], shape[2] * shape[3])
        self.kernel_idxs = np.argwhere(connected.reshape(self.kernel_shape)).tolist()
        return (len(self.kernel_idxs),)

    def _connected(self, input_sizes: Sequence[int]) -> HostArray:
        """Whether an output position's window has an input position, [*inputs, *outputs]."""
        mask = np.zeros((*input_sizes, *self._output_sizes), dtype=bool)
        for position in itertools.product(*map(range, self._output_sizes)):
            seen: list[slice] = []
            for axis, at in enumerate(position):
                window = self.kernel_size[axis]
                start = at * self.strides[axis]
                start -= 0 if self.padding == "valid" else window // 2
                seen.append(slice(max(0, start), start + window))
            mask[tuple(seen) + position] = True
        return mask

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs."""
        if self.implementation == 1:
            output = local_conv(
                inputs,
                self.kernel,
                self.kernel_size,
                self.strides,
                self._output_sizes,
                self.data_format,
            )
        elif self.implementation == 2:
            output = self._by_matrix(inputs)
        else:
            output = self._by_sparse_matrix(inputs)
        if self.use_bias:
            shape = (1, *self._output_sizes, self.filters)
            if not self._is_last():
                shape = (1, self.filters, *self._output_sizes)
            output += tf.reshape(self.bias, shape)
        return self.activation(output)

    def _by_matrix(self, inputs: Tensor) -> Tensor:
        """Implementation 2: one product with a masked dense matrix."""
        flat = tf.reshape(inputs, (tf.shape(inputs)[0], -1))
        kernel = self.kernel_mask * self.kernel
        sizes = tf.shape(kernel)
        parts = sizes[: self.rank + 1], sizes[self.rank + 1 :]
        two = tuple(tf.reduce_prod(part) for part in parts)
        output = tf.matmul(flat, tf.reshape(kernel, two), b_is_sparse=True)
        shape = self.compute_output_shape(inputs.shape).as_list()[1:]
        return tf.reshape(output, [tf.shape(output)[0], *shape])

    def _by_sparse_matrix(self, inputs: Tensor) -> Tensor:
        """Implementation 3: one product with a sparse matrix."""
        flat = tf.reshape(inputs, (tf.shape(inputs)[0], -1))
        matrix = tf.SparseTensor(self.kernel_idxs, self.kernel, self.kernel_shape)
        output = tf.transpose(tf.sparse.sparse_dense_matmul(matrix, flat, adjoint_b=True))
        shape = self.compute_output_shape(inputs.shape).as_list()[1:]
        return tf.reshape(output, [tf.shape(output)[0], *shape])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs."""
        sizes = tf.TensorShape(input_shape).as_list()
        if self._is_last():
            return tf.TensorShape([sizes[0], *self._lengths(sizes[1:-1]), self.filters])
        return tf.TensorShape([sizes[0], self.filters, *self._lengths(sizes[2:])])


class LocallyConnected1D(LocallyConnected):
    """A locally connected layer of sequences."""

    __init__ = constructor_of(LocallyConnected, 1)


class LocallyConnected2D(LocallyConnected):
    """A locally connected layer of images."""

    __init__ = constructor_of(LocallyConnected, 2, strides=(1, 1))
