"""Questions about what may be declared: what is declared works, what is not is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.doctor.question import (
    CONTRACT,
    Question,
    binary,
    case_of,
    failing,
    giving,
    opening,
    running,
)
from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.forms import Json

__all__ = ["OFFERS"]

_FLOAT: Final = dtype_attr("float32")
_SCALAR: Final = shape_attr(())
_ONE: Final = np.float32(1)
_TWO: Final = np.float32(2)
_FED: Final = {"x:0": _ONE, "y:0": _ONE}


def _api() -> Case:
    session: Json = {"$call": "tf.Session", "kwargs": {"graph": {"$": "graph"}}}
    value: Json = {"$call": "session.run", "args": [{"$": "y"}]}
    doubled: Json = {"$op": ["+", {"$": "x"}, {"$": "x"}]}
    steps: tuple[Step, ...] = (
        {"do": "eval", "expr": {"$call": "tf.Graph"}, "as": "graph"},
        {
            "do": "with",
            "context": {"$call": "graph.as_default"},
            "steps": [
                {"do": "eval", "expr": {"$call": "tf.constant", "args": [1.0]}, "as": "x"},
                {"do": "eval", "expr": doubled, "as": "y"},
            ],
        },
        {
            "do": "with",
            "context": session,
            "steps": [
                {
                    "do": "eval",
                    "expr": value,
                    "expect": {"value": {"as_array": giving(_TWO)["values"][0]}},
                },
            ],
            "as": "session",
        },
    )
    return Case("doctor/api", "api", "api", (), steps)


def _extend() -> Case:
    more = GraphWriter()
    more.node("AddV2", ("z", "z"), {"T": _FLOAT}, "more")
    return case_of(
        "extend",
        {"g": binary(), "h": more},
        opening(),
        {"do": "extend", "session": "s", "graph": "h"},
        running("more:0", feeds=_FED, expect=giving(np.float32(4))),
    )


def _partial_run() -> Case:
    part: Step = {"do": "partial", "session": "s", "handle": "h"}
    first, second = (running(feeds={name: _ONE})["feeds"] for name in ("x:0", "y:0"))
    return case_of(
        "partial-runs",
        {"g": binary()},
        opening(),
        {"do": "setup", "session": "s", "handle": "h", "fetches": ["z:0"], "names": ["x:0", "y:0"]},
        {**part, "fetches": [], "feeds": first, "expect": giving()},
        {**part, "fetches": ["z:0"], "feeds": second, "expect": giving(_TWO)},
    )


def _callable() -> Case:
    values = list(running(feeds=_FED)["feeds"].values())
    return case_of(
        "callables",
        {"g": binary()},
        opening(),
        {
            "do": "callable",
            "session": "s",
            "handle": "h",
            "fetches": ["z:0"],
            "names": ["x:0", "y:0"],
        },
        {"do": "call", "session": "s", "handle": "h", "values": values, "expect": giving(_TWO)},
    )


def _overlapping() -> Case:
    def start(thread: str) -> Step:
        return {"do": "start", "thread": thread, "step": running("z:0", feeds=_FED)}

    def join(thread: str) -> Step:
        return {"do": "join", "thread": thread, "expect": giving(_TWO)}

    steps = (start("a"), start("b"), join("b"), join("a"))
    return case_of("concurrent", {"g": binary()}, opening(), *steps)


def _resource_variable() -> Case:
    """A variable that is assigned in one run and read in the next."""
    graph = GraphWriter()
    attrs = {"dtype": _FLOAT, "shape": _SCALAR, "shared_name": text_attr("v")}
    graph.node("VarHandleOp", (), attrs, "v")
    graph.placeholder("float32", [], "x")
    graph.node("AssignVariableOp", ("v", "x"), {"dtype": _FLOAT}, "assign")
    graph.node("ReadVariableOp", ("v",), {"dtype": _FLOAT}, "read")
    return _kept("resource variables", graph, "assign", "read:0")


def _reference_variable() -> Case:
    graph = GraphWriter()
    graph.node("VariableV2", (), {"dtype": _FLOAT, "shape": _SCALAR}, "v")
    graph.placeholder("float32", [], "x")
    graph.node("Assign", ("v", "x"), {"T": _FLOAT}, "assign")
    graph.node("Identity", ("v",), {"T": _FLOAT}, "read")
    return _kept("reference variables", graph, "assign", "read:0")


def _kept(name: str, graph: GraphWriter, assign: str, read: str) -> Case:
    return case_of(
        name,
        {"g": graph},
        opening(),
        opening("t"),
        running(assign, feeds={"x:0": _TWO}),
        running(read, expect=giving(_TWO)),
        running(read, session="t", expect=failing(9)),
    )


def _timeout() -> Case:
    """A dequeue from an empty queue, with a time-out of a fifth of a second."""
    graph = GraphWriter()
    types = {"list": {"type": [_FLOAT["type"]]}}
    graph.node("FIFOQueueV2", (), {"component_types": types}, "queue")
    graph.node("QueueDequeueV2", ("queue",), {"component_types": types}, "taken")
    step = running("taken:0", options={"timeoutInMs": "200"}, expect=failing(4))
    return case_of("timeout", {"g": graph}, opening(), step)


def _configured() -> Case:
    return case_of(
        "configuration",
        {"g": binary()},
        opening(config={"deviceCount": {"CPU": 2}}),
        {"do": "devices", "session": "s"},
    )


def _two_cpus(_: Case, seen: Sequence[Observation]) -> str | None:
    """A configuration is obeyed or declined: with two CPUs the session lists two."""
    last = seen[-1]
    if last["outcome"] != "done":
        return f"{last['outcome']} {last.get('message', '')}".strip()
    devices = last["facts"].get("devices", ())
    names = devices if isinstance(devices, list | tuple) else ()
    cpus = [name for name in names if "CPU" in str(name).upper()]
    return None if len(cpus) == 2 else f"asked for 2 CPUs, the session lists {len(cpus)}"


def _offer(capability: str, asks: str, advice: str, *cases: Case) -> Question:
    """The question of a capability; several cases are told apart by their titles."""
    labelled = {case.title if len(cases) > 1 else "": case for case in cases}
    advice += f" Or do not declare {capability}, and decline."
    return Question(capability, asks, labelled, advice)


OFFERS: Final = (
    _offer(
        "api",
        "The Python namespace builds a graph and runs it.",
        "Hand the namespace to NamespaceBackend: Graph, Session, constant and the rest have "
        "TensorFlow's signatures.",
        _api(),
    ),
    _offer(
        "callables",
        "A callable takes its values in the order of its feeds.",
        "callable keeps fetches and feeds, call runs them.",
        _callable(),
    ),
    _offer(
        "concurrent",
        "Two runs of a session may overlap.",
        "Guard what the runs of a session share; answers may come in any order.",
        _overlapping(),
    ),
    _offer(
        "devices",
        "A session lists its devices.",
        "Answer Done({'devices': [full names]}).",
        case_of("devices", {"g": binary()}, opening(), {"do": "devices", "session": "s"}),
    ),
    _offer(
        "extend",
        "Nodes are added to the graph of an open session.",
        "The new nodes may have older ones as inputs.",
        _extend(),
    ),
    _offer(
        "partial_runs",
        "A partial run goes on where it stopped.",
        "Keep the values of a partial run by its handle.",
        _partial_run(),
    ),
    _offer(
        "reset",
        "Resource containers are cleared.",
        "Answer Done() once they are.",
        case_of("reset", {"g": binary()}, {"do": "reset", "containers": []}),
    ),
    _offer(
        "state",
        "A variable keeps its value, in its own session only.",
        "Keep variables with their session.",
        _resource_variable(),
        _reference_variable(),
    ),
    Question(
        "configuration",
        "What a configuration asks for is done, or declined.",
        {"": _configured()},
        "Decline what you do not do: Unsupported('config', field). Only what changes no answer "
        "(log_device_placement, numbers of threads) may be ignored.",
        CONTRACT,
        check=_two_cpus,
        may_decline=True,
    ),
    Question(
        "timeout",
        "A run that waits ends when its time-out is over: code 4.",
        {"": _timeout()},
        "Obey timeout_in_ms of RunOptions, or decline: Unsupported('options', 'timeout_in_ms').",
        CONTRACT,
    ),
)
