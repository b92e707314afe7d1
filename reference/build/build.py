"""How an operation is made from its declaration: the first stage of a run, *build*.

`apply_op` converts the inputs, infers and checks attributes, dtypes and shapes, and puts the
operation into the graph of its inputs under a unique name, in the scopes that are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.reference.base import attr_values, dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.build import attr_checks, input_checks
from sessrun.reference.build.signature import Signature, signature
from sessrun.reference.errors import InvalidArgumentTypeError, bad_type, bad_value
from sessrun.reference.graph import creation
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.stacks import get_default_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import AttrValue, NodeDef, TensorProto

__all__ = [
    "Imported",
    "apply_const",
    "apply_flat",
    "apply_op",
    "apply_unary",
    "graph_of",
    "make_operation",
    "removed",
]


#: The most tensors that an attribute can ask of an operation.
_MAX_OUTPUTS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What a NodeDef says of an operation besides its inputs and declared attributes.

    Attributes:
      device: the device asked for.
      control_inputs: the operations to wait for.
      extra: the attributes that are not declared.
      notes: what it says for debuggers and optimizers, which nothing here reads; or None.

    """

    device: str = ""
    control_inputs: tuple[Operation, ...] = ()
    extra: Mapping[str, AttrValue] = field(default_factory=dict)
    notes: NodeDef | None = None


def apply_op(
    op_type: str,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    name: str | None = None,
) -> Operation:
    """Make an operation.

    Args:
      op_type: a declared op type.
      inputs: every declared input by name; what is no tensor is converted to one.
      attrs: attributes by name; those that inputs give, or that have a default, may be left
        out. A dtype may be anything `as_dtype` takes, a shape anything `TensorShape` takes.
      name: its name in the current name scope, made unique; verbatim if it ends with "/";
        by default the op type.

    Raises:
      InvalidArgumentTypeError: an input or attribute is of a wrong type or dtype.
      InvalidArgumentValueError: an input's shape, or a value, is wrong.
      ValueError: the inputs are of different graphs, or the name is invalid.
      RuntimeError: the op type is not declared, or the graph is finalized.
      NotImplementedError: graphs of this version do not have it any more.

    """
    declared = signature(op_type)
    graph = graph_of(inputs.values())
    if gone := removed(declared, graph.producer):
        raise NotImplementedError(gone)
    full_name, groups, values = _checked(declared, graph, inputs, attrs, name)
    if declared.has_references:
        with graph.scopes.beside(_references(declared, groups)):
            return make_operation(graph, declared, full_name, groups, values)
    return make_operation(graph, declared, full_name, groups, values)


def removed(declared: Signature, producer: int) -> str:
    """Why a graph of that version does not have an operation; empty if it does."""
    operation = declared.declaration
    if not operation.until or producer < operation.until:
        return ""
    instead = f" Use {operation.newer}." if operation.newer else ""
    return (
        f"Op {operation.name} is not available in GraphDef version {producer}. It has been "
        f"removed in version {operation.until}.{instead}"
    )


def _checked(
    declared: Signature,
    graph: Graph,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    name: str | None,
) -> tuple[str, list[Any], dict[str, Any]]:
    """The full name, the converted inputs and the complete attributes of an operation."""
    values = attr_checks.given(declared, attrs)
    given = tuple(values)
    # The name is taken even if the rest fails, as TensorFlow does it.
    full_name = graph.name_of_new(name or declared.declaration.name)
    groups = input_checks.convert(declared, graph, full_name, inputs, values)
    attr_checks.complete(declared, given, values)
    return full_name, groups, values


