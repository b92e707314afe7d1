"""A GraphDef as an engine that compiles reads it: nodes, constants, the part that a run needs."""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from sessrun.adapters.client_layer.engine import Endpoint, EngineError, TensorFacts
from sessrun.spec.dtypes import BY_ENUM, BY_NAME
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import DataType, GraphDef, NodeDef
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.tensor_protos import array_of
from sessrun.spec.tensors import TensorError

__all__ = ["Graph", "Part", "constant_of", "controls_of", "inputs_of"]

#: What a loop's way back leads from, and to.
_BACK: Final = frozenset({"NextIteration", "RefNextIteration"})
_LOOP_HEADS: Final = frozenset({"Merge", "RefMerge"})
#: The version of GraphDefs that a part is written in.
_PRODUCER: Final = 2474
#: Operations whose `shape` attribute is the static shape of their output.
_SHAPED: Final = frozenset({"Placeholder", "PlaceholderWithDefault"})


@dataclass(frozen=True, slots=True)
class Part:
    """What of a graph a run needs.

    Attributes:
      nodes: the nodes in an order in which each follows its inputs; none of a tensor that is fed.
      feeds: the fed tensors.
      fetches: the fetched ones.
      controlled: names of needed nodes of which no data reaches a fetch: effects, and checks.
      dtypes: the dtype of each tensor of the nodes, the feeds and the fetches.

    """

    nodes: tuple[NodeDef, ...]
    feeds: tuple[Endpoint, ...]
    fetches: tuple[Endpoint, ...]
    controlled: frozenset[str]
    dtypes: Mapping[Endpoint, str]

    def definition(self, shapes: Sequence[Sequence[int]]) -> GraphDef:
        """A GraphDef of its own: its only placeholders are `feed_N`, its only ends `fetch_N`.

        Control inputs are left out: whatever is needed for its data stands in an order without.

        Args:
          shapes: the shape of each feed.

        """
        names = {tensor: f"feed_{number}" for number, tensor in enumerate(self.feeds)}
        made = GraphDef()
        made.versions.producer = _PRODUCER
        for (tensor, name), shape in zip(names.items(), shapes, strict=True):
            node = made.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = _datatype(self.dtypes[tensor])
            node.attr["shape"].shape.SetInParent()
            for size in shape:
                node.attr["shape"].shape.dim.add(size=size)
        for old in self.nodes:
            node = made.node.add()
            node.CopyFrom(old)
            node.name = _inner(old.name)
            node.attr.pop("_class", None)  # it names nodes that are not here
            node.input[:] = [_source(tensor, names) for tensor in inputs_of(old)]
        for number, tensor in enumerate(self.fetches):
            node = made.node.add(name=f"fetch_{number}", op="Identity")
            node.input.append(_source(tensor, names))
            node.attr["T"].type = _datatype(self.dtypes[tensor])
        return made


class Graph:
    """The nodes of a GraphDef.

    Args:
      definition: the GraphDef.

    Raises:
      EngineError: code 3, two nodes have one name, or an input names no node.

    """

    def __init__(self, definition: GraphDef) -> None:
        self.nodes: Mapping[str, NodeDef] = {node.name: node for node in definition.node}
        if len(self.nodes) < len(definition.node):
            raise EngineError(3, "two nodes have the same name")
        for node in definition.node:
            for name in (*(source.operation for source in inputs_of(node)), *controls_of(node)):
                if name not in self.nodes:
                    raise EngineError(
                        3, f"node {node.name} has the unknown input {name}", node.name
                    )

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        """A tensor's dtype by its operation's declaration, and what its node says of its shape."""
        node = self.nodes.get(tensor.operation)
        if node is None or tensor.index < 0:
            return None
        dtypes = _output_dtypes(node)
        if tensor.index >= len(dtypes):
            return None
        return TensorFacts(dtypes[tensor.index], _static_shape(node))

    def part(
        self,
        fetches: Sequence[Endpoint],
        feeds: Collection[Endpoint],
        targets: Sequence[str] = (),
    ) -> Part:
        """What a run needs.

        Raises:
          EngineError: code 3, the nodes that it needs have a cycle.

        """
        by_data = self._needed([tensor.operation for tensor in fetches], feeds, controls=False)
        wanted = (*(tensor.operation for tensor in fetches), *targets)
        needed = self._needed(wanted, feeds, controls=True)
        nodes = tuple(self.nodes[name] for name in self._in_order(needed, feeds))
        controlled = frozenset(needed - by_data)
        tensors = {
            Endpoint(node.name, index): dtype
            for node in nodes
            for index, dtype in enumerate(_output_dtypes(node))
        }
        for tensor in (*feeds, *fetches):
            facts = self.facts(tensor)
            tensors[tensor] = facts.dtype if facts is not None else "float32"
        return Part(nodes, tuple(sorted(feeds)), tuple(fetches), controlled, tensors)

    def _needed(
        self, wanted: Iterable[str], feeds: Collection[Endpoint], *, controls: bool
    ) -> set[str]:
        """Names of the nodes that some need, without what is needed for a fed tensor only."""
        needed: set[str] = set()
        left = list(wanted)
        while left:
            name = left.pop()
            if name not in needed:
                needed.add(name)
                left += self._sources(name, feeds)
                left += controls_of(self.nodes[name]) if controls else ()
        return needed

    def _in_order(self, needed: Collection[str], feeds: Collection[Endpoint]) -> list[str]:
        """The nodes, each after its inputs, but for the way back of a loop."""
        waits_for = {
            name: {
                source
                for source in (*self._sources(name, feeds), *controls_of(self.nodes[name]))
                if source in needed and not self._goes_back(source, name)
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

    def _goes_back(self, source: str, name: str) -> bool:
        """Whether an edge leads from the end of a loop's body to its beginning."""
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
      EngineError: code 3, its message says no tensor.

    """
    try:
        return array_of(node.attr["value"].tensor)
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
    """The dtypes of a node's outputs; none where nothing is declared of its operation."""
    operation = OPERATIONS.get(node.op)
    if operation is None:
        return []
    return [name for output in operation.outputs for name in _dtypes_of(output, node)]


def _dtypes_of(output: ArgDecl, node: NodeDef) -> list[str]:
    if output.type_list_attr is not None:
        return [BY_ENUM[number].name for number in node.attr[output.type_list_attr].list.type]
    if output.type_attr is not None:
        dtype = _type_of(node, output.type_attr)
    else:
        dtype = output.dtype or BY_NAME["float32"].name
    count = node.attr[output.number_attr].i if output.number_attr is not None else 1
    return [dtype] * int(count)


def _type_of(node: NodeDef, attr: str) -> str:
    """The dtype that an attribute says, or is by default."""
    if attr in node.attr:
        return BY_ENUM[node.attr[attr].type].name
    declared = OPERATIONS[node.op].attr(attr)
    return str(declared.default) if declared is not None and declared.has_default else "float32"


def _static_shape(node: NodeDef) -> tuple[int | None, ...] | None:
    if node.op == "Const":
        return tuple(dim.size for dim in node.attr["value"].tensor.tensor_shape.dim)
    if node.op not in _SHAPED or "shape" not in node.attr:
        return None
    shape = node.attr["shape"].shape
    if shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in shape.dim)
