"""Which operations see the value of a reference variable at a time after it was read.

In TensorFlow a read of a reference variable gives the variable's own memory, into which updates
write: an operation after an update sees the new value, although its input was read before. Variable
constraints depend on that, and loops that run until a variable has some value. Here an array that
was read never changes, so such an operation reads the variable again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["late_reads", "reference_read", "variable_of", "written_variables"]

#: How op types begin that write into reference variables in place.
_WRITING: Final = ("Apply", "Assign", "Scatter", "SparseApply")


def late_reads(
    ops: Sequence[Operation], types: Iterable[str]
) -> frozenset[tuple[Operation, Tensor]]:
    """Pairs of an operation and an input, an earlier read, that the operation must read again.

    Args:
      ops: the operations of a plan, producers before consumers.
      types: their op types.

    """
    if not written_variables(ops, types):
        return frozenset()
    late: set[tuple[Operation, Tensor]] = set()
    numbers: dict[Operation, int] = {}
    written: dict[Operation, int] = {}  # a bit for each variable written before or by it
    for op in ops:
        before = 0
        for producer in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            before |= written.get(producer, 0)
        if before:
            late.update(
                (op, tensor)
                for tensor in op.inputs
                if (reference := reference_read(tensor)) is not None
                and before >> numbers.get(variable_of(reference), len(numbers)) & 1
            )
        for variable in _written_by(op):
            before |= 1 << numbers.setdefault(variable, len(numbers))
        if before:
            written[op] = before
    return frozenset(late)


def written_variables(ops: Sequence[Operation], types: Iterable[str]) -> frozenset[Operation]:
    """The reference variables that some of these operations, of these op types, write into."""
    if not any(op_type.startswith(_WRITING) for op_type in types):
        return frozenset()
    return frozenset(variable for op in ops for variable in _written_by(op))


def reference_read(tensor: Tensor) -> Tensor | None:
    """The reference that a tensor is a read of; None if it is not a read."""
    if tensor.op.type != "Identity":
        return None
    source = tensor.op.inputs[0]
    return source if _is_reference(source) else None


def variable_of(reference: Tensor) -> Operation:
    """The variable that a reference is of, through updates and the borders of loops.

    A RefMerge stands for itself: which reference it hands on is known only in a run.
    """
    op = reference.op
    while op.type != "RefMerge" and op.inputs and _is_reference(op.inputs[0]):
        op = op.inputs[0].op
    return op


def _written_by(op: Operation) -> Sequence[Operation]:
    """The reference variables that an operation writes into, in place.

    `Assign` gives a variable other memory where it changes how many elements there are.
    """
    if not op.type.startswith(_WRITING) or not op.attrs.get("validate_shape", True):
        return ()
    return [variable_of(tensor) for tensor in op.inputs if _is_reference(tensor)]


def _is_reference(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype  # noqa: SLF001 - TensorFlow's own name
