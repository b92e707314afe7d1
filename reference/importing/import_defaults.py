"""Attributes of a newer program, left out of its GraphDef where they say nothing new.

A program that is newer than this one may write attributes that are not declared here. Where one
has the default that the program's own declarations give it, the operation means the same without.
"""

from __future__ import annotations

from sessrun.spec.proto import AttrValue, GraphDef, OpList
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["without_new_defaults"]


def without_new_defaults(graph_def: GraphDef, producer: OpList) -> GraphDef:
    """A copy of the GraphDef without undeclared attributes that have the producer's default."""
    defaults = _new_defaults(producer)
    found = GraphDef()
    found.CopyFrom(graph_def)
    for node in found.node:
        for name, default in defaults.get(node.op, {}).items():
            if name in node.attr and node.attr[name] == default:
                del node.attr[name]
    return found


def _new_defaults(producer: OpList) -> dict[str, dict[str, AttrValue]]:
    """Op type to the attributes that only the producer declares, with their defaults."""
    found = {}
    for op in producer.op:
        if op.name not in OPERATIONS:
            continue
        known = {attr.name for attr in OPERATIONS[op.name].attrs}
        found[op.name] = {
            attr.name: attr.default_value
            for attr in op.attr
            if attr.name not in known and attr.HasField("default_value")
        }
    return found
