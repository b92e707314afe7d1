"""Attributes of a GraphDef's nodes as Python values, and inputs by the names of a declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from sessrun.spec.dtypes import BY_ENUM, REF_OFFSET
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.proto import NodeDef, TensorShapeProto

__all__ = ["FIELDS", "attributes_of", "dtype_of", "inputs_by_name", "shape_of"]

#: The field of AttrValue, and of its list, for each type of attribute.
FIELDS: Final[Mapping[str, str]] = {
    "bool": "b",
    "float": "f",
    "func": "func",
    "int": "i",
    "shape": "shape",
    "string": "s",
    "tensor": "tensor",
    "type": "type",
}


def attributes_of(node: NodeDef, operation: Operation) -> dict[str, Any]:
    """Every declared attribute of a node, its default where the node does not have it.

    Dtypes come by name, strings as str, shapes as tuples with None for an unknown dimension, lists
    as tuples (a default, as the table has it); functions and tensors stay messages.

    Raises:
      ValueError: an attribute is missing, or a dtype is unknown; the message names the node.

    """
    return {attr.name: _value(node, attr) for attr in operation.attrs}


def dtype_of(number: int, node: NodeDef) -> str:
    """The dtype with a number of the enumeration; a reference's number gives its base dtype.

    Raises:
      ValueError: no dtype has this number; the message names the node.

    """
    row = BY_ENUM.get(number - REF_OFFSET if number > REF_OFFSET else number)
    if row is None:
        raise ValueError(f"{node.name} has an unknown dtype, {number}")
    return row.name


def shape_of(shape: TensorShapeProto) -> tuple[int | None, ...] | None:
    """A shape, None for an unknown dimension, or for all of it."""
    if shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in shape.dim)


#: What there is of an input: its value, its shape, or its name.
_Input = TypeVar("_Input")


def inputs_by_name(
    operation: Operation, attrs: Mapping[str, Any], inputs: Sequence[_Input]
) -> dict[str, _Input | list[_Input]]:
    """Inputs by the names of the declaration: a tensor, or a list where it takes several.

    Raises:
      IndexError: there are too few.

    """
    left = list(inputs)
    named: dict[str, _Input | list[_Input]] = {}
    for arg in operation.inputs:
        count = arg.count(attrs)
        taken, left = left[:count], left[count:]
        is_list = arg.number_attr is not None or arg.type_list_attr is not None
        named[arg.name] = taken if is_list else taken[0]
    return named


def _value(node: NodeDef, attr: AttrDecl) -> Any:
    if attr.name not in node.attr:
        if not attr.has_default:
            raise ValueError(f"{node.name} lacks the attribute {attr.name}")
        return attr.default
    value = node.attr[attr.name]
    if not attr.type.startswith("list("):
        return _element(getattr(value, FIELDS[attr.type]), attr.type, node)
    kind = attr.type.removeprefix("list(").removesuffix(")")
    elements = getattr(value.list, FIELDS[kind])
    return tuple(_element(element, kind, node) for element in elements)


def _element(value: Any, kind: str, node: NodeDef) -> Any:
    if kind == "type":
        return dtype_of(value, node)
    if kind == "string":
        return value.decode(errors="replace")
    return shape_of(value) if kind == "shape" else value
