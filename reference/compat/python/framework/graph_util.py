"""`tensorflow.python.framework.graph_util`: functions of GraphDefs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.compat.python.module_finder import of_places
from sessrun.reference.errors import bad_type
from sessrun.spec.proto import GraphDef

__all__ = ["graph_defs_equal"]

#: The fields of GraphDef, FunctionDefLibrary and FunctionDef whose order says nothing.
_IN_ANY_ORDER: Final = frozenset({"function", "node", "node_def"})

__getattr__ = of_places("framework.graph_util")


def graph_defs_equal(
    graph_def_1: Message, graph_def_2: Message, treat_nan_as_equal: bool = False
) -> bool:
    """Whether two GraphDefs are equal but for the order of their nodes and functions.

    The order of nodes in a function does not count either; all else does, versions too.

    Args:
      graph_def_1: a GraphDef.
      graph_def_2: another GraphDef.
      treat_nan_as_equal: whether a NaN equals another NaN.

    Raises:
      TypeError: an argument is not a GraphDef.

    """
    for name, value in (("graph_def_1", graph_def_1), ("graph_def_2", graph_def_2)):
        if not isinstance(value, GraphDef):
            raise bad_type(f"{name} must be a GraphDef, not a {type(value).__name__}")
    one, other = _content(graph_def_1), _content(graph_def_2)
    return repr(one) == repr(other) and (treat_nan_as_equal or not _has_nan(one))


def _content(message: Message) -> tuple[object, ...]:
    """The fields of a message as nested tuples, whose `repr` is the same for equal messages."""
    return tuple((field.name, _value(field.name, value)) for field, value in message.ListFields())


def _value(name: str, value: TensorLike) -> Any:
    if isinstance(value, Message):
        return _content(value)
    if isinstance(value, float):
        return value + 0.0  # zero has no sign here
    if isinstance(value, Mapping):
        return tuple((key, _value("", value[key])) for key in sorted(value))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        items = [_value("", item) for item in value]
        return tuple(sorted(items, key=repr) if name in _IN_ANY_ORDER else items)
    return value


def _has_nan(content: Any) -> bool:
    if isinstance(content, tuple):
        return any(map(_has_nan, content))
    return isinstance(content, float) and math.isnan(content)
