"""Which operations lie between the tensors that are differentiated and those it is done by."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sessrun.reference.api.functions.func_graph import FuncGraph
from sessrun.reference.build.static_values import handle_dtype
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Sight", "is_trainable", "nearest", "ops_between", "stop_ops", "uses_among"]

_TRAINABLE: Final = frozenset(
    {
        "bfloat16",
        "complex128",
        "complex64",
        "float16",
        "float32",
        "float64",
        "resource",
        "variant",
    }
)


def is_trainable(tensor: Tensor) -> bool:
    """Whether its dtype, or that of what a variant is known to hold, can be differentiated by."""
    name = tensor.dtype.base_dtype.name
    if name == "variant":
        name = handle_dtype(tensor) or name
    return name in _TRAINABLE


class Sight:
    """What an operation takes and who takes a tensor, seen through what functions capture.

    In the body of a function an argument that stands for a tensor of outside is that tensor, unless
    it is itself what is differentiated by.

    Args:
      graph: the graph of the targets.
      sources: what is differentiated by.

    """

    def __init__(self, graph: Graph, sources: Collection[Tensor] = ()) -> None:
        self._sources = frozenset(sources)
        self._placed: dict[Tensor, list[Tensor]] = {}
        while isinstance(graph, FuncGraph):
            for tensor, argument in graph.captures:
                self._placed.setdefault(tensor, []).append(argument)
            graph = graph.outer_graph

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """What it takes."""
        if not op.graph.building_function:
            return op.inputs
        return [
            each
            if each in self._sources or each.op.type != "Placeholder"
            else each.graph.outer(each)
            for each in op.inputs
        ]

    def consumers(self, tensor: Tensor) -> list[Operation]:
        """Who takes it."""
        found = list(tensor.consumers())
        for argument in self._placed.get(tensor, ()):
            found += self.consumers(argument)
        return found


def _reached(sources: Iterable[Operation], sight: Sight) -> set[Operation]:
    """The operations that depend on these by values that can be differentiated."""
    reached: set[Operation] = set()
    queue = deque(sources)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            for output in filter(is_trainable, op.outputs):
                queue.extend(sight.consumers(output))
    return reached


def ops_between(
    targets: Sequence[Operation], sources: Sequence[Operation], sight: Sight
) -> dict[Operation, None]:
    """The operations between sources and targets, in the order in which they are found.

    Args:
      targets: what is differentiated.
      sources: what by.
      sight: what operations take.

    """
    reached = _reached(sources, sight)
    between: dict[Operation, None] = {}
    queue = deque(targets)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue.extend(tensor.op for tensor in sight.inputs(op))
    return between


def uses_among(between: Collection[Operation], sight: Sight) -> Counter[Operation]:
    """How often each operation is used among these."""
    return Counter(
        tensor.op for op in between for tensor in sight.inputs(op) if tensor.op in between
    )


def stop_ops(
    sources: Iterable[Operation],
    stopped: Iterable[Operation],
    uses: Counter[Operation],
    sight: Sight,
) -> set[Operation]:
    """The operations that nothing is passed on through: those before which no source is."""
    last = {op for op in sources if not any(uses[each.op] > 0 for each in sight.inputs(op))}
    return last | set(stopped)


def nearest(op: Operation, sources: Collection[Operation], sight: Sight) -> Operation:
    """The source that is reached first from an operation by what it takes; itself if none is."""
    queue, seen = deque([op]), {op}
    while queue:
        found = queue.popleft()
        if found in sources:
            return found
        new = [each.op for each in sight.inputs(found) if each.op not in seen]
        seen.update(new)
        queue.extend(new)
    return op
