"""Attributes of operations: the runtime's form, the AttrValue of a NodeDef, TensorFlow's view.

In the runtime a dtype is its spec name, a shape a tuple (None: an unknown dimension) or None
(unknown rank), a string a `str` (`bytes` if it is not UTF-8), a tensor an ndarray or, where a
message does not have all elements, a `HeldTensor`, a list a tuple of these, a function its
NameAttrList.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes, tensor_proto
from sessrun.reference.base.tensor_shape import Shape, of_proto, proto_of
from sessrun.spec.dtypes import BY_ENUM, BY_NAME
from sessrun.spec.operations import ArgDecl, AttrDecl, Operation
from sessrun.spec.proto import AttrValue, NameAttrList, OpDef, TensorShapeProto
from sessrun.spec.rules.shapes import check_size

__all__ = [
    "default_of",
    "from_proto",
    "held_types",
    "op_def",
    "shown",
    "shown_proto",
    "to_proto",
    "write",
]


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _octets(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _function(value: str | NameAttrList) -> NameAttrList:
    return NameAttrList(name=value) if isinstance(value, str) else value


def _shape(proto: TensorShapeProto) -> Shape:
    """The shape of a message.

    Raises:
      ValueError: no tensor can have it.

    """
    sizes = [int(dim.size) for dim in proto.dim]
    if proto.unknown_rank and sizes:
        raise ValueError("An unknown shape must not have any dimensions set.")
    if min(sizes, default=0) < -1:
        raise ValueError(f"Shape {sizes} has dimensions with values below -1")
    check_size(sizes)
    return of_proto(proto)


def _dtype_name(enum: int) -> str:
    row = BY_ENUM.get(enum)
    if row is None:
        raise ValueError(f"attribute holds DataType {enum}, which is not the dtype of a tensor")
    return row.name


#: For a type of attributes: the field of AttrValue, and how its items are read and written.
_FORMS: Final[Mapping[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "string": ("s", _text, _octets),
    "int": ("i", int, int),
    "float": ("f", float, float),
    "bool": ("b", bool, bool),
    "type": ("type", _dtype_name, lambda name: BY_NAME[name].enum),
    "shape": ("shape", _shape, proto_of),
    "tensor": ("tensor", tensor_proto.held, tensor_proto.make_tensor_proto),
    "func": ("func", lambda value: value, _function),
}
_MESSAGES: Final = frozenset({"shape", "tensor", "func"})
_TYPES: Final = {field: attr_type for attr_type, (field, _, _) in _FORMS.items()}


def default_of(attr: AttrDecl) -> Any:
    """The runtime's form of an attribute's default, which must not be written to."""
    if attr.type != "tensor":
        return attr.default
    dtype, items = attr.default
    array = np.array(items, dtypes.of_name(dtype).as_numpy_dtype)
    array.setflags(write=False)
    return array


def write(value: Any, attr_type: str, proto: AttrValue) -> None:
    """Put the runtime's form of an attribute into an AttrValue."""
    is_list = attr_type.startswith("list(")
    field, _, to_item = _FORMS[attr_type[5:-1] if is_list else attr_type]
    if is_list:
        proto.list.SetInParent()
        getattr(proto.list, field).extend([to_item(item) for item in value])
    elif field in _MESSAGES:
        getattr(proto, field).CopyFrom(to_item(value))
    else:
        setattr(proto, field, to_item(value))


def to_proto(value: Any, attr_type: str) -> AttrValue:
    """The AttrValue of the runtime's form of an attribute."""
    proto = AttrValue()
    write(value, attr_type, proto)
    return proto


def from_proto(proto: AttrValue, attr_type: str) -> Any:
    """The runtime's form of an AttrValue; an empty AttrValue is an empty list, for a list.

    Raises:
      ValueError: its value is not of `attr_type`, or ill-formed.

    """
    is_list = attr_type.startswith("list(")
    field, from_item, _ = _FORMS[attr_type[5:-1] if is_list else attr_type]
    for held in sorted(held_types(proto) - {attr_type}):
        raise ValueError(f"AttrValue had value with type '{held}' when '{attr_type}' expected")
    if is_list:
        return tuple(from_item(item) for item in getattr(proto.list, field))
    if proto.WhichOneof("value") != field:
        raise ValueError(f"AttrValue missing value with expected type '{attr_type}'")
    return from_item(getattr(proto, field))


def held_types(proto: AttrValue) -> set[str]:
    """The types of an AttrValue's value; a list may have items of several types, or none."""
    held = proto.WhichOneof("value")
    if held is None:
        return set()
    if held != "list":
        return {_TYPES.get(held, held)}
    return {f"list({_TYPES[field.name]})" for field, _ in proto.list.ListFields()}


def shown(attr_type: str, value: Any) -> Any:
    """The result of `Operation.get_attr` for the runtime's form of an attribute."""
    if attr_type.startswith("list("):
        return [shown(attr_type[5:-1], item) for item in value]
    if attr_type == "type":
        return dtypes.of_name(value)
    _, _, to_item = _FORMS[attr_type]
    return to_item(value)


def shown_proto(proto: AttrValue) -> Any:
    """The result of `Operation.get_attr` for an attribute that is not declared."""
    held = proto.WhichOneof("value")
    if held is None:
        return []
    if held == "list":
        fields = [getattr(proto.list, field) for field, _, _ in _FORMS.values()]
        items = next((list(field) for field in fields if len(field)), [])
        return [dtypes.as_dtype(item) for item in items] if len(proto.list.type) else items
    value = getattr(proto, held)
    return dtypes.as_dtype(value) if held == "type" else value


def op_def(declaration: Operation) -> OpDef:
    """The OpDef of a declaration."""
    proto = OpDef(name=declaration.name, is_stateful=declaration.stateful)
    proto.is_commutative = declaration.commutative
    for arg in declaration.inputs:
        _write_arg(arg, proto.input_arg.add())
    for arg in declaration.outputs:
        _write_arg(arg, proto.output_arg.add())
    for attr in declaration.attrs:
        _write_attr(attr, proto.attr.add())
    return proto


def _write_arg(arg: ArgDecl, proto: OpDef.ArgDef) -> None:
    proto.name = arg.name
    proto.is_ref = arg.is_ref
    if arg.dtype is not None:
        proto.type = BY_NAME[arg.dtype].enum  # type: ignore[assignment]  # an enum is its number
    proto.type_attr = arg.type_attr or ""
    proto.number_attr = arg.number_attr or ""
    proto.type_list_attr = arg.type_list_attr or ""


def _write_attr(attr: AttrDecl, proto: OpDef.AttrDef) -> None:
    proto.name = attr.name
    proto.type = attr.type
    if attr.has_default:
        write(default_of(attr), attr.type, proto.default_value)
    if attr.minimum is not None:
        proto.has_minimum = True
        proto.minimum = attr.minimum
    if attr.allowed:
        kind = "type" if attr.type.endswith(("type", "type)")) else "string"
        write(attr.allowed, f"list({kind})", proto.allowed_values)
