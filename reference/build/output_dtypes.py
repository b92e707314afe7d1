"""The dtypes of an operation's outputs: a function of its attributes, made once per op type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.attributes import Attrs
from sessrun.reference.base.dtypes import BY_NAME, DType
from sessrun.spec.operations import ArgDecl

__all__ = ["dtypes_of_outputs"]

#: The dtypes of outputs, of the attributes of their operation.
OutputDTypes = Callable[[Attrs], list[DType]]

#: By the name of a dtype the reference dtype to it.
_REFERENCES: Final = {name: dtype._as_ref for name, dtype in BY_NAME.items()}  # noqa: SLF001 - DType's own notion


def dtypes_of_outputs(declared: Sequence[ArgDecl]) -> OutputDTypes:
    """The function that gives the dtypes of these outputs."""
    if len(declared) == 1:
        return _of_output(declared[0])
    if all(arg.dtype is not None and not arg.is_list for arg in declared):
        fixed = [dtype for arg in declared for dtype in _of_output(arg)({})]
        return lambda _attrs: fixed
    functions = [_of_output(arg) for arg in declared]
    return lambda attrs: [dtype for function in functions for dtype in function(attrs)]


def _of_output(arg: ArgDecl) -> OutputDTypes:
    """The function that gives the dtypes of one declared output."""
    by_name = _REFERENCES if arg.is_ref else BY_NAME
    type_attr, type_list_attr, number_attr = arg.type_attr, arg.type_list_attr, arg.number_attr
    if type_list_attr is not None:
        return lambda attrs: [by_name[name] for name in attrs[type_list_attr]]
    if type_attr is not None:
        if number_attr is not None:
            return lambda attrs: [by_name[attrs[type_attr]]] * attrs[number_attr]
        return lambda attrs: [by_name[attrs[type_attr]]]
    assert arg.dtype is not None
    fixed = [by_name[arg.dtype]]
    if number_attr is not None:
        return lambda attrs: fixed * attrs[number_attr]
    return lambda _attrs: fixed
