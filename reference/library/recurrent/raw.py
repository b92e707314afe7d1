"""`raw_rnn`: a cell in a `while_loop` controlled by a function (TF 2.21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import shape, where
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.reduce_ops import reduce_all
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DTypeLike, int32
from sessrun.reference.base.tensor_shape import dimension_at_index
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import logical_not, logical_or
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.recurrent.unrolling import (
    Cell,
    assert_like_rnncell,
    joined_shape,
    opened,
    output_shape,
)
from sessrun.reference.public import public

#: How many iterations may run side by side if nothing is said.
_PARALLEL: Final = 32


#: From time, output, state and loop state to what ended, inputs, state, outputs and loop state.
LoopFunction: TypeAlias = Callable[
    [Tensor, Structure, Structure, Structure],
    tuple[Tensor, Structure, Structure, Structure, Structure],
]


@public("nn.raw_rnn")
def raw_rnn(
    cell: Cell,
    loop_fn: LoopFunction,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Structure, Structure, Structure]:
    """Iterate a cell in a `while_loop` until `loop_fn` reports all rows finished.

    Args:
      cell: an RNNCell.
      loop_fn: from `(time, output, state, loop_state)` to `(finished, next_input, next_state,
        emit, next_loop_state)`: which rows have ended, [batch], the next inputs and state, what
        is put out, and what the function keeps for itself. The first call has a time of zero and
        None for the others; its `emit` says how outputs are nested, None for as the cell's.
      parallel_iterations: how many steps may run side by side.
      swap_memory: whether values for gradients may leave the device.
      scope: a variable scope, by default `rnn`.

    Returns:
      `(emitted, state, loop_state)`: TensorArrays of what was put out, zeros in rows that had
      ended; the state, which stays in such rows; and what the function has kept.

    Raises:
      TypeError: `cell` is not an RNNCell, or `loop_fn` cannot be called.
      ValueError: structures differ between steps.

    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.")
    with opened(scope):
        time = constant(0, dtype=int32)
        finished, first_input, state, emit, kept = loop_fn(time, None, None, None)
        loop_state = kept if kept is not None else constant(0, dtype=int32)
        batch_size, known = _batch_size(nest.flatten(first_input))
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [convert_to_tensor(value) for value in nest.flatten(state)]
        state = nest.pack_sequence_as(structure=state, flat_sequence=flat_state)
        arrays, zero_outputs = _emitted(cell, emit, flat_state[0].dtype, batch_size, known)

        def go_on(_time: Tensor, finished: Tensor, *_: Structure) -> Tensor:
            return logical_not(reduce_all(finished))

        final = while_loop(
            go_on,
            _Body(cell, loop_fn, zero_outputs),
            loop_vars=[time, finished, first_input, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or _PARALLEL,
            swap_memory=swap_memory,
        )
        arrays, state, loop_state = final[-3:]
        return arrays, state, None if kept is None else loop_state


def _batch_size(inputs: list[Tensor]) -> tuple[Tensor | int, int | None]:
    """The batch size, as a number or a tensor, and its static value or None."""
    first = dimension_at_index(inputs[0].shape, 0)
    for value in inputs:
        first.assert_is_compatible_with(dimension_at_index(value.shape, 0))
    known = first.value
    return (shape(inputs[0])[0] if known is None else known), known


def _emitted(
    cell: Cell, emit: Structure, dtype: DTypeLike, batch_size: int | Tensor, known: int | None
) -> tuple[Structure, Structure]:
    """TensorArrays for the emitted outputs, and zeros for finished rows."""
    if emit is None:
        emit = cell.output_size
        sizes = nest.flatten(emit)
        kinds = [dtype] * len(sizes)
    else:
        flat = nest.flatten(emit)
        sizes = [value.shape if value.shape.is_fully_defined() else shape(value) for value in flat]
        kinds = [value.dtype for value in flat]
    pairs = list(zip(kinds, sizes, strict=True))
    arrays = [
        TensorArray(
            dtype=kind,
            dynamic_size=True,
            size=0,
            element_shape=output_shape(known, size),
            name=f"rnn_output_{index}",
        )
        for index, (kind, size) in enumerate(pairs)
    ]
    packed = nest.pack_sequence_as(structure=emit, flat_sequence=arrays)
    zero_outputs = [zeros(joined_shape(batch_size, size), kind) for kind, size in pairs]
    return packed, nest.pack_sequence_as(structure=emit, flat_sequence=zero_outputs)


class _Body:
    """The loop body: the cell, then `loop_fn`."""

    def __init__(self, cell: Cell, loop_fn: LoopFunction, nothing: Structure) -> None:
        self.cell = cell
        self.loop_fn = loop_fn
        self.nothing = nothing

    def __call__(
        self,
        time: Tensor,
        finished: Tensor,
        inputs: Structure,
        arrays: Structure,
        state: Structure,
        loop_state: Structure,
    ) -> tuple[Structure, ...]:
        """The loop's variables after the iteration."""
        output, cell_state = self.cell(inputs, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(self.cell.output_size, output)
        next_time = time + 1
        ended, next_inputs, next_state, emit, kept = self.loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(inputs, next_inputs)
        nest.assert_same_structure(arrays, emit)
        loop_state = loop_state if kept is None else kept

        def unless_finished(old: Tensor, new: Tensor) -> Tensor:
            if isinstance(old, TensorArray) or old.shape.rank == 0:
                return new
            with colocate_with(new):
                return where(finished, old, new)

        emit = nest.map_structure(unless_finished, self.nothing, emit)
        next_state = nest.map_structure(unless_finished, state, next_state)
        arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
        return next_time, logical_or(finished, ended), next_inputs, arrays, next_state, loop_state
