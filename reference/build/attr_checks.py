"""Attributes of an operation being built: brought to the runtime's form, checked, completed."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes, tensor_proto, tensor_shape
from sessrun.reference.build import constant_arrays
from sessrun.reference.build.signature import Signature
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.spec.operations import AttrDecl
from sessrun.spec.proto import NameAttrList

__all__ = ["check", "complete", "given"]

_BOOLS: Final = (bool, np.bool_)
_REALS: Final = (float, numbers.Real, np.floating, np.integer)


def given(declared: Signature, attrs: Mapping[str, object]) -> dict[str, object]:
    """The attributes of a call, in the runtime's form; None means the default.

    Raises:
      InvalidArgumentTypeError: an attribute is not declared, or has the wrong type.
      InvalidArgumentValueError: a value cannot be converted to that form.

    """
    attrs_given: dict[str, object] = {}
    for name, value in attrs.items():
        attr = declared.attrs.get(name)
        if attr is None:
            raise bad_type(f"{declared.declaration.name} has no attribute {name!r}")
        if (
            value is None
            and (attr.type != "shape" or attr.has_default)
            and (attr.has_default or name in declared.inferred)
        ):
            continue
        form = _FORMS.get(attr.type)
        attrs_given[name] = _listed(attr, value) if form is None else form(name, value)
    return attrs_given


def complete(declared: Signature, given_names: Iterable[str], attrs: dict[str, object]) -> None:
    """Check the values that a caller gave, and put in defaults.

    Raises:
      InvalidArgumentTypeError: a dtype is not allowed; an attribute without a default is missing.
      InvalidArgumentValueError: another value is not allowed.

    """
    for name in given_names:
        if name in declared.restricted:
            check(declared, declared.attrs[name], attrs[name])
    for name, default in declared.defaults.items():
        attrs.setdefault(name, default)
    if len(attrs) < len(declared.attrs):
        name = next(name for name in declared.attrs if name not in attrs)
        raise bad_type(f"No argument for attr {name} of op '{declared.declaration.name}'")


def _listed(attr: AttrDecl, value: object) -> Any:
    """The value of an attribute that is a list."""
    if not isinstance(value, list | tuple):
        raise bad_type(
            f"Expected list for attr {attr.name}, obtained {type(value).__name__} instead."
        )
    form = _FORMS[attr.type[5:-1]]
    return tuple(form(attr.name, item) for item in value)


def check(declared: Signature, attr: AttrDecl, value: Any) -> None:
    """Check a value against what its declaration allows.

    Raises:
      InvalidArgumentTypeError: a dtype is not allowed.
      InvalidArgumentValueError: a text is not allowed, a number or a list is too small.

    """
    if not attr.allowed and attr.minimum is None:
        return
    op_type = declared.declaration.name
    is_list = attr.type.startswith("list(")
    if attr.allowed:
        for item in value if is_list else (value,):
            if item in attr.allowed:
                continue
            if attr.type.endswith(("type", "type)")):
                raise bad_type(
                    f"Value passed to parameter '{attr.name}' has DataType {item} not in list of "
                    f"allowed values: {', '.join(attr.allowed)}"
                )
            allowed = ", ".join(f'"{word}"' for word in attr.allowed)
            raise bad_value(
                f"Attr '{attr.name}' of '{op_type}' Op passed string '{item}' not in: {allowed}."
            )
    if attr.minimum is not None and (len(value) if is_list else value) < attr.minimum:
        size = f"list of length {len(value)}" if is_list else str(value)
        raise bad_value(
            f"Attr '{attr.name}' of '{op_type}' Op passed {size} less than minimum {attr.minimum}."
        )


def _string(name: str, value: object) -> str | bytes:
    if not isinstance(value, str | bytes):
        raise bad_type(f"Expected string for argument '{name}' not {value!r}.")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


def _int(name: str, value: Any) -> int:
    try:
        if isinstance(value, str | bytes):
            raise TypeError  # noqa: TRY301 - int() would read a text
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise bad_type(f"Expected int for argument '{name}' not {value!r}.") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"Value out of range: {number}")
    return number


def _float(name: str, value: object) -> float:
    if not isinstance(value, _REALS):
        raise bad_type(f"Expected float for argument '{name}' not {value!r}.")
    return float(value)


def _bool(name: str, value: object) -> bool:
    if not isinstance(value, _BOOLS):
        raise bad_type(f"Expected bool for argument '{name}' not {value!r}.")
    return bool(value)


def _type(name: str, value: object) -> str:
    try:
        return dtypes.as_dtype(value).base_dtype.spec_name
    except TypeError as error:
        raise bad_type(f"Expected DataType for argument '{name}' not {value!r}.") from error


def _shape(name: str, value: object) -> tuple[int | None, ...] | None:
    try:
        return tensor_shape.tuple_of(value)
    except TypeError as error:
        raise bad_type(f"Error converting {name} to a TensorShape: {error}") from error
    except ValueError as error:
        raise bad_value(f"Error converting {name} to a TensorShape: {error}") from error


def _tensor(_name: str, value: Any) -> np.ndarray:
    if hasattr(value, "tensor_shape"):
        array = tensor_proto.make_ndarray(value)
    else:
        array = constant_arrays.to_array(value, None)
    array.flags.writeable = False
    return array


def _func(name: str, value: Any) -> NameAttrList:
    if isinstance(value, str):
        return NameAttrList(name=value)
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(get_default_graph())
        return NameAttrList(name=value.name)
    if not isinstance(value, NameAttrList):
        raise bad_type(f"Don't know how to convert {value!r} to a func for argument {name}")
    return value


#: By the type of an attribute the function that brings a value to the runtime's form.
_FORMS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "string": _string,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "type": _type,
    "shape": _shape,
    "tensor": _tensor,
    "func": _func,
}
