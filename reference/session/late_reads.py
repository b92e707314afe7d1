"""Which operations see what became of a reference variable after it was read.

What reads a reference variable gives, in TensorFlow, the variable's own memory, and updates write
into it: an operation that comes after an update sees the new value, although the read that it uses
came before. So do constraints on variables work. Here an array that was read never changes, so such
an operation reads anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sessrun.reference.operation import Operation
    from sessrun.reference.tensor import Tensor

__all__ = ["late_reads"]

#: How op types begin that write into reference variables in place; `Assign` may give a variable
#: other memory instead.
_WRITING: Final = ("Apply", "AssignAdd", "AssignSub", "Scatter", "SparseApply")


def late_reads(ops: Sequence[Operation]) -> frozenset[tuple[Operation, Tensor]]:
    """Pairs of an operation and an input of it, an old read, that it must read anew.

    Args:
      ops: the operations of a plan, producers before consumers.

    """
    if not any(_writes(op) for op in ops):
        return frozenset()
    found: set[tuple[Operation, Tensor]] = set()
    numbers: dict[Operation, int] = {}
    written: dict[Operation, int] = {}  # a bit for each variable written before or by it
    for op in ops:
        before = 0
        for producer in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            before |= written.get(producer, 0)
        if before:
            found.update(
                (op, tensor) for tensor in op.inputs
                if (variable := _read_by(tensor)) is not None
                and before >> numbers.get(variable, len(numbers)) & 1
            )  # fmt: skip
        if _writes(op):
            for tensor in op.inputs:
                if tensor.dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
                    before |= 1 << numbers.setdefault(tensor.op, len(numbers))
        if before:
            written[op] = before
    return frozenset(found)


def _writes(op: Operation) -> bool:
    """Whether it writes into reference variables."""
    return op.type.startswith(_WRITING)


def _read_by(tensor: Tensor) -> Operation | None:
    """The reference variable of which the tensor is a read, or None."""
    if tensor.op.type != "Identity":
        return None
    source = tensor.op.inputs[0]
    return source.op if source.dtype._is_ref_dtype else None  # noqa: SLF001 - TensorFlow's own name
