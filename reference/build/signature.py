"""What `build` needs of an operation's declaration, prepared once per op type.

The shape rule of the declaration becomes a function of the grouped inputs and the attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from sessrun.reference.base.attr_values import default_of
from sessrun.reference.base.attributes import Attrs
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import Shape
from sessrun.reference.build import shape_inference_values
from sessrun.reference.build.output_dtypes import dtypes_of_outputs
from sessrun.reference.build.shape_error_inputs import seen_values
from sessrun.reference.errors import InternalError, bad_value
from sessrun.reference.graph.function_library import FunctionLibrary
from sessrun.reference.graph.node_summary import bracketed, node_summary
from sessrun.spec.operations import ArgDecl, AttrDecl, Name, Operation, RuleArg, RuleCall
from sessrun.spec.rules.shapes import (
    RANKS,
    RULES,
    Known,
    ShapeError,
    denoted,
    elements_of,
    ranked,
    single,
)
from sessrun.spec.rules.shapes.resources import of_resource
from sessrun.spec.tables.ops import OPERATIONS

if TYPE_CHECKING:
    from sessrun.reference.graph.tensor import Tensor

__all__ = ["Input", "Signature", "signature", "signature_in"]

#: An input of an operation: a Tensor, or a list of them.
Group = Any
Argument = Callable[[Sequence[Group], Attrs], Any]


@dataclass(frozen=True, slots=True)
class Input:
    """A declared input, prepared.

    Attributes:
      arg: the declaration.
      name: its name.
      dtype: the name of its dtype, where that is fixed.
      type_attr: the attribute that is its dtype, or None.
      allowed: the names of the dtypes that this attribute allows; None for any.
      is_list: whether it is a list of tensors.
      is_ref: whether it is a reference variable.

    """

    arg: ArgDecl
    name: str
    dtype: str | None
    type_attr: str | None
    allowed: frozenset[str] | None
    is_list: bool
    is_ref: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """A declaration, prepared.

    Attributes:
      declaration: the declaration.
      inputs: its inputs, in order.
      prepared_inputs: the same, prepared.
      attrs: its attributes by name.
      inferred: names of attributes that inputs give.
      restricted: names of attributes that may not have every value of their type.
      defaults: the defaults of attributes by name, in the runtime's form.
      has_container: whether a container scope concerns it.
      has_references: whether it takes a reference variable as such.
      has_lists: whether an input is a list of tensors.
      output_counts: the attributes that say how many tensors an output is.
      output_dtypes: the dtypes of its outputs, of its attributes.
      infer: the static shapes of its outputs, of its inputs and attributes; raises ShapeError.

    """

    declaration: Operation
    inputs: tuple[ArgDecl, ...]
    prepared_inputs: tuple[Input, ...]
    attrs: Mapping[str, AttrDecl]
    inferred: frozenset[str]
    restricted: frozenset[str]
    defaults: Mapping[str, object]
    has_container: bool
    has_references: bool
    has_lists: bool
    output_counts: tuple[str, ...]
    output_dtypes: Callable[[Attrs], list[DType]]
    infer: Callable[[Sequence[Group], Attrs], list[Shape]]

    def refusal(
        self, error: ShapeError, groups: Sequence[Group], attrs: Mapping[str, object], name: str
    ) -> Exception:
        """What is raised for an operation, to be called `name`, whose inputs contradict its rule.

        It is an InvalidArgumentValueError, or an InternalError: a part of a tensor is not in that.
        """
        if error.is_of_value:
            return bad_value(str(error))
        inputs = [tensor for group in groups for tensor in _listed(group)]
        node = node_summary(name, self.declaration, inputs, attrs)
        sizes = [tensor.sizes for tensor in inputs]
        shown = ", ".join(
            "?" if sizes_of_one is None else bracketed(sizes_of_one) for sizes_of_one in sizes
        )
        if not str(error).startswith("Shape must be"):  # values are looked at after ranks
            shown += seen_values(self.declaration, groups)
        message = f"{error} for '{node}' with input shapes: {shown}."
        return InternalError(None, None, message) if error.is_internal else bad_value(message)


_SIGNATURES: Final[dict[str, Signature]] = {}
_OF_FUNCTIONS: Final[WeakKeyDictionary[FunctionLibrary, dict[str, Signature]]] = WeakKeyDictionary()


def signature(op_type: str) -> Signature:
    """The signature of an op type.

    Raises:
      RuntimeError: the op type is not declared.

    """
    try:
        return _SIGNATURES[op_type]
    except KeyError:
        pass
    if op_type not in OPERATIONS:
        raise RuntimeError(f"Op type not registered '{op_type}'")
    declaration = OPERATIONS[op_type]
    rule = RULES[declaration.shape.name]
    positions = {arg.name: position for position, arg in enumerate(declaration.inputs)}
    arguments = [_argument(arg, declaration, positions) for arg in declaration.shape.args]
    prepared = _prepared(declaration, _applied(rule, arguments))
    return _SIGNATURES.setdefault(op_type, prepared)


def signature_in(functions: FunctionLibrary, op_type: str) -> Signature:
    """The signature of an op type: declared in the spec, or that of calls of a function.

    Raises:
      RuntimeError: the op type is neither declared nor a function.

    """
    declaration = functions.declaration(op_type)
    if declaration is None:
        return signature(op_type)
    known = _OF_FUNCTIONS.setdefault(functions, {})
    if op_type not in known:

        def unknown(_groups: Sequence[Group], attrs: Attrs) -> list[Shape]:
            return [None] * sum(arg.count(attrs) for arg in declaration.outputs)

        known[op_type] = _prepared(declaration, unknown)
    return known[op_type]


def _prepared(
    declaration: Operation, infer: Callable[[Sequence[Group], Attrs], list[Shape]]
) -> Signature:
    """The signature of a declaration, with the function that infers its outputs' shapes."""
    inferred = [
        name
        for arg in declaration.inputs
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if name is not None
    ]
    attrs = {attr.name: attr for attr in declaration.attrs}
    inputs = tuple(_input(arg, attrs) for arg in declaration.inputs)
    return Signature(
        declaration,
        declaration.inputs,
        inputs,
        attrs,
        frozenset(inferred),
        frozenset(name for name, attr in attrs.items() if attr.allowed or attr.minimum is not None),
        {name: default_of(attr) for name, attr in attrs.items() if attr.has_default},
        declaration.stateful and "container" in attrs,
        any(taken.is_ref for taken in inputs),
        any(taken.is_list for taken in inputs),
        tuple(arg.number_attr for arg in declaration.outputs if arg.number_attr is not None),
        dtypes_of_outputs(declaration.outputs),
        infer,
    )


