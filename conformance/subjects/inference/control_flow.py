"""Branches and loops as a converting engine meets them: of single nodes, and of functions."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.subjects.inference.graphs import Program
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json, JsonObject

__all__ = ["branch_case", "call_case", "loop_case"]

_NODES: Final = "INFERENCE-016"
_FUNCTIONS: Final = "INFERENCE-017"


def _scalar(value: float, dtype: type = np.float32) -> np.ndarray:
    return np.array(value, dtype)


def _value(value: np.ndarray) -> Expect:
    return {"values": [{"$array": tensors.encode(value)}]}


def branch_case(draw: random.Random, id_: str) -> Case:
    """A conditional of Switch and Merge: on values, or between two constants."""
    program = Program("float32")
    n = program.placeholder((), "float32")
    limit = draw.randint(-3, 3)
    taken = program.apply("Greater", n, program.constant(limit))
    fed: dict[str, np.ndarray] = {}
    when_true, when_false = _scalar(1), _scalar(-1)
    if draw.random() < 0.5:
        x = program.placeholder((2,))
        parts = program.apply("Switch", x, taken)
        no, yes = program.apply("Neg", f"{parts}:0"), program.apply("Square", f"{parts}:1")
        value: np.ndarray = np.array([draw.randint(-5, 5), draw.randint(-5, 5)], np.float32)
        fed, when_true, when_false = {x: value}, value * value, -value
    else:
        pivots = program.apply("Switch", taken, taken, T="bool")
        no, yes = (program.constant(number) for number in (-1, 1))
        for index, constant in enumerate((no, yes)):
            pivot = program.apply("Identity", f"{pivots}:{index}", T="bool")
            program.writer.wait(constant, pivot)
    merged = program.apply("Merge", no, yes, N=2)
    for number in draw.sample((limit - 1, limit, limit + 1), 3):
        wanted = when_true if number > limit else when_false
        program.run([merged], fed | {n: _scalar(number)}, _value(wanted), _NODES)
    return program.case(id_, "A conditional of nodes gives the value of its branch.")


def loop_case(draw: random.Random, id_: str) -> Case:
    """A loop of Enter, Merge, Switch and NextIteration that doubles a value some times."""
    program = Program("float32")
    x, times = program.placeholder((2,)), program.placeholder(())
    frame: dict[str, Json] = {"frame_name": "loop", "parallel_iterations": 10}
    count = program.apply("Enter", program.constant(0), **frame)
    held = program.apply("Enter", x, **frame)
    limit = program.apply("Enter", times, **frame | {"is_constant": True})
    # The second inputs of the merges are written once what they name is there.
    merges = [program.apply("Merge", entered, entered, N=2) for entered in (count, held)]
    goes_on = program.apply("LoopCond", program.apply("Less", merges[0], limit))
    parts = [program.apply("Switch", merge, goes_on) for merge in merges]
    exits = [program.apply("Exit", f"{part}:0") for part in parts]
    inside = [program.apply("Identity", f"{part}:1") for part in parts]
    one = program.constant(1)
    program.writer.wait(one, inside[0])
    step = draw.choice(("AddV2", "Mul"))
    counted = program.apply("AddV2", inside[0], one)
    stepped = program.apply(step, inside[1], inside[1])
    for merge, name in zip(merges, (counted, stepped), strict=True):
        program.writer.replace_input(merge, 1, program.apply("NextIteration", name))
    value = np.array([draw.randint(-2, 2), 1], np.float32)
    for number in draw.sample(range(4), 3):
        wanted = value
        for _ in range(number):
            wanted = wanted + wanted if step == "AddV2" else wanted * wanted
        fed = {x: value, times: _scalar(number)}
        program.run([exits[1]], fed, _value(wanted), _NODES)
    return program.case(id_, "A loop of nodes goes on as often as its condition says.")


def _function(name: str, body: GraphWriter, ret: str, inputs: list[str], out: str) -> JsonObject:
    """A function of float32 tensors, with one output."""

    def arg(name: str, dtype: str) -> JsonObject:
        return {"name": name, "type": dtype_attr(dtype)["type"]}

    return {
        "signature": {
            "name": name,
            "inputArg": [arg(i, "float32") for i in inputs],
            "outputArg": [arg("result", out)],
        },
        "nodeDef": body.graph()["node"],
        "ret": {"result": ret},
    }


def _unary(name: str, op: str, input_: str = "x") -> JsonObject:
    body = GraphWriter()
    node = body.node(op, [input_], {"T": dtype_attr("float32")}, "node")
    return _function(name, body, f"{node}:y:0", [input_], "float32")


def _doubled() -> JsonObject:
    body = GraphWriter()
    node = body.node("AddV2", ["x", "x"], {"T": dtype_attr("float32")}, "node")
    return _function("doubled", body, f"{node}:z:0", ["x"], "float32")


def _below(limit: int) -> JsonObject:
    body = GraphWriter()
    number = body.constant(np.array(limit, np.float32), "limit")
    node = body.node("Less", ["x", f"{number}:output:0"], {"T": dtype_attr("float32")}, "node")
    return _function("below", body, f"{node}:z:0", ["x"], "bool")


def call_case(draw: random.Random, id_: str) -> Case:
    """A call, a conditional or a loop of functions."""
    kind = draw.choice(("PartitionedCall", "StatelessIf", "If", "StatelessWhile", "While"))
    program = Program("float32")
    x = program.placeholder(())
    limit = draw.randint(5, 20)
    types = {"list": {"type": [dtype_attr("float32")["type"]]}}
    if kind == "PartitionedCall":
        attrs = {"Tin": types, "Tout": types, "f": {"func": {"name": "squared"}}}
        node = program.writer.node(kind, [x], attrs)
    elif kind.endswith("If"):
        taken = program.apply("Less", x, program.constant(limit))
        attrs = {
            "Tcond": dtype_attr("bool"),
            "Tin": types,
            "Tout": types,
            "then_branch": {"func": {"name": "squared"}},
            "else_branch": {"func": {"name": "negated"}},
        }
        node = program.writer.node(kind, [taken, x], attrs)
    else:
        attrs = {
            "T": types,
            "cond": {"func": {"name": "below"}},
            "body": {"func": {"name": "doubled"}},
        }
        node = program.writer.node(kind, [x], attrs)
    program.library = [
        _unary("squared", "Square"),
        _unary("negated", "Neg"),
        _doubled(),
        _below(limit),
    ]
    for number in draw.sample(range(1, limit + 3), 3):
        wanted = _called(kind, number, limit)
        program.run([node], {x: _scalar(number)}, _value(_scalar(wanted)), _FUNCTIONS)
    return program.case(id_, f"{kind} gives what its functions give.")


def _called(kind: str, number: int, limit: int) -> int:
    if kind == "PartitionedCall":
        return number * number
    if kind.endswith("If"):
        return number * number if number < limit else -number
    while number < limit:
        number += number
    return number
