"""Targets of an optimizer: reference variables, resource variables, and tensors (read-only)."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, TypeAlias

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.generated import unique, unsorted_segment_sum
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Applied", "Target", "deduplicated", "target_of"]


#: The result of applying a gradient; a run that fetches it updates the variable.
Applied: TypeAlias = "Tensor | Variable | Operation"


class Applying(Protocol):
    """The methods of an Optimizer that apply a gradient to each kind of variable."""

    def _apply_dense(self, grad: Tensor, var: Variable) -> Applied: ...

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Applied: ...

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Applied: ...

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Applied: ...


class Target(Protocol):
    """A variable or tensor that an optimizer computes gradients for."""

    def target(self) -> Tensor | Variable:
        """The tensor or variable to differentiate with respect to."""

    def update_op(self, optimizer: Applying, g: Tensor | IndexedSlices) -> Applied:
        """The operation that updates the variable with a gradient."""


class _Reference:
    """A reference variable."""

    def __init__(self, v: Any) -> None:
        self._v = v

    def target(self) -> Tensor:
        reference: Tensor = self._v._ref()  # noqa: SLF001 - our own variables
        return reference

    def update_op(self, optimizer: Applying, g: Tensor | IndexedSlices) -> Applied:
        if isinstance(g, IndexedSlices):
            _refuse_constraint(self._v)
            return optimizer._apply_sparse_duplicate_indices(g, self._v)  # noqa: SLF001 - what subclasses override
        return _constrained(self._v, optimizer._apply_dense(g, self._v))  # noqa: SLF001 - the same


class _Resource:
    """A resource variable."""

    def __init__(self, v: Any) -> None:
        self._v = v

    def target(self) -> Tensor | Variable:
        variable: Variable = self._v
        return variable

    def update_op(self, optimizer: Applying, g: Tensor | IndexedSlices) -> Applied:
        if isinstance(g, IndexedSlices):
            _refuse_constraint(self._v)
            return optimizer._resource_apply_sparse_duplicate_indices(  # noqa: SLF001 - what subclasses override
                g.values, self._v, g.indices
            )
        return _constrained(self._v, optimizer._resource_apply_dense(g, self._v))  # noqa: SLF001 - the same


class _Tensor:
    """A tensor: gradients can be computed for it, but nothing can change it."""

    def __init__(self, v: Tensor) -> None:
        self._v = v

    def target(self) -> Tensor:
        return self._v

    def update_op(self, optimizer: Applying, g: Tensor | IndexedSlices) -> NoReturn:
        del optimizer, g
        raise NotImplementedError("Trying to update a Tensor ", self._v)


def target_of(v: Variable | Tensor) -> Target:
    """The Target of a variable or tensor.

    Raises:
      NotImplementedError: it is neither a variable nor a tensor.

    """
    if v.op.type == "VarHandleOp":
        return _Resource(v)
    if isinstance(v, Variable):
        return _Reference(v)
    if isinstance(v, Tensor):
        return _Tensor(v)
    raise NotImplementedError("Trying to optimize unsupported type ", v)


def deduplicated(values: TensorLike, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Add the slices of IndexedSlices that have the same index.

    Args:
      values: the slices, [n, ...].
      indices: their indices, [n].

    Returns:
      The sums, [m, ...], and the distinct indices, [m].

    """
    distinct, positions = unique(indices)
    return unsorted_segment_sum(values, positions, shape(distinct)[0]), distinct


def _constrained(v: Variable, update: Applied) -> Applied:
    if v.constraint is None:
        return update
    with control_dependencies([update]):
        return v.assign(v.constraint(v))


def _refuse_constraint(v: Variable) -> None:
    if v.constraint is not None:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")
