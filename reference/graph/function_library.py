"""The functions of a graph: their definitions, and the declarations that calls of them follow.

An operation whose type is the name of a function calls it. Source: TF 2.21, function.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from sessrun.reference.base import attr_values
from sessrun.reference.base.dtypes import as_dtype
from sessrun.reference.errors import bad_value
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.operations import ArgDecl, AttrDecl, Operation, RuleCall
from sessrun.spec.proto import FunctionDef, FunctionDefLibrary, GradientDef, OpDef
from sessrun.spec.proto.foreign import serialize
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["FunctionLibrary"]


class FunctionLibrary:
    """Functions by name; only ever added to."""

    def __init__(self) -> None:
        self._definitions: dict[str, FunctionDef] = {}
        self._gradients: dict[str, str] = {}
        self._python_gradients: dict[str, Callable[..., Any] | None] = {}
        self._declarations: dict[str, Operation] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    def __bool__(self) -> bool:
        return bool(self._definitions)

    def add(self, function: FunctionDef) -> None:
        """Add a function; adding the same one again changes nothing.

        Raises:
          InvalidArgumentValueError: an operation, or a function that differs, has that name.
          TypeError: the dtype of an argument is an attribute of calls: TensorFlow takes in no such
            function.

        """
        for arg in function.signature.input_arg:
            if arg.type_attr or arg.type_list_attr:
                as_dtype(arg.type)
        name = function.signature.name
        if name in OPERATIONS:
            raise bad_value(
                f"Cannot add function '{name}' because an op with the same name already exists."
            )
        known = self._definitions.setdefault(name, FunctionDef.FromString(serialize(function)))
        if known != function:
            raise bad_value(
                f"Cannot add function '{name}' because a different function with the same "
                "name already exists."
            )

    def gradient(self, name: str) -> str | None:
        """The function that computes the gradient of `name`, if one does."""
        return self._gradients.get(name)

    def python_gradient(self, name: str) -> Callable[..., Any] | None:
        """The Python function that makes the gradient of a call of `name`, if one does."""
        return self._python_gradients.get(name)

    def set_python_gradient(self, name: str, function: Callable[..., object] | None) -> None:
        """Note what makes the gradient of a call of `name`, if anything; it is in no GraphDef."""
        self._python_gradients[name] = function

    def set_gradient(self, name: str, gradient: str) -> None:
        """Note that the function `gradient` computes the gradient of `name`.

        Raises:
          InvalidArgumentValueError: another function does already.

        """
        known = self._gradients.setdefault(name, gradient)
        if known != gradient:
            raise bad_value(
                f"Cannot assign gradient function '{gradient}' to '{name}' because it already has "
                f"gradient function '{known}'"
            )

    def add_all(self, library: FunctionDefLibrary) -> None:
        """Take in the functions of a GraphDef; raises as `add` and `set_gradient` do."""
        for function in library.function:
            self.add(function)
        for gradient in library.gradient:
            self.set_gradient(gradient.function_name, gradient.gradient_func)

    def definition(self, name: str) -> FunctionDef | None:
        """The definition of that name, or None."""
        return self._definitions.get(name)

    def declaration(self, name: str) -> Operation | None:
        """The signature of operations that call the function of that name; None if unknown."""
        function = self._definitions.get(name)
        if function is None:
            return None
        known = self._declarations.get(name)
        if known is None:
            known = self._declarations[name] = _declaration(function.signature)
        return known

    def to_proto(self) -> FunctionDefLibrary:
        """The library of a GraphDef."""
        pairs = self._gradients.items()
        gradients = [GradientDef(function_name=name, gradient_func=other) for name, other in pairs]
        return FunctionDefLibrary(function=self._definitions.values(), gradient=gradients)


#: The rule of declarations that no table has; what a call gives is not inferred.
_UNKNOWN: Final = RuleCall("unknown")


def _declaration(proto: OpDef) -> Operation:
    inputs, outputs = _args(proto.input_arg), _args(proto.output_arg)
    attrs = tuple(_attr(attr) for attr in proto.attr)
    return Operation(
        proto.name, proto.description, inputs, outputs, attrs, _UNKNOWN, stateful=proto.is_stateful
    )


def _args(protos: Iterable[OpDef.ArgDef]) -> tuple[ArgDecl, ...]:
    arguments = []
    for proto in protos:
        row = BY_ENUM.get(proto.type)
        if row is None and not (proto.type_attr or proto.type_list_attr):
            raise bad_value(f"Argument '{proto.name}' of a function has no dtype: {proto.type}")
        arguments.append(
            ArgDecl(
                proto.name,
                None if row is None else row.name,
                proto.type_attr or None,
                proto.number_attr or None,
                proto.type_list_attr or None,
                proto.is_ref,
            )
        )
    return tuple(arguments)


def _attr(proto: OpDef.AttrDef) -> AttrDecl:
    allowed = proto.allowed_values.list
    names = [BY_ENUM[kind].name for kind in allowed.type] or [text.decode() for text in allowed.s]
    minimum = proto.minimum if proto.has_minimum else None
    if not proto.HasField("default_value"):
        return AttrDecl(proto.name, proto.type, tuple(names), minimum)
    default = attr_values.from_proto(proto.default_value, proto.type)
    return AttrDecl(proto.name, proto.type, tuple(names), minimum, True, default)
