"""The default graph of each thread, and the functions that do to it what `Graph`'s methods do."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Final

from sessrun.reference.graph.collections_of_graph import CollectionKey
from sessrun.reference.graph.graph import ENTERED_GRAPHS, Graph
from sessrun.reference.public import public

__all__ = [
    "add_to_collection",
    "add_to_collections",
    "colocate_with",
    "container",
    "control_dependencies",
    "device",
    "entered_graphs",
    "executing_eagerly",
    "get_collection",
    "get_collection_ref",
    "get_default_graph",
    "graph_for",
    "leave_graphs",
    "outermost_graph",
    "reset_default_graph",
]


class _Outermost(threading.local):
    """The graph that a thread uses where no graph is entered; None until its first use."""

    graph: Graph | None = None


_OUTERMOST: Final = _Outermost()


@public("get_default_graph")
def get_default_graph() -> Graph:
    """The innermost graph entered in this thread; a graph of the thread's own if none is."""
    graphs = ENTERED_GRAPHS.items
    return graphs[-1] if graphs else outermost_graph()


def graph_for(graph: Graph) -> Graph:
    """The graph for an operation on tensors of `graph`: itself, or a function's body.

    A body that is being built captures tensors of other graphs.
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


@public("device")
def device(device_name_or_function: object) -> AbstractContextManager[None]:
    """The default graph's `device`."""
    return get_default_graph().device(device_name_or_function)


@public("colocate_with")
def colocate_with(op: object, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """The default graph's `colocate_with`."""
    return get_default_graph().colocate_with(op, ignore_existing)


@public("container")
def container(container_name: str) -> AbstractContextManager[str]:
    """The default graph's `container`."""
    return get_default_graph().container(container_name)


@public("control_dependencies")
def control_dependencies(
    control_inputs: Iterable[object] | None,
) -> AbstractContextManager[None]:
    """The default graph's `control_dependencies`."""
    return get_default_graph().control_dependencies(control_inputs)


@public("add_to_collection")
def add_to_collection(name: CollectionKey, value: object) -> None:
    """The default graph's `add_to_collection`."""
    get_default_graph().add_to_collection(name, value)


@public("add_to_collections")
def add_to_collections(names: CollectionKey | Iterable[CollectionKey], value: object) -> None:
    """The default graph's `add_to_collections`."""
    get_default_graph().add_to_collections(names, value)


@public("get_collection")
def get_collection(key: CollectionKey, scope: str | None = None) -> list[Any]:
    """The default graph's `get_collection`."""
    return get_default_graph().get_collection(key, scope)


@public("get_collection_ref")
def get_collection_ref(key: CollectionKey) -> list[Any]:
    """The default graph's `get_collection_ref`."""
    return get_default_graph().get_collection_ref(key)


@public("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether operations are executed as they are created: never here."""
    return False
