"""The last step of building: an Operation of converted inputs and complete attributes in its graph.

It gets the scopes that are open (devices, control edges, colocation, container).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import Attrs, AttrValues
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.base.tensor_shape import Shape
from sessrun.reference.build.signature import Signature, signature
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.creation import Frames
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.graph.thread_scopes import Scopes
from sessrun.spec import devices
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.proto import AttrValue, NodeDef, TensorProto
from sessrun.spec.rules.shapes import ShapeError

__all__ = ["Imported", "apply_const", "make_operation"]

#: The greatest number of tensors that an attribute can give to an input or output.
_MAX_OUTPUTS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """The parts of a NodeDef besides its inputs and declared attributes.

    Attributes:
      device: the requested device.
      control_inputs: the operations to wait for.
      extra: the attributes that are not declared.
      notes: what it says for debuggers and optimizers, which nothing here reads; or None.

    """

    device: str = ""
    control_inputs: tuple[Operation, ...] = ()
    extra: Mapping[str, AttrValue] = field(default_factory=dict)
    notes: NodeDef | None = None


def make_operation(
    graph: Graph,
    declared: Signature,
    name: str,
    groups: list[Any],
    attrs: AttrValues,
    frames: Frames,
    *,
    imported: Imported | None = None,
) -> Operation:
    """Make the operation of converted inputs and complete attributes.

    Args:
      graph: where to.
      declared: its signature.
      name: its full name, already unique.
      groups: for each declared input a Tensor or a list of Tensors.
      attrs: every declared attribute, in the runtime's form.
      frames: where in the program it is made.
      imported: what a NodeDef says besides, or None.

    Raises:
      InvalidArgumentValueError: the shapes contradict the operation's rule.
      InternalError: a part of a tensor is not in that.
      RuntimeError: the graph is finalized.

    """
    graph.check_not_finalized()
    if declared.output_counts:
        _check_output_count(declared, attrs)
    if graph.building_function:
        other = graph.operation_elsewhere(declared.declaration.name, name, groups, attrs)
        if other is not None:
            return other
        groups = graph.captured(groups, name)
    try:
        shapes = declared.infer(groups, attrs)
    except ShapeError as error:
        raise declared.refusal(error, groups, attrs, name) from error
    inputs = _flat(groups) if declared.has_lists else tuple(groups)
    op = Operation(graph, declared.declaration, name, inputs, attrs, frames)
    op._outputs = _outputs(op, declared.output_dtypes(attrs), shapes)  # noqa: SLF001 - the operation is being built here
    if imported is not None:
        op.extra.update(imported.extra)
        op._add_control_inputs(imported.control_inputs)  # noqa: SLF001 - the operation is being built here
        if imported.notes is not None:
            op.notes = imported.notes
        op._set_device(imported.device)  # noqa: SLF001 - the operation is being built here
    scopes = graph.scopes
    _enter_scopes(op, scopes, declared, is_import=imported is not None)
    graph.add(op)
    if scopes.control is not None:
        scopes.note(op)
    for tensor in inputs:
        tensor._add_consumer(op)  # noqa: SLF001 - the operation is being built here
    if graph.on_new_operation is not None:
        graph.on_new_operation(op)
    return op


def _flat(groups: list[Any]) -> tuple[Tensor, ...]:
    """The inputs, lists laid out flat."""
    tensors: list[Tensor] = []
    for group in groups:
        if type(group) is list:
            tensors.extend(group)
        else:
            tensors.append(group)
    return tuple(tensors)


def _outputs(op: Operation, output_dtypes: list[DType], shapes: list[Shape]) -> list[Tensor]:
    """The outputs of a new operation."""
    if len(output_dtypes) == len(shapes) == 1:  # as most operations have
        return [Tensor(op, 0, output_dtypes[0], shapes[0])]
    return [
        Tensor(op, index, dtype, shape)
        for index, (dtype, shape) in enumerate(zip(output_dtypes, shapes, strict=True))
    ]


def _check_output_count(declared: Signature, attrs: Attrs) -> None:
    """Refuse an implausible number of outputs before any Tensor is created."""
    for name in declared.output_counts:
        if attrs[name] > _MAX_OUTPUTS:
            raise bad_value(f"Number of outputs is too big: {attrs[name]}")


def _enter_scopes(op: Operation, scopes: Scopes, declared: Signature, *, is_import: bool) -> None:
    """Give an operation the device, colocation and container of the open scopes."""
    if scopes.control is not None:
        sources = [tensor.op for tensor in op.inputs]
        if is_import:  # each imported operation waits by itself
            sources = []
        op._add_control_inputs(scopes.control_inputs_of(sources))  # noqa: SLF001 - it is being built here
    if scopes.device_text is None:
        assert scopes.device is not None
        scopes.device.of(op)
    elif scopes.device_text:
        text = scopes.device_text
        if op.device:
            text = str(devices.parse(op.device).over(devices.parse(text)))
        op._set_device(text)  # noqa: SLF001 - the operation is being built here
    if scopes.colocation:
        _colocate(op, scopes.colocation)
    if scopes.container and declared.has_container and not op.attrs["container"]:
        op.attrs = {**op.attrs, "container": scopes.container}
    if scopes.gradient_types or scopes.kernel_labels or scopes.attrs:
        _add_attrs(op, scopes)
    if scopes.original is not None:
        op._original_op = scopes.original  # noqa: SLF001 - the operation is being built here


def _add_attrs(op: Operation, scopes: Scopes) -> None:
    """Give an operation the undeclared attributes of the open scopes."""
    for key, text in scopes.attrs_of(op.type):
        op.extra[key] = AttrValue(s=text.encode())
    for key, value in scopes.attrs.items():
        op.extra.setdefault(key, value)


def _colocate(op: Operation, others: tuple[Operation, ...]) -> None:
    groups: set[bytes] = set()
    for other in others:
        groups.update(other.colocation_groups())
        if other.device:
            op._set_device(other.device)  # noqa: SLF001 - the operation is being built here
    beside = AttrValue()
    beside.list.s.extend(sorted(groups))
    op.extra["_class"] = beside


def apply_const(graph: Graph, value: Any, name: str, frames: Frames) -> Tensor:
    """Make a `Const`.

    Args:
      graph: where to.
      value: an ndarray, which becomes read-only, or a TensorProto.
      name: its full name, already unique.
      frames: where in the program it is made.

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
        value.setflags(write=False)
    attrs = {"value": value, "dtype": dtype}
    return make_operation(graph, signature("Const"), name, [], attrs, frames).outputs[0]
