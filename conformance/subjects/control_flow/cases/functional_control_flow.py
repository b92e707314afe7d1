"""Vectors of CONTROL-FLOW: branches and loops whose parts are functions of a library."""

from __future__ import annotations

from collections.abc import Sequence

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
from sessrun.conformance.subjects.graph.cases.graph_functions import (
    args,
    function_def,
    with_library,
)

_FLOATS: Json = {"list": {"type": ["DT_FLOAT", "DT_FLOAT"]}}
_ONE: Json = {"list": {"type": ["DT_FLOAT"]}}
_FEEDS = {"x:0": np.float32(3), "y:0": np.float32(4)}
_SUM, _PRODUCT = np.float32(7), np.float32(12)


def _binary(name: str, op: str) -> Json:
    """A FunctionDef of one operation on `a` and `b`."""
    return function_def(name, args("a b"), {"r": "whole:z:0"}, node("whole", op, "a", "b", T=FLOAT))


def _library() -> list[Json]:
    """FunctionDefs of a sum, a product and a difference, and of a loop's step and condition."""
    condition = function_def(
        "Below", args("a b"), {"r": "less:z:0"}, node("less", "Less", "a", "b", T=FLOAT)
    )
    condition["signature"]["outputArg"] = args("r", "DT_BOOL")
    step = function_def(
        "Step",
        args("a b"),
        {"r": "twice:z:0", "s": "same:output:0"},
        node("twice", "AddV2", "a", "a", T=FLOAT),
        node("same", "Identity", "b", T=FLOAT),
    )
    return [
        _binary("Total", "AddV2"),
        _binary("Times", "Mul"),
        _binary("Minus", "Sub"),
        condition,
        step,
    ]


def _named(name: str) -> Json:
    return {"func": {"name": name}}


def _branch(name: str, op: str, cond: str, dtype: str) -> Json:
    return node(
        name,
        op,
        cond,
        "x",
        "y",
        Tcond={"type": dtype},
        Tin=_FLOATS,
        Tout=_ONE,
        then_branch=_named("Total"),
        else_branch=_named("Times"),
        output_shapes={"list": {}},
    )


def _choosing(
    c: EngineAuthor,
    dtype: str,
    shape: list[int],
    cases: Sequence[tuple[np.ndarray | np.generic, bool]],
) -> None:
    """Check which branch an If takes for these conditions; the first half of them hold."""
    nodes = [
        placeholder("x"),
        placeholder("y"),
        placeholder("c", {"type": dtype}, shape),
        _branch("if", "If", "c", dtype),
    ]
    c.graph_json(with_library(graph_def(*nodes, min_consumer=12), *_library()))
    session = c.open()
    for condition, holds in cases:
        feeds = {**_FEEDS, "c:0": condition}
        session.run(["if:0"], feeds, values=[_SUM if holds else _PRODUCT])


@engine_case("CONTROL-FLOW-013", title="The condition chooses the function.")
def functions_as_branches(c: EngineAuthor) -> None:
    kinds = ("If", "StatelessIf")
    nodes = [placeholder("x"), placeholder("y"), placeholder("c", {"type": "DT_BOOL"}, [])]
    nodes += [_branch(op.lower(), op, "c", "DT_BOOL") for op in kinds]
    c.graph_json(with_library(graph_def(*nodes, min_consumer=12), *_library()))
    session = c.open()
    for holds, value in ((True, _SUM), (False, _PRODUCT)):
        for op in kinds:
            session.run([f"{op.lower()}:0"], {**_FEEDS, "c:0": np.bool_(holds)}, values=[value])


@engine_case("CONTROL-FLOW-014", title="A number but zero holds, also one below zero.")
def numbers_as_conditions(c: EngineAuthor) -> None:
    cases = [(np.int32(2), True), (np.int32(0), False), (np.int32(-1), True)]
    _choosing(c, "DT_INT32", [], cases)


@engine_case("CONTROL-FLOW-015", title="A text holds unless it is empty.")
def texts_as_conditions(c: EngineAuthor) -> None:
    cases = [
        (np.array(b"0", object), True),
        (np.array(b"", object), False),
        (np.array(b"False", object), True),
    ]
    _choosing(c, "DT_STRING", [], cases)


@engine_case("CONTROL-FLOW-016", title="An array holds if it has elements, whatever these are.")
def arrays_as_conditions(c: EngineAuthor) -> None:
    nothing = np.zeros([0], np.int32)
    cases = [(np.array([0], np.int32), True), (nothing, False), (np.array([1, 0], "i4"), True)]
    _choosing(c, "DT_INT32", [-1], cases)


