"""`tensorflow.python.framework.stack`: the default graph and session of a thread."""

from types import SimpleNamespace

from sessrun.reference.graph import default_graph, default_session

__all__ = [
    "_default_graph_stack",
    "_default_session_stack",
    "get_default_graph",
    "get_default_session",
]

get_default_graph = default_graph.get_default_graph
get_default_session = default_session.get_default_session

#: What unit tests clean up with after a `with` that they left in the wrong order.
_default_session_stack = SimpleNamespace(
    get_default=default_session.get_default_session, reset=default_session.leave_sessions
)
_default_graph_stack = SimpleNamespace(
    get_default=default_graph.get_default_graph, reset=default_graph.leave_graphs
)
