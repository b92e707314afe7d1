"""Writes and reads of variables before and after one operation, tied to it by control edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.conformance.generators.graphdef import GraphWriter, shape_attr, text_attr
from sessrun.conformance.subjects.control_flow.site import INT, scalar

__all__ = ["INITIALIZER", "READ", "UNWRITTEN", "WRITE_AFTER", "WRITTEN", "between"]

#: The node of the operation in the graphs of `single_graph`.
_RESULT: Final = "result"
_WRITE: Final = "around/write"
INITIALIZER: Final = "around/init"
#: The tensor to feed: what the write writes.
WRITTEN: Final = "around/written:0"
#: The variable, read after the operation.
READ: Final = "around/read:0"
#: A write to another variable, after the operation; and that variable.
WRITE_AFTER: Final = "after/write"
UNWRITTEN: Final = "after/read:0"


def between(graph: Mapping[str, Any]) -> dict[str, Any]:
    """The graph of one operation with these nodes around it."""
    writer = GraphWriter()
    zero = writer.constant(scalar(0), "around/zero")
    for name in ("around", "after"):
        attrs = {"dtype": INT, "shape": shape_attr(()), "shared_name": text_attr(name)}
        writer.node("VarHandleOp", (), attrs, name)
    first = writer.node("AssignVariableOp", ("after", zero), {"dtype": INT}, "after/init")
    both = ("around", zero, f"^{first}")
    writer.node("AssignVariableOp", both, {"dtype": INT}, INITIALIZER)
    written = writer.placeholder("int32", (), WRITTEN.removesuffix(":0"))
    writer.node("AssignVariableOp", ("around", written), {"dtype": INT}, _WRITE)
    read = ("around", f"^{_RESULT}")
    writer.node("ReadVariableOp", read, {"dtype": INT}, READ.removesuffix(":0"))
    after = ("after", written, f"^{_RESULT}")
    writer.node("AssignVariableOp", after, {"dtype": INT}, WRITE_AFTER)
    writer.node("ReadVariableOp", ("after",), {"dtype": INT}, UNWRITTEN.removesuffix(":0"))
    nodes = [
        {**node, "input": [*node.get("input", ()), f"^{_WRITE}"]}
        if node["name"] == _RESULT
        else node
        for node in graph["node"]
    ]
    return {**graph, "node": [*nodes, *writer.graph()["node"]]}
