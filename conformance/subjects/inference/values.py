"""Values where converting engines differ: NaN, infinities, ends of integers, no elements."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.definitions import BY_DEFINITION
from sessrun.conformance.subjects.inference.graphs import Program, turn
from sessrun.spec.cases.forms import Expect, OracleForm
from sessrun.spec.cases.model import Case
from sessrun.spec.definitions import DEFINITIONS
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.inference import contract_in
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "EMPTY_ROWS",
    "INTEGER_ROWS",
    "SPECIAL_ROWS",
    "classified_case",
    "compared_case",
    "division_case",
    "empty_case",
    "overflow_case",
    "reduced_case",
    "special_case",
    "zero_divisor_case",
]

_NAN: Final = "INFERENCE-019"
_COMPARED: Final = "INFERENCE-020"
_CLASSIFIED: Final = "INFERENCE-021"
_INFINITE: Final = "INFERENCE-022"
_DIVISION: Final = "INFERENCE-005"
_ZERO: Final = "INFERENCE-006"
_OVERFLOW: Final = "INFERENCE-007"
_EMPTY: Final = "INFERENCE-023"
_REDUCED: Final = "INFERENCE-024"

_FLOATS: Final = ("float32", "float64", "float16")
_INTEGERS: Final = ("int32", "int64", "int8", "uint8")

_UNARY: Final = (
    "Abs",
    "Neg",
    "Relu",
    "Relu6",
    "Exp",
    "Log",
    "Sqrt",
    "Rsqrt",
    "Floor",
    "Ceil",
    "Sign",
    "Square",
    "Tanh",
    "Sigmoid",
    "Reciprocal",
    "Softplus",
    "Elu",
)
_BINARY: Final = (
    "AddV2",
    "Sub",
    "Mul",
    "RealDiv",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "DivNoNan",
)
_REDUCTIONS: Final = ("Sum", "Mean", "Max", "Min", "Prod")
_COMPARISONS: Final = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")
_CLASSES: Final = ("IsNan", "IsInf", "IsFinite")
#: An operation and a dtype for each case of NaN and infinities, by what the operation gives.
SPECIAL_ROWS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    kind: tuple((op, dtype) for dtype in _FLOATS for op in ops)
    for kind, ops in {
        "numbers": (*_UNARY, *_BINARY, *_REDUCTIONS, "MatMul"),
        "comparisons": _COMPARISONS,
        "classes": _CLASSES,
    }.items()
}
#: An operation and a dtype for each case of integers; division is asked in every dtype it has.
INTEGER_ROWS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    kind: tuple(
        (op, dtype)
        for dtype in _INTEGERS
        for op in ops
        if dtype in OPERATIONS[op].attr("T").allowed  # type: ignore[union-attr]
    )
    for kind, ops in {
        "division": ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"),
        "overflow": ("AddV2", "Sub", "Mul", "Neg", "Square", "Sum", "Prod", "Cumsum"),
    }.items()
}


def _case(
    id_: str,
    program: Program,
    title: str,
    clause: str,
    node: str,
    **feeds: Mapping[str, np.ndarray],
) -> Case:
    """The case that fetches a node, whose value its definition says, if there is one."""
    program.run([node], feeds["fed"], {"oracle": _wanted(program, node)}, clause)
    return program.case(id_, title)


def _wanted(program: Program, node: str) -> OracleForm:
    op = next(n["op"] for n in program.writer.graph()["node"] if n["name"] == node)
    contract = contract_in(OPERATIONS[op].contract(program.dtype), program.dtype)
    wanted: OracleForm = {"contract": contract}
    if op in DEFINITIONS:
        wanted |= BY_DEFINITION
    return wanted


def special_case(draw: random.Random, id_: str) -> Case:
    """A function of floats, of infinities and zeros of both signs, then of NaN."""
    return _special(draw, id_, "numbers", _INFINITE, _NAN)


def compared_case(draw: random.Random, id_: str) -> Case:
    """A comparison of infinities and zeros of both signs, then of NaN."""
    return _special(draw, id_, "comparisons", _COMPARED, _COMPARED)


def classified_case(draw: random.Random, id_: str) -> Case:
    """Whether infinities and zeros of both signs, then NaN, are numbers."""
    return _special(draw, id_, "classes", _CLASSIFIED, _CLASSIFIED)


def _special(draw: random.Random, id_: str, kind: str, *clauses: str) -> Case:
    """An operation on infinities and numbers, each with each, then on NaN and the same."""
    rows = SPECIAL_ROWS[kind]
    op, dtype = rows[turn(id_) % len(rows)]
    program = Program(dtype)
    infinite = [math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, *(draw.uniform(-9, 9) for _ in "12")]
    undefined = [math.nan, *infinite[:-1]]
    first, second = (
        _special_inputs(draw, op, numbers, BY_NAME[dtype].numpy)
        for numbers in (infinite, undefined)
    )
    fed = [program.placeholder(x.shape) for x in first]
    axes = [program.index([1])] if op in _REDUCTIONS else []
    node = program.apply(op, *fed, *axes)
    for clause, inputs in zip(clauses, (first, second), strict=True):
        feeds = dict(zip(fed, inputs, strict=True))
        program.run([node], feeds, {"oracle": _wanted(program, node)}, clause)
    return program.case(id_, f"{op} of {dtype} carries NaN and infinities as its definition says.")


def _special_inputs(
    draw: random.Random, op: str, numbers: list[float], dtype: np.dtype
) -> tuple[np.ndarray, ...]:
    """The inputs of an operation made of eight numbers, the first of which is in all of them."""
    special, x = numbers[0], np.array(draw.sample(numbers, len(numbers))).astype(dtype)
    if op in (*_UNARY, *_CLASSES):
        return (x,)
    if op in (*_BINARY, *_COMPARISONS):
        return x[:, None], x
    if op == "MatMul":
        rows = np.array([[1, 2, 3], [0, 1, 0], [4, 5, 6]]).astype(dtype)
        rows[draw.randrange(3), draw.randrange(3)] = special
        return rows, rows[:, :2]
    rows = np.array([draw.sample(numbers, 3) for _ in range(6)]).astype(dtype)
    rows[0, draw.randrange(3)] = special
    return (rows,)


def division_case(draw: random.Random, id_: str) -> Case:
    """Quotients or remainders of integers of every sign."""
    rows = INTEGER_ROWS["division"]
    op, dtype = rows[turn(id_) % len(rows)]
    program = Program(dtype)
    limits = np.iinfo(dtype)
    ends = (limits.max, limits.max - 1, limits.min + 1)
    dividends = [*(draw.randint(-20, 20) for _ in range(8)), *ends]
    divisors = [1, 2, 3, 7, draw.randint(4, 20), limits.max, -1, -2, -3, -7, -draw.randint(4, 20)]
    is_signed = limits.min < 0
    x = np.array([n for n in dividends if n >= 0 or is_signed]).astype(dtype)
    y = np.array([n for n in divisors if n > 0 or is_signed]).astype(dtype)
    fed = {program.placeholder((len(x), 1)): x[:, None], program.placeholder(y.shape): y}
    title = f"{op} of {dtype} rounds as its definition says, whatever the signs."
    return _case(id_, program, title, _DIVISION, program.apply(op, *fed), fed=fed)


def zero_divisor_case(draw: random.Random, id_: str) -> Case:
    """A division of integers by zero, which fails; the session serves afterwards."""
    rows = INTEGER_ROWS["division"]
    op, dtype = rows[turn(id_) % len(rows)]
    program = Program(dtype)
    x, y = program.placeholder((3,)), program.placeholder((3,))
    node = program.apply(op, x, y)
    dividends = np.array([draw.randint(1, 9) for _ in range(3)]).astype(dtype)
    divisors = np.array([1, 1, 1]).astype(dtype)
    with_zero = divisors.copy()
    with_zero[draw.randrange(3)] = 0
    refused: Expect = {"error": {"codes": [3, 13] if op.startswith("Truncate") else [3]}}
    program.run([node], {x: dividends, y: with_zero}, refused, _ZERO)
    expect: Expect = {"oracle": {"contract": "exact"}}
    program.run([node], {x: dividends, y: divisors}, expect, _ZERO)
    return program.case(id_, f"{op} of {dtype} by zero fails, and that run alone.")


def overflow_case(draw: random.Random, id_: str) -> Case:
    """Sums and products that leave the range of their dtype: they wrap around."""
    rows = INTEGER_ROWS["overflow"]
    op, dtype = rows[turn(id_) % len(rows)]
    program = Program(dtype)
    limits = np.iinfo(dtype)
    ends = [limits.max - draw.randint(0, 3), limits.min + draw.randint(0, 3)]
    x = np.array([*ends, draw.randint(2, 100), limits.max // 2 + draw.randint(2, 20)])
    x = x.astype(dtype)
    y = np.array([limits.max, draw.randint(2, 100), limits.max // 3, draw.randint(4, 9)])
    first = program.placeholder(x.shape)
    fed = {first: x}
    title = f"{op} of {dtype} wraps around where it leaves the dtype's range."
    if op in {"Neg", "Square"}:
        node = program.apply(op, first)
    elif op in {"Sum", "Prod"}:
        node = program.apply(op, first, program.index([0]))
    elif op == "Cumsum":
        node = program.apply(op, first, program.index(0))
    else:
        second = program.placeholder(y.shape)
        fed[second] = y.astype(dtype)
        node = program.apply(op, first, second)
    return _case(id_, program, title, _OVERFLOW, node, fed=fed)


_Build = Callable[[Program, str, str], str]
#: Graphs on a matrix (0, 3) and a matrix (3, 0), by the operation that they end with.
_EMPTY_GRAPHS: Final[Mapping[str, _Build]] = {
    "AddV2": lambda p, a, _: p.apply("AddV2", a, p.constant([1, 2, 3])),
    "BiasAdd": lambda p, a, _: p.apply("BiasAdd", a, p.constant([1, 2, 3])),
    "ConcatV2": lambda p, a, _: p.apply("ConcatV2", a, p.constant([[1, 2, 3]]), p.index(0), N=2),
    "ExpandDims": lambda p, a, _: p.apply("ExpandDims", a, p.index(1)),
    "GatherV2": lambda p, _, b: p.apply(
        "GatherV2", b, p.index([2, 0]), p.index(0), Tparams=p.dtype
    ),
    "MatMul": lambda p, a, b: p.apply("MatMul", b, a),
    "Max": lambda p, a, _: p.apply("Max", a, p.index([0])),
    "Mean": lambda p, a, _: p.apply("Mean", a, p.index([0])),
    "Min": lambda p, a, _: p.apply("Min", a, p.index([0])),
    "Pad": lambda p, a, _: p.apply("Pad", a, p.index([[1, 1], [0, 1]])),
    "Prod": lambda p, _, b: p.apply("Prod", b, p.index([1])),
    "Relu": lambda p, a, _: p.apply("Relu", a),
    "Reshape": lambda p, a, _: p.apply("Reshape", a, p.index([3, 0, 2])),
    "Shape": lambda p, a, _: p.apply("Shape", a),
    "Slice": lambda p, _, b: p.apply("Slice", b, p.index([1, 0]), p.index([2, 0])),
    "Softmax": lambda p, a, _: p.apply("Softmax", a),
    "Square": lambda p, a, _: p.apply("Square", a),
    "Sum": lambda p, a, _: p.apply("Sum", a, p.index([0])),
    "Tile": lambda p, a, _: p.apply("Tile", a, p.index([2, 1])),
    "Transpose": lambda p, _, b: p.apply("Transpose", b, p.index([1, 0])),
}
#: An operation and a dtype for each case of no elements, by whether it is a reduction.
EMPTY_ROWS: Final[Mapping[bool, Sequence[tuple[str, str]]]] = {
    is_reduced: tuple(
        (op, dtype)
        for dtype in ("float32", "int32", "float64")
        for op in _EMPTY_GRAPHS
        if (op in _REDUCTIONS) == is_reduced
        if dtype != "int32" or op not in {"Softmax", "Mean"}
    )
    for is_reduced in (False, True)
}


def empty_case(_draw: random.Random, id_: str) -> Case:
    """An operation other than a reduction on a tensor without elements."""
    return _empty(id_, _EMPTY, is_reduced=False)


def reduced_case(_draw: random.Random, id_: str) -> Case:
    """A reduction over no elements."""
    return _empty(id_, _REDUCED, is_reduced=True)


def _empty(id_: str, clause: str, *, is_reduced: bool) -> Case:
    rows = EMPTY_ROWS[is_reduced]
    op, dtype = rows[turn(id_) % len(rows)]
    program = Program(dtype)
    wide, high = np.zeros((0, 3), BY_NAME[dtype].numpy), np.zeros((3, 0), BY_NAME[dtype].numpy)
    a, b = program.placeholder((None, 3)), program.placeholder((3, None))
    node = _EMPTY_GRAPHS[op](program, a, b)
    inputs = next(n for n in program.writer.graph()["node"] if n["name"] == node)["input"]
    fed = {name: value for name, value in ((a, wide), (b, high)) if name in inputs}
    title = f"{op} of {dtype} takes a tensor without elements."
    return _case(id_, program, title, clause, node, fed=fed)
