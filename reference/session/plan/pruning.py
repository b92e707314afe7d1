"""The prune stage: which operations a run needs, in an order that respects every edge.

An operation is needed if it is fetched, if a needed operation reads one of its outputs that is
not fed, or if it is a control input of a needed operation.
"""

from __future__ import annotations

from collections.abc import Iterable

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import LOOP_ENDS, MERGES
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["prune"]


def prune(
    fetched_tensors: Iterable[Tensor], fetched_ops: Iterable[Operation], fed: frozenset[Tensor]
) -> list[Operation]:
    """The operations that a run executes, producers before consumers.

    Args:
      fetched_tensors: the tensors to fetch; a fed one needs nothing.
      fetched_ops: the operations to run; one whose output is fed runs all the same.
      fed: the fed tensors.

    Returns:
      The operations in creation order where that order respects every edge (it does unless an
      edge was added later), else in a depth-first order that does.

    Raises:
      InvalidArgumentError: the needed part of the graph has a cycle.

    """
    roots = [tensor.op for tensor in fetched_tensors if tensor not in fed]
    roots.extend(fetched_ops)
    needed: dict[Operation, tuple[Operation, ...]] = {}
    pending = list(roots)
    in_order = True
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        predecessors = _predecessors(op, fed)
        pending.extend(predecessors)
        before = needed[op] = _ordered(op, predecessors)
        number = op.id
        for other in before:
            if other.id >= number:
                in_order = False
    if in_order:
        return sorted(needed, key=lambda op: op.id)
    return _depth_first((*roots, *needed), needed)  # the ends of loops are nobody's source


def _predecessors(op: Operation, fed: frozenset[Tensor]) -> tuple[Operation, ...]:
    before = [tensor.op for tensor in op.inputs if tensor not in fed]
    for control in op.control_inputs:
        # A fed placeholder has nothing to run; waiting for any other fed operation runs it.
        if control.type == "Placeholder" and control.outputs[0] in fed:
            continue
        before.append(control)
    return tuple(before)


def _ordered(op: Operation, before: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The predecessors that must come earlier: for the Merge of a loop not the loop's end."""
    if op.type not in MERGES:
        return before
    return tuple(other for other in before if other.type not in LOOP_ENDS)


def _cycle(path: list[Operation], again: Operation) -> Exception:
    """The error of a path of operations that leads back to one of them, `again`."""
    around = path[path.index(again) :]
    return errors.InvalidArgumentError(
        again.node_def,
        again,
        f"Graph is invalid, contains a cycle with {len(around)} nodes, "
        f"including: {', '.join(op.name for op in around)}",
    )


def _depth_first(
    roots: Iterable[Operation], needed: dict[Operation, tuple[Operation, ...]]
) -> list[Operation]:
    order: list[Operation] = []
    open_: set[Operation] = set()
    done: set[Operation] = set()
    for root in roots:
        stack = [(root, iter(needed[root]))]
        if root not in done:
            open_.add(root)
        while stack:
            op, rest = stack[-1]
            if op in done:
                stack.pop()
                continue
            for other in rest:
                if other in open_:
                    raise _cycle([op for op, _ in stack], other)
                if other not in done:
                    open_.add(other)
                    stack.append((other, iter(needed[other])))
                    break
            else:
                stack.pop()
                open_.discard(op)
                done.add(op)
                order.append(op)
    return order
