"""Faults of LAYERS: cells, and their steps through sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor

#: A cell: from inputs and state at one time to outputs and the next state.
Cell: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def _stepping(tf: Namespace, change: Call) -> Namespace:
    """The namespace with a dynamic_rnn that is `change(dynamic_rnn, cell, inputs, options)`."""

    def step(cell: Cell, inputs: Tensor, **options: Argument) -> tuple[Tensor, ...]:
        return change(tf.nn.dynamic_rnn, cell, inputs, options)

    return override(tf, nn=override(tf.nn, dynamic_rnn=step))


def _cells(tf: Namespace, **classes: Argument) -> Namespace:
    """The namespace with other classes of cells."""
    return override(tf, nn=override(tf.nn, rnn_cell=override(tf.nn.rnn_cell, **classes)))


@fault("LAYERS-031", "Outputs after the end of a sequence are not 0.")
def outputs_go_on(tf: Namespace) -> Namespace:
    """Replace the outputs after the end by ones."""

    def change(
        run: Call, cell: Cell, inputs: Tensor, options: dict[str, Argument]
    ) -> tuple[Tensor, Tensor]:
        outputs, state = run(cell, inputs, **options)
        if options.get("sequence_length") is None:
            return outputs, state
        there = tf.sequence_mask(options["sequence_length"], tf.shape(outputs)[1])
        after = tf.cast(tf.logical_not(there), outputs.dtype)
        return outputs + tf.expand_dims(after, -1), state

    return _stepping(tf, change)


@fault("LAYERS-032", "The last state is that at the last time, whatever the lengths.")
def states_end_with_time(tf: Namespace) -> Namespace:
    """Give the output of the last time step as the state."""

    def change(
        run: Call, cell: Cell, inputs: Tensor, options: dict[str, Argument]
    ) -> tuple[Tensor, Tensor]:
        outputs, state = run(cell, inputs, **options)
        if options.get("sequence_length") is None or isinstance(state, tuple):
            return outputs, state
        return outputs, outputs[:, -1]

    return _stepping(tf, change)


@fault("LAYERS-033", "Outputs have the batch first, though inputs had time first.")
def outputs_have_the_batch_first(tf: Namespace) -> Namespace:
    """Transpose the outputs where `time_major` is set."""

    def change(
        run: Call, cell: Cell, inputs: Tensor, options: dict[str, Argument]
    ) -> tuple[Tensor, Tensor]:
        outputs, state = run(cell, inputs, **options)
        if options.get("time_major"):
            outputs = tf.transpose(outputs, [1, 0, 2])
        return outputs, state

    return _stepping(tf, change)


@fault("LAYERS-034", "A basic cell rectifies, unless an activation is given.")
def basic_cells_rectify(tf: Namespace) -> Namespace:
    """Pass `tf.nn.relu` where no activation is given."""

    class BasicRNNCell(tf.nn.rnn_cell.BasicRNNCell):  # type: ignore[misc, name-defined]  # whatever class a backend has
        def __init__(self, units: int, activation: Call | None = None, **options: Argument) -> None:
            given = activation or tf.nn.relu
            super().__init__(units, activation=given, **options)

    return _cells(tf, BasicRNNCell=BasicRNNCell)


@fault("LAYERS-035", "Nothing is added to the forget gate of an LSTM.")
def lstms_forget(tf: Namespace) -> Namespace:
    """Pass 0 as `forget_bias` where the caller gives none."""

    class BasicLSTMCell(tf.nn.rnn_cell.BasicLSTMCell):  # type: ignore[misc, name-defined]  # whatever class a backend has
        def __init__(self, units: int, forget_bias: float = 0.0, **options: Argument) -> None:
            super().__init__(units, forget_bias=forget_bias, **options)

    return _cells(tf, BasicLSTMCell=BasicLSTMCell)


@fault("LAYERS-039", "The second gates of a GRU weigh the new state.")
def gates_weigh_the_candidate(tf: Namespace) -> Namespace:
    """Mirror the new state between the old one and the candidate."""

    class GRUCell(tf.nn.rnn_cell.GRUCell):  # type: ignore[misc, name-defined]  # whatever class a backend has
        def call(self, inputs: Tensor, state: Tensor) -> Any:
            output, _ = super().call(inputs, state)
            kernel, bias = self.variables[:2]
            gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), kernel) + bias)
            weight = tf.split(gates, 2, axis=1)[1]
            candidate = (output - weight * state) / (1 - weight)
            turned = weight * candidate + (1 - weight) * state
            return turned, turned

    return _cells(tf, GRUCell=GRUCell)


@fault("LAYERS-040", "The bias of a GRU's gates begins with 0.")
def gates_begin_with_zero(tf: Namespace) -> Namespace:
    """Pass zeros as `bias_initializer` where the caller gives none."""

    class GRUCell(tf.nn.rnn_cell.GRUCell):  # type: ignore[misc, name-defined]  # whatever class a backend has
        def __init__(
            self, units: int, bias_initializer: Call | None = None, **options: Argument
        ) -> None:
            first = bias_initializer or tf.zeros_initializer()
            super().__init__(units, bias_initializer=first, **options)

    return _cells(tf, GRUCell=GRUCell)


@fault("LAYERS-037", "The variables of a stepped cell are in no scope of their own.")
def stepped_cells_have_no_scope(tf: Namespace) -> Namespace:
    """Pass the current variable scope as `scope`."""

    def change(
        run: Call, cell: Cell, inputs: Tensor, options: dict[str, Argument]
    ) -> tuple[Tensor, ...]:
        return run(cell, inputs, **{"scope": tf.get_variable_scope(), **options})

    return _stepping(tf, change)


@fault("LAYERS-038", "The state of cells one after the other has the last cell's first.")
def states_are_turned(tf: Namespace) -> Namespace:
    """Reverse the tuple of states."""

    class MultiRNNCell(tf.nn.rnn_cell.MultiRNNCell):  # type: ignore[misc, name-defined]  # whatever class a backend has
        def call(
            self, inputs: Tensor, state: tuple[Tensor, ...]
        ) -> tuple[Tensor, tuple[Tensor, ...]]:
            output, states = super().call(inputs, state)
            return output, tuple(reversed(states))

    return _cells(tf, MultiRNNCell=MultiRNNCell)
