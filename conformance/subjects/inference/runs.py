"""Cases with several runs of one session: feeds, fetches, shapes, and control inputs."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.subjects.inference.graphs import Program
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect
from sessrun.spec.cases.model import Case

__all__ = [
    "control_case",
    "cut_case",
    "fetches_case",
    "index_case",
    "missing_feed_case",
    "shapes_case",
]

_MISSING: Final = "INFERENCE-009"
_INDEX: Final = "INFERENCE-010"
_CUT: Final = "INFERENCE-011"
_UNKNOWN: Final = "INFERENCE-012"
_STALE: Final = "INFERENCE-013"
_FETCHES: Final = "INFERENCE-014"
_CONTROL: Final = "INFERENCE-015"
_VALUE: Final = "INFERENCE-001"

_EXACT: Final[Expect] = {"oracle": {"contract": "exact"}}
_REFUSED: Final[Expect] = {"error": {"codes": [3]}}


def _values(*arrays: np.ndarray) -> Expect:
    return {"values": [{"$array": tensors.encode(array)} for array in arrays]}


def _drawn(draw: random.Random, *shape: int) -> np.ndarray:
    """Small whole numbers in float32."""
    count = int(np.prod(shape))
    return np.array([draw.randint(-9, 9) for _ in range(count)], np.float32).reshape(shape)


def _identity(program: Program, name: str) -> str:
    return program.apply("Identity", name)


def missing_feed_case(draw: random.Random, id_: str) -> Case:
    """A fetch fails that needs a placeholder without a feed; another fetch is computed."""
    program = Program("float32")
    x, y = _drawn(draw, 2), _drawn(draw, 2)
    a, b = program.placeholder((2,)), program.placeholder(draw.choice(((2,), None)))
    first, second = _identity(program, a), _identity(program, b)
    if draw.random() < 0.5:
        second = program.apply("AddV2", first, second)
    program.run([first, second], {a: x}, _REFUSED, _MISSING)
    program.run([first], {a: x}, _values(x), _MISSING)
    program.run([second], {}, _REFUSED, _MISSING)
    program.run([second], {a: x, b: y}, _EXACT, _MISSING)
    return program.case(id_, "A run without a feed that it needs is refused.")


def index_case(draw: random.Random, id_: str) -> Case:
    """A fetch of an output that an operation lacks fails; so does a name that the graph lacks."""
    program = Program("float32")
    x = _drawn(draw, 3)
    a = program.placeholder((3,))
    node = program.apply("Relu", a) if draw.random() < 0.5 else _identity(program, a)
    refused: Expect = {"error": {"codes": [3, 5, 11]}}
    program.run([f"{node}:{draw.randint(1, 3)}"], {a: x}, refused, _INDEX)
    program.run(["nothing:0"], {a: x}, refused, _INDEX)
    program.run([node], {a: x}, _EXACT, _INDEX)
    return program.case(id_, "An output that is not there cannot be fetched.")


#: The operations of a chain that is fed in the middle: exact on small whole numbers, and not among
#: those that TensorFlow's graph optimizers rewrite.
_CHAIN: Final = ("Abs", "Relu", "Sign", "Square")


def cut_case(draw: random.Random, id_: str) -> Case:
    """A tensor within a graph is fed: its inputs are not computed, its consumers are."""
    program = Program("float32")
    a = program.placeholder((2, 2))
    chain = [a]
    for op in draw.sample(_CHAIN, 3):
        chain.append(program.apply(op, chain[-1]))
    inner = chain[draw.randint(1, 2)]
    program.run([chain[-1]], {inner: _drawn(draw, 2, 2)}, _EXACT, _CUT)
    program.run([chain[-1]], {a: _drawn(draw, 2, 2)}, _EXACT, _CUT)
    program.run([chain[-1]], {a: _drawn(draw, 2, 2), inner: _drawn(draw, 2, 2)}, _EXACT, _CUT)
    return program.case(id_, "A fed tensor within the graph cuts it there.")


def shapes_case(draw: random.Random, id_: str) -> Case:
    """Runs of one session whose feeds have other shapes, or the same and other values."""
    rank = draw.randint(1, 3)
    known = draw.choice(((None,) * rank, (None, *(2,) * (rank - 1)), None))
    op, is_summed = draw.choice(("Neg", "Abs", "Square", "Relu")), draw.random() < 0.5
    dtype = draw.choice(("float32", "float64", "int32", "int64"))
    program = Program(dtype)
    a = program.placeholder(known)
    node = program.apply(op, a)
    if is_summed:
        node = program.apply("Sum", node, program.index([0]))
    shapes = [(draw.randint(1, 4), *(2,) * (rank - 1)) for _ in range(3)]
    shapes.append(shapes[0])
    for number, shape in enumerate(shapes):
        clause = _STALE if number else _UNKNOWN
        program.run([node], {a: _drawn(draw, *shape).astype(dtype)}, _EXACT, clause)
    title = "Runs that feed other shapes and values have their own results."
    return program.case(id_, title)


def fetches_case(draw: random.Random, id_: str) -> Case:
    """Several tensors in any order, one of them twice, a constant among them."""
    program = Program("float32")
    x, constant = _drawn(draw, 2, 3), _drawn(draw, 2)
    a = program.placeholder((2, 3))
    values = {_identity(program, a): x, program.constant(constant): constant}
    negated = program.apply("Neg", a)
    values[negated] = -x
    values[program.apply("Neg", negated)] = x
    fetches = draw.sample(sorted(values), len(values))
    fetches.append(draw.choice(fetches))
    program.run(fetches, {a: x}, _values(*(values[name] for name in fetches)), _FETCHES)
    program.run(fetches[:1], {a: x}, _values(values[fetches[0]]), _FETCHES)
    return program.case(id_, "Each fetch has its own value, in the order asked for.")


def control_case(draw: random.Random, id_: str) -> Case:
    """A tensor waits for an operation that may fail: if that fails, the run fails."""
    program = Program("float32")
    a = program.placeholder((2,))
    # TensorFlow drops control inputs from operations that are not stateful: these two are.
    if draw.random() < 0.5:
        b = program.placeholder((2,))
        check = program.apply("CheckNumerics", b, message="checked")
        good, bad = _drawn(draw, 2), np.array([1, draw.choice((np.nan, np.inf))], np.float32)
    else:
        b = program.placeholder((), "bool")
        check = program.apply("Assert", b, program.constant([1]), T=["float32"])
        good, bad = np.array(True), np.array(False)
    node = _identity(program, a)
    if draw.random() < 0.5:
        node = program.apply("Neg", node)
    program.writer.wait(node, check)
    x = _drawn(draw, 2)
    program.run([node], {a: x, b: good}, _EXACT, _CONTROL)
    program.run([node], {a: x, b: bad}, _REFUSED, _CONTROL)
    return program.case(id_, "What a control input waits for is computed.")
