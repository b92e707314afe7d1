"""How an operation is made from its declaration: the first stage of a run, *build*.

`apply_op` converts the inputs, infers and checks attributes, dtypes and shapes, and puts the
operation into the graph of its inputs under a unique name, in the scopes that are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sessrun.reference.base import attr_values
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build import attr_checks, input_checks
from sessrun.reference.build.construction import make_operation
from sessrun.reference.build.signature import Signature, signature, signature_in
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import InvalidArgumentTypeError, bad_type, bad_value
from sessrun.reference.graph.creation import Frames, frames_of_program
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import OPERATION_BUILDERS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue

__all__ = ["apply_flat", "apply_op", "apply_unary", "graph_of", "removed"]

#: The types of values that may be lists of tensors.
_LISTS: Final = (list, tuple)
#: The types of most elements of lists that are not tensors.
_NUMBERS: Final = frozenset({bool, int, float})


def apply_op(
    op_type: str,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    name: str | None = None,
) -> Operation:
    """Make an operation.

    Args:
      op_type: a declared op type.
      inputs: every declared input by name: a tensor, or a value that is converted to one.
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
    frames = frames_of_program()
    graph = graph_of(inputs.values())
    if declared.declaration.until and (gone := removed(declared, graph.producer)):
        raise NotImplementedError(gone)
    full_name, groups, values = _checked(declared, graph, inputs, attrs, name, frames)
    if declared.has_references:
        with graph.scopes.beside(_references(declared, groups)):
            return make_operation(graph, declared, full_name, groups, values, frames)
    return make_operation(graph, declared, full_name, groups, values, frames)


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
    frames: Frames,
) -> tuple[str, list[Tensor | list[Tensor]], AttrValues]:
    """The full name, the converted inputs and the complete attributes of an operation."""
    values = attr_checks.given(declared, attrs) if attrs else {}
    given = tuple(values)
    # The name is taken even if the rest fails, as TensorFlow does it.
    full_name = graph.name_of_new(name or declared.declaration.name)
    groups = input_checks.convert(declared, graph, full_name, inputs, values, frames)
    if given or len(values) < len(declared.attrs):
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
    declared = signature_in(graph.functions, op_type)
    frames = frames_of_program()
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
            full_name, groups, values = _checked(declared, graph, grouped, values, name, frames)
        except InvalidArgumentTypeError as error:
            raise bad_value(error.message) from error
        _check_types(full_name, inputs, input_types)
        op = make_operation(graph, declared, full_name, groups, values, frames)
    op.extra.update({key: value for key, value in attrs.items() if key not in known})
    op.graph.kinds.add(op.kind)  # a label of its kernel may be among them
    return op


def _check_types(name: str, inputs: list[Tensor], wanted: Iterable[DType] | None) -> None:
    """Refuse inputs that are not of compatible dtypes."""
    if wanted is None:
        return
    has_types, types = [tensor.dtype for tensor in inputs], list(wanted)
    if not all(want.is_compatible_with(has) for want, has in zip(types, has_types, strict=False)):
        raise TypeError(
            f"In op '{name}', input types ({has_types}) are not compatible with expected types "
            f"({types})"
        )


def apply_unary(op_type: str, value: TensorLike, name: str | None = None) -> Tensor:
    """Make an operation with one input and one output, without naming the input."""
    (arg,) = signature(op_type).inputs
    return apply_op(op_type, {arg.name: value}, {}, name).outputs[0]


def graph_of(values: Iterable[object]) -> Graph:
    """The graph that all tensors among the values (and in lists of them) belong to.

    Raises:
      ValueError: the tensors belong to different graphs.

    """
    inner = get_default_graph()
    if inner.building_function:  # a function's graph captures tensors of other graphs
        return inner
    graph: Graph | None = None
    first: object = None
    for value in values:
        for item in value if isinstance(value, _LISTS) else (value,):
            if isinstance(item, Tensor):
                graph_of_item = item.op.graph
            elif type(item) not in _NUMBERS and hasattr(item, "_as_graph_element"):
                graph_of_item = item.graph
            else:
                continue
            if graph is None:
                graph, first = graph_of_item, item
            elif graph_of_item is not graph:
                raise ValueError(f"{item} must be from the same graph as {first}.")
    return inner if graph is None else graph


def _references(declared: Signature, groups: list[Any]) -> list[Operation]:
    """The operations whose reference outputs it takes: it belongs on their device."""
    refs = [g for g, arg in zip(groups, declared.inputs, strict=True) if arg.is_ref]
    return [tensor.op for group in refs for tensor in (group if type(group) is list else [group])]


OPERATION_BUILDERS["create_op"] = apply_flat
