"""The FTRL-proximal optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DTypeLike, float32
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import maximum
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.public import public

__all__ = ["FtrlOptimizer"]

#: The least learning rate that is divided by.
_LEAST: Final = 1e-36


@public("train.FtrlOptimizer")
class FtrlOptimizer(SteppingOptimizer):
    """Follow the regularized leader; its slots are `accum` and `linear`.

    Args:
      learning_rate: a number or a scalar tensor.
      learning_rate_power: how the rate decays with the sums of squares, at most zero.
      initial_accumulator_value: what the sums of squares begin with, at least zero.
      l1_regularization_strength: how much the sum of absolute values counts, at least zero.
      l2_regularization_strength: how much the sum of squares counts, at least zero.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.
      accum_name: another name for the slot `accum`.
      linear_name: another name for the slot `linear`.
      l2_shrinkage_regularization_strength: how much the variable itself is added to the gradient,
        at least zero.
      beta: more of the second norm, by the learning rate.

    Raises:
      ValueError: a number is out of range.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._check()

    def _check(self) -> None:
        signs = (
            ("initial_accumulator_value", 1),
            ("learning_rate_power", -1),
            ("l1_regularization_strength", 1),
            ("l2_regularization_strength", 1),
            ("l2_shrinkage_regularization_strength", 1),
        )
        for name, sign in signs:
            value = getattr(self, f"_{name}")
            if sign * value < 0.0:
                side = "positive" if sign > 0 else "negative"
                raise ValueError(f"{name} {value:f} needs to be {side} or zero")

    def _create_slots(self, var_list: list[Variable]) -> None:
        def begin(
            shape: ShapeLike, dtype: DTypeLike = float32, partition_info: object = None
        ) -> Tensor:
            del partition_info
            return ones(shape=shape, dtype=dtype) * self._initial_accumulator_value

        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, begin, v.shape, v.dtype, "accum", self._accum_name or self._name
            )
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        rate, l2 = self._learning_rate, self._l2_regularization_strength
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        self._l1_regularization_strength_tensor = convert_to_tensor(
            self._l1_regularization_strength, name="l1_regularization_strength"
        )
        self._adjusted_l2_regularization_strength_tensor = convert_to_tensor(
            l2 + self._beta / (2.0 * maximum(rate, _LEAST)),
            name="adjusted_l2_regularization_strength",
        )
        convert_to_tensor(self._beta, name="beta")  # a node that nothing reads, as in TensorFlow
        self._l2_shrinkage_regularization_strength_tensor = convert_to_tensor(
            self._l2_shrinkage_regularization_strength,
            name="l2_shrinkage_regularization_strength",
        )
        self._learning_rate_power_tensor = convert_to_tensor(
            self._learning_rate_power, name="learning_rate_power"
        )

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows
        slots = {"accum": "accum", "linear": "linear"}
        numbers = {
            "lr": self._learning_rate_tensor,
            "l1": self._l1_regularization_strength_tensor,
            "l2": self._adjusted_l2_regularization_strength_tensor,
            "lr_power": self._learning_rate_power_tensor,
        }
        if self._l2_shrinkage_regularization_strength <= 0.0:
            return Update("Ftrl", slots, numbers)
        numbers["l2_shrinkage"] = self._l2_shrinkage_regularization_strength_tensor
        return Update("FtrlV2", slots, numbers)
