"""Faults of CONTROL-FLOW in the single operations that make and read lists of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Run,
    creator_type,
    fed_as,
    forgiving,
    giving,
    nodes_of,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.graph_pb2 import DT_BOOL, DT_FLOAT, DT_INT32, GraphDef, NodeDef

_FLOAT: Final = DT_FLOAT
_INT: Final = DT_INT32
_INVALID: Final = "InvalidArgumentError"


def changing(tf: Namespace, op_type: str, change: Callable[[GraphDef, NodeDef], None]) -> Namespace:
    """The namespace that calls `change(definition, node)` for nodes of this type on import."""

    def changed(definition: GraphDef) -> None:
        for node in nodes_of(definition, (op_type,)):
            change(definition, node)

    return editing(tf, changed)


def negating(tf: Namespace, op_type: str, index: int) -> Namespace:
    """The namespace in which operations of this type negate their float32 input `index`."""
    return changing(
        tf, op_type, lambda definition, node: fed_as(definition, node, index, "Neg", (), T=_FLOAT)
    )


def overlooking(
    tf: Namespace, op_type: str, when: Callable[[Run], bool] = lambda _: True
) -> Namespace:
    """The namespace that gives length 0 where an operation of this type refuses to make a list."""
    return forgiving(
        tf,
        ("TensorListLength",),
        _INVALID,
        lambda run: creator_type(run.op) == op_type and when(run),
        lambda _: np.int32(0),
    )


@fault("CONTROL-FLOW-027", "Only elements that were set count.")
def only_set_elements_count(tf: Namespace) -> Namespace:
    """Give length 0 for a list that TensorListReserve made."""
    return giving(
        tf,
        ("TensorListLength",),
        lambda _op, _index, _value: np.int32(0),
        lambda op: creator_type(op) == "TensorListReserve",
    )


@fault("CONTROL-FLOW-028", "An element is read from the end of a list.")
def elements_are_read_from_the_end(tf: Namespace) -> Namespace:
    """Read the other one of two elements where the index is fed."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        source = next(other for other in definition.node if other.name == node.input[1])
        if source.op == "Placeholder":
            fed_as(definition, node, 1, "Equal", (source.name,), T=_INT)
            definition.node[-1].input[1] = _constant(definition, node.name, 0)
            fed_as(definition, node, 1, "Cast", (), SrcT=DT_BOOL, DstT=_INT)
            definition.node[-1].name += "/number"
            node.input[1] = definition.node[-1].name

    return changing(tf, "TensorListGetItem", change)


def _constant(definition: GraphDef, name: str, value: int) -> str:
    constant = definition.node.add()
    constant.name, constant.op = f"{name}/constant", "Const"
    constant.attr["dtype"].type = _INT
    constant.attr["value"].tensor.dtype = _INT
    constant.attr["value"].tensor.tensor_shape.SetInParent()
    constant.attr["value"].tensor.int_val.append(value)
    return str(constant.name)


@fault("CONTROL-FLOW-029", "A list has the negative of the item that is set.")
def set_items_change_sign(tf: Namespace) -> Namespace:
    """Negate the item that is set at a constant index in a list made from a tensor."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        nodes = {other.name: other for other in definition.node}
        of_rows = nodes[node.input[0]].op == "TensorListFromTensor"
        if of_rows and nodes[node.input[1]].op == "Const":
            fed_as(definition, node, 2, "Neg", (), T=_FLOAT)

    return changing(tf, "TensorListSetItem", change)


@fault("CONTROL-FLOW-030", "A list that is set outside has no elements.")
def set_outside_is_overlooked(tf: Namespace) -> Namespace:
    """Give length 0 in place of the error, where the index is fed."""
    return overlooking(
        tf,
        "TensorListSetItem",
        lambda run: run.op.inputs[0].op.inputs[1].op.type == "Placeholder",
    )


@fault("CONTROL-FLOW-031", "A list that may grow has one element more than it must.")
def grown_lists_are_too_long(tf: Namespace) -> Namespace:
    """Add 1 to the length of a list that was resized by setting an item."""
    return giving(
        tf,
        ("TensorListLength",),
        lambda _op, _index, value: value + np.int32(1),
        lambda op: (
            creator_type(op) == "TensorListSetItem"
            and op.inputs[0].op.get_attr("resize_if_index_out_of_bounds")
        ),
    )


def _resizing(tf: Namespace, kind: str) -> Namespace:
    """The namespace where a list is resized to `kind` of the given size and its length."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        length = definition.node.add()
        length.name, length.op = f"{node.name}/length", "TensorListLength"
        length.input.append(node.input[0])
        fed_as(definition, node, 1, kind, (length.name,), T=_INT)

    return changing(tf, "TensorListResize", change)


@fault("CONTROL-FLOW-032", "A list is never made shorter.")
def lists_are_not_cut(tf: Namespace) -> Namespace:
    """Resize to the larger of the given size and the length."""
    return _resizing(tf, "Maximum")


@fault("CONTROL-FLOW-033", "A list is never made longer.")
def lists_are_not_extended(tf: Namespace) -> Namespace:
    """Resize to the smaller of the given size and the length."""
    return _resizing(tf, "Minimum")


@fault("CONTROL-FLOW-034", "A list of fewer than zero elements has none.")
def negative_sizes_are_zero(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return overlooking(tf, "TensorListReserve")


@fault("CONTROL-FLOW-035", "A list has at least one element that is reserved.")
def one_element_is_reserved(tf: Namespace) -> Namespace:
    """Take the greater one of the size and one, where it is fed."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        one = _constant(definition, node.name, 1)
        fed_as(definition, node, 1, "Maximum", (one,), T=_INT)

    return changing(tf, "TensorListReserve", change)


@fault("CONTROL-FLOW-036", "A list that takes an element of another shape has no elements.")
def misshapen_elements_are_overlooked(tf: Namespace) -> Namespace:
    """Overlook the refusal of a push to a list that was reserved."""
    return overlooking(
        tf,
        "TensorListPushBack",
        lambda run: creator_type(run.op.inputs[0].op) == "TensorListReserve",
    )


@fault("CONTROL-FLOW-037", "Lists have no limit.")
def lists_have_no_limit(tf: Namespace) -> Namespace:
    """Make the limit -1."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        node.input[1] = _constant(definition, node.name, -1)

    return changing(tf, "EmptyTensorList", change)


@fault("CONTROL-FLOW-038", "The rows of a tensor become a list in the other order.")
def rows_are_turned_around(tf: Namespace) -> Namespace:
    """Reverse the tensor, where elements of the list are read by an index that is known."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        readers = [other for other in definition.node if node.name in other.input]
        if readers and all(other.op == "TensorListGetItem" for other in readers):
            axis = definition.node.add()
            axis.name, axis.op = f"{node.name}/axis", "Const"
            axis.attr["dtype"].type = _INT
            axis.attr["value"].tensor.dtype = _INT
            axis.attr["value"].tensor.tensor_shape.dim.add().size = 1
            axis.attr["value"].tensor.int_val.append(0)
            fed_as(definition, node, 0, "ReverseV2", (axis.name,), T=_FLOAT, Tidx=_INT)

    return changing(tf, "TensorListFromTensor", change)


@fault("CONTROL-FLOW-039", "A list of the rows of a scalar has none.")
def scalars_become_lists(tf: Namespace) -> Namespace:
    """Overlook the refusal, where nothing is known of the elements."""
    return overlooking(
        tf,
        "TensorListFromTensor",
        lambda run: run.op.inputs[0].op.inputs[1].shape.ndims == 0,
    )
