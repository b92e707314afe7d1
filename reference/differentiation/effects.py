"""Functions that are derived by executing them again, and what they must not do twice.

What an operation with an effect gave, such as random numbers, is kept when the function is called,
and stands among the arguments when it is derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sessrun.reference.dtypes import as_dtype
from sessrun.reference.graph import Graph
from sessrun.spec.proto import FunctionDef, FunctionDefLibrary, NameAttrList, NodeDef

__all__ = ["check_repeatable", "lifted"]

#: Declared to have a state, and the same when they are executed once more.
_REPEATABLE: Final = frozenset({
    "Assert", "Print", "PrintV2", "ReadVariableOp", "ResourceGather", "ResourceGatherNd",
    "VarHandleOp", "VarIsInitializedOp",
})  # fmt: skip


def _called(node: NodeDef) -> Iterator[str]:
    """The names of the functions that a node calls."""
    yield node.op
    for value in node.attr.values():
        if value.WhichOneof("value") == "func":
            yield value.func.name
        yield from (each.name for each in value.list.func)


def _effects(graph: Graph, name: str) -> list[NodeDef]:
    """The nodes of a function whose effects are their own, not those of what they call.

    Raises:
      LookupError: what one calls has effects.

    """
    library, found = graph.functions, []
    definition = library.definition(name)
    for node in definition.node_def if definition is not None else ():
        inner = [each for each in _called(node) if each in library]
        for each in inner:
            check_repeatable(graph, each)
        is_stateful = library.signature(node.op).declaration.stateful
        is_array = node.op.startswith("TensorArray")
        if is_stateful and not inner and not is_array and node.op not in _REPEATABLE:
            found.append(node)
    return found


def check_repeatable(graph: Graph, name: str) -> None:
    """Refuse a function that must not be executed twice.

    Raises:
      LookupError: it has an effect.

    """
    for node in _effects(graph, name):
        raise LookupError(
            f"The gradient of function '{name}' would execute '{node.name}' (op type: {node.op}) "
            "once more, which has an effect."
        )


def lifted(graph: Graph, function: NameAttrList) -> tuple[NameAttrList, NameAttrList, list[Any]]:
    """A function that may be executed twice, for one that may not.

    Args:
      graph: what has the function, and gets the new ones.
      function: the function.

    Returns:
      The function with what its effects gave behind its results; the one that takes this behind its
      arguments and has no effects; and of which dtypes that is.

    Raises:
      LookupError: a function that it calls has effects.

    """
    nodes = _effects(graph, function.name)
    definition = graph.functions.definition(function.name)
    if not nodes or definition is None:
        return function, function, []
    telling, told = FunctionDef(), FunctionDef()
    given: dict[str, str] = {}
    kinds: list[Any] = []
    for copy, word in ((telling, "telling"), (told, "told")):
        copy.CopyFrom(definition)
        copy.signature.name = f"{function.name}_{word}"
        copy.signature.is_stateful = copy is telling
    for node in nodes:
        for source, kind in _outputs(graph, node):
            name, number = f"kept_{len(given)}", kind.as_datatype_enum
            telling.signature.output_arg.add(name=name, type=number)
            telling.ret[name] = source
            told.signature.input_arg.add(name=name, type=number)
            given[source] = name
            kinds.append(kind)
    _take_out(told, {node.name for node in nodes}, given)
    graph.add_functions(FunctionDefLibrary(function=[telling, told]))
    return (NameAttrList(name=telling.signature.name, attr=function.attr),
            NameAttrList(name=told.signature.name, attr=function.attr), kinds)  # fmt: skip


def _outputs(graph: Graph, node: NodeDef) -> Iterator[tuple[str, Any]]:
    """Each output of a function's node, as others name it, with its dtype."""
    for output in graph.functions.signature(node.op).declaration.outputs:
        if output.type_list_attr is not None:
            found = [as_dtype(each) for each in node.attr[output.type_list_attr].list.type]
        else:
            count = 1 if output.number_attr is None else node.attr[output.number_attr].i
            told: Any = output.dtype or node.attr[output.type_attr or ""].type
            found = [as_dtype(told)] * count
        for place, kind in enumerate(found):
            yield f"{node.name}:{output.name}:{place}", kind


def _take_out(definition: FunctionDef, names: set[str], given: dict[str, str]) -> None:
    """Take nodes out of a function; what they gave are arguments."""
    kept = [node for node in definition.node_def if node.name not in names]
    del definition.node_def[:]
    for node in kept:
        inputs = [given.get(text, text) for text in node.input
                  if text.removeprefix("^") not in names]  # fmt: skip
        del node.input[:]
        node.input.extend(inputs)
        definition.node_def.append(node)
    for key, source in list(definition.ret.items()):
        definition.ret[key] = given.get(source, source)
    for key, name in list(definition.control_ret.items()):
        if name in names:
            del definition.control_ret[key]
