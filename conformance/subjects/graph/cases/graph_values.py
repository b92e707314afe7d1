"""Vectors of GRAPH: the values of constants in a GraphDef, arithmetic and broadcasting."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.graph.cases.graph_definitions import (
    FLOAT,
    INT,
    add,
    const,
    graph_def,
    node,
    placeholder,
    same,
)
from sessrun.conformance.subjects.run.cases.run import floats

# --- constants ----------------------------------------------------------------------------


@engine_case("GRAPH-074", title="A constant repeats the last of the values it lists.")
def constant_repeats_its_last_value(c: EngineAuthor) -> None:
    short = const("short", dtype="DT_FLOAT", shape=[4], floatVal=[1.0, 2.0])
    sevens = const("sevens", dtype="DT_INT32", shape=[2, 2], intVal=[5, 7])
    nodes = [add("y", "x", "short"), add("z", "i", "sevens", dtype=INT)]
    c.graph_json(graph_def(placeholder("x"), placeholder("i", INT), short, sevens, *nodes))
    s = c.open()
    s.run(["y:0"], {"x:0": np.float32(10)}, values=[floats(11, 12, 12, 12)])
    s.run(["z:0"], {"i:0": np.int32(1)}, values=[np.array([[6, 8], [8, 8]], np.int32)])
    s.run(["short:0"], values=[floats(1, 2, 2, 2)])


@engine_case("GRAPH-074", title="A constant of one value is full of it, whatever its shape.")
def constant_of_one_value(c: EngineAuthor) -> None:
    full = const("full", dtype="DT_FLOAT", shape=[2, 3], floatVal=[1.5])
    true = const("true", dtype="DT_BOOL", shape=[2], boolVal=[True])
    c.graph_json(graph_def(full, true, placeholder("x"), add("y", "x", "full")))
    s = c.open()
    s.run(["y:0"], {"x:0": np.float32(1)}, values=[np.full((2, 3), 2.5, np.float32)])
    s.run(["true:0"], values=[np.array([True, True])])


@engine_case("GRAPH-075", title="An ill-formed constant loads, and fails the run that needs it.")
def ill_formed_constant(c: EngineAuthor) -> None:
    content = const("content", dtype="DT_FLOAT", shape=[1], tensorContent="AAA=")
    other = const("other", dtype="DT_INT32", shape=[], intVal=[1])
    other["attr"]["dtype"] = FLOAT
    c.graph_json(graph_def(content, other, placeholder("x"), same("y", "x")))
    s = c.open()
    s.run(["y:0"], {"x:0": np.float32(1)}, values=[np.float32(1)])
    s.run(["content:0"], error=[3])
    s.run(["other:0"], error=[3])
    s.run(["y:0"], {"x:0": np.float32(2)}, values=[np.float32(2)])


# --- arithmetic ---------------------------------------------------------------------------


@engine_case("GRAPH-098", title="FloorDiv rounds towards minus infinity.")
def floor_division(c: EngineAuthor) -> None:
    types = {"i": INT, "f": FLOAT, "l": {"type": "DT_INT64"}}
    nodes = []
    for name, dtype in types.items():
        nodes += [placeholder(name, dtype), placeholder(f"{name}2", dtype)]
        nodes += [node(f"{name}_y", "FloorDiv", name, f"{name}2", T=dtype)]
    c.graph_json(graph_def(*nodes))
    s = c.open()
    for name, kind in (("i", "int32"), ("f", "float32"), ("l", "int64")):
        feeds = {f"{name}:0": np.array([7, -7, 7, -7, 6], kind)}
        feeds[f"{name}2:0"] = np.array([-2, 2, 2, -2, -3], kind)
        s.run([f"{name}_y:0"], feeds, values=[np.array([-4, -4, 3, 3, -2], kind)])


@engine_case("GRAPH-099", title="FloorMod has the sign of the divisor.")
def floor_remainder(c: EngineAuthor) -> None:
    nodes = []
    for name, dtype in (("i", INT), ("f", FLOAT)):
        nodes += [placeholder(name, dtype), placeholder(f"{name}2", dtype)]
        nodes += [node(f"{name}_y", "FloorMod", name, f"{name}2", T=dtype)]
    c.graph_json(graph_def(*nodes))
    s = c.open()
    for name, kind in (("i", "int32"), ("f", "float32")):
        feeds = {f"{name}:0": np.array([7, -7, 7, -7, 6], kind)}
        feeds[f"{name}2:0"] = np.array([-2, 2, 2, -2, -3], kind)
        s.run([f"{name}_y:0"], feeds, values=[np.array([-1, 1, 1, -1, 0], kind)])


@engine_case("GRAPH-101", title="Elementwise operands are broadcast from the last dimension.")
def broadcasting(c: EngineAuthor) -> None:
    c.graph_json(graph_def(placeholder("a"), placeholder("b"), add("y", "a", "b")))
    s = c.open()
    column, row = floats(1, 2)[:, None], floats(10, 20, 30)
    s.run(["y:0"], {"a:0": column, "b:0": row}, values=[column + row])
    deep = np.arange(6, dtype=np.float32).reshape(3, 1, 2)
    tall = np.arange(4, dtype=np.float32).reshape(4, 1) * 100
    s.run(["y:0"], {"a:0": deep, "b:0": tall}, values=[deep + tall])
    s.run(["y:0"], {"a:0": floats(), "b:0": floats(1)}, values=[floats()])
    s.run(["y:0"], {"a:0": floats(1, 2), "b:0": row}, error=[3])
