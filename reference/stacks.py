"""The default graph and the default session of each thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sessrun.reference.graph import Graph

__all__ = ["default_session", "get_default_graph", "get_default_session", "pushed_graph",
           "reset_default_graph"]  # fmt: skip


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
    if graphs:
        return graphs[-1]
    if _STACKS.outermost is None:
        _STACKS.outermost = _new_graph()
    return _STACKS.outermost


def _new_graph() -> Graph:
    from sessrun.reference.graph import Graph  # noqa: PLC0415 - graph imports this module

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


@contextmanager
def pushed_graph(graph: Graph) -> Iterator[Graph]:
    """Make `graph` this thread's default graph inside the `with`."""
    with _pushed(_STACKS.graphs, graph):
        yield graph


def get_default_session() -> Any:
    """The innermost session entered in this thread, or None."""
    return _STACKS.sessions[-1] if _STACKS.sessions else None


@contextmanager
def default_session(session: Any) -> Iterator[Any]:
    """Make `session` this thread's default session inside the `with`."""
    with _pushed(_STACKS.sessions, session):
        yield session


@contextmanager
def _pushed(stack: list[Any], item: Any) -> Iterator[None]:
    stack.append(item)
    try:
        yield
    finally:
        # An InteractiveSession may stay on the stack out of order: take the innermost of ours.
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] is item:
                del stack[place]
                break