def apply_flat(
    graph: Graph,
    op_type: str,
    inputs: list[Tensor],
    attrs: dict[str, AttrValue],
    name: str | None,
    input_types: Iterable[DType] | None = None,
) -> Operation:
    """Make an operation from a flat list of inputs and AttrValues, in `graph`.

    It is not put beside the variables that it takes by reference.

    Args:
      graph: where to.
      op_type: a declared op type.
      inputs: the input tensors, lists laid out flat.
      attrs: the attributes that the inputs do not give, undeclared ones among them.
      name: as for `apply_op`.
      input_types: dtypes that the inputs must be compatible with, or None.

    Raises:
      ValueError: an attribute is missing, or of another type or dtype than declared; there are
        too many or too few inputs; or the name is invalid.
      TypeError: an input is no tensor, or not compatible with its input type.
      RuntimeError: as `apply_op`.

    """
    graph.check_name(op_type if name is None else name)
    declared = graph.functions.signature(op_type)
    for index, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise bad_type(f"Input #{index} is not a tensor: {value}")
    known = {key: value for key, value in attrs.items() if key in declared.attrs}
    values = {key: attr_values.from_proto(v, declared.attrs[key].type) for key, v in known.items()}
    rest = list(inputs)
    grouped: dict[str, object] = {}
    for arg in declared.inputs:
        if arg.number_attr is None and arg.type_list_attr is None:
            if rest:
                grouped[arg.name] = rest.pop(0)
            continue
        count = values.get(arg.number_attr) if arg.number_attr else None
        if count is None:
            listed = values.get(arg.type_list_attr) if arg.type_list_attr else None
            count = len(rest) if listed is None else len(listed)
        grouped[arg.name], rest = rest[:count], rest[count:]
    if rest or len(grouped) < len(declared.inputs):
        raise bad_value(f"{len(inputs)} inputs do not match the signature of {op_type}")
    with graph.as_default():
        try:
            full_name, groups, values = _checked(declared, graph, grouped, values, name)
        except InvalidArgumentTypeError as error:
            raise bad_value(error.message) from error
        _check_types(full_name, inputs, input_types)
        op = make_operation(graph, declared, full_name, groups, values)
    op.extra.update({key: value for key, value in attrs.items() if key not in known})
    return op


def _check_types(name: str, inputs: list[Tensor], wanted: Iterable[DType] | None) -> None:
    """Refuse inputs that are not of compatible dtypes."""
    if wanted is None:
        return
    found, types = [tensor.dtype for tensor in inputs], list(wanted)
    if not all(want.is_compatible_with(has) for want, has in zip(types, found, strict=False)):
        raise TypeError(
            f"In op '{name}', input types ({found}) are not compatible with expected types "
            f"({types})"
        )


def apply_unary(op_type: str, value: object, name: str | None = None) -> Tensor:
    """Make an operation of one input and one output, whatever its input is called."""
    (arg,) = signature(op_type).inputs
    return apply_op(op_type, {arg.name: value}, {}, name).outputs[0]


def apply_const(graph: Graph, value: Any, name: str) -> Tensor:
    """Make a `Const` of an ndarray, which becomes read-only, or of a TensorProto.

    Raises:
      ValueError: the message says no dtype of a tensor.

    """
    if isinstance(value, TensorProto):
        if value.dtype not in BY_ENUM:
            raise bad_value(f"Const '{name}': AttrValue has invalid DataType {value.dtype}.")
        dtype = BY_ENUM[value.dtype].name
        value = HeldTensor(value)
    else:
        dtype = dtypes.of_array(value).spec_name
        value.flags.writeable = False
    attrs = {"value": value, "dtype": dtype}
    full_name = graph.name_of_new(name)
    return make_operation(graph, signature("Const"), full_name, [], attrs).outputs[0]


def graph_of(values: Iterable[object]) -> Graph:
    """The graph that all tensors among the values (and in lists of them) belong to.

    Raises:
      ValueError: they belong to different graphs.

    """
    graph: Graph | None = None
    first: Any = None
    inner = get_default_graph()
    if inner.building_function:  # it captures what is of another graph
        return inner
    for value in values:
        items = value if isinstance(value, list | tuple) else (value,)
        for item in items:
            if isinstance(item, Tensor):
                found = item.op.graph
            elif hasattr(item, "_as_graph_element"):
                found = item.graph
            else:
                continue
            if graph is None:
                graph, first = found, item
            elif found is not graph:
                raise ValueError(f"{item} must be from the same graph as {first}.")
    return graph if graph is not None else get_default_graph()


