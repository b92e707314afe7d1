"""What an optimizer may be asked to optimize, and how a gradient gets to each kind of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.generated import unique, unsorted_segment_sum
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor

if TYPE_CHECKING:
    from sessrun.reference.library.optimizers.optimizer import Optimizer

__all__ = ["Target", "deduplicated", "target_of"]


class Target(Protocol):
    """Something to optimize."""

    def target(self) -> Tensor:
        """What gradients are asked for."""

    def update_op(self, optimizer: Optimizer, g: Any) -> Tensor:
        """What changes it by a gradient."""


class _Reference:
    """A reference variable."""

    def __init__(self, v: Any) -> None:
        self._v = v

    def target(self) -> Tensor:
        reference: Tensor = self._v._ref()  # noqa: SLF001 - our own variables
        return reference

    def update_op(self, optimizer: Optimizer, g: Any) -> Any:
        if isinstance(g, IndexedSlices):
            _refuse_constraint(self._v)
            return optimizer._apply_sparse_duplicate_indices(g, self._v)  # noqa: SLF001 - what subclasses override
        return _constrained(self._v, optimizer._apply_dense(g, self._v))  # noqa: SLF001 - the same


class _Resource:
    """A resource variable."""

    def __init__(self, v: Any) -> None:
        self._v = v

    def target(self) -> Any:
        return self._v

    def update_op(self, optimizer: Optimizer, g: Any) -> Any:
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

    def update_op(self, optimizer: Optimizer, g: Any) -> NoReturn:
        del optimizer, g
        raise NotImplementedError("Trying to update a Tensor ", self._v)


def target_of(v: Any) -> Target:
    """How a gradient gets to it.

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
    """The sums of the rows with equal indices, and each index once, in the order they come in."""
    found, places = unique(indices)
    return unsorted_segment_sum(values, places, shape(found)[0]), found


def _constrained(v: Any, update: Any) -> Any:
    if v.constraint is None:
        return update
    with control_dependencies([update]):
        return v.assign(v.constraint(v))


def _refuse_constraint(v: Any) -> None:
    if v.constraint is not None:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")
