"""Attributes of nodes, as the runtime holds them: by name, as Python values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["AttrValues", "Attrs"]

#: The attributes of a node. A dtype is its name, a shape a tuple or None, a tensor an ndarray, a
#: list a tuple: what is under a name depends on the declared type of the attribute, so it is Any.
Attrs: TypeAlias = Mapping[str, Any]

#: Attributes while a node is built, which may still be changed.
AttrValues: TypeAlias = dict[str, Any]
