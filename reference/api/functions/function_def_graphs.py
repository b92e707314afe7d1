"""Functions of a graph's library imported as FuncGraphs, for gradients and rewriting.

Source: TF 2.21, `function_def_to_graph`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.functions.branch_graphs import BranchGraph
from sessrun.reference.build.functions.function_nodes import nodes_of
from sessrun.reference.build.importing.graph_defs import import_graph_def
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["body_of_library"]


def body_of_library(
    op: Operation, function: NameAttrList, taken: Sequence[Tensor], *, is_captured: bool
) -> BranchGraph:
    """The body of a function that an operation calls.

    Args:
      op: the operation.
      function: the function.
      taken: what the operation passes to it.
      is_captured: whether its arguments stand for these tensors, as if it had captured them.

    Raises:
      KeyError: the graph has no such function.

    """
    definition = op.graph.functions.definition(function.name)
    if definition is None:
        raise KeyError(f"{function.name} cannot be found in the graph")
    graph_def, arguments, results = nodes_of(op.graph.functions, definition, function)
    with op.graph.as_default():
        body = BranchGraph(function.name)
    with body.as_default():
        wanted = [f"{argument}:0" for argument in arguments] + results
        elements = import_graph_def(graph_def, return_elements=wanted, name="")
    assert elements is not None
    body.inputs, body.outputs = list(elements[: len(arguments)]), list(elements[len(arguments) :])
    names = definition.signature.control_output
    body.must_run = [body.get_operation_by_name(definition.control_ret[result]) for result in names]
    if is_captured:
        body.stands_for(taken)
    return body
