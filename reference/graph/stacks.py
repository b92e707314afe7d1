"""The default graph and the default session of each thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sessrun.reference.graph.graph import Graph

__all__ = [
    "default_session",
    "entered_graphs",
    "get_default_graph",
    "get_default_session",
    "graph_for",
    "leave_graphs",
    "leave_sessions",
    "outermost_graph",
    "pushed_graph",
    "reset_default_graph",
]


class _Stacks(threading.local):
    """A thread's own stacks: innermost last."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []
        self.outermost: Graph | None = None


_STACKS: Final = _Stacks()


def get_default_graph() -> Graph:
    """The innermost graph entered in this thread; a graph of the thread's own if none is."""
    graphs = _STACKS.graphs
    return graphs[-1] if graphs else outermost_graph()


def graph_for(graph: Graph) -> Graph:
    """Where an operation on tensors of `graph` is made: there, or in a function's body.

    A body that is being built captures what is of another graph.
    """
    inner = get_default_graph()
    return inner if inner.building_function else graph


def entered_graphs() -> tuple[Graph, ...]:
    """The graphs that are entered in this thread, the innermost last."""
    return tuple(_STACKS.graphs)


def outermost_graph() -> Graph:
    """The graph that is this thread's default where none is entered."""
    if _STACKS.outermost is None:
        _STACKS.outermost = _new_graph()
    return _STACKS.outermost


def _new_graph() -> Graph:
    from sessrun.reference.graph.graph import Graph  # noqa: PLC0415 - graph imports this module

    return Graph()


def reset_default_graph() -> None:
    """Give this thread a new, empty default graph.

    Raises:
      AssertionError: a graph is entered (`with graph.as_default()`) in this thread.

    """
    if _STACKS.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. "
            "If you need a cleared graph, exit the nesting and create a new graph."
        )
    _STACKS.outermost = _new_graph()


def leave_graphs() -> None:
    """Let no graph be entered in this thread, whichever `with` a failed test never left."""
    _STACKS.graphs.clear()


def leave_sessions() -> None:
    """Let no session be the default one of this thread, whichever `with` was never left."""
    _STACKS.sessions.clear()


@contextmanager
def pushed_graph(graph: Graph) -> Iterator[Graph]:
    """Make `graph` this thread's default graph inside the `with`.

    Raises:
      AssertionError: on leaving, another graph was entered later and is not left yet.

    """
    with _pushed(_STACKS.graphs, graph):
        yield graph


def get_default_session() -> Any:
    """The innermost session entered in this thread, or None."""
    return _STACKS.sessions[-1] if _STACKS.sessions else None


@contextmanager
def default_session(session: Any) -> Iterator[Any]:
    """Make `session` this thread's default session inside the `with`.

    Raises:
      AssertionError: on leaving, another session was entered later and is not left yet.

    """
    with _pushed(_STACKS.sessions, session):
        yield session


@contextmanager
def _pushed(stack: list[Any], item: Any) -> Iterator[None]:
    stack.append(item)
    is_abandoned = False
    try:
        yield
    except GeneratorExit:  # a `with` that was never left: nobody is there to be told
        is_abandoned = True
        raise
    finally:
        if stack and stack[-1] is item:
            stack.pop()
        elif is_abandoned:
            stack[:] = [other for other in stack if other is not item]
        elif stack:  # an empty one was cleared meanwhile (`leave_graphs`)
            raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
