"""Adagrad, and Adagrad with dual averaging."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import fill
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.variables.init_ops import Constant
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import colocate_with, device
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.public import public

__all__ = ["AdagradDAOptimizer", "AdagradOptimizer"]


@public("train.AdagradOptimizer")
class AdagradOptimizer(SteppingOptimizer):
    """`accum += grad ** 2; var -= learning_rate * grad / sqrt(accum)`; slot `accumulator`.

    Args:
      learning_rate: a number, a scalar tensor, or a function that makes one.
      initial_accumulator_value: what the sums of squares begin with, positive.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.

    Raises:
      ValueError: the initial value is not positive.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Tensor | None = None

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            initial: TensorLike | Callable[..., Tensor] = self._like(v, dtype)
            if v.get_shape().is_fully_defined():
                initial = Constant(self._initial_accumulator_value, dtype=dtype)
            self._get_or_make_slot_with_initializer(
                v, initial, v.get_shape(), dtype, "accumulator", self._name
            )

    def _like(self, v: Variable, dtype: DTypeLike) -> Callable[[], Tensor]:
        return lambda: cast(fill(shape(v), self._initial_accumulator_value), dtype)

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._as_tensor(self._learning_rate, "learning_rate")

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows
        return Update("Adagrad", {"accum": "accumulator"}, {"lr": self._learning_rate_tensor})


@public("train.AdagradDAOptimizer")
class AdagradDAOptimizer(SteppingOptimizer):
    """Adagrad's dual averaging: variables minimize the regularized sum of all gradients so far.

    Its slots are `gradient_accumulator` and `gradient_squared_accumulator`.

    Args:
      learning_rate: a number or a scalar tensor.
      global_step: the variable that counts steps.
      initial_gradient_squared_accumulator_value: what the sums of squares begin with, positive.
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
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        initial = initial_gradient_squared_accumulator_value
        _check_positive("initial_gradient_squared_accumulator_value", initial)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = initial
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list: list[Variable]) -> None:
        initial = self._initial_gradient_squared_accumulator_value
        for v in var_list:
            shape, dtype = v.get_shape(), v.dtype.base_dtype
            with colocate_with(v):
                sums = constant(0.0, shape=shape, dtype=dtype)
                squares = constant(initial, shape=shape, dtype=dtype)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = identity(self._global_step) + 1

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del by_rows
        with device(var.device):
            steps = identity(self._global_step_on_worker)
        slots = ("gradient_accumulator", "gradient_squared_accumulator")
        numbers = {
            "lr": self._learning_rate_tensor,
            "l1": self._l1_regularization_strength,
            "l2": self._l2_regularization_strength,
        }
        return Update("AdagradDA", {name: name for name in slots}, numbers, {"global_step": steps})


def _check_positive(name: str, value: float) -> None:
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
