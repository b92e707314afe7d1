"""`tf.keras.layers.GRU` and its cell, in their forms of v1. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.layers.recurrent_cells import RecurrentCell
from sessrun.reference.library.keras.layers.simple_rnn import RNNOfCell
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["GRU", "GRUCell"]


#: The bias of the inputs and that of the state; None for one that the cell lacks.
Biases: TypeAlias = "Sequence[Tensor | Variable | None]"


class GRUCell(RecurrentCell):
    """A gated recurrent unit: an update gate and a reset gate control one state.

    Args:
      units: the size of output and state.
      activation: the function of what comes in.
      recurrent_activation: the function of the gates.
      use_bias: whether there is a bias.
      kernel_initializer: makes the first values of the kernel.
      recurrent_initializer: the initializer of the state's kernel.
      bias_initializer: the initializer of the bias.
      kernel_regularizer: a loss of the kernel.
      recurrent_regularizer: one of the state's kernel.
      bias_regularizer: one of the bias.
      kernel_constraint: what becomes of the kernel after an update.
      recurrent_constraint: of the state's kernel.
      bias_constraint: of the bias.
      dropout: the share of the inputs that is dropped while training.
      recurrent_dropout: that of the state.
      reset_after: whether the reset gate is applied after the product with the state's kernel,
        which then has a separate bias.
      **kwargs: as for Layer; `seed`; `implementation`, 1 for a product for each gate, 2 for one.

    Raises:
      ValueError: `units` is not positive.

    """

    _gates = 3
    _options = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        "kernel_initializer",
        "recurrent_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "recurrent_regularizer",
        "bias_regularizer",
        "kernel_constraint",
        "recurrent_constraint",
        "bias_constraint",
        "dropout",
        "recurrent_dropout",
        "implementation",
        "reset_after",
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
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        implementation = kwargs.pop("implementation", 1) or 1
        super().__init__(
            units, locals(), activation, use_bias, dropout, recurrent_dropout, **kwargs
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation = 1 if self.recurrent_dropout != 0 else implementation
        self.reset_after = reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        """One bias, or one for the inputs and one for the state."""
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(
        self, inputs: Tensor, states: Any, training: bool | Tensor | None = None
    ) -> tuple[Tensor, list[Tensor] | Tensor]:
        """The output, of shape [batch, units], and the state, which is the same."""
        before = states[0] if tf.nest.is_nested(states) else states
        dropped = self._dropout_mask("dropout", inputs, training)
        recurrent = self._dropout_mask("recurrent_dropout", before, training)
        biases: Sequence[Tensor | Variable | None] = (None, None)
        if self.use_bias:
            biases = tf.unstack(self.bias) if self.reset_after else (self.bias, None)
        compute = self._gate_by_gate if self.implementation == 1 else self._at_once
        staying, new = compute(inputs, before, biases, dropped, recurrent)
        output = staying * before + (1 - staying) * new
        return output, [output] if tf.nest.is_nested(states) else output

    def _part(self, value: Any, gate: int, *, of_rows: bool = True) -> Tensor:
        """The slice of a kernel or bias that belongs to a gate."""
        start = self.units * gate or None
        end = None if gate == 2 else self.units * (gate + 1)
        return value[:, start:end] if of_rows else value[start:end]

    def _gate_by_gate(
        self,
        inputs: Tensor,
        before: Tensor | Variable,
        biases: Biases,
        dropped: Sequence[Tensor] | None,
        recurrent: Sequence[Tensor] | None,
    ) -> tuple[Tensor, Tensor]:
        """The update gate and the candidate state, one matrix product per gate."""
        parts = [inputs] * 3
        if dropped is not None and self.dropout < 1:
            parts = [inputs * mask for mask in dropped]
        sums = [tf.matmul(parts[gate], self._part(self.kernel, gate)) for gate in range(3)]
        if self.use_bias:
            sums = [
                tf.nn.bias_add(sums[gate], self._part(biases[0], gate, of_rows=False))
                for gate in range(3)
            ]
        pasts = [before] * 3
        if recurrent is not None and self.recurrent_dropout < 1:
            pasts = [before * mask for mask in recurrent]

        def product(gate: int, past: Tensor | Variable) -> Tensor:
            return tf.matmul(past, self._part(self.recurrent_kernel, gate))

        def biased(gate: int, value: Tensor) -> Tensor:
            if not (self.reset_after and self.use_bias):
                return value
            return tf.nn.bias_add(value, self._part(biases[1], gate, of_rows=False))

        products = [product(gate, pasts[gate]) for gate in range(2)]
        products = [biased(gate, value) for gate, value in enumerate(products)]
        staying = self.recurrent_activation(sums[0] + products[0])
        counting = self.recurrent_activation(sums[1] + products[1])
        if self.reset_after:
            past = counting * biased(2, product(2, pasts[2]))
        else:
            past = product(2, counting * pasts[2])
        return staying, self.activation(sums[2] + past)

    def _at_once(
        self,
        inputs: Tensor,
        before: Tensor | Variable,
        biases: Biases,
        dropped: Sequence[Tensor] | None,
        recurrent: Sequence[Tensor] | None,
    ) -> tuple[Tensor, Tensor]:
        """The update gate and the candidate state, one matrix product for all gates."""
        del recurrent
        units = self.units
        if dropped is not None and self.dropout < 1:
            inputs *= dropped[0]
        total = tf.matmul(inputs, self.kernel)
        if self.use_bias:
            total = tf.nn.bias_add(total, biases[0])
        sums = tf.split(total, 3, axis=-1)
        if self.reset_after:
            inner = tf.matmul(before, self.recurrent_kernel)
            if self.use_bias:
                inner = tf.nn.bias_add(inner, biases[1])
        else:
            inner = tf.matmul(before, self.recurrent_kernel[:, : 2 * units])
        pasts = tf.split(inner, [units, units, -1], axis=-1)
        staying = self.recurrent_activation(sums[0] + pasts[0])
        counting = self.recurrent_activation(sums[1] + pasts[1])
        if self.reset_after:
            past = counting * pasts[2]
        else:
            past = tf.matmul(counting * before, self.recurrent_kernel[:, 2 * units :])
        return staying, self.activation(sums[2] + past)


class GRU(RNNOfCell):
    """The RNN of a GRUCell; takes the arguments of both."""

    _cell_class = GRUCell
    _cell_name = "gru_cell"
