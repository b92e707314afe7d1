"""Operations built from a NodeDef: under its name, without regard to the open scopes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sessrun.reference.build.build import apply_flat
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import OPERATION_BUILDERS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, NodeDef

if TYPE_CHECKING:
    from sessrun.reference.base.dtypes import DType

__all__ = ["new_node_def", "operation_of_node"]


def new_node_def(op_type: str, name: str, attrs: Mapping[str, AttrValue] | None = None) -> NodeDef:
    """A NodeDef of a type, a name and attributes."""
    return NodeDef(op=op_type, name=name, attr=attrs)


def operation_of_node(
    node_def: NodeDef,
    graph: Graph,
    inputs: Sequence[Tensor] | None,
    control_inputs: Iterable[object] | None,
    input_types: Iterable[DType] | None,
    original: Operation | None,
) -> Operation:
    """Make the operation that a NodeDef describes; see `Operation.from_node_def`.

    Raises:
      TypeError: an argument is of another type.

    """
    if not hasattr(node_def, "op") or not hasattr(node_def, "attr"):
        raise bad_type(f"Argument node_def must be a NodeDef, not a {type(node_def).__name__}.")
    if not isinstance(graph, Graph):
        raise bad_type(f"Argument g must be a Graph, not a {type(graph).__name__}.")
    if inputs is not None and not isinstance(inputs, list):
        raise bad_type(f"Argument inputs must be a list of Tensors, not {type(inputs).__name__}.")
    flat: list[Tensor] = list(inputs or ())
    if any(tensor.graph is not graph for tensor in flat if isinstance(tensor, Tensor)):
        raise bad_value(f"The inputs of '{node_def.name}' must be from the graph it is made in.")
    control_ops = [_control_input(value) for value in control_inputs or ()]
    with graph.scopes.none_open():
        graph.check_name(node_def.name)
        op = apply_flat(
            graph, node_def.op, flat, dict(node_def.attr), f"{node_def.name}/", input_types
        )
    op._set_device(node_def.device)  # noqa: SLF001 - the operation is being built here
    op._add_control_inputs(control_ops)  # noqa: SLF001 - the same
    if original is not None:
        op._original_op = original  # noqa: SLF001 - the same
    return op


def _control_input(value: object) -> Operation:
    """The operation of a control input, which may be a Tensor or IndexedSlices."""
    if isinstance(value, Operation):
        return value
    op = getattr(value, "op", None)
    if not isinstance(op, Operation):
        raise bad_type(
            "Control input must be an Operation, a Tensor, or IndexedSlices, not a "
            f"{type(value).__name__}."
        )
    return op


OPERATION_BUILDERS["from_node_def"] = operation_of_node
