"""The operations on the paths between the sources and the targets of `gradients`."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sessrun.reference.api.functions.func_graph import FuncGraph
from sessrun.reference.build.shape_inference_values import handle_dtype
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Dataflow",
    "is_trainable",
    "nearest_source",
    "ops_between",
    "stop_ops",
    "use_counts",
]

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
    """Whether a tensor has a differentiable dtype; for a variant the dtype of its elements."""
    name = tensor.dtype.base_dtype.name
    if name == "variant":
        name = handle_dtype(tensor) or name
    return name in _TRAINABLE


class Dataflow:
    """The inputs of operations and the consumers of tensors, across the captures of functions.

    In the body of a function, the argument of a captured tensor counts as that tensor, unless the
    argument itself is one of the sources.

    Args:
      graph: the graph of the targets.
      sources: the tensors with respect to which `gradients` differentiates.

    """

    def __init__(self, graph: Graph, sources: Collection[Tensor] = ()) -> None:
        self._sources = frozenset(sources)
        self._arguments: dict[Tensor, list[Tensor]] = {}
        while isinstance(graph, FuncGraph):
            for captured, argument in graph.captures:
                self._arguments.setdefault(captured, []).append(argument)
            graph = graph.outer_graph

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """The inputs of an operation, captured ones as the tensors outside."""
        if not op.graph.building_function:
            return op.inputs
        return [
            tensor
            if tensor in self._sources or tensor.op.type != "Placeholder"
            else tensor.graph.outer(tensor)
            for tensor in op.inputs
        ]

    def consumers(self, tensor: Tensor) -> list[Operation]:
        """The operations that take a tensor, those in functions that capture it included."""
        consumers = tensor.consumers()
        for argument in self._arguments.get(tensor, ()):
            consumers += self.consumers(argument)
        return consumers


def _dependent_ops(sources: Iterable[Operation], dataflow: Dataflow) -> set[Operation]:
    """The sources and the operations that depend on them by differentiable tensors."""
    dependent: set[Operation] = set()
    queue = deque(sources)
    while queue:
        op = queue.popleft()
        if op not in dependent:
            dependent.add(op)
            for output in filter(is_trainable, op.outputs):
                queue.extend(dataflow.consumers(output))
    return dependent


def ops_between(
    targets: Sequence[Operation], sources: Sequence[Operation], dataflow: Dataflow
) -> dict[Operation, None]:
    """The operations on paths from the sources to the targets, breadth first from the targets.

    Args:
      targets: the operations whose outputs are differentiated.
      sources: the operations with respect to whose outputs they are differentiated.
      dataflow: the inputs and consumers.

    """
    dependent = _dependent_ops(sources, dataflow)
    between: dict[Operation, None] = {}
    queue = deque(targets)
    while queue:
        op = queue.popleft()
        if op in dependent and op not in between:
            between[op] = None
            queue.extend(tensor.op for tensor in dataflow.inputs(op))
    return between


def use_counts(between: Collection[Operation], dataflow: Dataflow) -> Counter[Operation]:
    """For each operation the number of times that operations in `between` take its outputs."""
    return Counter(
        tensor.op for op in between for tensor in dataflow.inputs(op) if tensor.op in between
    )


def stop_ops(
    sources: Iterable[Operation],
    stopped: Iterable[Operation],
    uses: Counter[Operation],
    dataflow: Dataflow,
) -> set[Operation]:
    """The operations at which the backward pass stops: their gradient functions are not called.

    Args:
      sources: the operations with respect to whose outputs the targets are differentiated.
      stopped: the operations whose outputs count as constants.
      uses: the result of `use_counts`.
      dataflow: the inputs and consumers.

    Returns:
      The stopped operations, and the sources that take no output of an operation with uses.

    """
    last = {op for op in sources if not any(uses[tensor.op] > 0 for tensor in dataflow.inputs(op))}
    return last | set(stopped)


def nearest_source(op: Operation, sources: Collection[Operation], dataflow: Dataflow) -> Operation:
    """The source reached in the fewest steps from output to input; `op` itself without one."""
    queue, seen = deque([op]), {op}
    while queue:
        current = queue.popleft()
        if current in sources:
            return current
        unseen = [tensor.op for tensor in dataflow.inputs(current) if tensor.op not in seen]
        seen.update(unseen)
        queue.extend(unseen)
    return op
