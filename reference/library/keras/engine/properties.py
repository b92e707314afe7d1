"""Properties of Layer: name, dtypes, flags, and those that only layers of a model have."""

from __future__ import annotations

from typing import Any, NoReturn

import sessrun.reference as tf
from sessrun.reference.base.dtypes import DType
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.input_spec import InputSpecs
from sessrun.reference.library.keras.engine.tracking import Tracking
from sessrun.reference.library.keras.object_configs import TensorFunction

__all__ = ["TraitsOfLayer"]


class TraitsOfLayer(Tracking):
    """Mixin of Layer: name, dtypes and flags."""

    _name: str
    _trainable: bool
    _stateful: bool
    _dynamic: bool
    _input_spec: InputSpecs
    _activity_regularizer: TensorFunction | None
    _variable_dtype: str | None

    @property
    def name(self) -> str:
        """The layer's name, which is that of its name scope."""
        return self._name

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of its variables; None until it is built, if none was given."""
        return self._variable_dtype

    @property
    def _dtype(self) -> str | None:
        return self._variable_dtype

    @_dtype.setter
    def _dtype(self, value: Tensor) -> None:
        self._variable_dtype = tf.as_dtype(value).name

    @property
    def compute_dtype(self) -> str | None:
        """The name of the dtype in which it computes."""
        return self._variable_dtype

    @property
    def _compute_dtype(self) -> str | None:
        return self._variable_dtype

    @property
    def _compute_dtype_object(self) -> DType | None:
        return None if self._variable_dtype is None else tf.as_dtype(self._variable_dtype)

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for kept in self._lists()[2]:
            if isinstance(kept, TraitsOfLayer):  # layers in lists stay, as TensorFlow's
                kept.trainable = value

    @property
    def stateful(self) -> bool:
        """Whether this layer or a sublayer keeps state between batches."""
        return any(layer._stateful for layer in self._flatten_layers())  # noqa: SLF001 - a layer's own

    @stateful.setter
    def stateful(self, value: bool) -> None:
        self._stateful = value

    @property
    def dynamic(self) -> bool:
        """Whether this layer or a sublayer was declared eager-only."""
        return any(layer._dynamic for layer in self._flatten_layers())  # noqa: SLF001 - a layer's own

    @property
    def activity_regularizer(self) -> TensorFunction | None:
        """The regularizer of the outputs, or None."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: TensorFunction | None) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        """The required inputs: an InputSpec, a list of them, or None."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in tf.nest.flatten(value):
            if spec is not None and "InputSpec" not in type(spec).__name__:
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self._input_spec = value

    @property
    def inbound_nodes(self) -> list[Tensor]:
        """Nodes of functional models: always empty, models are not supported."""
        return []

    @property
    def outbound_nodes(self) -> list[Tensor]:
        """Nodes of functional models: always empty, models are not supported."""
        return []

    @property
    def input(self) -> NoReturn:
        """The symbolic input in a functional model; always AttributeError."""
        raise AttributeError(f"Layer {self.name} is not connected, no input to return.")

    @property
    def output(self) -> NoReturn:
        """The symbolic output in a functional model; always AttributeError."""
        raise AttributeError(f"Layer {self.name} has no inbound nodes.")

    @property
    def input_shape(self) -> NoReturn:
        """The input shape in a functional model; always AttributeError."""
        raise AttributeError(
            f'The layer "{self.name}" has never been called and thus has no defined input shape.'
        )

    @property
    def output_shape(self) -> NoReturn:
        """The output shape in a functional model; always AttributeError."""
        raise AttributeError(
            f'The layer "{self.name}" has never been called and thus has no defined output shape.'
        )

    def get_input_at(self, node_index: int) -> NoReturn:
        """The input at a node of a functional model; always RuntimeError."""
        raise RuntimeError(f"Layer {self.name} has no place {node_index} in a model.")

    def get_output_at(self, node_index: int) -> NoReturn:
        """The output at a node of a functional model; always RuntimeError."""
        raise RuntimeError(f"Layer {self.name} has no place {node_index} in a model.")
