"""Small GraphDefs for the operations whose arguments no domain draws: state, sources, checks."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from exchange_calls import CALLED, graph_of
from exchange_first_releases import FIRST_RELEASES
from exchange_functions import FUNCTIONS
from exchange_inputs import INPUTS
from exchange_older import older
from exchange_resources import RESOURCES
from exchange_summaries import SUMMARIES
from exchange_training import TRAINING
from exchange_variables import VARIABLES

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.rules.domains import arguments
from sessrun.spec.tables.ops import OPERATIONS

F32 = dtype_attr("float32")
I32 = dtype_attr("int32")
SHAPE3 = {"shape": {"dim": [{"size": "3"}]}}
SCALAR = {"shape": {}}


@dataclass(frozen=True)
class Program:
    """A graph and the fetches of its runs, one after the other in one session."""

    covers: tuple[str, ...]
    graph: dict[str, Any]
    runs: tuple[tuple[str, ...], ...]
    random: bool = False


def _program(
    covers: str, build: Callable[[GraphWriter], None], *runs: tuple[str, ...], random: bool = False
) -> Program:
    writer = GraphWriter()
    build(writer)
    graph, types = writer.graph(), tuple(covers.split())
    last = min((OPERATIONS[op].until for op in types if OPERATIONS[op].until), default=0)
    if last:
        graph["versions"]["producer"] = last - 1
    return Program(types, graph, runs, random)


def _variable(w: GraphWriter, op: str = "VariableV2", dtype: str = "float32") -> None:
    empty = {"s": ""}
    w.node(
        op,
        (),
        {"dtype": dtype_attr(dtype), "shape": SHAPE3, "container": empty, "shared_name": empty},
        "v",
    )
    w.constant(np.array([1, 2, 3], dtype), "one")
    w.node(
        "Assign",
        ("v", "one"),
        {"T": dtype_attr(dtype), "use_locking": {"b": True}, "validate_shape": {"b": True}},
        "init",
    )
    w.node("Identity", ("v",), {"T": dtype_attr(dtype)}, "read")


def _reference(op: str) -> Callable[[GraphWriter], None]:
    def build(w: GraphWriter) -> None:
        _variable(w)
        w.node(op, ("v", "one"), {"T": F32, "use_locking": {"b": False}}, "update")

    return build


def _first_kind(w: GraphWriter) -> None:
    _variable(w, "Variable")
    w.node("IsVariableInitialized", ("v",), {"dtype": F32}, "ready")


def _count(w: GraphWriter) -> None:
    empty = {"s": ""}
    w.node(
        "VariableV2",
        (),
        {"dtype": I32, "shape": SCALAR, "container": empty, "shared_name": empty},
        "v",
    )
    w.constant(np.int32(0), "zero")
    w.node(
        "Assign",
        ("v", "zero"),
        {"T": I32, "use_locking": {"b": True}, "validate_shape": {"b": True}},
        "init",
    )
    w.node("CountUpTo", ("v",), {"T": I32, "limit": {"i": "2"}}, "count")


def _scatter(op: str) -> Callable[[GraphWriter], None]:
    def build(w: GraphWriter) -> None:
        _variable(w)
        w.constant(np.array([0, 2], np.int32), "places")
        w.constant(np.array([5, 7], np.float32), "updates")
        attrs = {"T": F32, "Tindices": I32, "use_locking": {"b": True}}
        w.node(op, ("v", "places", "updates"), attrs, "update")

    return build


def _scatter_nd(op: str) -> Callable[[GraphWriter], None]:
    def build(w: GraphWriter) -> None:
        _variable(w)
        w.constant(np.array([[0], [2]], np.int32), "places")
        w.constant(np.array([5, 7], np.float32), "updates")
        attrs = {"T": F32, "Tindices": I32, "use_locking": {"b": True}}
        w.node(op, ("v", "places", "updates"), attrs, "update")

    return build


def _temporary(w: GraphWriter) -> None:
    w.node("TemporaryVariable", (), {"dtype": F32, "shape": SHAPE3, "var_name": {"s": "dA=="}}, "t")
    w.constant(np.array([1, 2, 3], np.float32), "one")
    w.node(
        "Assign",
        ("t", "one"),
        {"T": F32, "use_locking": {"b": True}, "validate_shape": {"b": True}},
        "assigned",
    )
    w.node("DestroyTemporaryVariable", ("assigned",), {"T": F32, "var_name": {"s": "dA=="}}, "end")


SCATTERS = tuple(
    "ResourceScatter" + kind for kind in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")
)


def _resource(w: GraphWriter) -> None:
    w.node(
        "VarHandleOp",
        (),
        {"dtype": F32, "shape": SHAPE3, "container": {"s": ""}, "shared_name": {"s": "djA="}},
        "h",
    )
    w.constant(np.array([1, 2, 3], np.float32), "one")
    w.constant(np.array([0, 2], np.int32), "places")
    w.constant(np.array([5, 7], np.float32), "updates")
    for op, name in (
        ("AssignVariableOp", "init"),
        ("AssignAddVariableOp", "plus"),
        ("AssignSubVariableOp", "minus"),
    ):
        w.node(op, ("h", "one"), {"dtype": F32}, name)
    for op in SCATTERS:
        w.node(op, ("h", "places", "updates"), {"dtype": F32, "Tindices": I32}, op)
    w.node("ReadVariableOp", ("h",), {"dtype": F32}, "read")
    w.node("VarIsInitializedOp", ("h",), {}, "ready")
    w.node("VariableShape", ("h",), {"out_type": I32}, "shape")
    w.node(
        "ResourceGather",
        ("h", "places"),
        {"dtype": F32, "Tindices": I32, "validate_indices": {"b": True}},
        "gather",
    )
    w.constant(np.array([[2], [0]], np.int32), "vectors")
    w.node("ResourceGatherNd", ("h", "vectors"), {"dtype": F32, "Tindices": I32}, "gather_nd")
    w.node("DestroyResourceOp", ("h",), {"ignore_lookup_error": {"b": True}}, "destroy")


def _resource_count(w: GraphWriter) -> None:
    w.node(
        "VarHandleOp",
        (),
        {"dtype": I32, "shape": SCALAR, "container": {"s": ""}, "shared_name": {"s": "Yw=="}},
        "h",
    )
    w.constant(np.int32(0), "zero")
    w.node("AssignVariableOp", ("h", "zero"), {"dtype": I32}, "init")
    w.node("ResourceCountUpTo", ("h",), {"T": I32, "limit": {"i": "5"}}, "count")


def _drawn(op: str) -> Callable[[GraphWriter], None]:
    """An operation with seeds on drawn constants, called `out`."""

    def build(w: GraphWriter) -> None:
        operation = OPERATIONS[op]
        given = arguments(operation, random.Random(op))
        inputs = [w.constant(given.inputs[arg.name]) for arg in operation.inputs]
        w.operation(operation, inputs, given.attrs, "out")

    return build


def _plain(w: GraphWriter) -> None:
    w.constant(np.array([1.5, 2, 3], np.float32), "c")
    w.constant(np.array(True), "yes")
    w.node("PlaceholderWithDefault", ("c",), {"dtype": F32, "shape": SHAPE3}, "with_default")
    w.node(
        "Assert",
        ("yes", "c"),
        {"T": {"list": {"type": ["DT_FLOAT"]}}, "summarize": {"i": "3"}},
        "assert",
    )
    w.node("NoOp", ("^assert",), {}, "nothing")
    w.node("CheckNumerics", ("c",), {"T": F32, "message": {"s": "bQ=="}}, "checked")
    w.node(
        "Print",
        ("c", "c"),
        {
            "T": F32,
            "U": {"list": {"type": ["DT_FLOAT"]}},
            "message": {"s": ""},
            "first_n": {"i": "0"},
            "summarize": {"i": "3"},
        },
        "printed",
    )
    w.node("AccumulateNV2", ("c", "c"), {"N": {"i": "2"}, "T": F32, "shape": SHAPE3}, "sum")
    w.placeholder("float32", (3,), "p")


def _by_moments() -> Program:
    """The first batch normalization and its gradients; version 8 is the last one with them."""
    w = GraphWriter()
    values = np.array([[[[1.5, -2.0], [0.25, 3.0]]]], np.float32)
    w.constant(values, "t")
    for name, value in (
        ("m", [0.5, 1.0]),
        ("v", [0.75, 3.75]),
        ("move", [1.0, 2.0]),
        ("by", [2.0, 0.5]),
    ):
        w.constant(np.array(value, np.float32), name)
    attrs = {"T": F32, "variance_epsilon": {"f": 0.25}, "scale_after_normalization": {"b": True}}
    forward = "BatchNormWithGlobalNormalization"
    w.node(forward, ("t", "m", "v", "move", "by"), attrs, "normal")
    w.node(f"{forward}Grad", ("t", "m", "v", "by", "normal"), attrs, "back")
    graph = {**w.graph(), "versions": {"producer": 8}}
    return Program(
        (forward, f"{forward}Grad"), graph, (("normal:0",), tuple(f"back:{i}" for i in range(5)))
    )


def _kept(w: GraphWriter) -> None:
    w.constant(np.array([1.5, 2, 3], np.float32), "c")
    w.node("GetSessionHandle", ("c",), {"T": F32}, "keep")
    w.placeholder("string", (), "handle")
    w.node("GetSessionTensor", ("handle",), {"dtype": F32}, "read")
    w.node("DeleteSessionTensor", ("handle",), {}, "forget")


def _queue(op: str) -> Callable[[GraphWriter], None]:
    def build(w: GraphWriter) -> None:
        first = op == "PriorityQueueV2"
        types = ["DT_INT64"] if first else []
        kinds = [*types, "DT_FLOAT"]
        attrs = {
            "component_types": {"list": {"type": ["DT_FLOAT"]}},
            "shapes": {"list": {"shape": [{}]}},
            "capacity": {"i": "9"},
            "container": {"s": ""},
            "shared_name": {"s": ""},
        }
        if op == "RandomShuffleQueueV2":
            attrs |= {"min_after_dequeue": {"i": "0"}, "seed": {"i": "1"}, "seed2": {"i": "2"}}
        w.node(op, (), attrs, "queue")
        w.constant(np.array(7, np.int64), "rank")
        w.constant(np.array(1.5, np.float32), "one")
        w.constant(np.array([3, 2], np.int64), "ranks")
        w.constant(np.array([2.5, 3.5], np.float32), "more")
        w.constant(np.array(2, np.int32), "two")
        put = {"Tcomponents": {"list": {"type": kinds}}, "timeout_ms": {"i": "-1"}}
        take = {"component_types": {"list": {"type": kinds}}, "timeout_ms": {"i": "-1"}}
        w.node("QueueEnqueueV2", ("queue", *["rank"][:first], "one"), put, "put")
        w.node("QueueEnqueueManyV2", ("queue", *["ranks"][:first], "more"), put, "put_more")
        w.node("QueueDequeueV2", ("queue",), take, "take")
        w.node("QueueDequeueManyV2", ("queue", "two"), take, "take_two")
        w.node("QueueDequeueUpToV2", ("queue", "two"), take, "take_rest")
        w.node("QueueSizeV2", ("queue",), {}, "size")
        w.node("QueueIsClosedV2", ("queue",), {}, "closed")
        w.node("QueueCloseV2", ("queue",), {"cancel_pending_enqueues": {"b": False}}, "close")

    return build


INIT, READ = ("init",), ("read:0",)


def _same_in_every_run(w: GraphWriter) -> None:
    w.constant(np.array([1, 2], "float32"), "value")
    w.node("GuaranteeConst", ("value",), {"T": F32}, "same")


_PROGRAMS = (
    _program("GuaranteeConst", _same_in_every_run, ("same:0",)),
    _program("Variable IsVariableInitialized", _first_kind, ("ready:0",), INIT, ("ready:0",), READ),
    *(
        _program(f"VariableV2 Assign {op}", _reference(op), INIT, ("update:0",), READ)
        for op in ("AssignAdd", "AssignSub")
    ),
    _program("CountUpTo", _count, INIT, ("count:0",), ("count:0",)),
    *(
        _program(op, _scatter(op), INIT, ("update:0",), READ)
        for op in (
            "ScatterUpdate",
            "ScatterAdd",
            "ScatterSub",
            "ScatterMul",
            "ScatterDiv",
            "ScatterMin",
            "ScatterMax",
        )
    ),
    *(
        _program(op, _scatter_nd(op), INIT, ("update:0",), READ)
        for op in (
            "ScatterNdUpdate",
            "ScatterNdAdd",
            "ScatterNdSub",
            "ScatterNdMin",
            "ScatterNdMax",
        )
    ),
    _program("TemporaryVariable DestroyTemporaryVariable", _temporary, ("end:0",)),
    _program(
        "VarHandleOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp ReadVariableOp "
        "VarIsInitializedOp VariableShape ResourceGather ResourceGatherNd DestroyResourceOp "
        + " ".join(SCATTERS),
        _resource,
        ("ready:0",),
        INIT,
        ("plus",),
        READ,
        ("minus",),
        *(step for op in SCATTERS for step in ((op,), READ)),
        ("read:0", "gather:0", "gather_nd:0", "shape:0"),
        ("destroy",),
        ("ready:0",),
    ),
    _program("ResourceCountUpTo", _resource_count, INIT, ("count:0",), ("count:0",)),
    *(
        _program(op, _drawn(op), ("out:0",), random=True)
        for op, operation in OPERATIONS.items()
        if operation.stateful and operation.domain and operation.attr("seed2")
    ),
    _program(
        "Const Placeholder PlaceholderWithDefault Assert NoOp CheckNumerics Print AccumulateNV2",
        _plain,
        ("with_default:0", "checked:0", "printed:0", "sum:0"),
        ("nothing", "assert"),
    ),
    _by_moments(),
    *(_program(covers, build, *runs) for covers, build, runs in FIRST_RELEASES),
    _program("GetSessionHandle GetSessionTensor DeleteSessionTensor", _kept, ("keep",)),
    *(
        _program(
            f"{op} QueueEnqueueV2 QueueEnqueueManyV2 QueueDequeueV2 QueueDequeueManyV2 "
            "QueueDequeueUpToV2 QueueSizeV2 QueueIsClosedV2 QueueCloseV2",
            _queue(op),
            ("put",),
            ("put_more",),
            ("size:0", "closed:0"),
            (take,),
            ("put_more",),
            ("size:0",),
            ("take_two:0",),
            ("close",),
            ("closed:0",),
            ("take_rest:0",),
            ("size:0",),
            random=op == "RandomShuffleQueueV2",
        )
        for op, take in (
            ("FIFOQueueV2", "take:0"),
            ("PaddingFIFOQueueV2", "take:0"),
            ("PriorityQueueV2", "take:1"),
            ("RandomShuffleQueueV2", "take:0"),
        )
    ),
    *(
        Program(tuple(covers.split()), graph_of(build), runs)
        for covers, build, runs in (
            *CALLED,
            *INPUTS,
            *RESOURCES,
            *SUMMARIES,
            *VARIABLES,
            *TRAINING,
            *FUNCTIONS,
        )
    ),
)


def _in_older_forms(program: Program) -> Program:
    """The program as a graph of the first releases; it covers nothing where it has no such form."""
    return Program(*older(program.graph, program.runs), program.random)


PROGRAMS = (
    *_PROGRAMS,
    *(made for made in map(_in_older_forms, _PROGRAMS) if made.covers and made.runs),
)
