"""The order of steps in a plan with blocking operations, such as a dequeue: these come last.

What depends on them comes after them. (A queue itself serves its waiting dequeues:
`state/queues/queue_resource`.)

A plan in which one operation may wait has it at its end, so that all else executes first. With
several, it is executed in groups of steps, one for each operation (`execute/waiting_plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sessrun.reference.graph.operation import Operation, kernel_type_of
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels import registry
from sessrun.reference.session.execute.waiting_plan import Group

__all__ = ["groups_of", "waiting_last"]


def waiting_last(
    ops: Sequence[Operation],
    types: Collection[str],
    fed: frozenset[Tensor],
    may_wait: Callable[[Operation], bool],
) -> tuple[Sequence[Operation], int]:
    """The operations with those that may wait, and those that need them, at the end.

    Args:
      ops: the operations, producers before consumers.
      types: their op types.
      fed: the fed tensors.
      may_wait: whether an operation of a type that may wait does so; a call does if its body does.

    Returns:
      The operations in the new order, and how many of them may wait.

    """
    waiting = set(filter(_type_may_wait, types))
    if not waiting:
        return ops, 0
    late = {op for op in ops if op.type in waiting and may_wait(op)}
    count = len(late)
    if not count:
        return ops, 0
    for op in ops:
        if any(before in late for before in _before(op, fed)):
            late.add(op)
    return [op for op in ops if op not in late] + [op for op in ops if op in late], count


def groups_of(
    ops: Sequence[Operation], fed: frozenset[Tensor], ends: Sequence[int], size: int
) -> tuple[Group, ...]:
    """The groups of a plan.

    Args:
      ops: its operations in order.
      fed: the fed tensors.
      ends: for each operation, where its steps end.
      size: how many steps there are; those after the last operation's read what is fetched.

    """
    index = {op: number for number, op in enumerate(ops)}
    groups = []
    start = 0
    for op, end in zip(ops, ends, strict=True):
        after = frozenset(index[before] for before in _before(op, fed) if before in index)
        groups.append(Group(range(start, end), after))
        start = end
    groups.append(Group(range(start, size), frozenset(range(len(ops)))))
    return tuple(groups)


def _type_may_wait(op_type: str) -> bool:
    entry = registry.lookup(kernel_type_of(op_type), "CPU")
    return entry is not None and entry.may_wait


def _before(op: Operation, fed: frozenset[Tensor]) -> list[Operation]:
    return [tensor.op for tensor in op.inputs if tensor not in fed] + op.control_inputs
