"""Operations on the way between two others: each waits for the first, and the second for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import (
    CPU,
    GraphWriter,
    dtype_attr,
    shape_attr,
    text_attr,
)
from sessrun.conformance.subjects.control_flow.site import (
    BOOL,
    FLOAT,
    INT,
    LONG,
    list_of,
    scalar,
)
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import JsonObject

__all__ = ["FAILING", "FUNCTIONS", "HOLDS", "RELAYS", "Relay"]

#: Writes a node that waits for control inputs; its name.
Relay = Callable[[GraphWriter, Sequence[str]], str]
#: A fed condition, which holds.
HOLDS: Final = "holds"
#: The library of the graphs: a function that gives its argument, one that compares it with zero.
FUNCTIONS: Final[JsonObject] = {
    "function": [
        {
            "signature": {
                "name": "Same",
                "inputArg": [{"name": "x", **INT}],
                "outputArg": [{"name": "y", **INT}],
            },
            "nodeDef": [{"name": "same", "op": "Identity", "input": ["x"], "attr": {"T": INT}}],
            "ret": {"y": "same:output:0"},
        },
        {
            "signature": {
                "name": "Never",
                "inputArg": [{"name": "x", **INT}],
                "outputArg": [{"name": "y", **BOOL}],
            },
            "nodeDef": [{"name": "less", "op": "Less", "input": ["x", "x"], "attr": {"T": INT}}],
            "ret": {"y": "less:z:0"},
        },
    ]
}
_SAME: Final = {"func": {"name": "Same"}}
_NEVER: Final = {"func": {"name": "Never"}}


def _constant(writer: GraphWriter, waits: Sequence[str]) -> str:
    name = writer.constant(scalar(5))
    for wait in waits:
        writer.wait(name, wait.removeprefix("^"))
    return name


def _of(op: str, value: Value, /, **attrs: JsonObject) -> Relay:
    """An operation on one constant."""

    def write(writer: GraphWriter, waits: Sequence[str]) -> str:
        return writer.node(op, (writer.constant(np.asarray(value)), *waits), attrs)

    return write


def _without_inputs(op: str, **attrs: JsonObject) -> Relay:
    def write(writer: GraphWriter, waits: Sequence[str]) -> str:
        return writer.node(op, tuple(waits), attrs)

    return write


def _assertion(writer: GraphWriter, waits: Sequence[str]) -> str:
    said = writer.constant(scalar(5))
    return writer.node("Assert", (HOLDS, said, *waits), {"T": list_of(INT)})


def _silent_print(writer: GraphWriter, waits: Sequence[str]) -> str:
    said = writer.constant(scalar(5))
    attrs = {"T": INT, "U": list_of(INT), "first_n": {"i": "0"}}
    return writer.node("Print", (said, said, *waits), attrs)


def _conditional(writer: GraphWriter, waits: Sequence[str]) -> str:
    off = writer.node("Switch", (writer.constant(scalar(5)), HOLDS, *waits), {"T": INT})
    on = writer.node("Identity", (f"{off}:1",), {"T": INT})
    return writer.node("Merge", (off, on), {"T": INT, "N": {"i": "2"}})


def _call(op: str) -> Relay:
    return _of(op, scalar(5), Tin=list_of(INT), Tout=list_of(INT), f=_SAME)


def _branch(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {
        "Tcond": BOOL,
        "Tin": list_of(INT),
        "Tout": list_of(INT),
        "then_branch": _SAME,
        "else_branch": _SAME,
    }
    return writer.node("If", (HOLDS, writer.constant(scalar(5)), *waits), attrs)


def _uninitialized(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {"dtype": INT, "shape": shape_attr(()), "shared_name": text_attr("never")}
    handle = writer.node("VarHandleOp", (), attrs)
    return writer.node("VarIsInitializedOp", (handle, *waits))


def _reader(writer: GraphWriter, waits: Sequence[str]) -> str:
    handle = writer.node("IdentityReaderV2", (), {"shared_name": text_attr("reader")})
    return writer.node("ReaderNumRecordsProducedV2", (handle, *waits))


def _temporary(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {"dtype": INT, "shape": shape_attr(()), "var_name": text_attr("temporary")}
    temporary = writer.node("TemporaryVariable", tuple(waits), attrs)
    filled = writer.node("Assign", (temporary, writer.constant(scalar(5))), {"T": INT})
    attrs = {"T": INT, "var_name": text_attr("temporary")}
    return writer.node("DestroyTemporaryVariable", (filled,), attrs)


#: What may stand between two operations.
RELAYS: Final[dict[str, Relay]] = {
    "Const": _constant,
    "NoOp": _without_inputs("NoOp"),
    "ControlTrigger": _without_inputs("ControlTrigger"),
    "Identity": _of("Identity", scalar(5), T=INT),
    "IdentityN": _of("IdentityN", scalar(5), T=list_of(INT)),
    "Neg": _of("Neg", scalar(5), T=INT),
    "StopGradient": _of("StopGradient", scalar(5), T=INT),
    "PlaceholderWithDefault": _of(
        "PlaceholderWithDefault", scalar(5), dtype=INT, shape=shape_attr(())
    ),
    "Shape": _of("Shape", scalar(5), T=INT, out_type=INT),
    "Unique": _of("Unique", np.array([5, 5, 6], np.int32), T=INT, out_idx=INT),
    "CheckNumerics": _of("CheckNumerics", np.float32(5), T=FLOAT, message=text_attr("")),
    "RandomUniform": _of("RandomUniform", np.array([2], np.int32), T=INT, dtype=FLOAT),
    "PartitionedCall": _call("PartitionedCall"),
    "StatefulPartitionedCall": _call("StatefulPartitionedCall"),
    "While": _of("While", scalar(5), T=list_of(INT), cond=_NEVER, body=_SAME),
    "If": _branch,
    "Merge": _conditional,
    "Assert": _assertion,
    "Print": _silent_print,
    "VarHandleOp": _without_inputs("VarHandleOp", dtype=INT, shape=shape_attr(())),
    "VarIsInitializedOp": _uninitialized,
    "QueueV2": _without_inputs("FIFOQueueV2", component_types=list_of(INT)),
    "Table": _without_inputs("MutableHashTableV2", key_dtype=LONG, value_dtype=LONG),
    "Reader": _reader,
    "TemporaryVariable": _temporary,
}


def _untrue(writer: GraphWriter, waits: Sequence[str]) -> str:
    fails = writer.node("LogicalNot", (HOLDS,))
    return writer.node("Assert", (fails, HOLDS, *waits), {"T": list_of(BOOL)})


def _divided(writer: GraphWriter, waits: Sequence[str]) -> str:
    fails = writer.node("LogicalNot", (HOLDS,))
    zero = writer.node("Cast", (fails,), {"SrcT": BOOL, "DstT": INT})
    return writer.node("FloorDiv", (writer.constant(scalar(5)), zero, *waits), {"T": INT})


def _no_number(writer: GraphWriter, waits: Sequence[str]) -> str:
    one = writer.node("Cast", (HOLDS,), {"SrcT": BOOL, "DstT": FLOAT})
    zero = writer.node("Sub", (one, one), {"T": FLOAT})
    quotient = writer.node("RealDiv", (one, zero), {"T": FLOAT})
    attrs = {"T": FLOAT, "message": text_attr("no number")}
    return writer.node("CheckNumerics", (quotient, *waits), attrs)


def _beyond(writer: GraphWriter, waits: Sequence[str]) -> str:
    one = writer.node("Cast", (HOLDS,), {"SrcT": BOOL, "DstT": INT})
    rows = writer.constant(np.array([5], np.int32))
    attrs = {"Tparams": INT, "Tindices": INT}
    gather = writer.node("Gather", (rows, one, *waits), attrs)
    writer.put_on(gather, CPU)
    return gather


def _unread(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {"dtype": INT, "shape": shape_attr(()), "shared_name": text_attr("unwritten")}
    handle = writer.node("VarHandleOp", (), attrs)
    return writer.node("ReadVariableOp", (handle, *waits), {"dtype": INT})


def _unfilled(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {"key_dtype": LONG, "value_dtype": LONG, "shared_name": text_attr("unfilled")}
    handle = writer.node("HashTableV2", (), attrs)
    key = writer.constant(scalar(0, "int64"))
    return writer.node("LookupTableFindV2", (handle, key, key, *waits), {"Tin": LONG, "Tout": LONG})


def _emptied(writer: GraphWriter, waits: Sequence[str]) -> str:
    attrs = {"elem_type": dtype_attr("int32"), "stack_name": text_attr("empty")}
    handle = writer.node("StackV2", (writer.constant(scalar(-1)),), attrs)
    return writer.node("StackPopV2", (handle, *waits), {"elem_type": INT})


#: Operations that fail, with the code of their errors.
FAILING: Final[dict[str, tuple[Relay, int]]] = {
    "Assert": (_untrue, 3),
    "FloorDiv": (_divided, 3),
    "CheckNumerics": (_no_number, 3),
    "Gather": (_beyond, 3),
    "ReadVariableOp": (_unread, 9),
    "LookupTableFindV2": (_unfilled, 9),
    "StackPopV2": (_emptied, 3),
}
