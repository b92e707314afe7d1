"""`static_rnn` and its variants: cells unrolled in the graph (TF 2.21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.ops.array_ops import concat, reverse_sequence, shape, stack, unstack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_min
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DTypeLike, int32
from sessrun.reference.base.tensor_shape import TensorShape, unknown_shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.recurrent.unrolling import (
    Cell,
    Lengths,
    assert_like_rnncell,
    first_state,
    known_shape,
    opened,
    state_dtype,
    step,
    zero_output,
)
from sessrun.reference.public import public

#: The name of a state, or several in the structure of the states.
StateNames: TypeAlias = "str | Sequence[StateNames]"


class StateSaver(Protocol):
    """Keeps states between runs, by name."""

    def state(self, name: str) -> Tensor:
        """The state that was saved."""

    def save_state(self, name: str, value: Tensor) -> Operation:
        """The operation that saves it."""


def _check_inputs(inputs: Structure) -> None:
    if not nest.is_nested(inputs):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise bad_value("Argument `inputs` must not be empty.")


def _first(inputs: Structure) -> Tensor:
    first: Any = inputs
    while nest.is_nested(first):
        first = first[0]
    tensor: Tensor = first
    return tensor


def _known_batch_size(inputs: Structure) -> int | None:
    """The static batch size of the inputs; None if it is unknown.

    Raises:
      ValueError: inputs do not fit, or another dimension is not known.

    """
    first = _first(inputs)
    if first.shape.rank == 1:
        return first.shape.as_list()[0]
    fixed = first.shape.with_rank_at_least(2)[:1]
    for value in nest.flatten(inputs):
        sizes = value.shape.with_rank_at_least(2)
        fixed.assert_is_compatible_with(sizes[:1])
        for axis, size in enumerate(sizes.as_list()[1:]):
            if size is None:
                raise bad_value(
                    f"Input size (dimension {axis} of input {value}) must be "
                    "accessible via shape inference, but saw value None."
                )
    return fixed.as_list()[0]


@public("nn.static_rnn")
def static_rnn(
    cell: Cell,
    inputs: Sequence[Any],
    initial_state: Structure = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Structure]:
    """Unroll a cell over a list of inputs, with operations for each step.

    Args:
      cell: an RNNCell.
      inputs: a list of tensors [batch, depth], or of several, nested.
      initial_state: the state before the first; by default the cell's zeros.
      dtype: of these; required without `initial_state`.
      sequence_length: how many steps each row takes, [batch]. After its last step a row's outputs
        are zero, and its state stays.
      scope: a variable scope, by default `rnn`.

    Returns:
      `(outputs, state)`: a list of outputs and the last state.

    Raises:
      TypeError: `cell` is not an RNNCell, or `inputs` is not a list.
      ValueError: there are no inputs, their shapes do not fit, or there is neither a state nor a
        dtype.

    """
    assert_like_rnncell("cell", cell)
    _check_inputs(inputs)
    outputs = []
    with opened(scope) as entered:
        known = _known_batch_size(inputs)
        batch_size = known or shape(_first(inputs))[0]
        state: Structure = first_state(cell, initial_state, batch_size, dtype)
        lengths = zero_outputs = None
        if sequence_length is not None:
            given = convert_to_tensor(sequence_length, name="sequence_length")
            if given.shape.rank not in {None, 1}:
                raise bad_value(
                    f"Argument `sequence_length` must be a vector of length "
                    f"{batch_size}. Received sequence_length={given}."
                )
            zero_outputs = _nothing(cell, known, batch_size, state_dtype(dtype, state))
            given = cast(given, int32)
            least = reduce_min(given)
            lengths = Lengths(given, least, reduce_max(given))
        for time, step_inputs in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            if lengths is None:
                output, state = cell(step_inputs, state)
            else:
                call = _Call(cell, step_inputs, state)
                output, state = step(time, lengths, zero_outputs, state, call)
            outputs.append(output)
        return outputs, state


class _Call:
    """A deferred call of a cell."""

    def __init__(self, cell: Cell, inputs: Structure, state: Structure) -> None:
        self.cell = cell
        self.inputs = inputs
        self.state = state

    def __call__(self) -> tuple[Structure, Structure]:
        """The output and the next state."""
        output, state = self.cell(self.inputs, self.state)
        return output, state


def _nothing(
    cell: Cell, known: int | None, batch_size: int | Tensor, dtype: DTypeLike
) -> Structure:
    """Zero outputs for rows whose sequence has ended."""
    flat = []
    for size in nest.flatten(cell.output_size):
        output = zero_output(batch_size, size, dtype)
        output.set_shape(TensorShape(known_shape(known, size)))
        flat.append(output)
    outputs: list[Any] = nest.pack_sequence_as(structure=cell.output_size, flat_sequence=flat)
    return outputs


@public("nn.static_state_saving_rnn")
def static_state_saving_rnn(
    cell: Cell,
    inputs: Sequence[Any],
    state_saver: StateSaver,
    state_name: StateNames,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Structure]:
    """`static_rnn` with the state read from and written to a state saver.

    Args:
      cell: an RNNCell.
      inputs: as for `static_rnn`.
      state_saver: has `state(name)`, and `save_state(name, value)`, an operation.
      state_name: the state's name, or several, nested as the cell's `state_size`.
      sequence_length: as for `static_rnn`.
      scope: the same.

    Returns:
      `(outputs, state)`: the last output and the state are there once all is saved.

    Raises:
      ValueError: the names do not fit the states; and as `static_rnn`.

    """
    size = cell.state_size
    if nest.is_nested(size) != nest.is_nested(state_name):
        raise bad_value(
            f"Argument `state_name` should be the same type as `cell.state_size`. "
            f"Received: {state_name} and {size}."
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise bad_value(
            f"Number of elements in argument `state_name` and `cell.state_size` are "
            f"mismatched: {state_name} and {size}."
        )
    first = [state_saver.state(name) for name in names]
    initial = nest.pack_sequence_as(structure=size, flat_sequence=first)
    outputs, state = static_rnn(
        cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope
    )
    pairs = zip(names, nest.flatten(state), strict=True)
    saved = [state_saver.save_state(name, value) for name, value in pairs]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        return outputs, nest.map_structure(identity, state)


def _reversed(sequence: Sequence[Any], lengths: TensorLike | None) -> list[Any]:
    """The steps in reverse order, each row within its sequence length."""
    if lengths is None:
        return list(reversed(sequence))
    columns: list[list[Tensor]] = [[] for _ in sequence]
    for parts in zip(*(nest.flatten(value) for value in sequence), strict=True):
        common = unknown_shape(rank=parts[0].shape.rank)
        for value in parts:
            common.assert_is_compatible_with(value.shape)
            value.set_shape(common)
        reversed_steps = unstack(reverse_sequence(stack(parts), lengths, 0, 1))
        for column, value in zip(columns, reversed_steps, strict=True):
            value.set_shape(common)
            column.append(value)
    return [
        nest.pack_sequence_as(structure=value, flat_sequence=column)
        for value, column in zip(sequence, columns, strict=True)
    ]


@public("nn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: Cell,
    cell_bw: Cell,
    inputs: Sequence[Any],
    initial_state_fw: Structure = None,
    initial_state_bw: Structure = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Structure, Structure]:
    """Unroll two cells over a list of inputs, one forwards and one backwards.

    Arguments as of `static_rnn`, but for two cells and two states; the scope is
    `bidirectional_rnn` by default.

    Returns:
      `(outputs, state, state backwards)`: each output both cells' side by side.

    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=inner
            )
        with variable_scope("bw") as inner:
            reversed_inputs = _reversed(inputs, sequence_length)
            reversed_outputs, state_bw = static_rnn(
                cell_bw, reversed_inputs, initial_state_bw, dtype, sequence_length, scope=inner
            )
    backward = _reversed(reversed_outputs, sequence_length)
    pairs = zip(nest.flatten(forward), nest.flatten(backward), strict=True)
    flat = tuple(concat(list(pair), 1) for pair in pairs)
    outputs = nest.pack_sequence_as(structure=forward, flat_sequence=flat)
    return outputs, state_fw, state_bw
