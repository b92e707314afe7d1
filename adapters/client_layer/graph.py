"""Reads a GraphDef for an engine: nodes, constants, dtypes, and the part that a run needs."""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from sessrun.adapters.client_layer.attributes import dtype_of, shape_of
from sessrun.adapters.client_layer.engine import (
    Endpoint,
    EngineError,
    NotOfferedError,
    TensorFacts,
)
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import DataType, GraphDef, NodeDef
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.tensor_protos import array_of
from sessrun.spec.tensors import TensorError

__all__ = ["Graph", "Part", "constant_of", "controls_of", "inputs_of"]

_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
#: The operations that end a while loop's body, and those that this back edge leads to.
_BACK: Final = frozenset({"NextIteration", "RefNextIteration"})
_LOOP_HEADS: Final = frozenset({"Merge", "RefMerge"})
#: More outputs than any node of a real graph has.
_MOST_OUTPUTS: Final = 100_000
#: Operations whose `shape` attribute is the static shape of their output.
_SHAPED: Final = frozenset({"Placeholder", "PlaceholderWithDefault"})


@dataclass(frozen=True, slots=True)
class Part:
    """What of a graph a run needs.

    Attributes:
      nodes: each node after its inputs, but for a loop's back edge; nodes that are needed only to
        compute a fed tensor are left out.
      feeds: the fed tensors, those that nothing consumes among them.
      fetches: the fetched tensors.
      effects: names of nodes that run although no fetch depends on their data: targets, control
        inputs, and what these need. An engine that cannot run them must decline.
      dtypes: the dtype of each tensor of the nodes, the feeds and the fetches.
      source: the graph that it is a part of.

    """

    nodes: tuple[NodeDef, ...]
    feeds: tuple[Endpoint, ...]
    fetches: tuple[Endpoint, ...]
    effects: frozenset[str]
    dtypes: Mapping[Endpoint, str]
    source: GraphDef

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the nodes that give references: variables, and what is done to them."""
        return tuple(
            node.name
            for node in self.nodes
            if any(output.is_ref for output in OPERATIONS[node.op].outputs)
        )

    def definition(self, shapes: Sequence[Sequence[int]]) -> GraphDef:
        """A GraphDef of its own: its only placeholders are `feed_N`, and `fetch_N` its fetches.

        Other nodes are called `part/NAME`. Control inputs are kept, as they put constants into
        loops and branches, but for those that fed placeholders satisfy.

        Args:
          shapes: the shape of each feed.

        """
        names = {tensor: f"feed_{number}" for number, tensor in enumerate(self.feeds)}
        graph = GraphDef(versions=self.source.versions, library=self.source.library)
        for (tensor, name), shape in zip(names.items(), shapes, strict=True):
            node = graph.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = _datatype(self.dtypes[tensor])
            node.attr["shape"].shape.SetInParent()
            for size in shape:
                node.attr["shape"].shape.dim.add(size=size)
        kept = {old.name for old in self.nodes}
        for old in self.nodes:
            node = graph.node.add()
            node.CopyFrom(old)
            node.name = _inner(old.name)
            node.attr.pop("_class", None)  # it names nodes that are not here
            node.input[:] = [_source(tensor, names) for tensor in inputs_of(old)]
            node.input.extend(f"^{_inner(name)}" for name in controls_of(old) if name in kept)
        for number, tensor in enumerate(self.fetches):
            node = graph.node.add(name=f"fetch_{number}", op="Identity")
            node.input.append(_source(tensor, names))
            node.attr["T"].type = _datatype(self.dtypes[tensor])
        return graph


class Graph:
    """The nodes of a GraphDef.

    Args:
      definition: the GraphDef.

    Raises:
      EngineError: code 3, two nodes have one name, or an input names no node or no output.
      NotOfferedError: `op`, nothing is declared of an operation: its outputs are not known.

    """

    def __init__(self, definition: GraphDef) -> None:
        self.definition = definition
        self.nodes: Mapping[str, NodeDef] = {node.name: node for node in definition.node}
        if len(self.nodes) < len(definition.node):
            raise EngineError(3, "two nodes have the same name")
        self._dtypes = {name: _output_dtypes(node) for name, node in self.nodes.items()}
        for node in definition.node:
            unknown = [text for text in node.input if not self._is_input(text)]
            if unknown:
                raise EngineError(
                    3, f"node {node.name} has the unknown input {unknown[0]}", node.name
                )

    def _is_input(self, text: str) -> bool:
        if text.startswith("^"):
            return text[1:] in self.nodes
        name, colon, index = text.partition(":")
        if colon and not index.isdecimal():
            return False
        return int(index or 0) < len(self._dtypes.get(name, ()))

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        """A tensor's dtype by its operation's declaration, and what its node says of its shape."""
        dtypes = self._dtypes.get(tensor.operation, [])
        if not 0 <= tensor.index < len(dtypes):
            return None
        return TensorFacts(dtypes[tensor.index], _static_shape(self.nodes[tensor.operation]))

    def part(
        self,
        fetches: Sequence[Endpoint],
        feeds: Collection[Endpoint],
        targets: Sequence[str] = (),
    ) -> Part:
        """What a run needs.

        Args:
          fetches: tensors of the graph.
          feeds: tensors of the graph.
          targets: names of operations that are executed too.

        Raises:
          EngineError: code 3, a needed placeholder is not fed, or the needed nodes have a cycle.

        """
        by_data = self._needed([tensor.operation for tensor in fetches], feeds, controls=False)
        wanted = (*(tensor.operation for tensor in fetches), *targets)
        needed = self._needed(wanted, feeds, controls=True)
        nodes = tuple(self.nodes[name] for name in self._in_order(needed, feeds))
        unfed = next((node for node in nodes if node.op in _PLACEHOLDERS), None)
        if unfed is not None:
            raise EngineError(3, f"You must feed a value for placeholder {unfed.name}", unfed.name)
        dtypes = {
            Endpoint(node.name, index): dtype
            for node in nodes
            for index, dtype in enumerate(self._dtypes[node.name])
        }
        for tensor in (*feeds, *fetches):
            dtypes[tensor] = self._dtypes[tensor.operation][tensor.index]
        effects = frozenset(needed - by_data)
        return Part(nodes, tuple(sorted(feeds)), tuple(fetches), effects, dtypes, self.definition)

    def _needed(
        self, wanted: Iterable[str], feeds: Collection[Endpoint], *, controls: bool
    ) -> set[str]:
        """Names of the nodes that some need, without what is needed for a fed tensor only.

        A control edge from a placeholder that is fed counts as satisfied.
        """
        needed: set[str] = set()
        left = list(wanted)
        while left:
            name = left.pop()
            if name not in needed:
                needed.add(name)
                left += self._sources(name, feeds)
                left += self._controls(name, feeds) if controls else ()
        return needed

    def _in_order(self, needed: Collection[str], feeds: Collection[Endpoint]) -> list[str]:
        """The nodes, each after its inputs except across a loop's back edge."""
        waits_for = {
            name: {
                source
                for source in (*self._sources(name, feeds), *self._controls(name, feeds))
                if source in needed and not self._is_back_edge(source, name)
            }
            for name in sorted(needed)
        }
        try:
            return list(graphlib.TopologicalSorter(waits_for).static_order())
        except graphlib.CycleError as error:
            name = error.args[1][0]
            raise EngineError(3, f"the graph has a cycle through {name}", name) from error

    def _sources(self, name: str, feeds: Collection[Endpoint]) -> list[str]:
        tensors = inputs_of(self.nodes[name])
        return [tensor.operation for tensor in tensors if tensor not in feeds]

    def _controls(self, name: str, feeds: Collection[Endpoint]) -> list[str]:
        return [
            source
            for source in controls_of(self.nodes[name])
            if self.nodes[source].op not in _PLACEHOLDERS or Endpoint(source, 0) not in feeds
        ]

    def _is_back_edge(self, source: str, name: str) -> bool:
        """Whether an edge leads from the end of a while loop's body to its beginning."""
        return self.nodes[source].op in _BACK and self.nodes[name].op in _LOOP_HEADS


