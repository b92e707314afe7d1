"""Graphs of the model: operations by name, the library of functions, and who consumes what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sessrun.spec.model.nodes import Node, Output
from sessrun.spec.model.validity import check_definition, check_graph
from sessrun.spec.node_attributes import attributes_of
from sessrun.spec.proto import FunctionDef, GraphDef, NodeDef
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Function", "Graph"]

#: The version of GraphDefs that the model reads: that of TensorFlow 2.21.
GRAPH_VERSION: Final = 2474


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the graph's library.

    Attributes:
      arguments: the names of its arguments, which are placeholders of the body.
      body: its body.
      results: the tensors of the body that a call gives, in order.
      effects: operations of the body that every call executes.

    """

    arguments: tuple[str, ...]
    body: Graph
    results: tuple[Output, ...]
    effects: tuple[str, ...]


class Graph:
    """A graph, which may grow.

    Args:
      definition: its first operations.

    Raises:
      ValueError: it is none: a name comes twice, an input is unknown, an attribute is missing.

    """

    def __init__(self, definition: GraphDef) -> None:
        self.nodes: dict[str, Node] = {}
        self.functions: dict[str, FunctionDef] = {}
        self.extend(definition)

    def extend(self, definition: GraphDef) -> None:
        """Add operations, whose inputs may be older ones.

        Raises:
          ValueError: see above; the graph is as it was.

        """
        if definition.versions.min_consumer > GRAPH_VERSION:
            raise ValueError(f"the graph is for version {definition.versions.min_consumer}")
        added = {node.name: read_node(node) for node in definition.node}
        if len(added) < len(definition.node) or added.keys() & self.nodes.keys():
            raise ValueError("two operations have one name")
        check_graph(self.nodes | added, list(added.values()))
        self.nodes |= added
        self.functions |= {
            function.signature.name: function for function in definition.library.function
        }

    def consumers(self, names: Iterable[str]) -> dict[str, list[Node]]:
        """For each operation the ones among `names` that take an output of it, or wait for it."""
        consumers: dict[str, list[Node]] = {}
        for name in names:
            node = self.nodes[name]
            for source in dict.fromkeys([*(tensor.node for tensor in node.inputs), *node.controls]):
                consumers.setdefault(source, []).append(node)
        return consumers


def read_node(definition: NodeDef) -> Node:
    """The operation of a NodeDef.

    Raises:
      ValueError: its type is not declared, or an attribute is missing.

    """
    operation = OPERATIONS.get(definition.op)
    if operation is None:
        raise ValueError(f"{definition.name}: no operation of type {definition.op} is declared")
    check_definition(definition, operation)
    inputs = [_output(text) for text in definition.input if not text.startswith("^")]
    controls = [text[1:] for text in definition.input if text.startswith("^")]
    attrs = attributes_of(definition, operation)
    return Node(definition.name, operation, attrs, tuple(inputs), tuple(controls))


def _output(text: str) -> Output:
    name, _, index = text.partition(":")
    return Output(name, int(index or 0))
