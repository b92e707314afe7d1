"""The default graph of each thread."""

from __future__ import annotations

import threading
from typing import Final

from sessrun.reference.graph.graph import ENTERED_GRAPHS, Graph
from sessrun.reference.public import public

__all__ = [
    "entered_graphs",
    "get_default_graph",
    "graph_for",
    "leave_graphs",
    "outermost_graph",
    "reset_default_graph",
]


class _Outermost(threading.local):
    """The graph that is a thread's default where none is entered; None until it is asked for."""

    graph: Graph | None = None


_OUTERMOST: Final = _Outermost()


@public("get_default_graph")
def get_default_graph() -> Graph:
    """The innermost graph entered in this thread; a graph of the thread's own if none is."""
    graphs = ENTERED_GRAPHS.items
    return graphs[-1] if graphs else outermost_graph()


def graph_for(graph: Graph) -> Graph:
    """The graph for an operation on tensors of `graph`: itself, or a function's body.

    A body that is being built captures what is of another graph.
    """
    inner = get_default_graph()
    return inner if inner.building_function else graph


def entered_graphs() -> tuple[Graph, ...]:
    """The graphs that are entered in this thread, the innermost last."""
    return tuple(ENTERED_GRAPHS.items)


def outermost_graph() -> Graph:
    """The graph that is this thread's default where none is entered."""
    if _OUTERMOST.graph is None:
        _OUTERMOST.graph = Graph()
    return _OUTERMOST.graph


@public("reset_default_graph")
def reset_default_graph() -> None:
    """Give this thread a new, empty default graph.

    Raises:
      AssertionError: a graph is entered (`with graph.as_default()`) in this thread.

    """
    if ENTERED_GRAPHS.items:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. "
            "If you need a cleared graph, exit the nesting and create a new graph."
        )
    _OUTERMOST.graph = Graph()


def leave_graphs() -> None:
    """Let no graph be entered in this thread, whichever `with` a failed test never left."""
    ENTERED_GRAPHS.items.clear()
