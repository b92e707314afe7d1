"""`tf.graph_util`: what a GraphDef needs for some of its nodes, and what inference can do without.

Everything here reads GraphDefs only; op types need not be declared. Clauses: GRAPH. Source:
`tf.graph_util` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf import text_format

from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.importing.graph_defs import import_graph_def
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.public import public
from sessrun.spec.proto import DataType, GraphDef, NodeDef
from sessrun.spec.proto.foreign import adopt

__all__ = [
    "extract_sub_graph",
    "must_run_on_cpu",
    "remove_training_nodes",
    "tensor_shape_from_node_def_name",
    "write_graph",
]

_LOC: Final = "loc:@"
#: Operations on variables as `must_run_on_cpu` knows them.
_OF_VARIABLES: Final = frozenset(
    {
        "Assign",
        "AssignAdd",
        "AssignSub",
        "Queue",
        "ScatterAdd",
        "ScatterSub",
        "ScatterUpdate",
        "TruncatedNormal",
        "Variable",
        "VariableV2",
    }
)
#: Op types that run on the CPU if this attribute is one of these dtypes.
_ON_CPU: Final[Mapping[str, tuple[str, frozenset[int]]]] = {
    "Const": ("dtype", frozenset({DataType.DT_STRING, DataType.DT_INT32})),
    "DynamicStitch": ("T", frozenset({DataType.DT_INT32})),
    "ParallelDynamicStitch": ("T", frozenset({DataType.DT_INT32})),
    "Cast": ("SrcT", frozenset({DataType.DT_INT32})),
}
_CHECKS: Final = frozenset({"CheckNumerics"})
_PASSING_ON: Final = frozenset({"Identity", "StopGradient"})


@public("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: GraphDef, dest_nodes: Iterable[str]) -> GraphDef:
    """The nodes that these nodes need, themselves included, in the order of the GraphDef.

    Nodes are needed as inputs, as control inputs, and by colocation. Functions and versions are
    kept unchanged.

    Args:
      graph_def: a GraphDef, ours or TensorFlow's.
      dest_nodes: names of nodes.

    Raises:
      TypeError: `graph_def` is no GraphDef, or `dest_nodes` a string.
      AssertionError: the GraphDef has no node with one of these names.
      KeyError: a node needs one that is not there.

    """
    graph_def = adopt(graph_def, GraphDef)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings, but got type <class 'str'>.")
    nodes = {_producer(node.name): node for node in graph_def.node}
    waiting = list(dest_nodes)
    for name in waiting:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    needed = set()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += _needs(nodes[name])
    kept = [node for name, node in nodes.items() if name in needed]
    return GraphDef(node=kept, library=graph_def.library, versions=graph_def.versions)


@public("graph_util.remove_training_nodes")
def remove_training_nodes(
    input_graph: GraphDef, protected_nodes: Iterable[str] | None = None
) -> GraphDef:
    """The GraphDef's nodes without those that only pass a value on, or only check it.

    CheckNumerics goes; Identity and StopGradient are bridged, unless a control dependency goes in
    or out, or another node is colocated with them. Functions and versions are left out.

    Args:
      input_graph: a GraphDef, ours or TensorFlow's.
      protected_nodes: names of nodes that are never removed.

    Raises:
      IndexError: a node that should pass a value on has no input.
      ValueError: nodes pass a value on in a circle.

    """
    protected = frozenset(protected_nodes or ())
    nodes = _copied(adopt(input_graph, GraphDef).node)
    checks = {node.name for node in nodes if node.op in _CHECKS} - protected
    left = [node for node in nodes if node.name not in checks]
    for node in left:
        kept = [text for text in node.input if text.removeprefix("^") not in checks]
        node.input[:] = kept
    bridged = _bridged(left, protected)
    result = [node for node in left if node.name not in bridged]
    for node in result:
        sources = [_source(text, bridged) for text in node.input]
        node.input[:] = sources
    return GraphDef(node=result)


@public("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node has to be on the CPU: by its op type and dtypes, as a rule of thumb.

    Args:
      node: an Operation or a NodeDef.
      pin_variables_on_cpu: whether variables, and what changes them, have to.

    """
    proto = node.node_def if isinstance(node, Operation) else adopt(node, NodeDef)
    if pin_variables_on_cpu and proto.op in _OF_VARIABLES:
        return True
    if proto.op not in _ON_CPU:
        return False
    attr, kinds = _ON_CPU[proto.op]
    return proto.attr[attr].type in kinds


@public("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The static shape of a tensor of the graph that is called as inputs in NodeDefs are.

    Raises:
      KeyError, ValueError: as `Graph.get_tensor_by_name`.

    """
    shape: TensorShape = graph.get_tensor_by_name(
        input_name if ":" in input_name else input_name + ":0"
    ).get_shape()
    return shape


def _copied(nodes: Iterable[NodeDef]) -> list[NodeDef]:
    copies = []
    for node in nodes:
        copy = NodeDef()
        copy.CopyFrom(node)
        copies.append(copy)
    return copies


def _producer(text: str) -> str:
    """The node that an input names."""
    return text[1:] if text.startswith("^") else text.partition(":")[0]


def _beside(node: NodeDef) -> list[str]:
    """The names in its `_class`, whether they say that they are of nodes or not."""
    if "_class" not in node.attr:
        return []
    return [group.decode().removeprefix(_LOC) for group in node.attr["_class"].list.s]


def _needs(node: NodeDef) -> list[str]:
    return [*map(_producer, node.input), *_beside(node)]


def _bridged(nodes: Iterable[NodeDef], protected: frozenset[str]) -> dict[str, str]:
    """The inputs of the nodes that only pass a value on, by the names of the nodes."""
    nodes = list(nodes)
    staying, waited = set(protected), set()
    for node in nodes:
        staying.update(_beside(node))
        waited.update(_controls(node))
    sources = {
        node.name: node.input[0]
        for node in nodes
        if node.op in _PASSING_ON and node.name not in staying and not _controls(node)
    }
    return {name: source for name, source in sources.items() if name not in waited}


def _controls(node: NodeDef) -> list[str]:
    return [text[1:] for text in node.input if text.startswith("^")]


def _source(text: str, bridged: Mapping[str, str]) -> str:
    passed = set()
    while (name := text.removeprefix("^")) in bridged:
        if name in passed:
            raise ValueError(f"The node '{name}' passes its own value on.")
        passed.add(name)
        text = bridged[name]
    return text


public("graph_util.import_graph_def")(import_graph_def)


@public("io.write_graph", "train.write_graph")
def write_graph(
    graph_or_graph_def: Any,
    logdir: Any,
    name: str,
    as_text: bool = True,
) -> str:
    """Write a graph to a file.

    Args:
      graph_or_graph_def: a Graph, or a GraphDef.
      logdir: the folder, which is created if it does not exist.
      name: the file's name.
      as_text: whether it is written as text.

    Returns:
      The file's path.

    """
    graph = graph_or_graph_def
    definition = graph.as_graph_def() if isinstance(graph, Graph) else graph
    path = Path(logdir) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if as_text:
        path.write_text(text_format.MessageToString(definition), "utf-8")
    else:
        path.write_bytes(definition.SerializeToString(deterministic=True))
    return str(path)
