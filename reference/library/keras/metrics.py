"""`tf.keras.metrics`: metrics that accumulate values in variables, for `Layer.add_metric`.

Source: tf_keras 2.21.
"""

from __future__ import annotations

from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.ops.weight_shapes import broadcast_weights
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import sessions
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.layer_metrics import register_mean
from sessrun.reference.library.keras.object_configs import Config
from sessrun.reference.library.keras.settings import floatx

__all__ = ["Mean", "Metric", "Sum"]


class Metric(Layer):
    """A value accumulated over batches in variables.

    A class of metrics makes its variables in the constructor, updates them in `update_state`,
    whose last operation is the update, and computes the value in `result`.

    Args:
      name: its name.
      dtype: the dtype of its variables; `floatx()` by default.
      **kwargs: as for Layer.

    """

    #: Distinguishes metrics from other layers among the attributes of a layer.
    _is_metric: Final = True

    def __init__(
        self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, dtype=dtype or floatx(), **kwargs)
        self.stateful = True
        self.built = True
        computed = self.result

        def result() -> Tensor:
            return tf.nest.map_structure(tf.identity, computed())

        # The identity is built in `__call__` after the update, even if `result` returns a tensor.
        self.__dict__["result"] = result

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Update the state by these arguments (of `update_state`) and return the new result."""
        self.update_state(*args, **kwargs)
        update = tf.get_default_graph().get_operations()[-1]
        self.add_update(update)
        with tf.control_dependencies([update]):
            result: Any = self.result()
        result._metric_obj = self  # noqa: SLF001 - the name by which `add_metric` finds it
        return result

    def update_state(self, *args: Any, **kwargs: Any) -> Tensor | Variable | Operation:
        """Accumulate a batch; implemented by subclasses."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Tensor:
        """The accumulated value; implemented by subclasses."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_state(self) -> None:
        """Set all variables to 0, in the session that Keras uses."""
        sessions.batch_set_value([(variable, 0) for variable in self.variables])

    def reset_states(self) -> None:
        """The older name of `reset_state`."""
        self.reset_state()

    def add_weight(  # type: ignore[override]  # the others go by keyword
        self, name: str | None = None, shape: ShapeLike = (), **kwargs: Any
    ) -> Variable:
        """Create a state variable, in no collection; arguments as of `Layer.add_weight`."""
        kept = {
            "aggregation": tf.VariableAggregation.SUM,
            "collections": [],
            "dtype": self.dtype,
            "synchronization": tf.VariableSynchronization.ON_READ,
            "trainable": False,
        }
        return super().add_weight(name, shape, **{**kept, **kwargs})

    def get_config(self) -> Config:
        """Name and dtype."""
        return {"name": self.name, "dtype": self.dtype}


class Sum(Metric):
    """The sum of all values, each times its weight.

    Args:
      name: its name.
      dtype: the dtype of its variables.

    """

    def __init__(self, name: str | None = "sum", dtype: DType | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total", initializer="zeros")

    def update_state(
        self, values: TensorLike, sample_weight: TensorLike | None = None
    ) -> Tensor | Variable | Operation:
        """Add values.

        Args:
          values: of any shape.
          sample_weight: the weights, which broadcast to `values`; weights of a smaller rank that
            do not broadcast are those of reduced values.

        """
        return self._added(*self._weighted(tf.cast(values, self.dtype), sample_weight))

    def _weighted(self, values: Any, given: Structure) -> tuple[Tensor, Tensor | None]:
        """The weighted values, and the weights broadcast to them (None without weights)."""
        if given is None:
            return values, None
        weights = tf.cast(given, self.dtype)
        if weights.shape.rank and values.shape.rank is not None:
            further = weights.shape.rank - values.shape.rank
            if further == 1:
                weights = tf.squeeze(weights, [-1])
            elif further == -1:
                weights = tf.expand_dims(weights, [-1])
        try:
            weights = broadcast_weights(weights, values)
        except ValueError:
            axes = list(range(weights.shape.rank, values.shape.rank))
            values = self._reduced(values, axes)
        return tf.multiply(values, weights), weights

    def _reduced(self, values: TensorLike, axes: list[int]) -> Tensor:
        return tf.reduce_sum(values, axis=axes)

    def _added(
        self, values: TensorLike, weights: TensorLike | None
    ) -> Tensor | Variable | Operation:
        del weights
        total = tf.reduce_sum(values)
        with tf.control_dependencies([total]):
            return self.total.assign_add(total)

    def result(self) -> Tensor:
        """The sum."""
        return tf.identity(self.total)


class Mean(Sum):
    """The weighted mean of all values; 0 before the first.

    Args:
      name: its name.
      dtype: the dtype of its variables.

    """

    def __init__(self, name: str | None = "mean", dtype: DType | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.count = self.add_weight("count", initializer="zeros")

    def _reduced(self, values: TensorLike, axes: list[int]) -> Tensor:
        return tf.reduce_mean(values, axis=axes)

    def _added(
        self, values: TensorLike, weights: TensorLike | None
    ) -> Tensor | Variable | Operation:
        update = super()._added(values, None)
        is_plain = weights is None
        count = tf.cast(tf.size(values), self.dtype) if is_plain else tf.reduce_sum(weights)
        with tf.control_dependencies([update]):
            return self.count.assign_add(count)

    def result(self) -> Tensor:
        """The mean."""
        return tf.math.divide_no_nan(self.total, self.count)


register_mean(Mean)
