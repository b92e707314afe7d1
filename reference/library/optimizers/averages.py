"""Moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import divide, truediv
from sessrun.reference.api.variables.init_ops import Zeros
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign, assign_sub
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from sessrun.reference.api.variables.variable_scopes import get_variable, get_variable_scope
from sessrun.reference.base import dtypes
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import group
from sessrun.reference.build.generated import minimum, pow  # noqa: A004 - its name
from sessrun.reference.graph.default_graph import (
    add_to_collection,
    colocate_with,
    device,
    get_default_graph,
)
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.slots import create_slot, create_zeros_slot, value_so_far
from sessrun.reference.public import public

__all__ = [
    "ExponentialMovingAverage",
    "assign_moving_average",
    "weighted_moving_average",
]

_FLOATS: Final = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
#: The op types of variables, which a slot can be colocated with.
_VARIABLES: Final = ("Variable", "VariableV2", "VarHandleOp")


def assign_moving_average(
    variable: Any,
    value: TensorLike,
    decay: float | Tensor,
    zero_debias: bool = True,
    name: str | None = None,
) -> Tensor | Variable:
    """`variable -= (1 - decay) * (variable - value)`.

    Args:
      variable: the average.
      value: the new value.
      decay: the factor of the old average, a float or a scalar tensor.
      zero_debias: whether the average starts at zero and is corrected for that, which takes two
        more variables.
      name: the name of the update.

    Returns:
      The tensor of the new average, whose run does the update.

    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        step_size = convert_to_tensor(1.0 - decay, name="decay")
        if step_size.dtype != variable.dtype.base_dtype:
            step_size = cast(step_size, variable.dtype.base_dtype)
        if zero_debias:
            return _debiased(variable, value, step_size)
        update: Tensor | Variable = assign_sub(variable, (variable - value) * step_size, name=scope)
        return update


def _debiased(average: Variable, value: TensorLike, step_size: Tensor) -> Tensor | Variable:
    """Update an average that starts at zero, with zero-debias correction."""
    prefix = average.name[: -len(":0")]
    with variable_scope(prefix, values=[average, value, step_size]):
        dtype = average.dtype.base_dtype
        with colocate_with(average):
            biased = get_variable(
                _unused_variable_name("biased"),
                initializer=Zeros(),
                dtype=dtype,
                shape=average.get_shape(),
                trainable=False,
            )
            steps = get_variable(
                _unused_variable_name("local_step"),
                shape=[],
                dtype=dtype,
                initializer=Zeros(),
                trainable=False,
            )
    update = assign_sub(biased, (biased - value) * step_size)
    count = steps.assign_add(1)
    factor = 1 - pow(1.0 - step_size, count)
    scope = f"{get_default_graph().get_name_scope()}/"
    corrected: Tensor | Variable = assign(average, update / factor, name=scope)
    return corrected


def _unused_variable_name(name: str) -> str:
    """The name, numbered if the open variable scope has such a variable and does not reuse."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    candidate, number = name, 0
    while f"{scope.name}/{candidate}" in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def weighted_moving_average(
    value: Tensor,
    decay: float | Tensor,
    weight: Tensor,
    truediv: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """The moving average of `value * weight` over that of `weight`.

    Args:
      value: a tensor.
      decay: the factor of the old averages.
      weight: a tensor that broadcasts to `value`.
      truediv: whether integers are divided as floats.
      collections: the collections of the variables.
      name: the variable scope.

    """
    kept = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        sums = _zeros_like("value_x_weight", value, kept)
        weights = _zeros_like("weight", weight, kept)
        numerator = assign_moving_average(sums, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        quotient = _truediv if truediv else divide
        return quotient(numerator, denominator, name=scope.name)


_truediv = truediv


def _zeros_like(name: str, tensor: Tensor, collections: Sequence[str]) -> Variable:
    zeros: Variable = get_variable(
        name,
        shape=tensor.get_shape(),
        dtype=tensor.dtype,
        initializer=Zeros(),
        trainable=False,
        collections=collections,
    )
    return zeros


@public("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Exponential moving averages of variables and tensors.

    Args:
      decay: the factor of the old average in each step.
      num_updates: the number of steps so far, which limits the factor to
        `(1 + num_updates) / (10 + num_updates)`; or None.
      zero_debias: whether averages of tensors are corrected for their start at zero.
      name: the name of the averages, which follows the variable's name.

    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[object, Variable] = {}

    @property
    def name(self) -> str:
        """The name of the averages."""
        return self._name

    def apply(self, var_list: Iterable[Variable | Tensor] | None = None) -> Operation:
        """Create missing averages, and return the operation that updates all of them.

        Args:
          var_list: variables and tensors; by default all trainable variables.

        Raises:
          TypeError: a variable's dtype is not a floating-point dtype.

        """
        wanted = trainable_variables() if var_list is None else list(var_list)
        new = {avg.ref() for var in wanted if (avg := self._make_average(var)) is not None}
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, dtype=dtypes.float32, name="decay")
            if self._num_updates is not None:
                count = cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = minimum(decay, (1.0 + count) / (10.0 + count))
            updates = []
            for var in wanted:
                average = self._averages[var.ref()]
                updates.append(assign_moving_average(average, var, decay, average.ref() in new))
            return group(*updates, name=scope)

    def _make_average(self, var: Variable | Tensor) -> Variable | None:
        """Create a missing average; returns it if it needs zero-debias correction, else None."""
        if var.dtype.base_dtype not in _FLOATS:
            raise TypeError(f"The variables must be half, float, or double: {var.name}")
        if var.ref() in self._averages:
            return None
        with init_scope():
            if isinstance(var, Variable):
                with device(var.device):
                    begin = value_so_far(var)
                average = create_slot(var, begin, self.name)
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            else:
                is_placed = var.op.type in _VARIABLES
                average = create_zeros_slot(var, self.name, colocate_with_primary=is_placed)
        self._averages[var.ref()] = average
        return average if self._zero_debias and not isinstance(var, Variable) else None

    def average(self, var: Variable | Tensor) -> Variable | None:
        """The variable with the average of a variable or tensor, or None."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable | Tensor) -> str:
        """The name of the average of a variable, also of one that does not exist yet."""
        if var.ref() in self._averages:
            average_name: str = self._averages[var.ref()].name
            return average_name[: -len(":0")]
        name = f"{var.name[: -len(':0')]}/{self.name}"
        return get_default_graph().unique_name(name, mark_as_used=False)

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Variable] | None = None
    ) -> dict[str, Variable]:
        """For a Saver: variables by the names of their averages, others by their own.

        Args:
          moving_avg_variables: the variables that are restored from averages; by default those
            that are trainable or have one.

        """
        averaged = moving_avg_variables
        if averaged is None:
            averaged = [*trainable_variables(), *moving_average_variables()]
        by_name = {self.average_name(v): v for v in {v.ref(): v for v in averaged}.values()}
        names = {v.name for v in averaged}
        for v in global_variables():
            if v.name not in names and v.op.name not in by_name:
                by_name[v.op.name] = v
        return by_name
