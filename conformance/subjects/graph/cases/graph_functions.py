"""Vectors of GRAPH: GraphDefs with a library, and operations that call its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.graph.cases.graph_definitions import (
    FLOAT,
    Json,
    const,
    graph_def,
    node,
    placeholder,
)
from sessrun.conformance.subjects.run.cases.run import floats

_RESOURCE: Json = {"type": "DT_RESOURCE"}


def args(names: str, dtype: str = "DT_FLOAT") -> list[Json]:
    """Give the arguments of a signature."""
    return [{"name": name, "type": dtype} for name in names.split()]


def function_def(
    name: str,
    inputs: list[Json],
    results: Mapping[str, str],
    *nodes: Json,
    stateful: bool = False,
    control: Mapping[str, str] | None = None,
) -> Json:
    """Give a FunctionDef whose results are floats; `control` is its `control_ret`."""
    signature = {
        "name": name,
        "inputArg": inputs,
        "outputArg": args(" ".join(results)),
        "isStateful": stateful,
    }
    definition: Json = {"signature": signature, "nodeDef": list(nodes), "ret": dict(results)}
    if control:
        signature["controlOutput"] = list(control)
        definition["controlRet"] = dict(control)
    return definition


def with_library(graph: Json, *functions: Json) -> Json:
    """Give the graph with functions."""
    return {**graph, "library": {"function": list(functions)}}


def _difference_and_product() -> Json:
    """Give the function of `x` and `y` with results `d`, x - 2y, and `p`, 2xy."""
    return function_def(
        "Both",
        args("x y"),
        {"d": "difference:z:0", "p": "product:z:0"},
        const("two", dtype="DT_FLOAT", shape=[], floatVal=[2]),
        node("twice", "Mul", "y", "two:output:0", T=FLOAT),
        node("difference", "Sub", "x", "twice:z:0", T=FLOAT),
        node("product", "Mul", "x", "twice:z:0", T=FLOAT),
    )


def _call(
    name: str, op: str, function: str, *inputs: str, results: int, dtypes: Sequence[str] = ()
) -> Json:
    """Give a call by attribute, with floats as results, of inputs of these dtypes or floats."""
    types = {"list": {"type": list(dtypes) or ["DT_FLOAT"] * len(inputs)}}
    return node(
        name,
        op,
        *inputs,
        Tin=types,
        Tout={"list": {"type": ["DT_FLOAT"] * results}},
        f={"func": {"name": function}},
    )


@engine_case("GRAPH-132", title="An operation called as a function runs its body.")
def a_call_by_name(c: EngineAuthor) -> None:
    call = node("call", "Both", "p", "q")
    after = node("sum", "AddV2", "call", "call:1", T=FLOAT)
    graph = graph_def(placeholder("p"), placeholder("q"), call, after, min_consumer=12)
    c.graph_json(with_library(graph, _difference_and_product()))
    session = c.open()
    feeds = {"p:0": floats(5, 7), "q:0": floats(1, 2)}
    session.run(["call:0", "call:1"], feeds, values=[floats(3, 3), floats(10, 28)])
    session.run(["sum:0"], feeds, values=[floats(13, 31)])


@engine_case("GRAPH-132", title="A function calls another; each call has inputs of its own.")
def functions_call_functions(c: EngineAuthor) -> None:
    outer = function_def(
        "Outer",
        args("a b"),
        {"r": "second:d:0"},
        node("first", "Both", "a", "b"),
        node("second", "Both", "first:p:0", "b"),
    )
    nodes = [
        placeholder("p"),
        placeholder("q"),
        node("one", "Outer", "p", "q"),
        node("two", "Outer", "q", "p"),
    ]
    graph = graph_def(*nodes, min_consumer=12)
    c.graph_json(with_library(graph, outer, _difference_and_product()))
    feeds = {"p:0": np.float32(3), "q:0": np.float32(1)}
    c.open().run(["two:0", "one:0"], feeds, values=[np.float32(0), np.float32(4)])


@engine_case("GRAPH-133", title="A partitioned call runs the function that it names.")
def a_call_by_attribute(c: EngineAuthor) -> None:
    other = function_def("Other", args("x y"), {"a": "x", "b": "x"})
    calls = [
        _call("plain", "PartitionedCall", "Both", "p", "q", results=2),
        _call("stateful", "StatefulPartitionedCall", "Both", "q", "p", results=2),
    ]
    graph = graph_def(placeholder("p"), placeholder("q"), *calls, min_consumer=12)
    c.graph_json(with_library(graph, other, _difference_and_product()))
    session = c.open()
    feeds = {"p:0": floats(5, 7), "q:0": floats(1, 2)}
    session.run(["plain:0", "plain:1"], feeds, values=[floats(3, 3), floats(10, 28)])
    session.run(["stateful:1", "stateful:0"], feeds, values=[floats(10, 28), floats(-9, -12)])


def _counting(control: Mapping[str, str], *calls: Json) -> Json:
    """Give a graph with calls of `Counted`, which adds 1 to the variable `h` and returns `x`.

    Args:
      control: the function's `control_ret`.
      calls: operations that call it, with inputs of `v`, the variable, and the placeholder `p`.

    """
    empty: Json = {"s": ""}
    scalar: Json = {"shape": {}}
    handle = node("v", "VarHandleOp", dtype=FLOAT, shape=scalar, container=empty, shared_name=empty)
    count = function_def(
        "Counted",
        [*args("h", "DT_RESOURCE"), *args("x")],
        {"r": "same:output:0"},
        const("one", dtype="DT_FLOAT", shape=[], floatVal=[1]),
        node("step", "AssignAddVariableOp", "h", "one:output:0", dtype=FLOAT),
        node("same", "Identity", "x", T=FLOAT),
        stateful=True,
        control=control,
    )
    nodes = [
        handle,
        const("zero", dtype="DT_FLOAT", shape=[], floatVal=[0]),
        placeholder("p"),
        node("init", "AssignVariableOp", "v", "zero", dtype=FLOAT),
        node("read", "ReadVariableOp", "v", dtype=FLOAT),
        *calls,
    ]
    return with_library(graph_def(*nodes, min_consumer=12), count)


@engine_case("GRAPH-134", title="An update in a function's body is done at each call.")
def effects_of_a_body(c: EngineAuthor) -> None:
    c.graph_json(_counting({}, node("call", "Counted", "v", "p")))
    session = c.open()
    session.run(["init"], values=[None])
    for value in (5, 6):
        session.run(["call:0"], {"p:0": np.float32(value)}, values=[np.float32(value)])
    session.run(["read:0"], values=[np.float32(2)])


@engine_case("GRAPH-138", title="An update that control_ret names is done at each call.")
def control_results_of_a_body(c: EngineAuthor) -> None:
    dtypes = ["DT_RESOURCE", "DT_FLOAT"]
    calls = [
        _call(name, op, "Counted", "v", "p", results=1, dtypes=dtypes)
        for name, op in (("a", "PartitionedCall"), ("b", "StatefulPartitionedCall"))
    ]
    c.graph_json(_counting({"stepped": "step"}, *calls, node("c", "Counted", "v", "p")))
    session = c.open()
    session.run(["init"], values=[None])
    for count, call in enumerate("abcba", 1):
        session.run([f"{call}:0"], {"p:0": np.float32(7)}, values=[np.float32(7)])
        session.run(["read:0"], values=[np.float32(count)])


@engine_case("GRAPH-135", title="A call of a function that is not there fails.")
def a_call_of_nothing(c: EngineAuthor) -> None:
    call = _call("call", "PartitionedCall", "Nothing", "p", results=1)
    graph = graph_def(placeholder("p"), call, min_consumer=12)
    c.graph_json(with_library(graph, _difference_and_product()))
    c.open().run(["call:0"], {"p:0": np.float32(1)}, error=[3, 5])
