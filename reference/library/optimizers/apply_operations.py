"""Base class of optimizers whose update is one `ApplyX` operation per variable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.optimizer import Optimizer
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["SteppingOptimizer", "Update"]


@dataclass(frozen=True, slots=True)
class Update:
    """An update rule and its inputs, common to the dense, sparse and resource operations.

    Attributes:
      rule: what follows `Apply` in the op type.
      slots: from an input's name to the name of the slot that it is.
      numbers: from an input's name to the scalar that it is, cast to the variable's dtype.
      others: from the name of a further scalar input to its value, which is not cast.
      attrs: attributes.

    """

    rule: str
    slots: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, object] = field(default_factory=dict)
    others: Mapping[str, object] = field(default_factory=dict)
    attrs: Mapping[str, object] = field(default_factory=dict)


class SteppingOptimizer(Optimizer):
    """An optimizer whose subclasses describe a variable's update by `_update_of`."""

    @abstractmethod
    def _update_of(self, var: Variable, *, by_rows: bool) -> Update:
        """The update of a variable, or of some of its rows."""

    def _as_tensor(self, number: TensorLike | Callable[[], TensorLike], name: str) -> Tensor:
        """A hyperparameter (a number, tensor or function) as a tensor."""
        return convert_to_tensor(self._call_if_callable(number), name=name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._applied(var, grad)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Operation:
        return self._applied(handle, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        return self._applied(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        return self._applied(handle, grad, indices)

    def _applied(self, var: Variable, grad: Tensor, indices: Tensor | None = None) -> Operation:
        update = self._update_of(var, by_rows=indices is not None)
        form = "Resource" if isinstance(var, ResourceVariable) else ""
        op_type = f"{form}{'Apply' if indices is None else 'SparseApply'}{update.rule}"
        inputs: dict[str, object] = {}
        for arg in OPERATIONS[op_type].inputs:  # casts are made in their order
            name = arg.name
            if name == "var":
                inputs[name] = _reference_of(var)
            elif name in update.slots:
                inputs[name] = _reference_of(self.get_slot(var, update.slots[name]))
            elif name in update.numbers:
                inputs[name] = cast(update.numbers[name], var.dtype.base_dtype)
            elif name in update.others:
                inputs[name] = update.others[name]
            else:
                inputs[name] = indices if name == "indices" else grad
        return apply_op(op_type, inputs, {"use_locking": self._use_locking, **update.attrs})


def _reference_of(variable: Any) -> Tensor:
    """The input of a variable for an update operation: its handle or reference."""
    is_resource = isinstance(variable, ResourceVariable)
    reference: Tensor = variable.handle if is_resource else variable._ref()  # noqa: SLF001 - our own variables
    return reference
