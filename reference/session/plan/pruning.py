"""The prune stage: which operations a run needs, in an order that respects every edge.

An operation is needed if it is fetched, if a needed operation reads one of its outputs that is
not fed, or if it is a control input of a needed operation.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

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
    needed: dict[Operation, None] = {}
    pending = list(roots)
    in_order = True
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        needed[op] = None
        number = op.id
        for tensor in op.inputs:
            if tensor not in fed:
                pending.append(tensor.op)
                in_order &= tensor.op.id < number or _closes_loop(op, tensor.op)
        for other in op._control_inputs:  # noqa: SLF001 - without a copy
            if not _is_fed(other, fed):
                pending.append(other)
                in_order &= other.id < number or _closes_loop(op, other)
    if in_order:
        return sorted(needed, key=operator.attrgetter("id"))
    return _depth_first((*roots, *needed), fed)  # the ends of loops are nobody's source


def _is_fed(control: Operation, fed: frozenset[Tensor]) -> bool:
    """Whether a control input has nothing to run; any other operation runs if it is fed."""
    return control.type == "Placeholder" and control.outputs[0] in fed


def _closes_loop(op: Operation, other: Operation) -> bool:
    """Whether `op` is the Merge of a loop and `other` the loop's end, which comes later."""
    return op.type in MERGES and other.type in LOOP_ENDS


def _earlier(op: Operation, fed: frozenset[Tensor]) -> Iterator[Operation]:
    """The operations that must come earlier than this one."""
    before = [tensor.op for tensor in op.inputs if tensor not in fed]
    before += [other for other in op.control_inputs if not _is_fed(other, fed)]
    return (other for other in before if not _closes_loop(op, other))


def _cycle(path: list[Operation], again: Operation) -> Exception:
    """The error of a path of operations that leads back to one of them, `again`."""
    around = path[path.index(again) :]
    return errors.InvalidArgumentError(
        again.node_def,
        again,
        f"Graph is invalid, contains a cycle with {len(around)} nodes, "
        f"including: {', '.join(op.name for op in around)}",
    )


def _depth_first(roots: Iterable[Operation], fed: frozenset[Tensor]) -> list[Operation]:
    order: list[Operation] = []
    open_: set[Operation] = set()
    done: set[Operation] = set()
    for root in roots:
        stack = [(root, _earlier(root, fed))]
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
                    stack.append((other, _earlier(other, fed)))
                    break
            else:
                stack.pop()
                open_.discard(op)
                done.add(op)
                order.append(op)
    return order
