"""The optimizers RMSProp and Adadelta."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.variables.init_ops import Ones
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.apply_operations import SteppingOptimizer, Update
from sessrun.reference.public import public

__all__ = ["AdadeltaOptimizer", "RMSPropOptimizer"]


@public("train.RMSPropOptimizer")
class RMSPropOptimizer(SteppingOptimizer):
    """RMSProp: gradients divided by the root of the moving average of their squares.

    Its slots are `rms` and `momentum`, and `mg` (the average of the gradients) if it is centered.

    Args:
      learning_rate: a number, a scalar tensor, or a function that returns one; the next three may
        be the same.
      decay: the factor by which the moving averages decay in each step.
      momentum: the factor of the previous update, which is added to the next one.
      epsilon: a small number, which is added to the mean square under the root.
      use_locking: whether updates of reference variables take a lock.
      centered: whether the square of the average gradient is subtracted from the average square.
      name: the scope of the operations, and the slots' name.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        decay: TensorLike = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            shape, dtype = v.get_shape(), v.dtype.base_dtype
            ones: Callable[..., Tensor] | Tensor = (
                Ones(dtype=dtype) if shape.is_fully_defined() else ones_like(v)
            )
            self._get_or_make_slot_with_initializer(v, ones, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        given = [
            self._call_if_callable(number)
            for number in (self._learning_rate, self._decay, self._momentum, self._epsilon)
        ]
        names = ("learning_rate", "decay", "momentum", "epsilon")
        (
            self._learning_rate_tensor,
            self._decay_tensor,
            self._momentum_tensor,
            self._epsilon_tensor,
        ) = map(self._as_tensor, given, names)

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows
        slots = {"ms": "rms", "mom": "momentum"}
        numbers = {
            "lr": self._learning_rate_tensor,
            "rho": self._decay_tensor,
            "momentum": self._momentum_tensor,
            "epsilon": self._epsilon_tensor,
        }
        if self._centered:
            return Update("CenteredRMSProp", {"mg": "mg", **slots}, numbers)
        return Update("RMSProp", slots, numbers)


@public("train.AdadeltaOptimizer")
class AdadeltaOptimizer(SteppingOptimizer):
    """Adadelta: gradients scaled by the ratio of the RMS of updates to the RMS of gradients.

    Its slots are `accum` and `accum_update`.

    Args:
      learning_rate: a number, a scalar tensor, or a function that returns one; the next two may be
        the same.
      rho: the factor by which the moving averages decay in each step.
      epsilon: a small number, which is added under both roots.
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the slots' name.

    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        rho: float | Tensor = 0.95,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        given = [self._call_if_callable(n) for n in (self._lr, self._rho, self._epsilon)]
        self._lr_t, self._rho_t, self._epsilon_t = map(
            self._as_tensor, given, ("lr", "rho", "epsilon")
        )

    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        del var, by_rows
        slots = {"accum": "accum", "accum_update": "accum_update"}
        numbers = {"lr": self._lr_t, "rho": self._rho_t, "epsilon": self._epsilon_t}
        return Update("Adadelta", slots, numbers)
