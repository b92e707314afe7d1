"""What makes a GraphDef a graph: names, inputs, dtypes, attributes, shapes, no cycles."""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.spec.model.nodes import Node
from sessrun.spec.node_attributes import FIELDS, inputs_by_name
from sessrun.spec.operations import ArgDecl, AttrDecl, Operation
from sessrun.spec.proto import NodeDef
from sessrun.spec.rules.shapes import Shape, ShapeError, infer

__all__ = ["check_definition", "check_graph"]

_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
#: The edges that close loops: from the end of an iteration to the beginning of the next.
_ENDS: Final = frozenset({"NextIteration", "RefNextIteration"})
_HEADS: Final = frozenset({"Merge", "RefMerge"})


def check_definition(definition: NodeDef, operation: Operation) -> None:
    """Hold what a NodeDef says by itself against the declaration of its type.

    Raises:
      ValueError: its name, an attribute or the order of its inputs is not allowed.

    """
    if not _NAME.fullmatch(definition.name):
        raise ValueError(f"{definition.name!r} is not allowed as a name")
    is_control = [text.startswith("^") for text in definition.input]
    if is_control != sorted(is_control):
        raise ValueError(f"{definition.name} has a control input before a data input")
    for attr in operation.attrs:
        if attr.name in definition.attr:
            _check_attr(definition, attr)


def _check_attr(definition: NodeDef, attr: AttrDecl) -> None:
    value = definition.attr[attr.name]
    field = value.WhichOneof("value")
    if field != FIELDS.get(attr.type, "list"):
        raise ValueError(f"{definition.name}: {attr.name} is no {attr.type}")


def check_graph(nodes: Mapping[str, Node], added: Sequence[Node]) -> None:
    """Hold operations that are added against the graph that they are added to.

    Args:
      nodes: all operations of the graph by name, with those that are added.
      added: the operations that are added.

    Raises:
      ValueError: an input is unknown, of another dtype or too many; an attribute has a value that
        is not allowed; shapes contradict each other; there is a cycle that no loop makes.

    """
    for node in added:
        _check_values(node)
        _check_inputs(nodes, node)
    _check_shapes(nodes)


def _check_values(node: Node) -> None:
    for attr in node.operation.attrs:
        value = node.attrs[attr.name]
        values = value if attr.type.startswith("list(") else (value,)
        strange = [one for one in values if attr.allowed and one not in attr.allowed]
        if strange:
            raise ValueError(f"{node.name}: {attr.name} cannot be {strange[0]}")
        if attr.minimum is not None:
            size = len(value) if attr.type.startswith("list(") else int(value)
            if size < attr.minimum:
                raise ValueError(f"{node.name}: {attr.name} is less than {attr.minimum}")


def _check_inputs(nodes: Mapping[str, Node], node: Node) -> None:
    for tensor in node.inputs:
        if tensor.node not in nodes or not 0 <= tensor.index < nodes[tensor.node].outputs:
            raise ValueError(f"{node.name} has the unknown input {tensor}")
    unknown = [name for name in node.controls if name not in nodes]
    if unknown:
        raise ValueError(f"{node.name} waits for {unknown[0]}, which the graph does not have")
    wanted = list(_dtypes(node.operation.inputs, node.attrs))
    if len(wanted) != len(node.inputs):
        raise ValueError(f"{node.name} takes {len(wanted)} inputs, not {len(node.inputs)}")
    for tensor, dtype in zip(node.inputs, wanted, strict=True):
        source = nodes[tensor.node]
        given = list(_dtypes(source.operation.outputs, source.attrs))[tensor.index]
        if given != dtype:
            raise ValueError(f"{node.name} takes {dtype}, but {tensor} is {given}")


def _dtypes(arguments: Sequence[ArgDecl], attrs: Mapping[str, Any]) -> Iterator[str]:
    """The dtypes of all tensors of some arguments."""
    for arg in arguments:
        if arg.type_list_attr is not None:
            yield from attrs[arg.type_list_attr]
        else:
            dtype = attrs[arg.type_attr] if arg.type_attr is not None else str(arg.dtype)
            yield from [dtype] * arg.count(attrs)


def _check_shapes(nodes: Mapping[str, Node]) -> None:
    """Infer the shapes of all outputs, in an order in which inputs come first."""
    shapes: dict[str, list[Shape]] = {}
    for name in _in_order(nodes):
        node = nodes[name]
        inputs = [_known(shapes, tensor.node, tensor.index) for tensor in node.inputs]
        named = inputs_by_name(node.operation, node.attrs, inputs)
        try:
            shapes[name] = infer(node.operation, named, _shown(node))
        except ShapeError as error:
            raise ValueError(f"{name}: {error}") from error


def _shown(node: Node) -> Mapping[str, Any]:
    """Attributes as shape rules take them: of a tensor its shape matters only."""
    tensors = [attr.name for attr in node.operation.attrs if attr.type == "tensor"]
    return node.attrs | {
        name: np.broadcast_to(np.int8(0), [dim.size for dim in node.attrs[name].tensor_shape.dim])
        for name in tensors
    }


def _known(shapes: Mapping[str, Sequence[Shape]], name: str, index: int) -> Shape:
    """What is known of an output's shape; nothing of what a loop gives to its next iteration."""
    outputs = shapes.get(name, ())
    return outputs[index] if index < len(outputs) else None


def _in_order(nodes: Mapping[str, Node]) -> list[str]:
    before = {
        node.name: {
            source
            for source in (*(tensor.node for tensor in node.inputs), *node.controls)
            if nodes[source].type not in _ENDS or node.type not in _HEADS
        }
        for node in nodes.values()
    }
    try:
        return list(graphlib.TopologicalSorter(before).static_order())
    except graphlib.CycleError as error:
        raise ValueError(f"the graph has a cycle through {error.args[1][0]}") from error
