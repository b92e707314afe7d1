"""States of a recurrent layer: initial states, and those kept between batches (`stateful`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.errors import bad_value
from sessrun.reference.library.keras import sessions
from sessrun.reference.library.keras.engine.losses_and_updates import CollectedByLayer
from sessrun.reference.library.keras.layers.recurrent_cells import zero_states
from sessrun.reference.library.keras.settings import floatx

__all__ = ["KeptStates"]


class KeptStates(CollectedByLayer):
    """Mixin of RNN: initial states, and states kept between batches."""

    cell: Any
    time_major: bool
    #: Variables, once the layer is built, if it keeps states.
    _states: Structure = None

    @property
    def states(self) -> Any:
        """The state variables of a stateful layer, or None for each state of the cell."""
        if self._states is not None:
            return self._states
        nothing = tf.nest.map_structure(lambda _: None, self.cell.state_size)
        return nothing if tf.nest.is_nested(self.cell.state_size) else [nothing]

    @states.setter
    def states(self, states: Structure) -> None:
        object.__setattr__(self, "_states", states)  # not among the layer's weights

    @abstractmethod
    def get_initial_state(self, inputs: Structure) -> Sequence[Structure]:
        """The default initial states."""

    def _first_states(self, inputs: Structure, given: Structure) -> Any:
        """The initial states: kept ones, given ones, or zeros."""
        if self.stateful:
            if given is None:
                states = self.states
            else:
                counted = [tf.math.count_nonzero(state) for state in tf.nest.flatten(self.states)]
                states = tf.cond(
                    tf.add_n(counted) > 0, lambda: self.states, lambda: given, strict=True
                )
            dtype = self.compute_dtype or self.cell.compute_dtype
            states = tf.nest.map_structure(lambda state: tf.cast(state, dtype), states)
        else:
            states = self.get_initial_state(inputs) if given is None else given
        if len(states) != len(self.states):
            raise bad_value(
                f"Layer has {len(self.states)} states but was passed {len(states)} initial "
                f"states. Received: initial_state={states}"
            )
        return states

    def _keep_states(self, states: Structure) -> None:
        """Assign the final states to the state variables of a stateful layer."""
        pairs = zip(tf.nest.flatten(self.states), tf.nest.flatten(states), strict=True)
        self.add_update(
            [tf.assign(kept, tf.cast(state, kept.dtype.base_dtype)) for kept, state in pairs]
        )

    def reset_states(self, states: Structure = None) -> None:
        """Set the state variables.

        Args:
          states: arrays for each; None for zeros.

        Raises:
          AttributeError: the layer keeps no states.
          ValueError: the batch size is not known, or the arrays are not as the states.

        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch = self._batch_size()
        if not batch:
            raise bad_value(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size "
                "of your input tensors."
            )
        if tf.nest.flatten(self.states)[0] is None:
            self._make_states(batch)
        elif states is None:
            shapes = self._state_shapes(batch)
            for state, shape in zip(tf.nest.flatten(self.states), shapes, strict=True):
                sessions.set_value(state, np.zeros(shape))
        else:
            self._set_states(tf.nest.flatten(states))

    def _batch_size(self) -> int | None:
        """The batch size that the layer was built for."""
        if self.input_spec is None:
            return None
        shape = tf.nest.flatten(self.input_spec[0])[0].shape
        return None if shape is None else shape[1 if self.time_major else 0]

    def _state_shapes(self, batch: int) -> list[Sequence[int]]:
        """The shape of each state, for a batch of this size."""
        sizes = tf.nest.flatten(self.cell.state_size)
        return [[batch, *tf.TensorShape(size).as_list()] for size in sizes]

    def _make_states(self, batch: int) -> None:
        """Create the state variables, initialized with the cell's initial states."""
        dtype = self._variable_dtype or floatx()
        make = getattr(self.cell, "get_initial_state", None)
        values = (
            make(inputs=None, batch_size=batch, dtype=dtype)
            if make
            else zero_states(self.cell.state_size, None, batch, dtype)
        )
        variables = [sessions.variable(value, value.dtype) for value in tf.nest.flatten(values)]
        states = tf.nest.pack_sequence_as(self.cell.state_size, variables)
        self.states = states if tf.nest.is_nested(states) else [states]

    def _set_states(self, values: list[np.ndarray]) -> None:
        kept = tf.nest.flatten(self.states)
        if len(values) != len(kept):
            raise bad_value(
                f"Layer {self.name} expects {len(kept)} states, but it received {len(values)} "
                f"state values. States received: {values}"
            )
        for index, (value, state) in enumerate(zip(values, kept, strict=True)):
            if tuple(value.shape) != tuple(state.shape.as_list()):
                raise bad_value(
                    f"State {index} is incompatible with layer {self.name}: expected "
                    f"shape={state.shape} but found shape={value.shape}"
                )
        sessions.batch_set_value(list(zip(kept, values, strict=True)))
