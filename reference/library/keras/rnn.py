"""`tf.keras.backend.rnn`: iterate a step function over time, unrolled or in a `while_loop`.

Source: tf_keras 2.21 in graph mode, whose graphs it makes node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Step", "rnn"]

#: One step: from its inputs, the states and the constants to the output and the next states.
Step: TypeAlias = Callable[[Structure, tuple[Structure, ...]], tuple[Structure, Structure]]
#: Merges two lists of tensors by a mask: the first where the mask is true, else the second.
Merge: TypeAlias = Callable[[Tensor, Sequence[Tensor], Sequence[Tensor]], tuple[Tensor, ...]]
#: The last output, the outputs of all times, and the states after the last.
Unrolled: TypeAlias = tuple[Structure, Structure, Sequence[Structure]]


@dataclass(frozen=True, slots=True)
class Sequences:
    """A step function and its time-major inputs.

    Attributes:
      step: the function of one input and the states.
      inputs: the inputs, a structure of tensors.
      states: the states before the first step.
      constants: further inputs of each step.
      count: the number of steps, as a tensor.
      mask: which inputs count, or None for all.
      backwards: whether the last input comes first.
      zero_masked: whether the output of a masked step is 0, rather than the previous output.

    """

    step: Step
    inputs: Structure
    states: tuple[Structure, ...]
    constants: tuple[Structure, ...]
    count: Tensor
    mask: Any
    backwards: bool
    zero_masked: bool

    @property
    def flat(self) -> list[Tensor]:
        """The inputs as a list."""
        return list(tf.nest.flatten(self.inputs))

    def stepped(self, flat: Sequence[Tensor], states: Sequence[Any]) -> tuple[Any, Any]:
        """The output and next states of one step on these inputs."""
        inputs = tf.nest.pack_sequence_as(self.inputs, list(flat))
        return self.step(inputs, tuple(states) + self.constants)


def rnn(
    step_function: Step,
    inputs: Structure,
    initial_states: Sequence[Any],
    go_backwards: bool = False,
    mask: Tensor | None = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: TensorLike | None = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> Unrolled:
    """Iterate a step function over the time axis.

    Args:
      step_function: from an input of shape [batch, ...] and a tuple of states, and constants
        after them, to the output and the next states.
      inputs: tensors of shape [batch, time, ...].
      initial_states: the states before the first step.
      go_backwards: whether the last time comes first, also in the outputs.
      mask: which times count, of shape [batch, time]; states do not change at others.
      constants: further inputs of each step.
      unroll: whether each time step is built as separate operations, instead of a loop.
      input_length: the number of times of each example, a tensor; a number is ignored.
      time_major: whether time is the first axis, batch the second.
      zero_output_for_mask: whether masked outputs are 0; by default the output before.
      return_all_outputs: not used: all are returned.

    Returns:
      The last output, the outputs of all times, and the states after the last.

    Raises:
      ValueError: inputs have less than 3 axes, or `unroll` is set and the times are unknown.

    """
    del return_all_outputs
    if not time_major:
        inputs = tf.nest.map_structure(_swapped, inputs)
    first = tf.nest.flatten(inputs)[0]
    known = first.shape.as_list()[:2]
    count = tf.shape(first)[0]
    for value in tf.nest.flatten(inputs):
        value.shape.with_rank_at_least(3)
    given = Sequences(
        step_function,
        inputs,
        tuple(initial_states),
        tuple(constants or ()),
        count,
        _as_mask(mask, time_major=time_major),
        go_backwards,
        zero_output_for_mask,
    )
    if unroll:
        if not known[0]:
            raise bad_value("Unrolling requires a fixed number of timesteps.")
        last, outputs, states = _unrolled(given, known[0])
    else:
        last, outputs, states = _looped(given, input_length)
    for output in tf.nest.flatten(outputs):
        if isinstance(output, tf.Tensor):
            output.set_shape(known + output.shape.as_list()[2:])
    return last, outputs if time_major else tf.nest.map_structure(_swapped, outputs), states


def _swapped(value: Any) -> Tensor:
    """A tensor with its first two axes exchanged."""
    return tf.transpose(value, [1, 0, *range(2, value.shape.rank)])


def _as_mask(mask: Tensor | None, *, time_major: bool) -> Any:
    """The mask as time-major bools of rank 3 or more."""
    if mask is None:
        return None
    if mask.dtype != tf.bool:
        mask = tf.cast(mask, tf.bool)
    if mask.shape.rank == 2:
        mask = tf.expand_dims(mask, -1)
    return mask if time_major else _swapped(mask)


def _tiled(mask: Any, value: Any, fixed: int = 1) -> Tensor:
    """Tile a mask to a value's shape; its first `fixed` axes match."""
    for _ in range(value.shape.rank - mask.shape.rank):
        mask = tf.expand_dims(mask, -1)
    return tf.tile(mask, [1] * fixed + value.shape.as_list()[fixed:])