def _input(arg: ArgDecl, attrs: Mapping[str, AttrDecl]) -> Input:
    allowed = attrs[arg.type_attr].allowed if arg.type_attr is not None else None
    return Input(
        arg,
        arg.name,
        arg.dtype,
        arg.type_attr,
        frozenset(allowed) if allowed else None,
        arg.is_list,
        arg.is_ref,
    )


def _applied(
    rule: Callable[..., list[Shape]], arguments: Sequence[Argument]
) -> Callable[[Sequence[Group], Attrs], list[Shape]]:
    """The function of inputs and attributes that applies a rule to its arguments."""
    if not arguments:
        return lambda _groups, _attrs: rule()
    first, *rest = arguments
    if not rest:
        return lambda groups, attrs: rule(first(groups, attrs))
    if len(rest) == 1:
        second = rest[0]
        return lambda groups, attrs: rule(first(groups, attrs), second(groups, attrs))
    return lambda groups, attrs: rule(*[argument(groups, attrs) for argument in arguments])


def _argument(arg: RuleArg, declaration: Operation, positions: Mapping[str, int]) -> Argument:
    """The function that gives an argument of a shape rule, of inputs and attributes."""
    if isinstance(arg, Name):
        position = positions.get(arg.text)
        if position is None:
            return _attribute(arg.text)
        return _shapes_at(position, is_list=declaration.inputs[position].is_list)
    if not isinstance(arg, RuleCall):
        return lambda _groups, _attrs: arg
    (inner,) = arg.args
    assert isinstance(inner, Name)
    function = _SPECIAL[arg.name]
    position = positions[inner.text]
    return lambda groups, _attrs: function(groups[position])


def _attribute(name: str) -> Argument:
    return lambda _groups, attrs: attrs[name]


def _shapes_at(position: int, *, is_list: bool) -> Argument:
    if is_list:
        return lambda groups, _attrs: [tensor.sizes for tensor in groups[position]]
    return lambda groups, _attrs: groups[position]._sizes  # noqa: SLF001 - without a property's call


def _value(least: int, most: int) -> Callable[[Tensor], np.ndarray | None]:
    """A function that checks that a tensor's rank is in a range, and returns its static value."""

    def value(tensor: Tensor) -> Any:
        ranked(tensor.sizes, least, most)
        return shape_inference_values.constant_value(tensor)

    return value


def _sizes(read: Callable[[Shape, Shape], Shape]) -> Callable[[Tensor], Shape]:
    return lambda tensor: read(tensor.sizes, shape_inference_values.shape_value(tensor))


def _element(tensor: Tensor) -> Shape:
    ranked(tensor.sizes, 0, 1)
    if tensor.sizes == ():
        value = shape_inference_values.constant_value(tensor)
        if value is not None and value != -1:
            raise ShapeError(f"A scalar denotes an unknown shape where it is -1, got {value}")
    return shape_inference_values.element_shape(tensor)


def _known(group: Group) -> Any:
    if isinstance(group, list):
        return [_known(tensor) for tensor in group]
    return Known(group.sizes, shape_inference_values.constant_value(group))


_SPECIAL: Final[Mapping[str, Callable[[Tensor], Any]]] = {
    **{name: _value(*ranks) for name, ranks in RANKS.items()},
    "dims": _sizes(denoted),
    "elements": _sizes(elements_of),
    "known": _known,
    "single": lambda tensor: single(shape_inference_values.constant_value(tensor)),
    "element": _element,
    "handle": shape_inference_values.handle_shape,
    "handle_dtype": shape_inference_values.handle_dtype,
    "table": shape_inference_values.table_behind,
    "of_resource": lambda tensor: of_resource(tensor.sizes),
}


def _listed(group: Group) -> list[Tensor]:
    return group if isinstance(group, list) else [group]
