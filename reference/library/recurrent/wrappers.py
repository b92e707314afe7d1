"""Wrappers of cells: MultiRNNCell, dropout, residual, device.

Source: tf_keras 2.21 (`legacy_cells`, `legacy_cell_wrappers`).
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.nest_shallow import get_traverse_shallow_structure, map_structure_up_to
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.recurrent.cells import RNNCell
from sessrun.reference.library.recurrent.lstm import LSTMStateTuple
from sessrun.reference.library.recurrent.unrolling import StateSize, assert_like_rnncell
from sessrun.reference.public import public

__all__ = ["DeviceWrapper", "DropoutWrapper", "MultiRNNCell", "ResidualWrapper"]


@public("nn.rnn_cell.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """A stack of cells: the output of a cell is the input of the next one.

    Args:
      cells: a list of cells.
      state_is_tuple: whether the state is a tuple of the cells' states; otherwise they are
        concatenated along the second dimension.

    Raises:
      ValueError: there are no cells, or a nested state is to be concatenated.
      TypeError: `cells` is not a list or tuple.

    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise bad_value("Must specify at least one cell for MultiRNNCell.")
        if not tf.nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but received: {cells}.")
        self._cells = cells
        for number, cell in enumerate(cells):
            self._track_trackable(cell, f"cell-{number}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(tf.nest.is_nested(cell.state_size) for cell in cells):
            sizes = [cell.state_size for cell in cells]
            raise bad_value(
                f"Some cells return tuples of states, but the flag state_is_tuple is "
                f"not set. State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        """A tuple of the sizes of the cells' states; their sum if the states are concatenated."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> StateSize:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
        """Zeros for the states of all cells."""
        with tf.name_scope(type(self).__name__ + "ZeroState"):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def _weights(self, kind: str) -> list[Variable]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [weight for cell in layers for weight in getattr(cell, kind)]

    @property
    def trainable_weights(self) -> list[Variable]:
        """The trainable variables of the cells."""
        return self._weights("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables of the cells that are not trained."""
        others = self._weights("non_trainable_weights")
        return others if self.trainable else self._weights("trainable_weights") + others

    def call(self, inputs: Structure, state: Any) -> tuple[Structure, Structure]:
        """The output of the last cell, and the next states of all cells.

        Raises:
          ValueError: `state` is not a tuple although `state_is_tuple` is set.

        """
        offset, states = 0, []
        for number, cell in enumerate(self._cells):
            with tf.variable_scope(f"cell_{number}"):
                if not self._state_is_tuple:
                    size: Any = cell.state_size
                    own = tf.slice(state, [0, offset], [-1, size])
                    offset += size
                elif tf.nest.is_nested(state):
                    own = state[number]
                else:
                    raise bad_value(
                        f"Expected state to be a tuple of length "
                        f"{len(self.state_size)}, but received: {state}"
                    )
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else tf.concat(states, 1)


class Wrapper(RNNCell):
    """Base class of cells that wrap another cell.

    Args:
      cell: the cell to wrap.
      **kwargs: as for RNNCell.

    Raises:
      TypeError: `cell` is not a cell.

    """

    def __init__(self, cell: RNNCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    def __call__(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None = None
    ) -> tuple[Structure, Structure]:
        """The output and the next state; arguments as for RNNCell."""
        return self._wrapped(inputs, state, scope)

    @abstractmethod
    def _wrapped(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None
    ) -> tuple[Structure, Structure]:
        """The output and the next state."""

    @property
    def state_size(self) -> StateSize:
        """The state size of the wrapped cell."""
        return self.cell.state_size

    @property
    def output_size(self) -> StateSize:
        """The output size of the wrapped cell."""
        return self.cell.output_size

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
        """The zero state of the wrapped cell."""
        with tf.name_scope(type(self).__name__ + "ZeroState"):
            return self.cell.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, with the config of the wrapped cell."""
        kept = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": kept}

    @classmethod
    def from_config(
        cls, config: Mapping[str, object], custom_objects: Mapping[str, object] | None = None
    ) -> Self:
        """A wrapper from a config in which the value of `cell` is a cell, not the cell's config.

        Raises:
          ValueError: the value of `cell` is not a cell.

        """
        del custom_objects
        options = dict(config)
        cell: Any = options.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
            return cls(cell, **options)
        except TypeError:
            raise bad_value(
                "RNNCellWrapper cannot reconstruct the wrapped cell: put a cell into the config."
            ) from None


#: A function from a state to whether dropout applies to it: a bool, or a structure of bools.
StateFilter: TypeAlias = Callable[[Structure], object]


def _drops(substate: Structure | TensorArray) -> bool | LSTMStateTuple:
    """The default dropout filter: in an LSTMStateTuple dropout applies only to `h`."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, tf.TensorArray)


def _numbered(shallow: object, function: Callable[..., object], *structures: object) -> Any:
    """Map a function over structures, passing it the index of each leaf first."""
    count = iter(range(len(tf.nest.flatten(shallow)) + 1))
    return map_structure_up_to(shallow, lambda *parts: function(next(count), *parts), *structures)


def _probability(value: TensorLike, name: str) -> float | Tensor:
    """A probability as a float if it is constant, else as a tensor.

    Raises:
      ValueError: the probability is constant and not between 0 and 1.

    """
    tensor: Tensor = tf.convert_to_tensor(value)
    known = tf.get_static_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise bad_value(f"Parameter {name} must be between 0 and 1. Received {known}")
    return float(known)


@public("nn.rnn_cell.DropoutWrapper")
class DropoutWrapper(Wrapper):
    """A cell with dropout of inputs, states and outputs.

    Args:
      cell: the cell.
      input_keep_prob: the probability that an element of the inputs stays, a number or a scalar.
      output_keep_prob: the same probability for the outputs.
      state_keep_prob: the same probability for the next states.
      variational_recurrent: whether all time steps drop the same elements.
      input_size: the shapes of the inputs without the batch; required for variational dropout of
        inputs.
      dtype: the dtype of the noise; required for variational dropout.
      seed: the seed from which the seed of each random operation is computed.
      dropout_state_filter_visitor: a function from a state to whether dropout applies to it.
      **kwargs: as for RNNCell.

    Raises:
      TypeError: `dropout_state_filter_visitor` is not callable.
      ValueError: a probability is not between 0 and 1, or a required argument is missing.

    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: float | Tensor = 1.0,
        output_keep_prob: float | Tensor = 1.0,
        state_keep_prob: float | Tensor = 1.0,
        variational_recurrent: bool = False,
        input_size: StateSize | None = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: StateFilter | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        visitor = dropout_state_filter_visitor
        if visitor is not None and not callable(visitor):
            raise TypeError(f"dropout_state_filter_visitor must be callable. Received: {visitor}")
        self._dropout_state_filter = visitor or _drops
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, object] = {}
        with tf.name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        if variational_recurrent:
            self._draw_noise(dtype)

    def _draw_noise(self, dtype: DTypeLike | None) -> None:
        """Draw the noise that all steps share (variational dropout)."""
        if dtype is None:
            raise bad_value("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        kept = self._input_keep_prob
        if not isinstance(kept, float) or kept < 1.0:
            if self._input_size is None:
                raise bad_value(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is "
                    "unknown, input_size must be provided"
                )
            sizes = {"input": self._input_size, **sizes}

        def drawn(part: str) -> Callable[[int, StateSize], Tensor]:
            def draw(number: int, size: StateSize) -> Tensor:
                shape = tf.concat(([1], tf.TensorShape(size).as_list()), 0)
                seed = self._seed_of(part, number)
                noise: Tensor = tf.random_uniform(shape, seed=seed, dtype=dtype)
                return noise

            return draw

        for part, size in sizes.items():
            self._noise[part] = _numbered(size, drawn(part), size)

    def _seed_of(self, part: str, number: int) -> int | None:
        """The seed for the leaf of index `number` of the inputs, states or outputs (`part`)."""
        if self._seed is None:
            return None
        text = f"{self._seed}{part}_{number}".encode()
        digest = hashlib.md5(text, usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> RNNCell:
        """The wrapped cell."""
        return self.cell

    def build(self, input_shape: ShapeLike) -> None:
        """Build the wrapped cell, then this one."""
        self.cell.build(input_shape)
        super().build(input_shape)

    def _dropped(
        self, values: Structure, part: str, kept: Any, shallow: Structure = None
    ) -> Structure:
        """Apply dropout to the leaves of a structure.

        Args:
          values: the structure.
          part: `input`, `state` or `output`.
          kept: the probability that an element stays.
          shallow: a structure with a bool for each part, whether dropout applies; all by default.

        """
        shallow = values if shallow is None else shallow

        def dropped(number: int, chosen: object, value: Tensor, *noise: Tensor) -> Tensor:
            if isinstance(chosen, bool) and not chosen:
                return value
            if not noise:
                seed = self._seed_of(part, number)
                drawn: Tensor = tf.nn.dropout(value, rate=1.0 - kept, seed=seed)
                return drawn
            stays = tf.floor(kept + noise[0])
            scaled: Tensor = tf.divide(value, kept) * stays
            scaled.set_shape(value.shape)
            return scaled

        noise = [self._noise.get(part)] if self._variational_recurrent else []
        dropped_values: Structure = _numbered(shallow, dropped, shallow, values, *noise)
        return dropped_values

    def _wrapped(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None
    ) -> tuple[Structure, Structure]:
        def drops(kept: float | Tensor) -> bool:
            return not isinstance(kept, float) or kept < 1

        if drops(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if drops(self._state_keep_prob):
            shallow = get_traverse_shallow_structure(self._dropout_state_filter, new_state)
            new_state = self._dropped(new_state, "state", self._state_keep_prob, shallow)
        if drops(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob)
        return output, new_state

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        config: dict[str, object] = {
            "input_keep_prob": self._input_keep_prob,
            "output_keep_prob": self._output_keep_prob,
            "state_keep_prob": self._state_keep_prob,
            "variational_recurrent": self._variational_recurrent,
            "input_size": self._input_size,
            "seed": self._seed,
        }
        if self._dropout_state_filter is not _drops:
            config["dropout_state_filter_visitor"] = self._dropout_state_filter
        return {**super().get_config(), **config}


@public("nn.rnn_cell.ResidualWrapper")
class ResidualWrapper(Wrapper):
    """A cell whose inputs are added to its outputs.

    Args:
      cell: the cell.
      residual_fn: a function of the inputs and the outputs, used in place of the sum.
      **kwargs: as for RNNCell.

    """

    def __init__(
        self,
        cell: RNNCell,
        residual_fn: Callable[[Structure, Structure], Structure] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _wrapped(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None
    ) -> tuple[Structure, Structure]:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return (self._residual_fn or _sums)(inputs, outputs), new_state

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor; a function is stored as a Python object."""
        own = {} if self._residual_fn is None else {"residual_fn": self._residual_fn}
        return {**super().get_config(), **own}


def _sums(inputs: Structure, outputs: Structure) -> Structure:
    """The sums of the inputs and the outputs.

    Raises:
      TypeError, ValueError: the structures or the shapes of inputs and outputs differ.

    """
    tf.nest.assert_same_structure(inputs, outputs)
    pairs = zip(tf.nest.flatten(inputs), tf.nest.flatten(outputs), strict=True)
    for one, other in pairs:
        one.shape.assert_is_compatible_with(other.shape)
    sums: Structure = tf.nest.map_structure(lambda one, other: one + other, inputs, outputs)
    return sums


@public("nn.rnn_cell.DeviceWrapper")
class DeviceWrapper(Wrapper):
    """A cell whose operations are placed on a device.

    Args:
      cell: the cell.
      device: a device name, or a device function, as for `tf.device`.
      **kwargs: as for RNNCell.

    """

    def __init__(self, cell: RNNCell, device: object, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
        """The zero state of the wrapped cell, on the device."""
        with tf.name_scope(type(self).__name__ + "ZeroState"), tf.device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _wrapped(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None
    ) -> tuple[Structure, Structure]:
        with tf.device(self._device):
            output, new_state = self.cell(inputs, state, scope=scope)
            return output, new_state

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        return {**super().get_config(), "device": self._device}
