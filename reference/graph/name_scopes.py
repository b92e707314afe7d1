"""`tf.name_scope` and `tf.init_scope`: scopes on the default graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, TypeAlias

from sessrun.reference.graph import default_graph
from sessrun.reference.graph.entry import Entry
from sessrun.reference.graph.graph import ENTERED_GRAPHS, Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.graph.thread_stack import left
from sessrun.reference.public import public

__all__ = ["graph_of_elements", "init_scope", "name_scope", "op_scope"]


#: The types of what a graph has.
_ELEMENTS: Final = (Tensor, Operation)
#: What entering a name scope changes: the stack of graphs, the graph, and the scope around.
_Around: TypeAlias = tuple[list[Graph], Graph, str]


@public("name_scope")
class name_scope(Entry[str, _Around]):  # noqa: N801 - the name that programs use
    """The `with` of a name scope of the graph of `values`, or of the default graph.

    It may be entered again, also inside itself; each time gives a new scope.

    Args:
      name: the scope's name; None for the default name. With a final "/" that scope again.
      default_name: the name if `name` is None.
      values: tensors, operations and others of one graph, which becomes the default graph.

    Raises:
      TypeError: the default name is not a string.
      ValueError: on entering: values, but no name; an invalid name; values of several graphs.

    """

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Iterable[Any] | None = None
    ) -> None:
        super().__init__()
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely "
                "meant to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._given = (name, default_name)
        self._values = values

    @property
    def name(self) -> str | None:
        """The name as requested."""
        return self._name

    def enter(self) -> tuple[str, _Around]:
        """Open the scope: its full name with a final "/"."""
        values = self._values or ()
        if self._name is None and self._values is not None:
            name, default_name = self._given
            raise ValueError(
                f"At least one of name ({name}) and default_name ({default_name}) must be provided."
            )
        graph = graph_of_elements(values)
        full = graph.name_of_scope(self._name)
        graphs, scopes = ENTERED_GRAPHS.items, graph.scopes
        around = scopes.name
        graphs.append(graph)
        scopes.name = full
        return full, (graphs, graph, around)

    def leave(self, state: _Around, *, is_abandoned: bool) -> None:
        """Open the scope around again, and the graph that was the default one before."""
        graphs, graph, around = state
        graph.scopes.name = around
        left(graphs, graph, is_abandoned=is_abandoned)


@public("op_scope")
def op_scope(
    values: Iterable[object] | None, name: str | None, default_name: str | None = None
) -> name_scope:
    """The older form of `name_scope`."""
    return name_scope(name, default_name, values)


def graph_of_elements(values: Iterable[Any]) -> Graph:
    """The one graph of the values that belong to a graph; the default graph if none does.

    Raises:
      ValueError: the values belong to different graphs.

    """
    inner = default_graph.get_default_graph()
    first: Any = None
    for value in tuple(values):
        # A tensor, an operation or a variable; composites do not count.
        if not (isinstance(value, _ELEMENTS) or hasattr(value, "_as_graph_element")):
            continue
        if first is None:
            first = value
        elif value.graph is not first.graph and not inner.building_function:
            raise ValueError(
                f"{value} must be from the same graph as {first} "
                f"(graphs are {value.graph} and {first.graph})."
            )
    graph: Graph = inner if first is None or inner.building_function else first.graph
    return graph


@public("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """Lift new operations out of control scopes, and out of functions that are being built.

    The name scope stays, and so do the devices of the graph that is lifted out of, if any.

    Raises:
      RuntimeError: every graph that is entered is the body of a function.

    """
    inner = default_graph.get_default_graph()
    prefix = inner.scopes.name
    graph, device = _lifted()
    with ExitStack() as scopes:
        if graph is not inner:
            scopes.enter_context(graph.as_default())
        scopes.enter_context(graph.name_scope(prefix or None))
        scopes.enter_context(graph.control_dependencies(None))
        scopes.enter_context(graph.scopes.entered_device(device))
        yield


def _lifted() -> tuple[Graph, Any]:
    """The innermost graph that is no function body, and the innermost device scope up to it."""
    device: Any = None
    for graph in reversed(default_graph.entered_graphs()):
        device = device or graph.scopes.device
        if not graph.building_function:
            return graph, device
    graph = default_graph.outermost_graph()
    if graph.building_function:
        raise RuntimeError("The global graph is a function graph: nothing can be lifted out of it.")
    return graph, device or graph.scopes.device