def _cases(c: EngineAuthor) -> None:
    """A graph with a Case and a StatelessCase on a fed number."""
    branches = {"list": {"func": [{"name": name} for name in ("Total", "Times", "Minus")]}}
    nodes = [placeholder("x"), placeholder("y"), placeholder("n", {"type": "DT_INT32"}, [])]
    nodes += [
        node(
            op.lower(),
            op,
            "n",
            "x",
            "y",
            Tin=_FLOATS,
            Tout=_ONE,
            branches=branches,
            output_shapes={"list": {}},
        )
        for op in ("Case", "StatelessCase")
    ]
    c.graph_json(with_library(graph_def(*nodes, min_consumer=12), *_library()))


@engine_case("CONTROL-FLOW-062", title="A number chooses the function.")
def a_function_of_a_number(c: EngineAuthor) -> None:
    _cases(c)
    session = c.open()
    for number, value in ((2, np.float32(-1)), (0, _SUM), (1, _PRODUCT)):
        feeds = {**_FEEDS, "n:0": np.int32(number)}
        session.run(["case:0", "statelesscase:0"], feeds, values=[value, value])


@engine_case("CONTROL-FLOW-017", title="A number outside chooses the last function.")
def a_function_by_a_number(c: EngineAuthor) -> None:
    _cases(c)
    session = c.open()
    last = np.float32(-1)
    for number, value in ((0, _SUM), (1, _PRODUCT), (2, last), (3, last), (-1, last), (-2, last)):
        feeds = {**_FEEDS, "n:0": np.int32(number)}
        session.run(["case:0"], feeds, values=[value])
        session.run(["statelesscase:0"], feeds, values=[value])


def _loops() -> Json:
    nodes = [placeholder("x"), placeholder("y")]
    nodes += [
        node(
            op.lower(),
            op,
            "x",
            "y",
            T=_FLOATS,
            cond=_named("Below"),
            body=_named("Step"),
            output_shapes={"list": {}},
            parallel_iterations={"i": "10"},
        )
        for op in ("While", "StatelessWhile")
    ]
    return with_library(graph_def(*nodes, min_consumer=12), *_library())


@engine_case("CONTROL-FLOW-018", title="A condition that does not hold leaves what was given.")
def a_loop_that_is_not_begun(c: EngineAuthor) -> None:
    c.graph_json(_loops())
    session = c.open()
    for op in ("while", "statelesswhile"):
        feeds = {"x:0": np.float32(5), "y:0": np.float32(4)}
        session.run([f"{op}:0", f"{op}:1"], feeds, values=[np.float32(5), np.float32(4)])


@engine_case("CONTROL-FLOW-019", title="The function is executed as long as the condition holds.")
def a_function_as_body(c: EngineAuthor) -> None:
    c.graph_json(_loops())
    session = c.open()
    for op in ("while", "statelesswhile"):
        for bound, value in ((20, 24), (4, 6), (100, 192)):
            feeds = {"x:0": np.float32(3), "y:0": np.float32(bound)}
            values = [np.float32(value), np.float32(bound)]
            session.run([f"{op}:0", f"{op}:1"], feeds, values=values)


@engine_case("CONTROL-FLOW-020", title="Only the branch that is taken updates.")
def branches_with_effects(c: EngineAuthor) -> None:
    scalar: Json = {"shape": {}}
    empty: Json = {"s": ""}
    functions = []
    for name, number in (("One", 1), ("Ten", 10)):
        functions.append(
            function_def(
                name,
                [*args("h", "DT_RESOURCE"), *args("a")],
                {"r": "same:output:0"},
                const("step", dtype="DT_FLOAT", shape=[], floatVal=[number]),
                node("update", "AssignAddVariableOp", "h", "step:output:0", dtype=FLOAT),
                node("same", "Identity", "a", "^update", T=FLOAT),
                stateful=True,
            )
        )
    nodes = [
        node("v", "VarHandleOp", dtype=FLOAT, shape=scalar, container=empty, shared_name=empty),
        const("zero", dtype="DT_FLOAT", shape=[], floatVal=[0]),
        placeholder("x"),
        placeholder("c", {"type": "DT_BOOL"}, []),
        node("init", "AssignVariableOp", "v", "zero", dtype=FLOAT),
        node("read", "ReadVariableOp", "v", dtype=FLOAT),
        node(
            "if",
            "If",
            "c",
            "v",
            "x",
            Tcond={"type": "DT_BOOL"},
            Tout=_ONE,
            Tin={"list": {"type": ["DT_RESOURCE", "DT_FLOAT"]}},
            then_branch=_named("One"),
            else_branch=_named("Ten"),
            output_shapes={"list": {}},
        ),
    ]
    c.graph_json(with_library(graph_def(*nodes, min_consumer=12), *functions))
    session = c.open()
    session.run(["init"], values=[None])
    for taken, total in ((True, 1), (False, 11), (True, 12)):
        feeds = {"c:0": np.bool_(taken), "x:0": np.float32(5)}
        session.run(["if:0"], feeds, values=[np.float32(5)])
        session.run(["read:0"], values=[np.float32(total)])
