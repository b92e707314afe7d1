"""`dynamic_rnn` and `bidirectional_dynamic_rnn`: cells in a `while_loop` (TF 2.21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import reverse_sequence, shape, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.reduce_ops import reduce_all, reduce_max, reduce_min
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DTypeLike, int32
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import maximum, minimum, reverse_v2
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.recurrent.unrolling import (
    Cell,
    Lengths,
    assert_like_rnncell,
    batch_size_of,
    by_time,
    first_state,
    known_shape,
    opened,
    output_shape,
    state_dtype,
    step,
    zero_output,
)
from sessrun.reference.public import public

#: The default of `parallel_iterations`.
_PARALLEL: Final = 32


@public("nn.dynamic_rnn")
def dynamic_rnn(
    cell: Cell,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state: Structure = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Structure, Structure]:
    """Iterate a cell over time in a `while_loop`, up to the longest sequence.

    Args:
      cell: an RNNCell.
      inputs: a tensor [batch, time, ...] or several, nested.
      sequence_length: how many steps each row takes, [batch]; by default all. After its last
        step a row's outputs are zero, and its state stays.
      initial_state: the state before the first step; by default the cell's zeros.
      dtype: of these and of the outputs; required without `initial_state`.
      parallel_iterations: how many steps may run side by side.
      swap_memory: whether values for gradients may leave the device.
      time_major: whether inputs and outputs are [time, batch, ...].
      scope: a variable scope, by default `rnn`.

    Returns:
      `(outputs, state)`: the outputs of all steps, nested as the cell's `output_size`, and the
      state after each row's last step.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: the depth of the inputs is not known, inputs or lengths do not fit, or there is
        neither a state nor a dtype.

    """
    assert_like_rnncell("cell", cell)
    with opened(scope):
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [by_time(value) for value in [convert_to_tensor(value) for value in flat]]
        lengths = _lengths(sequence_length)
        batch_size = batch_size_of(flat)
        state = first_state(cell, initial_state, batch_size, dtype)
        if lengths is not None:
            with control_dependencies([_assert_has_shape(lengths, [batch_size])]):
                lengths = identity(lengths, name="CheckSeqLen")
        sequences = nest.pack_sequence_as(structure=inputs, flat_sequence=flat)
        options = {
            "parallel_iterations": parallel_iterations or _PARALLEL,
            "swap_memory": swap_memory,
        }
        outputs, final = _Unrolled(cell, sequences, state, lengths, dtype).run(options)
        if not time_major:
            outputs = nest.map_structure(by_time, outputs)
        return outputs, final


def _lengths(sequence_length: TensorLike | None) -> Tensor | None:
    if sequence_length is None:
        return None
    lengths = cast(sequence_length, int32)
    if lengths.shape.rank not in {None, 1}:
        raise bad_value(
            f"Argument sequence_length must be a vector of length batch_size. "
            f"Received sequence_length={lengths}"
        )
    return identity(lengths, name="sequence_length")


def _assert_has_shape(x: Tensor, wanted: Sequence[int | Tensor]) -> Operation:
    actual, packed = shape(x), stack(wanted)
    return assert_(
        reduce_all(equal(actual, packed)),
        [f"Expected shape for Tensor {x.name} is ", packed, " but saw shape: ", actual],
    )


class _Unrolled:
    """A cell and its time-major inputs, for `dynamic_rnn`."""

    def __init__(
        self,
        cell: Cell,
        inputs: Structure,
        state: Structure,
        lengths: Tensor | None,
        dtype: DTypeLike | None,
    ) -> None:
        self.cell = cell
        self.inputs = inputs
        self.state = state
        self.flat = nest.flatten(inputs)
        self.sizes = nest.flatten(cell.output_size)
        self.steps = shape(self.flat[0])[0]
        self.batch_size = batch_size_of(self.flat)
        self.shapes = [sequence.shape.with_rank_at_least(3) for sequence in self.flat]
        self.known = self.shapes[0].as_list()[:2]
        self._check_shapes()
        self.dtype = dtype
        self.zeros = nest.pack_sequence_as(
            structure=cell.output_size,
            flat_sequence=tuple(
                zero_output(self.batch_size, size, state_dtype(dtype, state)) for size in self.sizes
            ),
        )
        self.most: Tensor = self.steps
        self.lengths: Lengths | None = None
        if lengths is not None:
            least = reduce_min(lengths)
            self.most = reduce_max(lengths)
            self.lengths = Lengths(lengths, least, self.most)

    def _check_shapes(self) -> None:
        for sequence, sizes in zip(self.flat, self.shapes, strict=True):
            if not sizes[2:].is_fully_defined():
                raise bad_value(
                    f"Input size (depth of inputs) must be accessible via shape "
                    f"inference, but saw value None for input={sequence}."
                )
            for what, axis in (("Time steps", 0), ("Batch_size", 1)):
                if sizes.as_list()[axis] != self.known[axis]:
                    raise bad_value(
                        f"{what} is not the same for all the elements in the input: "
                        f"{sizes} of {sequence}"
                    )

    def _arrays(self) -> tuple[tuple[TensorArray, ...], tuple[TensorArray, ...]]:
        """TensorArrays for the outputs, and filled ones for the inputs."""
        with name_scope("dynamic_rnn") as base:
            pass

        def tensor_array(name: str, element_shape: TensorShape, dtype: DTypeLike) -> TensorArray:
            return TensorArray(
                dtype=dtype,
                size=self.steps,
                element_shape=element_shape,
                tensor_array_name=base + name,
            )

        outputs = tuple(
            tensor_array(
                f"output_{index}",
                output_shape(self.known[1], size),
                state_dtype(self.dtype, self.state),
            )
            for index, size in enumerate(self.sizes)
        )
        empty = [
            tensor_array(f"input_{index}", sequence.shape[1:], sequence.dtype)
            for index, sequence in enumerate(self.flat)
        ]
        filled = tuple(
            array.unstack(sequence) for array, sequence in zip(empty, self.flat, strict=True)
        )
        return outputs, filled

    def run(self, options: Mapping[str, Any]) -> tuple[Structure, Structure]:
        """The outputs of all steps and the last state."""
        time = constant(0, dtype=int32, name="time")
        outputs, inputs = self._arrays()

        def body(
            time: Tensor, arrays: tuple[TensorArray, ...], state: Structure
        ) -> tuple[Tensor, tuple[TensorArray, ...], Structure]:
            output, new_state = self._stepped(time, inputs, state)
            written = tuple(
                array.write(time, value)
                for array, value in zip(arrays, nest.flatten(output), strict=True)
            )
            return time + 1, written, new_state

        bound = minimum(self.steps, maximum(1, self.most))
        _, arrays, final = while_loop(
            cond=lambda time, *_: time < bound,
            body=body,
            loop_vars=(time, outputs, self.state),
            maximum_iterations=self.steps,
            **options,
        )
        flat_outputs = tuple(array.stack() for array in arrays)
        for value, size in zip(flat_outputs, self.sizes, strict=True):
            value.set_shape(known_shape(self.known, size))
        structure = self.cell.output_size
        return nest.pack_sequence_as(structure=structure, flat_sequence=flat_outputs), final

    def _stepped(
        self, time: Tensor, inputs: Sequence[TensorArray], state: Structure
    ) -> tuple[Structure, Structure]:
        flat = tuple(array.read(time) for array in inputs)
        for value, sizes in zip(flat, self.shapes, strict=True):
            value.set_shape(sizes[1:])
        step_inputs = nest.pack_sequence_as(structure=self.inputs, flat_sequence=flat)
        if self.lengths is None:
            output, new_state = self.cell(step_inputs, state)
            return output, new_state
        return step(
            time,
            self.lengths,
            self.zeros,
            state,
            lambda: self.cell(step_inputs, state),
            always=True,
        )


@public("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: Cell,
    cell_bw: Cell,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Structure = None,
    initial_state_bw: Structure = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[tuple[Structure, Structure], tuple[Structure, Structure]]:
    """Iterate two cells over time, one forwards and one backwards.

    Arguments as of `dynamic_rnn`, but for two cells and two states; the scope is
    `bidirectional_rnn` by default.

    Returns:
      `((outputs, outputs backwards), (state, state backwards))`; both outputs are in the order of
      the inputs.

    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    options: dict[str, Any] = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "swap_memory": swap_memory,
        "parallel_iterations": parallel_iterations,
        "time_major": time_major,
    }

    def turned(value: Any) -> Tensor:
        if sequence_length is None:
            return reverse_v2(value, axis=[time_axis])
        return reverse_sequence(value, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=inner, **options
            )
        with variable_scope("bw") as inner:
            backward, state_bw = dynamic_rnn(
                cell_bw,
                nest.map_structure(turned, inputs),
                initial_state=initial_state_bw,
                scope=inner,
                **options,
            )
    return (forward, turned(backward)), (state_fw, state_bw)
