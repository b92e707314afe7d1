"""Cells: one step of a recurrent network, of inputs and states. Source: tf_keras 2.21, v1 forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack
from weakref import WeakKeyDictionary

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.engine.base_layer import Layer, RandomLayer
from sessrun.reference.library.keras.engine.layer_options import CommonOptions
from sessrun.reference.library.keras.functions import ones_like
from sessrun.reference.library.keras.learning_phases import in_train_phase
from sessrun.reference.library.keras.object_configs import Identifier, TensorFunction

__all__ = [
    "AbstractRNNCell",
    "RecurrentCell",
    "SimpleRNNCell",
    "StateSize",
    "has_many",
    "zero_states",
]


#: The size of a state, its shape, or such for several states.
StateSize: TypeAlias = "ShapeLike | Sequence[StateSize]"


def has_many(state_size: StateSize) -> bool:
    """Whether a `state_size` describes several states."""
    return hasattr(state_size, "__len__") and not isinstance(state_size, tf.TensorShape)


def zero_states(
    state_size: StateSize,
    inputs: Any = None,
    batch_size: int | Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Structure:
    """Zeros for each state of a cell.

    Args:
      state_size: a size, a shape, or a structure of such.
      inputs: the inputs, for batch size and dtype.
      batch_size: the batch size, where there are no inputs.
      dtype: the dtype, where there are no inputs.

    Raises:
      ValueError: batch size or dtype are not known.

    """
    if inputs is not None:
        batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise bad_value(
            "batch_size and dtype cannot be None while constructing initial state. "
            f"Received: batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size: int | Tensor) -> Tensor:
        return tf.zeros([batch_size, *tf.TensorShape(size).as_list()], dtype=dtype)

    return tf.nest.map_structure(zeros, state_size)


class AbstractRNNCell(Layer):
    """Base class of user-defined cells: `call(inputs, states)`, `state_size`, `output_size`."""

    @property
    def state_size(self) -> StateSize:
        """The size of the state, its shape, or a list of such.

        Raises:
          NotImplementedError: the class does not say.

        """
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> StateSize:
        """The size of the output, or its shape.

        Raises:
          NotImplementedError: the class does not say.

        """
        raise NotImplementedError("Abstract method")

    def call(self, inputs: Structure, states: Structure) -> tuple[Structure, Structure]:
        """The output and the next states; implemented by subclasses.

        Raises:
          NotImplementedError: the class does not say.

        """
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self,
        inputs: Structure = None,
        batch_size: int | Tensor | None = None,
        dtype: DType | None = None,
    ) -> Structure:
        """Zeros for each state; raises as `zero_states`."""
        return zero_states(self.state_size, inputs, batch_size, dtype)


class RecurrentCell(RandomLayer):
    """A cell with a kernel for the inputs, one for the state, and a bias.

    Args:
      units: the size of output and state.
      rules: initializers, regularizers and constraints of `kernel`, `recurrent` and `bias`.
      activation: the function of what comes out.
      use_bias: whether there is a bias.
      dropout: the share of the inputs that is dropped while training.
      recurrent_dropout: that of the state.
      implementation: 1 for a product for each gate, 2 for one product of all; 1 if the state is
        dropped.
      **kwargs: those of Layer, and `seed`.

    Raises:
      ValueError: `units` is not positive.

    """

    #: How many sizes of `units` the kernels have side by side.
    _gates: int = 1
    bias_initializer: TensorFunction
    #: What the values are multiplied with, by graph and name.
    _masks: WeakKeyDictionary[object, dict[str, object]]

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """The names of the constructor's own arguments, in order, without `implementation`."""
        return cls._options

    def __init__(
        self,
        units: int,
        rules: Mapping[str, Identifier],
        activation: Identifier,
        use_bias: bool,
        dropout: float,
        recurrent_dropout: float,
        **kwargs: Any,
    ) -> None:
        if units <= 0:
            raise bad_value(
                "Received an invalid value for argument `units`, expected a positive integer, "
                f"got {units}."
            )
        kwargs.pop("enable_caching_device", None)
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        for name in ("kernel", "recurrent", "bias"):
            kinds = ("initializer", "regularizer", "constraint")
            self._set_rules(name, *(rules[f"{name}_{kind}"] for kind in kinds))
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size: StateSize = units
        self.output_size = units
        object.__setattr__(self, "_masks", WeakKeyDictionary())

    def build(self, input_shape: ShapeLike) -> None:
        """Make the two kernels and the bias."""
        super().build(input_shape)
        wide = self.units * self._gates
        size = tf.TensorShape(input_shape).as_list()[-1]
        self.kernel = self._weight("kernel", (size, wide))
        self.recurrent_kernel = self._weight("recurrent", (self.units, wide), "recurrent_kernel")
        self.bias = self._weight("bias", self._bias_shape()) if self.use_bias else None

    def _weight(self, name: str, shape: tuple[int, ...], weight: str | None = None) -> Variable:
        return self.add_weight(
            weight or name,
            shape=shape,
            initializer=self._rule_of(name),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
        )

    def _rule_of(self, name: str) -> TensorFunction | None:
        """The initializer of a weight."""
        return getattr(self, f"{name}_initializer")

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def get_initial_state(
        self,
        inputs: Structure = None,
        batch_size: int | Tensor | None = None,
        dtype: DType | None = None,
    ) -> Any:
        """Zeros for each state; raises as `zero_states`."""
        return zero_states(self.state_size, inputs, batch_size, dtype)

    def reset_dropout_mask(self) -> None:
        """Discard the dropout mask of the inputs; the next call draws a new one."""
        self._masks.pop(tf.get_default_graph(), None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Discard the dropout mask of the state; the next call draws a new one."""
        self.reset_dropout_mask()

    def _dropout_mask(self, name: str, value: TensorLike, training: bool | Tensor | None) -> Any:
        """The dropout mask shared by all time steps; None without dropout.

        A list of one for each gate if there are several.
        """
        rate = getattr(self, name)
        if rate == 0:
            return None
        drawn = self._masks.setdefault(tf.get_default_graph(), {})
        if name not in drawn:
            ones = ones_like(value)

            def dropped() -> Tensor:
                return tf.nn.dropout(ones, rate=rate, seed=self._seed_of_operation())

            masks = [in_train_phase(dropped, ones, training=training) for _ in range(self._gates)]
            drawn[name] = masks if self._gates > 1 else masks[0]
        return drawn[name]


class SimpleRNNCell(RecurrentCell):
    """activation(inputs * kernel + bias + state * recurrent_kernel), which is the state too.

    Args:
      units: the size of output and state.
      activation: the function.
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
      **kwargs: those of Layer, and `seed`.

    Raises:
      ValueError: `units` is not positive.

    """

    _options = (
        "units",
        "activation",
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
    )

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
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
        **kwargs: Unpack[CommonOptions],
    ) -> None:
        super().__init__(
            units, locals(), activation, use_bias, dropout, recurrent_dropout, **kwargs
        )

    def call(
        self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None
    ) -> tuple[Tensor, list[Tensor] | Tensor]:
        """The output, of shape [batch, units], and the state, which is the same."""
        before = states[0] if tf.nest.is_nested(states) else states
        dropped = self._dropout_mask("dropout", inputs, training)
        recurrent = self._dropout_mask("recurrent_dropout", before, training)
        output = tf.matmul(inputs if dropped is None else inputs * dropped, self.kernel)
        if self.bias is not None:
            output = tf.nn.bias_add(output, self.bias)
        if recurrent is not None:
            before *= recurrent
        output += tf.matmul(before, self.recurrent_kernel)
        output = self.activation(output)
        return output, [output] if tf.nest.is_nested(states) else output
