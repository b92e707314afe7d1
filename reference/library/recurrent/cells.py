"""RNN cells as layers of `tf.layers`: base class, basic cell and GRU.

Source: tf_keras 2.21 (`legacy_cells`), whose graphs these make node for node.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations, initializers
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.tracking import is_split
from sessrun.reference.library.keras.object_configs import Identifier, TensorFunction
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.recurrent.unrolling import StateSize, zero_states
from sessrun.reference.public import public

__all__ = ["BasicRNNCell", "CellOfLayer", "GRUCell", "RNNCell", "check_dtypes"]

#: The names of the variables of every cell.
_WEIGHTS_VARIABLE_NAME: Final = "kernel"
_BIAS_VARIABLE_NAME: Final = "bias"


def check_dtypes(*values: Structure | DType) -> None:
    """Refuse tensors, or dtypes, that are of other than real or complex numbers.

    Raises:
      ValueError: a dtype is neither a floating-point nor a complex dtype.

    """
    for value in tf.nest.flatten(values):
        dtype = None if value is None else tf.as_dtype(getattr(value, "dtype", value))
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            raise bad_value(
                f"RNN cell only supports floating point inputs, but received dtype: {dtype}"
            )


@public("nn.rnn_cell.RNNCell")
class RNNCell(Layer):
    """Base class of cells: from an input and a state to an output and the next state.

    A cell has `state_size` and `output_size`, numbers or shapes, nested as states and outputs are,
    and `call(inputs, state)`.

    Args:
      trainable: whether its variables are trained.
      name: its name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True
        self._scope_around: variable_scope | None = None

    def get_config(self) -> dict[str, object]:
        """The config of every layer; subclasses add their own arguments."""
        return super().get_config()

    def __call__(
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None = None
    ) -> Any:
        """The output and the next state.

        Args:
          inputs: a tensor [batch, depth], or several, nested.
          state: tensors, nested as `state_size`.
          scope: a variable scope, or its name.

        """
        if scope is not None:
            with tf.variable_scope(scope, custom_getter=self._noting_variables) as entered:
                return super().__call__(inputs, state, scope=entered)
        if self._scope_around is None:
            self._scope_around = tf.variable_scope(
                tf.get_variable_scope(), custom_getter=self._noting_variables
            )
        with self._scope_around:
            return super().__call__(inputs, state)

    def _noting_variables(
        self, getter: Callable[..., Variable], *args: Any, **kwargs: Any
    ) -> Variable:
        """A custom getter that adds new variables to the cell's weights."""
        variable = getter(*args, **kwargs)
        trained = tf.trainable_variables()
        first = next(iter(variable)) if is_split(variable) else variable
        is_trained = any(first is other for other in trained)
        known = self._trainable_weights if is_trained else self._non_trainable_weights
        if all(variable is not other for other in known):
            known.append(variable)
        return variable

    @property
    def state_size(self) -> StateSize:
        """The sizes of the states.

        Raises:
          NotImplementedError: the class does not say them.

        """
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> StateSize:
        """The sizes of the outputs.

        Raises:
          NotImplementedError: the class does not say them.

        """
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self,
        inputs: Any = None,
        batch_size: int | Tensor | None = None,
        dtype: DTypeLike | None = None,
    ) -> Structure:
        """Zero states for the batch size of `inputs`, or for `batch_size`.

        Raises:
          ValueError: inputs disagree with the batch size or the dtype, or one is not known.

        """
        if inputs is not None:
            inputs = tf.convert_to_tensor(inputs, name="inputs")
            rows = inputs.shape.as_list()[0]
            given = tf.get_static_value(batch_size) if tf.is_tensor(batch_size) else batch_size
            if batch_size is not None and rows != given:
                raise bad_value(
                    f"batch size from input tensor is different from the input param: "
                    f"{rows}, {batch_size}"
                )
            if dtype is not None and inputs.dtype != dtype:
                raise bad_value(
                    f"dtype from input tensor is different from the input param: "
                    f"{inputs.dtype}, {dtype}"
                )
            batch_size, dtype = rows or tf.shape(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise bad_value(
                f"batch_size and dtype cannot be None while constructing initial "
                f"state: batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
        """Zeros for every state.

        Args:
          batch_size: a number or an int32 scalar.
          dtype: their dtype.

        """
        with tf.name_scope(type(self).__name__ + "ZeroState"):
            return zero_states(self.state_size, batch_size, dtype)


class CellOfLayer(RNNCell):
    """Base class of the cells that have variables.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh if nothing is given.
      reuse: whether variables that exist already are shared.
      name: the cell's name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    Raises:
      ValueError: the dtype is not of real or complex numbers.

    """

    def __init__(
        self,
        num_units: int,
        activation: Identifier,
        reuse: bool | None,
        name: str | None,
        dtype: DTypeLike | None,
        kwargs: dict[str, Any],
    ) -> None:
        kind = type(self).__name__
        warnings.warn(f"`tf.nn.rnn_cell.{kind}` is deprecated.", stacklevel=3)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtypes(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activations.get(activation) if activation else tf.tanh

    def __call__(
        self,
        inputs: Structure,
        state: Structure,
        scope: VariableScope | str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """The output and the next state; arguments as of RNNCell."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    @property
    def state_size(self) -> StateSize:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> StateSize:
        """The size of the output."""
        return self._num_units

    def build(self, input_shape: ShapeLike) -> None:
        """Make the variables.

        Raises:
          ValueError: the depth of the inputs is not known.

        """
        depth = tf.TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise bad_value(f"Expected inputs.shape[-1] to be known, received shape: {input_shape}")
        check_dtypes(self.dtype)
        self._make_variables(depth)
        super().build(input_shape)

    @abstractmethod
    def _make_variables(self, depth: int) -> None:
        """Make the variables for inputs of this depth."""

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


def _linear(values: Sequence[Tensor], kernel: Variable, bias: Variable) -> Tensor:
    """concat(values, 1) @ kernel + bias."""
    sums: Tensor = tf.nn.bias_add(tf.matmul(tf.concat(values, 1), kernel), bias)
    return sums


@public("nn.rnn_cell.BasicRNNCell")
class BasicRNNCell(CellOfLayer):
    """The basic cell: output = next state = activation(W [input, state] + b).

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh if nothing is given.
      reuse: whether variables that exist already are shared.
      name: the cell's name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    """

    def __init__(
        self,
        num_units: int,
        activation: Identifier = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        self._kernel = self.add_weight(_WEIGHTS_VARIABLE_NAME, shape=[depth + units, units])
        self._bias = self.add_weight(
            _BIAS_VARIABLE_NAME, shape=[units], initializer=tf.zeros_initializer(dtype=self.dtype)
        )

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The output and the next state, which are the same tensor."""
        check_dtypes(inputs, state)
        output = self._activation(_linear([inputs, state], self._kernel, self._bias))
        return output, output


@public("nn.rnn_cell.GRUCell")
class GRUCell(CellOfLayer):
    """A gated recurrent unit.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh if nothing is given.
      reuse: whether variables that exist already are shared.
      kernel_initializer: of the matrices; by default that of the variable scope.
      bias_initializer: of the vectors; by default ones for the gates, zeros for the rest.
      name: the cell's name.
      dtype: of its variables.
      **kwargs: as for `tf.layers.Layer`.

    """

    def __init__(
        self,
        num_units: int,
        activation: Identifier = None,
        reuse: bool | None = None,
        kernel_initializer: Identifier = None,
        bias_initializer: Identifier = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    def _make_variables(self, depth: int) -> None:
        units, chosen = self._num_units, self._bias_initializer
        parts: dict[str, tuple[int, Callable[[], TensorFunction]]] = {
            "gates": (2 * units, lambda: tf.constant_initializer(1.0, dtype=self.dtype)),
            "candidate": (units, lambda: tf.zeros_initializer(dtype=self.dtype)),
        }
        variables = {}
        for part, (width, default) in parts.items():
            kernel = self.add_weight(
                f"{part}/kernel",
                shape=[depth + units, width],
                initializer=self._kernel_initializer,
            )
            bias = self.add_weight(
                f"{part}/bias", shape=[width], initializer=default() if chosen is None else chosen
            )
            variables[part] = kernel, bias
        self._gates, self._candidate = variables["gates"], variables["candidate"]

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The output and the next state, which are the same tensor."""
        check_dtypes(inputs, state)
        gates = tf.sigmoid(_linear([inputs, state], *self._gates))
        forget, update = tf.split(value=gates, num_or_size_splits=2, axis=1)
        kept = forget * state
        candidate = self._activation(_linear([inputs, kept], *self._candidate))
        output = update * state + (1 - update) * candidate
        return output, output

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, for `from_config`."""
        return {
            **super().get_config(),
            "kernel_initializer": initializers.serialize(self._kernel_initializer),
            "bias_initializer": initializers.serialize(self._bias_initializer),
        }
