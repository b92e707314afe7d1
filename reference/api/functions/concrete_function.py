"""A traced Python function as a function of a graph's library, and operations that call it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.flow_values import with_flow
from sessrun.reference.api.functions.branch_graphs import (
    BranchGraph,
    add_function,
    function_name,
    note_reads,
)
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.functions.call_shapes import shapes_of_call
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["CALLS", "Call", "Trace", "TracedGraph"]


class TracedGraph(BranchGraph):
    """The graph in which a Python function is traced.

    Args:
      name: what the function is called.
      python_function: the Python function, for messages.

    """

    def __init__(self, name: str, python_function: Callable[..., object]) -> None:
        super().__init__(name)
        self.orders_effects = True
        self._python_function = python_function

    def refusal(self, function: Callable[..., object], value: TensorLike) -> str:
        """Why what the Python function returned is refused."""
        del function
        return (
            "To be compatible with tf.function, Python functions must return zero or more Tensors "
            "or ExtensionTypes or None values; in compilation of "
            f"{self._python_function}, found return value of type {type(value).__name__}, which is "
            "not a Tensor or ExtensionType."
        )


class Call:
    """The result of a call of a traced function, and its graph.

    Args:
      body: the graph.

    Attributes:
      body: the graph.
      outputs: tensors of the graph, one for each output of the call.

    """

    def __init__(self, body: BranchGraph) -> None:
        self.body = body
        self.outputs = list(body.outputs)

    def rewritten(self) -> BranchGraph:
        """The graph under a new name, returning all that the call gives."""
        other = copy.copy(self.body)
        other.outputs = list(self.outputs)
        other.name = function_name(f"{self.body.name}_", "forward")
        return other


#: The calls of traced functions.
CALLS: Final[WeakKeyDictionary[Operation, Call]] = WeakKeyDictionary()


class Trace:
    """A traced graph, and the arguments that it was traced for.

    Args:
      body: the graph.
      arguments: the arguments by name; they are kept, so that no other is taken for one.

    """

    def __init__(self, body: BranchGraph, arguments: dict[str, object]) -> None:
        self.body = body
        self.arguments = arguments
        self._function: Any = None

    def put_into(self, graph: Graph) -> None:
        """Make it a function of the graph's library."""
        self._function = add_function(graph, self.body)

    def call(self, tensors: Sequence[Tensor], captured: Sequence[Tensor] | None = None) -> Any:
        """Build an operation that calls the function.

        Args:
          tensors: the arguments that are tensors, in order.
          captured: the tensors that are passed for the captured ones; by default these themselves.

        Returns:
          What the Python function returned, of the operation's outputs.

        """
        body = self.body
        has_effects = any(op.declaration.stateful for op in body.get_operations())
        op: Operation = apply_op(
            "StatefulPartitionedCall" if has_effects else "PartitionedCall",
            {"args": [*tensors, *(body.extra_inputs if captured is None else captured)]},
            {"Tout": [tensor.dtype.base_dtype for tensor in body.outputs], "f": self._function},
        )
        CALLS[op] = Call(body)
        note_reads(op, [body], 0)
        for output, shape in zip(op.outputs, self._shapes(op.graph, op.inputs), strict=True):
            output.set_shape(shape)
        leaves = nest.flatten(body.structure, expand_composites=True)
        outputs = iter(op.outputs)
        values = [None if leaf is None else with_flow(leaf, next(outputs)) for leaf in leaves]
        return nest.pack_sequence_as(body.structure, values, expand_composites=True)

    def _shapes(self, graph: Graph, given: Sequence[Tensor]) -> list[Any]:
        """The shapes of the results, inferred from the arguments of one call."""
        body = self.body
        taken = zip(given, body.inputs, strict=True)
        if all(str(tensor.shape) == str(inner.shape) for tensor, inner in taken):
            is_known = all(tensor.shape.is_fully_defined() for tensor in body.outputs)
            if is_known or all(constant_value(tensor) is None for tensor in given):
                return [tensor.shape for tensor in body.outputs]
        function = NameAttrList(name=self._function.name)
        return shapes_of_call(graph, function, given) or []
