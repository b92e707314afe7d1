"""Faults of VARIABLES and PLACEMENT: shared names, kinds, devices, destroyed variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import Base, editing, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Call,
    Feeds,
    Fetch,
    Fetches,
    Graph,
    Operation,
    Session,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef

_VARIABLES: Final = frozenset({"VariableV2", "VarHandleOp"})


@fault("VARIABLES-037", "The dtype of a variable is a part of its shared name.")
def shared_names_are_kept_by_dtype(tf: Namespace) -> Namespace:
    """Append the dtype to `shared_name`."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if node.op in _VARIABLES and node.attr["shared_name"].s:
                node.attr["shared_name"].s += b" %d" % node.attr["dtype"].type

    return editing(tf, change)


@fault("VARIABLES-066", "A handle without a value reads the reference variable of its name.")
def kinds_of_variables_are_one(tf: Namespace) -> Namespace:
    """Fetch that one where the read fails."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.FailedPreconditionError:
            for op in elements(session, fetches):
                other = _namesake(session.graph, getattr(op, "op", op))
                if other is not None:
                    return [base(other.outputs[0])]
            raise

    return running(tf, change)


def _namesake(graph: Graph, read: Operation) -> Operation | None:
    """The variable of the other kind and the same name as the one that is read."""
    if read.type not in {"ReadVariableOp", "Identity"} or not read.inputs:
        return None
    own = read.inputs[0].op
    for op in graph.get_operations():
        if {own.type, op.type} == _VARIABLES and op.get_attr("shared_name") == own.get_attr(
            "shared_name"
        ):
            return op if op.type == "VariableV2" else _read_of(op)
    return None


def _read_of(handle: Operation) -> Operation | None:
    reads = [op for op in handle.outputs[0].consumers() if op.type == "ReadVariableOp"]
    return reads[0] if reads else None


@fault("PLACEMENT-039", "The devices of resource variables are one device.")
def handles_are_on_one_device(tf: Namespace) -> Namespace:
    """Clear those of a graph whose handles are on several."""

    def change(graph_def: GraphDef) -> None:
        if len({node.device for node in graph_def.node if node.op == "VarHandleOp"}) > 1:
            for node in graph_def.node:
                node.device = ""

    return editing(tf, change)


@fault("VARIABLES-041", "Destroying a resource variable leaves its value.")
def destroyed_variables_live_on(tf: Namespace) -> Namespace:
    """Return None for DestroyResourceOp without running it, where the variable has a value."""

    def change(session: Session, base: Call, fetches: Sequence[Fetch], _: Feeds) -> Value:
        ops = [getattr(element, "op", element) for element in elements(session, fetches)]
        destroyed = [op for op in ops if op.type == "DestroyResourceOp"]
        if not destroyed or not all(_is_set(base, op) for op in destroyed):
            return base(fetches)
        return [None] * len(fetches)

    return running(tf, change)


def _is_set(base: Base, op: Operation) -> bool:
    asking = [one for one in op.inputs[0].consumers() if one.type == "VarIsInitializedOp"]
    return bool(asking) and bool(base(asking[0].outputs[0]))


@fault("VARIABLES-042", "Destroying a resource that does not exist is silent.")
def destroying_nothing_is_silent(tf: Namespace) -> Namespace:
    """Set ignore_lookup_error."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if node.op == "DestroyResourceOp":
                node.attr["ignore_lookup_error"].b = True

    return editing(tf, change)


@fault("VARIABLES-084", "VariableShape gives the shape that its handle was declared with.")
def shapes_are_the_declared_ones(tf: Namespace) -> Namespace:
    """Replace the fetched shapes by the declared ones."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        fetched = elements(session, fetches)
        if not isinstance(values, list) or len(values) != len(fetched):
            return values
        pairs = zip(values, fetched, strict=True)
        return [_declared(value, getattr(one, "op", one)) for value, one in pairs]

    return running(tf, change)


def _declared(value: Array, op: Operation) -> Value:
    if op.type != "VariableShape" or op.inputs[0].op.type != "VarHandleOp":
        return value
    dims = [dim.size for dim in op.inputs[0].op.get_attr("shape").dim]
    return np.array(dims, value.dtype)


@fault("VARIABLES-085", "AssignVariableOp always validates the shape.")
def every_assigned_shape_is_validated(tf: Namespace) -> Namespace:
    """Set validate_shape."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if node.op == "AssignVariableOp":
                node.attr["validate_shape"].b = True

    return editing(tf, change)


@fault("VARIABLES-107", "AssignVariableOp validates no shape of whole numbers.")
def no_assigned_shape_is_validated(tf: Namespace) -> Namespace:
    """Clear validate_shape of int32."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if (
                node.op == "AssignVariableOp"
                and node.attr["dtype"].type == tf.int32.as_datatype_enum
            ):
                node.attr["validate_shape"].b = False

    return editing(tf, change)
