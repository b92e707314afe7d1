"""The body of a function as a graph, which a call of the function executes.

Each call has a separate body, whose operations are named below the call (`call/add`), so that
it has separate resources and random streams, as after TensorFlow has inlined the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build.functions.function_nodes import nodes_of
from sessrun.reference.build.importing.graph_defs import import_graph_def
from sessrun.reference.errors import InvalidArgumentError, NotFoundError, bad_argument
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

if TYPE_CHECKING:
    from sessrun.reference.graph.function_library import FunctionLibrary
    from sessrun.spec.proto import NameAttrList

__all__ = ["Body", "body_of", "gradient_of", "is_inlined"]


@dataclass(frozen=True, slots=True)
class Body:
    """A function, instantiated.

    Attributes:
      graph: its operations.
      inputs: a placeholder for each argument.
      outputs: what it returns.
      effects: the operations that run in every call: those with effects, and its control outputs.
      controls: its control outputs.

    """

    graph: Graph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    effects: tuple[Operation, ...]
    controls: tuple[Operation, ...]


def is_inlined(op: Operation) -> bool:
    """Whether TensorFlow puts the functions that an operation calls into the graph that has it."""
    noted = op.extra.get("_lower_using_switch_merge")
    return noted is not None and noted.b


def body_of(library: FunctionLibrary, function: NameAttrList, name: str, device: str) -> Body:
    """Instantiate a function for one call.

    Args:
      library: the functions of the caller's graph.
      function: the function's name, and the attributes that it leaves open.
      name: the name of the call.
      device: the device of the call; operations that request no other device are placed there.

    Raises:
      InvalidArgumentError: there is no such function, or it is ill-formed.
      NotFoundError: an op type in the function is not declared.

    """
    definition = library.definition(function.name)
    if definition is None:
        raise bad_argument(f"Function '{function.name}' is not defined")
    graph = Graph()
    graph.functions = library
    controls = list(definition.control_ret.values())
    try:
        graph_def, arguments, results = nodes_of(library, definition, function)
        with graph.as_default(), graph.device(device or None):
            wanted = [f"{argument}:0" for argument in arguments] + results + controls
            elements = import_graph_def(graph_def, return_elements=wanted, name=name)
    except (ValueError, LookupError, RuntimeError, NotFoundError) as error:
        text = f"Function '{function.name}' cannot be instantiated: {error}"
        is_unknown = isinstance(error, RuntimeError | NotFoundError)  # an op type is
        refusal = NotFoundError if is_unknown else InvalidArgumentError
        raise refusal(None, None, text) from error
    assert elements is not None
    at, end = len(arguments), len(arguments) + len(results)
    effects = [op for op in graph.get_operations() if op.declaration.stateful]
    return Body(
        graph,
        tuple(elements[:at]),
        tuple(elements[at:end]),
        (*effects, *elements[end:]),
        tuple(elements[end:]),
    )


def gradient_of(body: Body, gives: Sequence[str]) -> Body:
    """The gradients of a body by its inputs, as a body of the same graph.

    It takes the inputs, then the gradients of the outputs; an input that no output depends on
    has a gradient of zeros.

    Args:
      body: the body.
      gives: the dtypes of the gradients: for a handle that of what it refers to.

    Raises:
      InvalidArgumentError: an operation of the body has no gradient.

    """
    gradients: Body = UPPER["gradient_of"](body, gives)
    return gradients
