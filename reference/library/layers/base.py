"""`tf.layers.Layer`: a layer whose variables are those of a variable scope.

Source: tf_keras 2.21 (`legacy_tf_layers`), whose graphs it makes node for node.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.api.variables.variable_traits import (
    VariableAggregation,
    VariableSynchronization,
)
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine import base_layer
from sessrun.reference.library.keras.engine.tracking import is_split
from sessrun.reference.library.keras.engine.weights import is_trained
from sessrun.reference.library.keras.naming import snake_case, unique_name
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["Layer", "keras_style_scope", "set_keras_style"]


class _Style:
    """Whether new layers manage variables in Keras' style."""

    is_keras = False


_STYLE: Final = _Style()


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Create layers in Keras' style inside the `with`."""
    before, _STYLE.is_keras = _STYLE.is_keras, True
    try:
        yield
    finally:
        _STYLE.is_keras = before


def set_keras_style() -> None:
    """Create all layers in Keras' style from now on."""
    _STYLE.is_keras = True


class Layer(base_layer.Layer):
    """A layer whose variables come from `tf.get_variable` in the layer's variable scope.

    Args:
      trainable: whether its variables are trained.
      name: its name, that of its variable scope too; or a VariableScope.
      dtype: the dtype of its variables; by default that of the first inputs.
      **kwargs: those of a Keras layer; `_scope`, a variable scope or its name; `_reuse`, whether
        variables that exist already are shared.

    Raises:
      ValueError: a scope or reuse is given where layers manage variables as those of Keras do.

    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        self._use_resource_variables = False
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._keras_style = _STYLE.is_keras
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        given = {"scope": scope, "reuse": self._reuse}
        for what, value in given.items() if self._keras_style else ():
            if value is not None:
                raise bad_value(
                    f"{what} argument not allowed when keras style layers are enabled, but saw: "
                    f"{value}"
                )
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        self._reopened: variable_scope | None = None
        if scope:
            with tf.variable_scope(scope) as captured:
                self._scope = captured

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # layers in it are not tracked

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            if key in {"_scope", "_reopened"}:
                copied = copy.copy(value)
            elif tf.is_tensor(value) or key in {"_conditional", "_call_arguments"}:
                copied = value
            else:
                copied = copy.deepcopy(value, memo)
            object.__setattr__(result, key, copied)
        return result

    def _init_set_name(self, name: str | VariableScope | None, zero_based: bool = False) -> None:
        base = snake_case(type(self).__name__)
        if isinstance(name, VariableScope):
            self._base_name = name.name
            self._name = unique_name(base, zero_based=zero_based)
        elif name:
            self._base_name = self._name = name
        else:
            self._base_name = base
            self._name = unique_name(base, zero_based=zero_based)

    @property
    def graph(self) -> None:
        """Always None: layers do not keep their graph any more."""
        warnings.warn("`Layer.graph` is deprecated", stacklevel=2)

    @property
    def scope_name(self) -> str:
        """The name of the variable scope.

        Raises:
          ValueError: the layer was not called, and so has no scope.

        """
        if not self._scope:
            raise bad_value(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name is determined the first time the layer instance is "
                "called."
            )
        return str(self._scope.name)

    def add_loss(self, losses: Tensor, inputs: Structure = None) -> None:
        """Collect losses, also in the graph's collection of regularization losses."""
        known, makers = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        computed = [make() for make in self._callable_losses[makers:]]
        new = self._losses[known:] + [loss for loss in computed if loss is not None]
        _collect(new, tf.GraphKeys.REGULARIZATION_LOSSES)

    def _name_scope(self) -> str:
        if self._keras_style:
            return super()._name_scope()
        assert self._current_scope is not None  # it is open while the layer builds
        return str(self._current_scope.original_name_scope)

    def _set_scope(self, scope: VariableScope | str | None = None) -> None:
        """Set the variable scope, once."""
        if self._scope is not None:
            return
        if self._reuse:
            opened = tf.variable_scope(self._base_name if scope is None else scope)
        else:
            opened = tf.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def add_weight(  # type: ignore[override]  # a name and a shape must be given
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: Identifier = None,
        regularizer: Identifier = None,
        trainable: bool | None = None,
        constraint: Identifier = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = tf.VariableSynchronization.AUTO,
        aggregation: VariableAggregation = tf.VariableAggregation.NONE,
        partitioner: Callable[..., Sequence[int]] | None = None,
        **kwargs: Any,
    ) -> Variable:
        """Get a variable of this layer's variable scope, new or shared.

        The arguments are those of a Keras layer, but for `getter`: what makes the variable is
        `tf.get_variable`.

        Raises:
          TypeError: there is another argument.
          ValueError: a variable that is synchronized on reading is trainable, or as `get_variable`.

        """
        unknown = kwargs.keys() - {"experimental_autocast"}
        if unknown:
            raise TypeError("Unknown keyword argument:", min(unknown))
        options: dict[str, Any] = {
            "constraint": constraint,
            "partitioner": partitioner,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        if self._keras_style:
            return super().add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                regularizer=regularizer,
                trainable=trainable and self.trainable,
                use_resource=use_resource,
                **options,
            )
        trainable = is_trained(trainable, synchronization) and self.trainable
        before = set(map(id, tf.global_variables()))
        self._set_scope(None)
        reuse = self.built or self._reuse
        with tf.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with tf.name_scope(self._name_scope()):
                variable = super().add_weight(
                    name,
                    shape=shape,
                    dtype=tf.as_dtype(dtype or self.dtype or tf.float32),
                    initializer=scope.initializer if initializer is None else initializer,
                    trainable=trainable,
                    getter=tf.get_variable,
                    use_resource=(
                        use_resource or self._use_resource_variables or scope.use_resource
                    ),
                    **options,
                )
                parts = list(variable) if is_split(variable) else [variable]
                if regularizer and not any(id(part) in before for part in parts):
                    self._handle_weight_regularization(name, variable, regularizer)
                if trainable and not _is_among(variable, tf.trainable_variables()):
                    self._count_as_untrained(parts)
        return variable

    def _count_as_untrained(self, parts: list[Variable]) -> None:
        """Move variables that a scope or getter made non-trainable to the non-trainable list."""
        for part in parts:
            self._trainable_weights.remove(part)
            self._non_trainable_weights.append(part)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the layer computes of its inputs.

        Args:
          inputs: a tensor, or several, nested.
          *args: other arguments of `call`.
          **kwargs: the same; `scope`, the variable scope, if none was chosen. A `call` that
            takes `scope` is given the open one.

        Raises:
          ValueError: as a Keras layer, or a scope is given to one that manages variables so.

        """
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise bad_value(
                    "scope argument not allowed when keras style layers are enabled, but saw: "
                    f"{scope}"
                )
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with self._opened_scope() as opened:
            self._current_scope = opened
            if "scope" in self._call_arguments.names:
                kwargs["scope"] = opened
            outputs = super().__call__(inputs, *args, **kwargs)
        _collect(self.updates, tf.GraphKeys.UPDATE_OPS)
        return outputs

    def _opened_scope(self) -> variable_scope:
        """Enter the variable scope; with reuse once the layer is built."""
        if not self.built:
            return tf.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        if self._reopened is None:
            self._reopened = tf.variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
        return self._reopened


def _is_among(variable: object, variables: Iterable[Variable]) -> bool:
    return any(variable is other for other in variables)


def _collect(elements: Iterable[object], key: str) -> None:
    """Add missing items to a collection, which is created even if empty."""
    collection = tf.get_collection_ref(key)
    for element in elements:
        if not _is_among(element, collection):
            collection.append(element)
