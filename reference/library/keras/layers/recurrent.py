"""`tf.keras.layers.RNN`: a cell iterated over the time axis of its inputs.

Source: tf_keras 2.21 in graph mode, whose graphs it makes node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.call_context import takes
from sessrun.reference.library.keras.engine.input_spec import InputSpec, Shapes
from sessrun.reference.library.keras.layers.recurrent_cells import (
    RecurrentCell,
    has_many,
    zero_states,
)
from sessrun.reference.library.keras.layers.rnn_states import KeptStates
from sessrun.reference.library.keras.layers.serialization import deserialize, serialize
from sessrun.reference.library.keras.layers.stacked_cells import StackedRNNCells
from sessrun.reference.library.keras.object_configs import Config, CustomObjects
from sessrun.reference.library.keras.rnn import Step, rnn

__all__ = ["RNN", "standardized"]


def standardized(
    inputs: Structure, initial_state: Structure, constants: Structure, num_constants: int
) -> tuple[Structure, list[Any] | None, list[Any] | None]:
    """Split a call's arguments into inputs, states and constants; inputs may be a list of all."""
    if isinstance(inputs, list):
        if num_constants:
            inputs, constants = inputs[:-num_constants], inputs[-num_constants:]
        if len(inputs) > 1:
            inputs, initial_state = inputs[:1], inputs[1:]
        inputs = inputs[0]

    def listed(value: Structure) -> list[Any] | None:
        if value is None or isinstance(value, list):
            return value
        return list(value) if isinstance(value, tuple) else [value]

    return inputs, listed(initial_state), listed(constants)