def _unrolled(given: Sequences, count: int) -> Unrolled:
    """Unroll the steps: operations for each time."""
    parted = [tf.unstack(value) for value in given.flat]
    masks = [] if given.mask is None else tf.unstack(given.mask)
    if given.backwards:
        for values in (*parted, masks):
            values.reverse()
    outputs: Any = []
    states = given.states
    for time in range(count):
        output, after = given.stepped([values[time] for values in parted], states)
        if masks:
            here = _tiled(masks[time], output)
            before = outputs[-1] if outputs else tf.zeros_like(output)
            output = tf.where_v2(here, output, before)
            flat = tf.nest.flatten(states)
            tiles = [_tiled(masks[time], state) for state in flat]
            kept = [
                tf.where_v2(*parts)
                for parts in zip(tiles, tf.nest.flatten(after), flat, strict=True)
            ]
            after = tf.nest.pack_sequence_as(states, kept)
        states = after
        outputs.append(output)
    last, stacked = outputs[-1], tf.stack(outputs)
    if masks and given.zero_masked:
        last = tf.where_v2(_tiled(masks[-1], last), last, tf.zeros_like(last))
        here = _tiled(given.mask, stacked, fixed=2)
        stacked = tf.where_v2(here, stacked, tf.zeros_like(stacked))
    return last, stacked, states


def _looped(given: Sequences, length: TensorLike | None) -> Unrolled:
    """Run the steps in one `while_loop`."""
    flat = given.flat
    arrays = [
        tf.TensorArray(dtype=value.dtype, size=given.count, tensor_array_name=f"input_ta_{index}")
        for index, value in enumerate(flat)
    ]
    arrays = [
        array.unstack(tf.reverse(value, [0]) if given.backwards else value)
        for array, value in zip(arrays, flat, strict=True)
    ]
    sample, _ = given.stepped([value[0] for value in flat], given.states)
    samples = tf.nest.flatten(sample)
    written = tuple(
        tf.TensorArray(
            dtype=output.dtype,
            size=given.count,
            element_shape=output.shape,
            tensor_array_name=f"output_ta_{index}",
        )
        for index, output in enumerate(samples)
    )
    start = tf.constant(0, dtype=tf.int32, name="time")
    masking = _masking(given, length)
    zeros = () if masking is None else tuple(tf.zeros_like(output) for output in samples)

    def step(time: Tensor, written: tuple[TensorArray, ...], *rest: Any) -> tuple[Structure, ...]:
        before, states = ((), rest) if masking is None else (rest[0], rest[1:])
        inputs = [array.read(time) for array in arrays]
        here: Any = None if masking is None else masking[0](time)
        output, after = given.stepped(inputs, states)
        outputs: Any = tf.nest.flatten(output)
        flat_states = tf.nest.flatten(states)
        if masking is not None:
            outputs = masking[1](here, outputs, zeros if given.zero_masked else before)
        flat_after: Any = tf.nest.flatten(after)
        for state, new in zip(flat_states, flat_after, strict=False):
            if isinstance(new, tf.Tensor):
                new.set_shape(state.shape)
        if masking is not None:
            flat_after = masking[1](here, flat_after, flat_states)
        after = tf.nest.pack_sequence_as(given.states, list(flat_after))
        now = tuple(array.write(time, value) for array, value in zip(written, outputs, strict=True))
        return (time + 1, now, *(() if masking is None else (tuple(outputs),)), *after)

    ended = tf.while_loop(
        lambda time, *_: time < given.count,
        step,
        (start, written, *((zeros,) if masking else ()), *given.states),
        parallel_iterations=32,
        swap_memory=True,
    )
    outputs = [array.stack() for array in ended[1]]
    last = [output[-1] for output in outputs]
    return (
        tf.nest.pack_sequence_as(sample, last),
        tf.nest.pack_sequence_as(sample, outputs),
        tuple(ended[2 if masking is None else 3 :]),
    )


def _masking(
    given: Sequences, length: TensorLike | None
) -> tuple[Callable[[Any], Any], Merge] | None:
    """The mask of a time step and the function that applies it; None without a mask."""
    if given.mask is not None:
        mask = tf.reverse(given.mask, [0]) if given.backwards else given.mask
        array = tf.TensorArray(tf.bool, size=given.count, tensor_array_name="mask_ta").unstack(mask)

        def merged(
            here: Any, values: Sequence[Tensor], others: Sequence[TensorLike]
        ) -> tuple[Tensor, ...]:
            tiles = [_tiled(here, value, fixed=here.shape.rank) for value in values]
            return tuple(tf.where_v2(*parts) for parts in zip(tiles, values, others, strict=True))

        return array.read, merged
    if not isinstance(length, tf.Tensor):
        return None

    def rows(
        here: Tensor, values: Sequence[TensorLike], others: Sequence[TensorLike]
    ) -> tuple[Tensor, ...]:
        pairs = zip(values, others, strict=True)
        return tuple(tf.where(here, value, other) for value, other in pairs)

    if given.backwards:
        absent = tf.subtract(tf.reduce_max(length, axis=0) - 1, length)
        return lambda time: tf.less(absent, time), rows
    return lambda time: tf.greater(length, time), rows
