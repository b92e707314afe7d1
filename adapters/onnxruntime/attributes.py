"""Attributes of a GraphDef's nodes as Python values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.adapters.client_layer import EngineError
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.proto import NodeDef, TensorShapeProto

__all__ = ["attributes_of"]

#: The field of AttrValue for each type of attribute that an inference graph has.
_FIELDS: Final[Mapping[str, str]] = {
    "bool": "b", "float": "f", "int": "i", "shape": "shape", "string": "s", "type": "type",
}  # fmt: skip


def attributes_of(node: NodeDef, operation: Operation) -> dict[str, Any]:
    """Every declared attribute of a node, its default where the node does not have it.

    Dtypes come by name, strings as str, shapes as tuples with None for an unknown dimension, lists
    as tuples. Tensors and functions are left out.

    Raises:
      EngineError: code 3, an attribute is missing.

    """
    return {
        attr.name: _value(node, attr)
        for attr in operation.attrs
        if attr.type.removeprefix("list(").removesuffix(")") in _FIELDS
    }


def _value(node: NodeDef, attr: AttrDecl) -> Any:
    if attr.name not in node.attr:
        if not attr.has_default:
            raise EngineError(3, f"{node.name} lacks the attribute {attr.name}", node.name)
        return attr.default
    value = node.attr[attr.name]
    if not attr.type.startswith("list("):
        return _element(getattr(value, _FIELDS[attr.type]), attr.type)
    kind = attr.type[len("list(") : -1]
    return tuple(_element(element, kind) for element in getattr(value.list, _FIELDS[kind]))


def _element(value: Any, kind: str) -> Any:
    if kind == "type":
        return BY_ENUM[value].name if value in BY_ENUM else ""
    if kind == "string":
        return value.decode(errors="replace")
    return _shape(value) if kind == "shape" else value


def _shape(shape: TensorShapeProto) -> tuple[int | None, ...] | None:
    if shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in shape.dim)
