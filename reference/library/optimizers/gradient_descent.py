"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.public import public

__all__ = ["GradientDescentOptimizer", "MomentumOptimizer"]


@public("train.GradientDescentOptimizer")
class GradientDescentOptimizer(SteppingOptimizer):
    """`var -= learning_rate * grad`.

    Args:
      learning_rate: a number, a scalar tensor, or a function that makes one.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Tensor | None = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._as_tensor(self._learning_rate, "learning_rate")

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows  # rows are scattered
        return Update("GradientDescent", numbers={"alpha": self._learning_rate_tensor})

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Operation:
        steps = -grad * cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        inputs = {"resource": handle.handle, "indices": indices, "updates": steps}
        return apply_op("ResourceScatterAdd", inputs, {})

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Tensor:
        steps = grad.values * cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(steps, grad.indices, grad.dense_shape)
        scattered: Tensor = var.scatter_sub(delta, use_locking=self._use_locking)
        return scattered


@public("train.MomentumOptimizer")
class MomentumOptimizer(SteppingOptimizer):
    """`accum = momentum * accum + grad; var -= learning_rate * accum`; slot `momentum`.

    Args:
      learning_rate: a number, a scalar tensor, or a function that makes one.
      momentum: the same.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.
      use_nesterov: whether the gradient counts as if one step further.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._as_tensor(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._as_tensor(self._momentum, "momentum")

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows
        numbers = {"lr": self._learning_rate_tensor, "momentum": self._momentum_tensor}
        return Update(
            "Momentum", {"accum": "momentum"}, numbers, attrs={"use_nesterov": self._use_nesterov}
        )
