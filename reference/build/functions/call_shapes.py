"""The static shapes of what a call gives: those that the body has for the arguments of the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.build.functions.function_nodes import nodes_of
from sessrun.reference.build.importing.importer import add_nodes
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import CALLS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["infer_shapes_of_call", "shapes_of_call"]

#: The attribute of calls whose shapes a program tells.
_NO_INFERENCE: Final = "_disable_call_shape_inference"


class _CalledGraph(Graph):
    """The body of a function, imported to infer its shapes.

    Args:
      caller: the graph of the call.
      name: the function.

    Attributes:
      called: the functions that call one another up to here.

    """

    def __init__(self, caller: Graph, name: str) -> None:
        super().__init__()
        self.functions = caller.functions
        around = caller.called if isinstance(caller, _CalledGraph) else frozenset()
        self.called: frozenset[str] = around | {name}
        self._given: dict[Tensor, Tensor] = {}

    def outer(self, tensor: Tensor) -> Tensor:
        """The tensor that a call passes for an argument, from which a handle's shape is known."""
        given = self._given.get(tensor)
        return tensor if given is None else given.graph.outer(given)

    def argument(self, name: str, given: Tensor) -> Tensor:
        """An argument, of the shape of what a call passes; a constant where that is known."""
        value = constant_value(given)
        if value is not None:
            return constant(value, dtype=given.dtype.base_dtype, name=name)
        stand_in = placeholder(given.dtype.base_dtype, given.shape, name)
        self._given[stand_in] = given
        return stand_in


def shapes_of_call(
    graph: Graph, function: NameAttrList, given: Sequence[Tensor]
) -> list[TensorShape] | None:
    """The shapes of a function's results.

    Args:
      graph: the graph of the call.
      function: the function, and the attributes that it leaves open.
      given: what the call passes.

    Returns:
      A shape for each result; None if there is no such function, or it calls itself.

    Raises:
      ValueError: the function is ill-formed, or the shapes contradict one another.

    """
    definition = graph.functions.definition(function.name)
    is_around = isinstance(graph, _CalledGraph) and function.name in graph.called
    if definition is None or is_around or len(definition.signature.input_arg) != len(given):
        return None
    body = _CalledGraph(graph, function.name)
    try:
        graph_def, arguments, results = nodes_of(graph.functions, definition, function)
    except (LookupError, RuntimeError) as error:
        raise bad_value(f"Function '{function.name}' is ill-formed: {error}") from error
    with body.as_default():
        known = {
            name: body.argument(name, like) for name, like in zip(arguments, given, strict=True)
        }
        outputs = add_nodes(graph_def, known, results, "", infer_shapes_of_call)
    return [tensor.shape for tensor in outputs if isinstance(tensor, Tensor)]


def infer_shapes_of_call(op: Operation) -> None:
    """Give the outputs of an operation that calls a function the shapes of its results.

    Raises:
      ValueError: the function is ill-formed, or the shapes contradict one another.

    """
    is_call = op.type in CALLS or op.type in op.graph.functions
    if not is_call or (_NO_INFERENCE in op.extra and op.extra[_NO_INFERENCE].b):
        return
    function = (
        op.get_attr("f") if op.type in CALLS else NameAttrList(name=op.type, attr=op.node_def.attr)
    )
    shapes = shapes_of_call(op.graph, function, op.inputs)
    for output, shape in zip(op.outputs, shapes or (), strict=False):
        output.set_shape(shape)
