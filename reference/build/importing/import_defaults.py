"""Defaults of attributes: written into nodes, or attributes of a newer program left out for them.

A program that is newer than this one may write attributes that are not declared here. Where one
has the default that the program's own declarations give it, the operation means the same without.
"""

from __future__ import annotations

from sessrun.reference.base.attr_values import op_def
from sessrun.spec.proto import AttrValue, GraphDef, OpList
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["add_defaults", "without_new_defaults"]


def add_defaults(graph_def: GraphDef) -> None:
    """Write the declared defaults into nodes that leave an attribute out."""
    declared = {
        op_type: {
            attr.name: attr.default_value
            for attr in op_def(OPERATIONS[op_type]).attr
            if attr.HasField("default_value")
        }
        for op_type in {node.op for node in graph_def.node}
        if op_type in OPERATIONS
    }
    for node in graph_def.node:
        for name, default in declared.get(node.op, {}).items():
            if name not in node.attr:
                node.attr[name].CopyFrom(default)


def without_new_defaults(graph_def: GraphDef, producer: OpList) -> GraphDef:
    """A copy of the GraphDef without undeclared attributes that have the producer's default."""
    defaults = _new_defaults(producer)
    result = GraphDef()
    result.CopyFrom(graph_def)
    for node in result.node:
        for name, default in defaults.get(node.op, {}).items():
            if name in node.attr and node.attr[name] == default:
                del node.attr[name]
    return result


def _new_defaults(producer: OpList) -> dict[str, dict[str, AttrValue]]:
    """Op type to the attributes that only the producer declares, with their defaults."""
    defaults = {}
    for op in producer.op:
        if op.name not in OPERATIONS:
            continue
        known = {attr.name for attr in OPERATIONS[op.name].attrs}
        defaults[op.name] = {
            attr.name: attr.default_value
            for attr in op.attr
            if attr.name not in known and attr.HasField("default_value")
        }
    return defaults