def inputs_of(node: NodeDef) -> list[Endpoint]:
    """The tensors that a node takes."""
    return [_endpoint(text) for text in node.input if not text.startswith("^")]


def controls_of(node: NodeDef) -> list[str]:
    """Names of the operations that a node waits for."""
    return [text[1:] for text in node.input if text.startswith("^")]


def constant_of(node: NodeDef) -> np.ndarray:
    """The value of a Const.

    Raises:
      EngineError: code 3, its message says no tensor, or one of another dtype.

    """
    tensor = node.attr["value"].tensor
    if tensor.dtype != node.attr["dtype"].type:
        raise EngineError(3, f"the dtype of {node.name} is not that of its value", node.name)
    try:
        return array_of(tensor)
    except TensorError as error:
        raise EngineError(3, str(error), node.name) from error


def _endpoint(text: str) -> Endpoint:
    name, _, index = text.partition(":")
    return Endpoint(name, int(index) if index.isdecimal() else 0)


def _datatype(dtype: str) -> DataType:
    return cast("DataType", BY_NAME[dtype].enum)  # the stubs have a class for what is an int


def _inner(name: str) -> str:
    """A node's name beside `feed_N` and `fetch_N`."""
    return f"part/{name}"


def _source(tensor: Endpoint, feeds: Mapping[Endpoint, str]) -> str:
    return f"{feeds[tensor]}:0" if tensor in feeds else f"{_inner(tensor.operation)}:{tensor.index}"


def _output_dtypes(node: NodeDef) -> list[str]:
    """The dtypes of a node's outputs."""
    operation = OPERATIONS.get(node.op)
    if operation is None:
        raise NotOfferedError("op", node.op)
    return [name for output in operation.outputs for name in _dtypes_of(output, node)]


def _dtypes_of(output: ArgDecl, node: NodeDef) -> list[str]:
    if output.type_list_attr is not None:
        return [dtype_of(number, node) for number in node.attr[output.type_list_attr].list.type]
    if output.type_attr is not None:
        dtype = _type_of(node, output.type_attr)
    else:
        dtype = output.dtype or BY_NAME["float32"].name
    count = node.attr[output.number_attr].i if output.number_attr is not None else 1
    if not 0 <= count <= _MOST_OUTPUTS:
        raise EngineError(3, f"{node.name} cannot have {count} outputs", node.name)
    return [dtype] * int(count)


def _type_of(node: NodeDef, attr: str) -> str:
    """The dtype that an attribute says, or is by default."""
    if attr in node.attr:
        return dtype_of(node.attr[attr].type, node)
    declared = OPERATIONS[node.op].attr(attr)
    return str(declared.default) if declared is not None and declared.has_default else "float32"


def _static_shape(node: NodeDef) -> tuple[int | None, ...] | None:
    if node.op == "Const":
        return tuple(dim.size for dim in node.attr["value"].tensor.tensor_shape.dim)
    if node.op not in _SHAPED or "shape" not in node.attr:
        return None
    return shape_of(node.attr["shape"].shape)
