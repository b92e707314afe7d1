"""Convolutional LSTM layers, over sequences of sequences, images or volumes.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import convolutions as windows
from sessrun.reference.library.keras import sessions
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import CommonOptions, LayerOptions
from sessrun.reference.library.keras.layers.convolutional import channels_of
from sessrun.reference.library.keras.layers.lstm import LSTMCell
from sessrun.reference.library.keras.layers.simple_rnn import RNNOfCell
from sessrun.reference.library.keras.layers.window_arguments import (
    normalized_format,
    normalized_padding,
    normalized_tuple,
    output_lengths,
)
from sessrun.reference.library.keras.settings import floatx

__all__ = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]


class ConvLSTMCell(LSTMCell):
    """An LSTM cell with convolutions instead of matrix products.

    Args:
      filters: how many channels output and states have.
      kernel_size: the window's size.
      strides: how far it moves over the inputs each time; over states always 1.
      padding: `valid` or `same`, of the inputs; of states always `same`.
      data_format: `channels_last` or `channels_first`.
      dilation_rate: the distance of the elements of the inputs' window.
      **kwargs: those of LSTMCell but for `units` and `implementation`.

    Raises:
      ValueError: a number is too small; on building: the channels are not known.

    """

    _options: tuple[str, ...] = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        *(name for name in LSTMCell._options if name not in {"units", "implementation"}),  # noqa: SLF001 - of its own base
    )
    #: How many axes the window moves over.
    rank: ClassVar[int]

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        **kwargs: Unpack[CommonOptions],
    ) -> None:
        super().__init__(filters, **kwargs)
        self.filters = filters
        self.kernel_size = normalized_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalized_tuple(strides, self.rank, "strides", zero=True)
        self.padding = normalized_padding(padding)
        self.data_format = normalized_format(data_format)
        self.dilation_rate = normalized_tuple(dilation_rate, self.rank, "dilation_rate")

    def build(self, input_shape: ShapeLike) -> None:
        """Make the two kernels and the bias."""
        Layer.build(self, input_shape)
        shape = tf.TensorShape(input_shape)
        channels = channels_of(shape, 1 if self.data_format == "channels_first" else -1)
        wide = self.filters * self._gates
        self.kernel_shape = (*self.kernel_size, channels, wide)
        self.kernel = self._weight("kernel", self.kernel_shape)
        self.recurrent_kernel = self._weight(
            "recurrent", (*self.kernel_size, self.filters, wide), "recurrent_kernel"
        )
        self.bias = self._weight("bias", self._bias_shape()) if self.use_bias else None

    def call(
        self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """The output, with `filters` channels, and the states: output and carry."""
        before, carry = states[0], states[1]
        given = self._for_gates("dropout", inputs, training)
        kept = self._for_gates("recurrent_dropout", before, training)
        kernels = tf.split(self.kernel, 4, axis=self.rank + 1)
        recurrent = tf.split(self.recurrent_kernel, 4, axis=self.rank + 1)
        biases = [None] * 4 if self.bias is None else tf.split(self.bias, 4)
        new = [
            self.input_conv(x, kernel, bias, padding=self.padding)
            for x, kernel, bias in zip(given, kernels, biases, strict=True)
        ]
        old = [self.recurrent_conv(h, kernel) for h, kernel in zip(kept, recurrent, strict=True)]
        enters = self.recurrent_activation(new[0] + old[0])
        stays = self.recurrent_activation(new[1] + old[1])
        carry = stays * carry + enters * self.activation(new[2] + old[2])
        leaves = self.recurrent_activation(new[3] + old[3])
        output = leaves * self.activation(carry)
        return output, [output, carry]

    def _for_gates(self, name: str, value: Tensor, training: bool | Tensor | None) -> list[Tensor]:
        """The value multiplied by each gate's dropout mask, one copy per gate."""
        masks = self._dropout_mask(name, value, training)
        if masks is None or getattr(self, name) >= 1:
            return [value] * 4
        return [value * mask for mask in masks]

    def input_conv(
        self, x: Tensor, w: Tensor | Variable, b: TensorLike | None = None, padding: str = "valid"
    ) -> Tensor:
        """The convolution of inputs, with a bias unless it is None."""
        result = self._convolution(
            x,
            w,
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )
        return result if b is None else windows.bias_add(result, b, data_format=self.data_format)

    def recurrent_conv(self, x: Tensor, w: Tensor | Variable) -> Tensor:
        """The convolution of a state, which keeps its size."""
        ones = (1,) * self.rank
        return self._convolution(x, w, strides=ones, padding="same", data_format=self.data_format)

    def _convolution(self, *args: Any, **kwargs: Any) -> Tensor:
        function = (windows.conv1d, windows.conv2d, windows.conv3d)[self.rank - 1]
        return function(*args, **kwargs)

    def spatial(self, sizes: Sequence[int | None]) -> list[int | None]:
        """The output sizes of the spatial axes."""
        return output_lengths(
            sizes, self.kernel_size, self.padding, self.strides, self.dilation_rate
        )