def make_operation(
    graph: Graph,
    declared: Signature,
    name: str,
    groups: list[Any],
    attrs: dict[str, Any],
    *,
    imported: Imported | None = None,
) -> Operation:
    """Make the operation of converted inputs and complete attributes.

    Args:
      graph: where to.
      declared: its signature.
      name: its full name, already unique.
      groups: for each declared input a Tensor or a list of them.
      attrs: every declared attribute, in the runtime's form.
      imported: what a NodeDef says besides, or None.

    Raises:
      InvalidArgumentValueError: the shapes contradict the operation's rule.
      RuntimeError: the graph is finalized.

    """
    graph.check_not_finalized()
    _check_output_count(declared, attrs)
    if graph.building_function:
        other = graph.made_elsewhere(declared.declaration.name, name, groups, attrs)
        if other is not None:
            return other
        groups = graph.captured(groups, name)
    shapes = declared.shapes(groups, attrs, name)
    tensors: list[Tensor] = []
    for group in groups:
        if type(group) is list:
            tensors.extend(group)
        else:
            tensors.append(group)
    op = Operation(graph, declared.declaration, name, tensors, attrs, site=creation.site())
    output_dtypes = _output_dtypes(declared, attrs)
    op._outputs = [  # noqa: SLF001 - the operation is being made here
        Tensor(op, index, dtype, shape)
        for index, (dtype, shape) in enumerate(zip(output_dtypes, shapes, strict=True))
    ]
    if imported is not None:
        op.extra.update(imported.extra)
        op._add_control_inputs(imported.control_inputs)  # noqa: SLF001 - the operation is being made here
        op.notes = imported.notes
        op._set_device(imported.device)  # noqa: SLF001 - the operation is being made here
    _enter_scopes(op, declared, is_import=imported is not None)
    if graph.scopes.original is not None:
        op._original_op = graph.scopes.original  # noqa: SLF001 - the operation is being made here
    graph.add(op)
    for tensor in tensors:
        tensor._add_consumer(op)  # noqa: SLF001 - the operation is being made here
    if graph.tell is not None:
        graph.tell(op)
    return op


def _check_output_count(declared: Signature, attrs: Mapping[str, Any]) -> None:
    """Refuse a number of outputs that no graph has: each of them would be made."""
    for arg in declared.declaration.outputs:
        if arg.number_attr is not None and attrs[arg.number_attr] > _MAX_OUTPUTS:
            raise bad_value(f"Number of outputs is too big: {attrs[arg.number_attr]}")


def _output_dtypes(declared: Signature, attrs: Mapping[str, Any]) -> list[DType]:
    found: list[DType] = []
    for arg in declared.declaration.outputs:
        found.extend(_dtypes_of(arg, attrs))
    return found


def _dtypes_of(arg: ArgDecl, attrs: Mapping[str, Any]) -> list[DType]:
    if arg.type_list_attr is not None:
        names = attrs[arg.type_list_attr]
    else:
        names = [arg.dtype if arg.type_attr is None else attrs[arg.type_attr]]
        if arg.number_attr is not None:
            names *= attrs[arg.number_attr]
    found = [dtypes.of_name(name) for name in names]
    return [dtype._as_ref for dtype in found] if arg.is_ref else found  # noqa: SLF001 - DType's own notion


def _references(declared: Signature, groups: list[Any]) -> list[Operation]:
    """The operations whose reference outputs it takes: it belongs on their device."""
    refs = [g for g, arg in zip(groups, declared.inputs, strict=True) if arg.is_ref]
    return [tensor.op for group in refs for tensor in (group if type(group) is list else [group])]


def _enter_scopes(op: Operation, declared: Signature, *, is_import: bool) -> None:
    """Give the operation what the open scopes ask for."""
    scopes = op.graph.scopes
    if scopes.control is not None:
        sources = [tensor.op for tensor in op.inputs]
        if is_import:  # each imported operation waits by itself
            sources = []
        op._add_control_inputs(scopes.control_inputs_of(sources))  # noqa: SLF001 - it is being made here
    if scopes.device_text is None:
        assert scopes.device is not None
        scopes.device.of(op)
    elif scopes.device_text:
        text = scopes.device_text
        if op.device:
            text = str(devices.parse(op.device).over(devices.parse(text)))
        op._set_device(text)  # noqa: SLF001 - the operation is being made here
    if scopes.colocation:
        _colocate(op, scopes.colocation)
    if scopes.container and declared.has_container and not op.attrs["container"]:
        op.attrs = {**op.attrs, "container": scopes.container}
    for key, text in scopes.attrs_of(op.type):
        op.extra[key] = AttrValue(s=text.encode())
    for key, value in scopes.attrs.items():
        op.extra.setdefault(key, value)


def _colocate(op: Operation, others: tuple[Operation, ...]) -> None:
    groups: set[bytes] = set()
    for other in others:
        groups.update(other.colocation_groups())
        if other.device:
            op._set_device(other.device)  # noqa: SLF001 - the operation is being made here
    op.extra["_class"] = AttrValue(list=AttrValue.ListValue(s=sorted(groups)))
