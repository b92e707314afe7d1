"""The Adam optimizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.variables.state_ops import assign, assign_sub, scatter_add
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.framework_ops import group
from sessrun.reference.build.generated import sqrt
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.default_graph import (
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from sessrun.reference.graph.name_scopes import init_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.library.optimizers.optimizables import Applied
from sessrun.reference.public import public

__all__ = ["AdamOptimizer"]

#: `scatter(slot, indices, updates)` is the slot's value with rows added to.
Scatter = Callable[[Any, Tensor, Tensor], Tensor]


@public("train.AdamOptimizer")
class AdamOptimizer(SteppingOptimizer):
    """Adam: steps along bias-corrected first moments over the root of second moments.

    Its slots are `m` and `v`; the powers of both betas are non-slot variables.

    Args:
      learning_rate: a number, a scalar tensor, or a function that returns one; as the next two.
      beta1: how much of the first mean is kept in a step.
      beta2: how much of the second mean is kept in a step.
      epsilon: a small number that is added to the root.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.
      use_own_namescope_for_non_slot_vars: whether the powers stand in a scope of that name.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        with init_scope():
            graph = get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph=graph),
            self._get_non_slot_variable("beta2_power", graph=graph),
        )

    def _create_slots(self, var_list: list[Variable]) -> None:
        first = min(var_list, key=lambda v: str(v.name))
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        given = [
            self._call_if_callable(number)
            for number in (self._lr, self._beta1, self._beta2, self._epsilon)
        ]
        self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t = map(
            self._as_tensor, given, ("learning_rate", "beta1", "beta2", "epsilon")
        )

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows  # rows are scattered
        beta1_power, beta2_power = self._get_beta_accumulators()
        numbers = {
            "beta1_power": beta1_power,
            "beta2_power": beta2_power,
            "lr": self._lr_t,
            "beta1": self._beta1_t,
            "beta2": self._beta2_t,
            "epsilon": self._epsilon_t,
        }
        return Update("Adam", {"m": "m", "v": "v"}, numbers)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        def scatter(slot: Variable, indices: Tensor, updates: Tensor) -> Tensor:
            scattered: Tensor = scatter_add(slot, indices, updates, use_locking=self._use_locking)
            return scattered

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Any, i: Tensor, v: Tensor) -> Tensor:
        inputs = {"resource": x.handle, "indices": i, "updates": v}
        with control_dependencies([apply_op("ResourceScatterAdd", inputs, {})]):
            value: Tensor = x.value()
        return value

    def _apply_sparse_shared(
        self, grad: Tensor, var: Variable, indices: Tensor, scatter: Scatter
    ) -> Operation:
        """Sparse update: all rows of the moments decay, and the whole variable is stepped."""
        powers = self._get_beta_accumulators()
        given = (*powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        beta1_power, beta2_power, lr_t, beta1_t, beta2_t, epsilon_t = (
            cast(number, var.dtype.base_dtype) for number in given
        )
        lr = lr_t * sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decayed(var, "m", beta1_t, indices, lambda: grad * (1 - beta1_t), scatter)
        v_t = self._decayed(
            var, "v", beta2_t, indices, lambda: (grad * grad) * (1 - beta2_t), scatter
        )
        root = sqrt(v_t)
        step = lr * m_t / (root + epsilon_t)
        update = assign_sub(var, step, use_locking=self._use_locking)
        return group(update, m_t, v_t)

    def _decayed(
        self,
        var: Variable,
        name: str,
        beta: Tensor,
        indices: Tensor,
        rows: Callable[[], Tensor],
        scatter: Scatter,
    ) -> Tensor:
        """Decay a slot and add rows to it; returns its value."""
        slot: Any = self.get_slot(var, name)
        scaled = rows()
        decayed = assign(slot, slot * beta, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            return scatter(slot, indices, scaled)

    def _finish(self, update_ops: Sequence[Applied], name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                powers = [
                    power.assign(power * beta, use_locking=self._use_locking)
                    for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t))
                ]
        return group(*update_ops, *powers, name=name_scope)
