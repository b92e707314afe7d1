"""Proximal gradient descent and proximal Adagrad, with L1 and L2 regularization (FOBOS)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.public import public

__all__ = ["ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer"]


class _Proximal(SteppingOptimizer):
    """Shared arguments of the proximal optimizers: learning rate, L1 and L2 strengths."""

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        l1: float,
        l2: float,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1
        self._l2_regularization_strength = l2
        self._numbers: tuple[Tensor, ...] = ()

    def _prepare(self) -> None:
        self._numbers = tuple(
            convert_to_tensor(getattr(self, f"_{name}"), name=name)
            for name in (
                "learning_rate",
                "l1_regularization_strength",
                "l2_regularization_strength",
            )
        )

    def _regularized(
        self, rule: str, rate: str, slots: Mapping[str, str], var: Variable, *, by_rows: bool
    ) -> Update:
        """The update by these numbers; only for rows of resource variables they are cast."""
        numbers = dict(zip((rate, "l1", "l2"), self._numbers, strict=True))
        if by_rows and isinstance(var, ResourceVariable):
            return Update(rule, slots, numbers)
        return Update(rule, slots, others=numbers)


@public("train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(_Proximal):
    """Gradient descent with a proximal L1/L2 step.

    Args:
      learning_rate: a number or a scalar tensor.
      l1_regularization_strength: how much the sum of absolute values counts.
      l2_regularization_strength: how much the sum of squares counts.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name
        )

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        return self._regularized("ProximalGradientDescent", "alpha", {}, var, by_rows=by_rows)


@public("train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(_Proximal):
    """Adagrad with a proximal L1/L2 step; slot `accumulator`.

    Args:
      learning_rate: a number or a scalar tensor.
      initial_accumulator_value: what the sums of squares begin with, positive.
      l1_regularization_strength: how much the sum of absolute values counts.
      l2_regularization_strength: how much the sum of squares counts.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.

    Raises:
      ValueError: the initial value is not positive.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(
            learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name
        )
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            with colocate_with(v):
                val = constant(
                    self._initial_accumulator_value, shape=v.get_shape(), dtype=v.dtype.base_dtype
                )
            self._get_or_make_slot(v, val, "accumulator", self._name)

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        return self._regularized(
            "ProximalAdagrad", "lr", {"accum": "accumulator"}, var, by_rows=by_rows
        )
