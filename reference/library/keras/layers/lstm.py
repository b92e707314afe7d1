"""`tf.keras.layers.LSTM` and its cell, in their forms of v1. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations, initializers
from sessrun.reference.library.keras.layers.recurrent_cells import RecurrentCell
from sessrun.reference.library.keras.layers.simple_rnn import RNNOfCell
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["LSTM", "LSTMCell"]


class LSTMCell(RecurrentCell):
    """A long short-term memory cell; its states are output and carry.

    Args:
      units: the size of output and states.
      activation: the function of what comes in, and of the carry as it comes out.
      recurrent_activation: the function of the gates.
      use_bias: whether there is a bias.
      kernel_initializer: makes the first values of the kernel.
      recurrent_initializer: the initializer of the state's kernel.
      bias_initializer: the initializer of the bias.
      unit_forget_bias: whether the bias of the forget gate begins with 1.
      kernel_regularizer: a loss of the kernel.
      recurrent_regularizer: one of the state's kernel.
      bias_regularizer: one of the bias.
      kernel_constraint: what becomes of the kernel after an update.
      recurrent_constraint: of the state's kernel.
      bias_constraint: of the bias.
      dropout: the share of the inputs that is dropped while training.
      recurrent_dropout: that of the state.
      **kwargs: as for Layer; `seed`; `implementation`, 1 for a product for each gate, 2 for one.

    Raises:
      ValueError: `units` is not positive.

    """

    _gates = 4
    _options: tuple[str, ...] = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        "kernel_initializer",
        "recurrent_initializer",
        "bias_initializer",
        "unit_forget_bias",
        "kernel_regularizer",
        "recurrent_regularizer",
        "bias_regularizer",
        "kernel_constraint",
        "recurrent_constraint",
        "bias_constraint",
        "dropout",
        "recurrent_dropout",
        "implementation",
    )

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        implementation = kwargs.pop("implementation", 1) or 1
        super().__init__(
            units, locals(), activation, use_bias, dropout, recurrent_dropout, **kwargs
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = 1 if self.recurrent_dropout != 0 else implementation
        self.state_size = [units, units]

    def _rule_of(self, name: str) -> Any:
        """The initializer of a weight; with `unit_forget_bias` ones for the forget gate's bias."""
        if name != "bias" or not self.unit_forget_bias:
            return super()._rule_of(name)

        def parts(_: ShapeLike, *args: Any, **kwargs: Any) -> Tensor:
            return tf.concat(
                [
                    self.bias_initializer((self.units,), *args, **kwargs),
                    initializers.get("ones")((self.units,), *args, **kwargs),
                    self.bias_initializer((self.units * 2,), *args, **kwargs),
                ],
                0,
            )

        return parts

    def get_initial_state(
        self,
        inputs: Structure = None,
        batch_size: int | Tensor | None = None,
        dtype: DType | None = None,
    ) -> list[Tensor]:
        """Zeros for both states; raises as `zero_states`."""
        return list(super().get_initial_state(inputs, batch_size, dtype))

    def call(
        self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """The output, of shape [batch, units], and the states: output and carry."""
        before, carry = states[0], states[1]
        dropped = self._dropout_mask("dropout", inputs, training)
        recurrent = self._dropout_mask("recurrent_dropout", before, training)
        if self.implementation == 1:
            parts = [inputs] * 4
            if dropped is not None and self.dropout < 1:
                parts = [inputs * mask for mask in dropped]
            pasts = [before] * 4
            sums = self._of_inputs(parts)
            if recurrent is not None and self.recurrent_dropout < 1:
                pasts = [before * mask for mask in recurrent]
            carry, gate = self._gated(sums, pasts, carry)
        else:
            if dropped is not None and self.dropout < 1:
                inputs *= dropped[0]
            total = tf.matmul(inputs, self.kernel)
            total += tf.matmul(before, self.recurrent_kernel)
            if self.use_bias:
                total = tf.nn.bias_add(total, self.bias)
            carry, gate = self._gated_at_once(tf.split(total, 4, axis=1), carry)
        output = gate * self.activation(carry)
        return output, [output, carry]

    def _of_inputs(self, parts: Sequence[Tensor]) -> list[Tensor]:
        """The contribution of the inputs to each gate."""
        kernels = tf.split(self.kernel, 4, axis=1)
        sums = [tf.matmul(part, kernel) for part, kernel in zip(parts, kernels, strict=True)]
        if not self.use_bias:
            return sums
        biases = tf.split(self.bias, 4, axis=0)
        return [tf.nn.bias_add(*pair) for pair in zip(sums, biases, strict=True)]

    def _gated(
        self, sums: Sequence[Tensor], pasts: Sequence[Tensor], carry: Tensor | Variable
    ) -> tuple[Tensor, Tensor]:
        """The next carry and the output gate, one matrix product per gate."""
        units = self.units

        def total(gate: int) -> Tensor:
            end = None if gate == 3 else units * (gate + 1)
            kernel = self.recurrent_kernel[:, units * gate or None : end]
            return sums[gate] + tf.matmul(pasts[gate], kernel)

        entering = self.recurrent_activation(total(0))
        staying = self.recurrent_activation(total(1))
        carry = staying * carry + entering * self.activation(total(2))
        return carry, self.recurrent_activation(total(3))

    def _gated_at_once(self, sums: list[Tensor], carry: Tensor) -> tuple[Tensor, Tensor]:
        """The next carry and the output gate, from the sums for all gates."""
        entering = self.recurrent_activation(sums[0])
        staying = self.recurrent_activation(sums[1])
        carry = staying * carry + entering * self.activation(sums[2])
        return carry, self.recurrent_activation(sums[3])


class LSTM(RNNOfCell):
    """The RNN of an LSTMCell; takes the arguments of both."""

    _cell_class = LSTMCell
    _cell_name = "lstm_cell"
