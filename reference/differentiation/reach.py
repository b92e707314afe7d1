"""Which operations lie between the tensors that are differentiated and those it is done by."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor

__all__ = ["is_trainable", "ops_between", "stop_ops", "uses_among"]

_TRAINABLE: Final = frozenset({
    "bfloat16", "complex128", "complex64", "float16", "float32", "float64", "resource", "variant",
})  # fmt: skip


def is_trainable(tensor: Tensor) -> bool:
    """Whether its dtype is one that can be differentiated by."""
    return tensor.dtype.base_dtype.name in _TRAINABLE


def _reached(sources: Iterable[Operation]) -> set[Operation]:
    """The operations that depend on these by values that can be differentiated."""
    reached: set[Operation] = set()
    queue = deque(sources)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            for output in filter(is_trainable, op.outputs):
                queue.extend(output.consumers())
    return reached


def ops_between(
    targets: Sequence[Operation], sources: Sequence[Operation]
) -> dict[Operation, None]:
    """The operations between sources and targets, in the order in which they are found.

    Args:
      targets: what is differentiated.
      sources: what by.

    """
    reached = _reached(sources)
    between: dict[Operation, None] = {}
    queue = deque(targets)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue.extend(tensor.op for tensor in op.inputs)
    return between


def uses_among(between: Collection[Operation]) -> Counter[Operation]:
    """How often each operation is used among these."""
    return Counter(tensor.op for op in between for tensor in op.inputs if tensor.op in between)


def stop_ops(
    sources: Iterable[Operation], stopped: Iterable[Operation], uses: Counter[Operation]
) -> set[Operation]:
    """The operations that nothing is passed on through: those before which no source is."""
    last = {op for op in sources if not any(uses[tensor.op] > 0 for tensor in op.inputs)}
    return last | set(stopped)