class ConvLSTM(RNNOfCell):
    """The RNN of a ConvLSTMCell; takes the arguments of both.

    Inputs are of shape [batch, time, ..., channels], or [batch, time, channels, ...].

    Raises:
      TypeError: `unroll` is set.

    """

    _cell_name = "conv_lstm_cell"
    _cell_class: ClassVar[type[ConvLSTMCell]]

    def __init__(self, *args: Any, **kwargs: Unpack[LayerOptions]) -> None:
        if kwargs.get("unroll"):
            raise TypeError(
                "Unrolling is not possible with convolutional RNNs. Received: unroll=True"
            )
        super().__init__(*args, **kwargs)
        self.rank = self._cell_class.rank
        self.input_spec = [InputSpec(ndim=self.rank + 3)]

    @classmethod
    def _order(cls) -> list[str]:
        """The argument names in order, dropout rates last."""
        last = ["dropout", "recurrent_dropout"]
        names = [name for name in super()._order() if name not in {*last, "unroll", "reset_after"}]
        return [*names, *last]

    @property
    def _is_first(self) -> bool:
        return bool(self.cell.data_format == "channels_first")

    def build(self, input_shape: Any) -> None:
        """Build the cell for the inputs of one time step."""
        Layer.build(self, input_shape)
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = tf.TensorShape(shape).as_list()
        batch = sizes[0] if self.stateful else None
        self.input_spec = [InputSpec(shape=(batch, None, *sizes[2 : self.rank + 3]))]
        self.cell.build((sizes[0], *sizes[2:]))
        self.cell.built = True
        known = list(self.cell.state_size)
        if self.state_spec is None:
            free = (None,) * self.rank
            shapes = [(None, n, *free) if self._is_first else (None, *free, n) for n in known]
            self.state_spec = [InputSpec(shape=one) for one in shapes]
        axis = 1 if self._is_first else self.rank + 1
        if [spec.shape[axis] for spec in self.state_spec] != known:
            raise bad_value(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. "
                f"Received state shapes {[spec.shape for spec in self.state_spec]}. However "
                f"`cell.state_size` is {known}"
            )
        if self.stateful:
            self.reset_states()

    def get_initial_state(self, inputs: Structure) -> list[Structure]:
        """Zeros of the output's spatial size."""
        total = tf.reduce_sum(tf.zeros_like(inputs), axis=1)
        shape = (*self.cell.kernel_shape[:-1], self.cell.filters)
        zeros = self.cell.input_conv(total, tf.zeros(shape, total.dtype), padding=self.cell.padding)
        return [zeros for _ in self.cell.state_size]

    def _cell_function(self) -> Any:
        """The cell's `call`, so that no layer call is recorded."""
        return self.cell.call

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape | list[TensorShape]:
        """The shape of the outputs; a list with the states' shapes if `return_state`."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        batch, times, *rest = tf.TensorShape(shape).as_list()
        if self._is_first:
            state = [batch, self.cell.filters, *self.cell.spatial(rest[1:])]
        else:
            state = [batch, *self.cell.spatial(rest[:-1]), self.cell.filters]
        outputs = [batch, times, *state[1:]] if self.return_sequences else state
        if not self.return_state:
            return tf.TensorShape(outputs)
        return [tf.TensorShape(outputs), *(tf.TensorShape(state) for _ in self.cell.state_size)]

    def _batch_size(self) -> int | None:
        """The batch size that the layer was built for, if all sizes of states are known."""
        shape = None if self.input_spec is None else self.input_spec[0].shape
        if shape is None or None in self._state_shapes(shape[0])[0]:
            return None
        return int(shape[0])

    def _state_shapes(self, batch: int) -> list[Sequence[int]]:
        """The shape of each state, for a batch of this size and inputs as they were built for."""
        rest = self.input_spec[0].shape[2:]
        places = self.cell.spatial(rest[1:] if self._is_first else rest[:-1])
        count = self.cell.filters
        shape = [batch, count, *places] if self._is_first else [batch, *places, count]
        return [shape for _ in self.cell.state_size]

    def _make_states(self, batch: int) -> None:
        """Make the variables of the kept states, zeros."""
        shapes = self._state_shapes(batch)
        self.states = [sessions.variable(tf.zeros(shape, floatx())) for shape in shapes]


def _cell_of(rank: int) -> type[ConvLSTMCell]:
    """A ConvLSTMCell class of this rank."""
    return type("ConvLSTMCell", (ConvLSTMCell,), {"rank": rank, "__module__": __name__})


class ConvLSTM1D(ConvLSTM):
    """ConvLSTM over sequences of 1-D inputs; arguments as of ConvLSTM without `rank`."""

    _cell_class = _cell_of(1)


class ConvLSTM2D(ConvLSTM):
    """ConvLSTM over sequences of images; arguments as of ConvLSTM without `rank`."""

    _cell_class = _cell_of(2)


class ConvLSTM3D(ConvLSTM):
    """ConvLSTM over sequences of volumes; arguments as of ConvLSTM without `rank`."""

    _cell_class = _cell_of(3)