class RNN(KeptStates, Layer):
    """Iterates a cell over the time axis of its inputs.

    Args:
      cell: a cell: `call(inputs, states)`, which gives an output and the next states, and
        `state_size`; a list of cells is stacked.
      return_sequences: whether the outputs of all times are returned, or the last.
      return_state: whether the last states are returned too.
      go_backwards: whether the last time comes first.
      stateful: whether the last states are the first ones of the next batch.
      unroll: whether each time step is built as separate operations, instead of a loop.
      time_major: whether time is the first axis.
      **kwargs: as for Layer; `input_length`; `zero_output_for_mask`, whether masked outputs are
        0, and not the output before.

    Raises:
      ValueError: `cell` is not a cell.

    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        if "call" not in dir(cell):
            raise bad_value(
                f"Argument `cell` should have a `call` method. The RNN was passed: cell={cell}"
            )
        if "state_size" not in dir(cell):
            raise bad_value(
                "The RNN cell should have a `state_size` attribute (tuple of integers, one "
                f"integer per RNN state). Received: cell={cell}"
            )
        zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and kwargs.keys() & {"input_dim", "input_length"}:
            kwargs["input_shape"] = (
                kwargs.pop("input_length", None),
                kwargs.pop("input_dim", None),
            )
        super().__init__(**kwargs)
        self.zero_output_for_mask = zero_output_for_mask
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self.state_spec: Any = None
        self._num_constants = 0

    def build(self, input_shape: Any) -> None:
        """Build the cell for the inputs of one time step."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        parts = tf.nest.flatten(shape) if tf.nest.is_nested(shape) else [shape]
        nested = tf.nest.is_nested(shape) and not _is_sizes(shape)
        parts = [tf.TensorShape(part) for part in (parts if nested else [shape])]
        specs: Any = [self._spec_of(part) for part in parts]
        steps: Any = [self._step_shape(part) for part in parts]
        if nested:
            specs, steps = (_packed(shape, flat) for flat in (specs, steps))
        rest = list(self.input_spec[1:]) if self.input_spec is not None else []
        self.input_spec = [specs if nested else specs[0], *rest]
        if isinstance(self.cell, Layer) and not self.cell.built:
            with tf.name_scope(self.cell.name):
                self.cell.build(steps if nested else steps[0])
                self.cell.built = True
        sizes = self.cell.state_size
        sizes = list(sizes) if has_many(sizes) else [sizes]
        if self.state_spec is None:
            self.state_spec = tf.nest.map_structure(
                lambda size: InputSpec(shape=(None, *tf.TensorShape(size).as_list())), sizes
            )
        self._check_state_spec(sizes)
        if self.stateful:
            self.reset_states()
        super().build(input_shape)

    def _spec_of(self, shape: TensorShape) -> InputSpec:
        """The InputSpec of the inputs: any number of steps; any batch size unless stateful."""
        sizes = shape.as_list()
        if not self.stateful:
            sizes[1 if self.time_major else 0] = None
        sizes[0 if self.time_major else 1] = None
        return InputSpec(shape=tuple(sizes))

    def _step_shape(self, shape: TensorShape) -> tuple[int | None, ...]:
        """The shape of one step's inputs."""
        sizes = tuple(shape.as_list())
        return sizes[1:] if self.time_major else (sizes[0], *sizes[2:])

    def _check_state_spec(self, sizes: list[ShapeLike]) -> None:
        """Check the given states against the cell's state sizes."""
        specs, known = tf.nest.flatten(self.state_spec), tf.nest.flatten(sizes)
        if len(specs) != len(known) or not all(
            tf.TensorShape(spec.shape[1:]).is_compatible_with(tf.TensorShape(size))
            for spec, size in zip(specs, known, strict=True)
        ):
            raise bad_value(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. "
                f"Received `state_spec`={self.state_spec}; however `cell.state_size` is {sizes}"
            )

    def get_initial_state(self, inputs: Structure) -> list[Structure]:
        """The default initial states: the cell's, or zeros."""
        first = tf.nest.flatten(inputs)[0]
        batch = tf.shape(first)[1 if self.time_major else 0]
        make = getattr(self.cell, "get_initial_state", None)
        if make:
            states = make(inputs=None, batch_size=batch, dtype=first.dtype)
        else:
            states = zero_states(self.cell.state_size, None, batch, first.dtype)
        return list(states) if tf.nest.is_nested(states) else [states]

    def __call__(
        self,
        inputs: Structure,
        initial_state: Structure = None,
        constants: Structure = None,
        **kwargs: Any,
    ) -> Any:
        """The outputs, and the final states if `return_state`.

        Args:
          inputs: of shape [batch, time, ...]; states and constants may follow in a list.
          initial_state: the first states.
          constants: further inputs of each step of the cell.
          **kwargs: `mask`, `training`.

        Raises:
          ValueError: the states are not those of the cell.

        """
        inputs, initial_state, constants = standardized(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
            self.state_spec = tf.nest.map_structure(
                lambda state: InputSpec(shape=tuple(state.shape.as_list())), initial_state
            )
        if constants is not None:
            kwargs["constants"] = constants
            self._num_constants = len(constants)
        return super().__call__(inputs, **kwargs)

    def call(
        self,
        inputs: Structure,
        mask: Structure = None,
        training: bool | Tensor | None = None,
        initial_state: Any = None,
        constants: Sequence[Tensor] | None = None,
    ) -> Structure:
        """The outputs, and the final states if `return_state`."""
        initial_state = self._first_states(inputs, initial_state)
        for cell in [self.cell, *getattr(self.cell, "cells", [])]:
            if isinstance(cell, RecurrentCell):
                cell.reset_dropout_mask()
        first = tf.nest.flatten(inputs)[0]
        times = first.shape.as_list()[0 if self.time_major else 1]
        if self.unroll and times is None:
            raise bad_value(
                "Cannot unroll a RNN if the time dimension is undefined. Specify it in the shape "
                "of the inputs."
            )
        last, outputs, states = rnn(
            self._step(training, constants),
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            unroll=self.unroll,
            time_major=self.time_major,
            mask=None if mask is None else tf.nest.flatten(mask)[0],
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            self._keep_states(states)
        output = outputs if self.return_sequences else last
        if not self.return_state:
            return output
        return [*(output if isinstance(output, list) else [output]), *states]

    def _step(self, training: object, constants: Sequence[Tensor] | None) -> Step:
        """The step function for `rnn`: (inputs, states and constants) to (output, states)."""
        options = {"training": training} if takes(self.cell.call, "training") else {}
        if constants and not takes(self.cell.call, "constants"):
            raise bad_value(
                f"RNN cell {self.cell} does not support constants. Received: constants={constants}"
            )
        is_older = getattr(self.cell, "_is_tf_rnn_cell", None) is not None
        function = self._cell_function()

        def step(inputs: Structure, states: tuple[Structure, ...]) -> tuple[Structure, Structure]:
            if constants:
                count = self._num_constants
                states, options["constants"] = states[:-count], states[-count:]
            given = states[0] if len(states) == 1 and is_older else states
            output, after = function(inputs, given, **options)
            return output, after if tf.nest.is_nested(after) else [after]

        return step

    def _cell_function(self) -> Callable[..., tuple[Structure, Structure]]:
        """The function called with a step's inputs and states."""
        return self.cell if callable(self.cell) else self.cell.call

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Any:
        """The mask of the outputs: that of the inputs if `return_sequences`; None for states."""
        del inputs
        output_mask = tf.nest.flatten(mask)[0] if self.return_sequences else None
        return [output_mask, *(None for _ in self.states)] if self.return_state else output_mask

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape | list[TensorShape]:
        """The shape of the outputs; a list with the states' shapes if `return_state`."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        first = tf.TensorShape(shape if _is_sizes(shape) else tf.nest.flatten(shape)[0]).as_list()
        batch, times = (first[1], first[0]) if self.time_major else (first[0], first[1])
        sizes = self.cell.state_size
        sizes = list(sizes) if has_many(sizes) else [sizes]

        def output(size: int | Tensor) -> TensorShape:
            around = [times, batch] if self.time_major else [batch, times]
            leading = around if self.return_sequences else [batch]
            return tf.TensorShape(leading + tf.TensorShape(size).as_list())

        own = getattr(self.cell, "output_size", None)
        shapes = tf.nest.map_structure(output, sizes[0] if own is None else own)
        if not self.return_state:
            return shapes
        states = [
            tf.TensorShape([batch, *tf.TensorShape(size).as_list()])
            for size in tf.nest.flatten(sizes)
        ]
        return [*(shapes if isinstance(shapes, list) else [shapes]), *states]

    def get_config(self) -> Config:
        """The config of the cell, and the arguments of RNN."""
        names = (
            "return_sequences",
            "return_state",
            "go_backwards",
            "stateful",
            "unroll",
            "time_major",
        )
        config = {**super().get_config(), **{name: getattr(self, name) for name in names}}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = self.zero_output_for_mask
        return {**config, "cell": serialize(self.cell)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: CustomObjects = None) -> Self:
        """The layer with this config."""
        rest = {key: value for key, value in config.items() if key not in {"cell", "num_constants"}}
        layer = cls(deserialize(config["cell"], custom_objects), **rest)
        layer._num_constants = config.get("num_constants", 0)
        return layer


def _is_sizes(shape: ShapeLike) -> bool:
    """Whether a value is a single shape rather than a structure of shapes."""
    if isinstance(shape, tf.TensorShape):
        return True
    return isinstance(shape, tuple | list) and all(
        size is None or isinstance(size, int) for size in shape
    )


def _packed(shape: ShapeLike, flat: Sequence[object]) -> Shapes:
    """Values in the structure that shapes have."""
    return tf.nest.pack_sequence_as(tf.nest.map_structure(lambda _: 0, shape), flat)
