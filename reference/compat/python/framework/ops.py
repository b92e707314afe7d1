"""`tensorflow.python.framework.ops`: graphs, and functions of graphs.

Here stands what has no public name, or another form under it; `mirror` finds the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sessrun.reference.build.node_operations import new_node_def
from sessrun.reference.compat.python.module_finder import of_places
from sessrun.reference.graph import default_graph as _default_graph
from sessrun.reference.graph import name_scopes as _scopes

__all__ = [
    "_NodeDef",
    "get_current_name_scope",
    "get_name_scope",
    "has_default_graph",
    "name_scope",
    "name_scope_v2",
    "prepend_name_scope",
    "strip_name_scope",
]

_NodeDef = new_node_def
__getattr__ = of_places("framework.ops")


def name_scope(
    name: str,
    default_name: str | None = None,
    values: Iterable[object] | None = None,
    skip_on_eager: bool = True,  # noqa: ARG001 - TensorFlow's signature; nothing is eager
) -> _scopes.name_scope:
    """The namespace's `name_scope`; `skip_on_eager` makes no difference."""
    return _scopes.name_scope(name, default_name, values)


class name_scope_v2(_scopes.name_scope):  # noqa: N801 - the name that programs use
    """The `with` of a name scope of the default graph; it may be entered again.

    Raises:
      ValueError: the name is no string; on entering: it is no valid name.

    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")  # noqa: TRY004 - TensorFlow's class
        super().__init__(name)


def has_default_graph() -> bool:
    """Whether a graph is entered in this thread."""
    return bool(_default_graph.entered_graphs())


def get_current_name_scope() -> str:
    """The name scope of the default graph, without the final "/"."""
    return _default_graph.get_default_graph().get_name_scope()


def get_name_scope() -> str:
    """The same by an older name."""
    return get_current_name_scope()


def strip_name_scope(name: str | bytes, export_scope: str | None) -> str:
    """The name without a scope that it begins with; a mark (`^`, `loc:@`) before it stays."""
    text = name.decode() if isinstance(name, bytes) else name
    if not export_scope:
        return text
    scope = re.escape(export_scope.removesuffix("/"))
    return re.sub(rf"^(\^|loc:@|){scope}/+", r"\1", text)


def prepend_name_scope(name: str | bytes, import_scope: str | None) -> str:
    """The name in a scope, which stands behind a mark (`^`, `loc:@`)."""
    text = name.decode() if isinstance(name, bytes) else name
    if not import_scope:
        return text
    return re.sub(r"^(\^|loc:@|)", rf"\g<1>{import_scope.removesuffix('/')}/", text, count=1)
