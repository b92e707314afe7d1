"""A function of a graph's library as the nodes of a GraphDef: arguments become placeholders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sessrun.reference.build.signature import signature_in
from sessrun.reference.graph.function_library import FunctionLibrary
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import AttrValue, FunctionDef, GraphDef, NameAttrList, NodeDef

__all__ = ["nodes_of"]

_SHAPES: Final = "_output_shapes"
_CLASS: Final = "_class"
_LOC: Final = b"loc:@"


def nodes_of(
    library: FunctionLibrary, definition: FunctionDef, function: NameAttrList
) -> tuple[GraphDef, list[str], list[str]]:
    """A function as nodes of a graph.

    Args:
      library: the functions that it may call.
      definition: the function.
      function: its name, and the attributes that it leaves open.

    Returns:
      The nodes, the names of its arguments, which are placeholders, and those of its results.

    Raises:
      ValueError: the function is ill-formed.

    """
    arguments = [arg.name for arg in definition.signature.input_arg]
    sources = _Sources(library, definition)
    graph_def = GraphDef(node=_nodes(sources, definition, function.attr))
    results = [
        _output(sources.of(_returned(definition, arg.name)))
        for arg in definition.signature.output_arg
    ]
    return graph_def, arguments, results


def _nodes(
    sources: _Sources, function: FunctionDef, given: Mapping[str, AttrValue]
) -> Iterator[NodeDef]:
    """The nodes of a GraphDef: a placeholder for each argument, then those of the body."""
    for index, arg in enumerate(function.signature.input_arg):
        node = NodeDef(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        node.attr["shape"].shape.unknown_rank = True
        attrs_of_argument = function.arg_attr[index].attr if index in function.arg_attr else {}
        if _SHAPES in attrs_of_argument and attrs_of_argument[_SHAPES].list.shape:
            node.attr["shape"].shape.CopyFrom(attrs_of_argument[_SHAPES].list.shape[0])
        yield node
    for source in function.node_def:
        node = NodeDef()
        node.CopyFrom(source)
        del node.input[:]
        node.input.extend(sources.of(text) for text in source.input)
        if _CLASS in node.attr:  # a colocated operation may be an argument now
            groups = [group for group in node.attr[_CLASS].list.s if sources.has(group)]
            node.attr[_CLASS].list.s[:] = groups
            if not groups:
                del node.attr[_CLASS]
        for key, value in source.attr.items():
            if value.placeholder:
                node.attr[key].CopyFrom(given[value.placeholder])
        yield node


def _returned(function: FunctionDef, name: str) -> str:
    if name not in function.ret:
        raise ValueError(f"it does not say what it returns as {name!r}")
    return function.ret[name]


def _output(text: str) -> str:
    return text if ":" in text else f"{text}:0"


class _Sources:
    """The nodes of a function as they are named in a GraphDef."""

    def __init__(self, library: FunctionLibrary, function: FunctionDef) -> None:
        self._library = library
        self._nodes = {node.name: node for node in function.node_def}

    def has(self, group: bytes) -> bool:
        """Whether a colocation group is that of a node of the function."""
        return not group.startswith(_LOC) or group.removeprefix(_LOC).decode() in self._nodes

    def of(self, text: str) -> str:
        """An input `node:output:2` of a function's node as the `node:3` of a GraphDef's."""
        name, _, rest = text.partition(":")
        if not rest:
            return name  # an argument, or a control input
        output, _, index = rest.partition(":")
        if index and not (index.isascii() and index.isdigit()):
            raise ValueError(f"{text!r} names no output")
        node = self._nodes.get(name)
        if node is None:
            raise ValueError(f"there is no node {name!r}")
        start = 0
        for arg in signature_in(self._library, node.op).declaration.outputs:
            if arg.name == output:
                return f"{name}:{start + int(index or 0)}"
            start += _count(arg, node)
        raise ValueError(f"node {name!r} has no output {output!r}")


def _count(arg: ArgDecl, node: NodeDef) -> int:
    if arg.type_list_attr is not None:
        return len(node.attr[arg.type_list_attr].list.type)
    return 1 if arg.number_attr is None else node.attr[arg.number_attr].i
