"""Variables of a layer: creation, lists, values."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_traits import (
    VariableAggregation,
    VariableSynchronization,
)
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import constraints, initializers, regularizers, sessions
from sessrun.reference.library.keras.engine.properties import TraitsOfLayer
from sessrun.reference.library.keras.engine.tracking import distinct, is_split
from sessrun.reference.library.keras.object_configs import Identifier, TensorFunction
from sessrun.reference.library.keras.settings import floatx

__all__ = ["WeightsOfLayer", "is_trained", "make_variable"]

#: What `add_weight` takes besides its named arguments.
_OPTIONS = frozenset(
    {"autocast", "getter", "collections", "experimental_autocast", "caching_device"}
)


def make_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DType = tf.float32,
    initializer: Any = None,
    use_resource: bool | None = None,
    partitioner: object = None,
    **options: Any,
) -> Variable:
    """Create a variable (by default a resource variable) in the current name scope.

    Args:
      name: its name.
      shape: its shape.
      dtype: its dtype.
      initializer: a function from shape and dtype to the initial value, a class of such, or the
        initial value.
      use_resource: whether it is a resource variable; None for yes.
      partitioner: not used: a variable of this kind is never in parts.
      **options: arguments of `tf.Variable`.

    """
    del partitioner
    if initializer is not None and not callable(initializer):
        value, kind = initializer, None
    else:
        make: Any = initializer() if inspect.isclass(initializer) else initializer
        value, kind = functools.partial(make, shape, dtype=dtype), dtype.base_dtype
    return tf.Variable(
        initial_value=value,
        name=name,
        dtype=kind,
        shape=tf.TensorShape(shape),
        use_resource=True if use_resource is None else use_resource,
        **options,
    )


def is_trained(trainable: bool | None, synchronization: VariableSynchronization) -> bool:
    """The default of `trainable`, which depends on the synchronization."""
    if synchronization == tf.VariableSynchronization.ON_READ:
        if trainable:
            raise bad_value(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return True if trainable is None else trainable


class WeightsOfLayer(TraitsOfLayer):
    """Mixin of Layer: variables."""

    built: bool
    add_loss: Callable[..., None]
    _set_dtype_policy: Callable[[object], None]

    def add_weight(
        self,
        name: str | None = None,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: Identifier = None,
        regularizer: Identifier = None,
        trainable: bool | None = None,
        constraint: Identifier = None,
        partitioner: Callable[..., Sequence[int]] | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = tf.VariableSynchronization.AUTO,
        aggregation: VariableAggregation = tf.VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Create a variable of this layer.

        Args:
          name: its name in the open name scope.
          shape: its shape; a scalar by default.
          dtype: its dtype; the layer's or `floatx()` by default.
          initializer: a function from shape and dtype to the initial value, a name or a config;
            by default Glorot's uniform numbers for floats, zeros for integers and bool.
          regularizer: a function to a loss, which is collected.
          trainable: whether it is trained; by default unless it is synchronized on reading.
          constraint: what optimizers apply after an update.
          partitioner: how it is parted, if the getter parts variables.
          use_resource: whether it is a resource variable.
          synchronization: a VariableSynchronization.
          aggregation: a VariableAggregation.
          **kwargs: `getter`, the function that makes it; `collections`; `caching_device`.

        Raises:
          TypeError: there is another argument.
          ValueError: it is trainable though synchronized on reading, or needs an initializer.

        """
        unknown = kwargs.keys() - _OPTIONS
        if unknown:
            raise TypeError("Unknown keyword argument:", min(unknown))
        kind = tf.as_dtype(dtype or self.dtype or floatx())
        if self.dtype is None:
            self._set_dtype_policy(kind.base_dtype.name)
        trainable = is_trained(trainable, synchronization)
        weight = kwargs.get("getter", make_variable)(
            name=name,
            shape=() if shape is None else shape,
            dtype=kind,
            initializer=self._initializer(name, initializer, kind, has_getter="getter" in kwargs),
            constraint=constraints.get(constraint),
            trainable=trainable,
            partitioner=partitioner,
            use_resource=use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
            caching_device=kwargs.get("caching_device"),
        )
        regularizer = regularizers.get(regularizer)
        if regularizer is not None:
            self._handle_weight_regularization(weight.name.partition(":")[0], weight, regularizer)
        known = self._trainable_weights if trainable else self._non_trainable_weights
        for variable in weight if is_split(weight) else [weight]:
            sessions.track_variable(variable)
            known.append(variable)
        return weight

    def _set_rules(
        self, name: str, initializer: Identifier, regularizer: Identifier, constraint: Identifier
    ) -> None:
        """Store the initializer, regularizer and constraint of a variable as attributes."""
        setattr(self, f"{name}_initializer", initializers.get(initializer))
        setattr(self, f"{name}_regularizer", regularizers.get(regularizer))
        setattr(self, f"{name}_constraint", constraints.get(constraint))

    def _add_by_rules(
        self, name: str, shape: ShapeLike, *, weight: str | None = None, **options: Any
    ) -> Any:
        """Create a trainable variable by the attributes of `_set_rules`."""
        return self.add_weight(
            name if weight is None else weight,
            shape=shape,
            trainable=True,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            **{"dtype": self.dtype, **options},
        )

    def _initializer(
        self, name: str | None, given: Identifier, kind: DType, *, has_getter: bool
    ) -> TensorFunction | None:
        initializer = initializers.get(given)
        if initializer is not None:
            return initializer
        if kind.is_floating:
            return initializers.get("glorot_uniform")
        if kind.is_integer or kind == tf.bool:
            return initializers.get("zeros")
        if not has_getter:
            raise bad_value(
                f"An initializer for variable {name} of type {kind.base_dtype} is required for "
                f"layer {self.name}"
            )
        return None

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """The older name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _handle_weight_regularization(
        self, name: str, variable: Variable, regularizer: Any
    ) -> None:
        def loss(part: Variable | Tensor) -> Tensor:
            with tf.name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        for part in variable if is_split(variable) else [variable]:
            self.add_loss(functools.partial(loss, part))

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables that are trained, with those of inner layers."""
        if not self.trainable:
            return []
        return distinct(self._trainable_weights + self._of_inner_layers("trainable_variables"))

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables that are not trained, with those of inner layers."""
        if self.trainable:
            inner = self._of_inner_layers("non_trainable_variables")
            return distinct(self._non_trainable_weights + inner)
        own = self._trainable_weights + self._non_trainable_weights
        return distinct(own + self._of_inner_layers("variables"))

    @property
    def weights(self) -> list[Variable]:
        """All variables, those that are trained first."""
        return distinct(self.trainable_weights + self.non_trainable_weights)

    @property
    def variables(self) -> list[Variable]:
        """All variables, as `weights`."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that are trained, as `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not trained, as `non_trainable_weights`."""
        return self.non_trainable_weights

    def get_weights(self) -> list[HostArray]:
        """The values of all variables, as arrays, in the session that Keras uses."""
        return sessions.batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[np.ndarray]) -> None:
        """Set the values of all variables, in the order of `weights`.

        Raises:
          ValueError: there are more or fewer arrays, or one has another shape.

        """
        variables = self.weights
        if len(variables) != len(weights):
            raise bad_value(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights."
            )
        for variable, value in zip(variables, weights, strict=True):
            shape = getattr(value, "shape", ())
            if not variable.shape.is_compatible_with(shape):
                raise bad_value(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {shape}"
                )
        sessions.batch_set_value(list(zip(variables, weights, strict=True)))

    def count_params(self) -> int:
        """The number of scalars in the variables.

        Raises:
          ValueError: the layer has no variables yet.

        """
        if not self.built:
            raise bad_value(
                f"You tried to call `count_params` on layer {self.name}, but the layer isn't "
                f"built. You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(math.prod(tf.TensorShape(variable.shape).as_list()) for variable in self.weights)
