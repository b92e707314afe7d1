"""Small programs of branches and loops: they are drawn, written as GraphDefs, and run by a model.

A program changes a few int32 variables and counts bumps of a resource. Its GraphDef is made of
Switch, Merge and frames, as version 1 of control flow writes them: every variable goes through
every branch and loop, and so does the handle of the resource.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, text_attr
from sessrun.spec.forms import Json, JsonObject

__all__ = ["PLAIN", "VARIABLES", "Program", "draw_program"]

#: TensorFlow's optimizer breaks one in twenty such programs: see docs/findings/tensorflow.md.
PLAIN: Final = {"graphOptions": {"rewriteOptions": {"disableMetaOptimizer": True}}}
#: How many variables a program has.
VARIABLES: Final = 3
#: All numbers are taken modulo this one.
_MODULUS: Final = 1009
#: Branches and loops are nested no deeper.
_DEPTH: Final = 3
#: A loop makes fewer iterations than this.
_MOST: Final = 4
_OPS: Final = {"AddV2": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b}
_INT: Final = dtype_attr("int32")
_RESOURCE: Final = dtype_attr("resource")


@dataclass(frozen=True, slots=True)
class Set:
    """`target = (left op right) mod 1009`."""

    target: int
    op: str
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Bump:
    """The resource is one more."""


@dataclass(frozen=True, slots=True)
class If:
    """`if left < right: then else: otherwise`."""

    left: int
    right: int
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for _ in range(times mod 4): body`, the variable looked at before the loop."""

    times: int
    body: tuple[Statement, ...]


Statement = Set | Bump | If | Loop


def draw_program(draw: random.Random) -> Program:
    """A program with at least one branch or loop."""
    first = draw.choice((_if, _loop))(draw, "")
    return Program((*_block(draw, ""), first, *_block(draw, "")))


def _block(draw: random.Random, around: str) -> tuple[Statement, ...]:
    """Statements inside of as many branches and loops as `around` has letters."""
    makers: list[Callable[[random.Random, str], Statement]] = [_set, _set, _bump]
    if len(around) < _DEPTH:
        makers += [_if, _loop]
    return tuple(draw.choice(makers)(draw, around) for _ in range(draw.randint(0, 3)))


def _set(draw: random.Random, around: str) -> Set:
    del around  # ends any nesting
    one, two, three = (draw.randrange(VARIABLES) for _ in range(3))
    return Set(one, draw.choice(sorted(_OPS)), two, three)


def _bump(draw: random.Random, around: str) -> Bump:
    del draw, around  # there is only one
    return Bump()


def _if(draw: random.Random, around: str) -> If:
    left, right = draw.sample(range(VARIABLES), 2)
    return If(left, right, _block(draw, around + "b"), _block(draw, around + "b"))


def _loop(draw: random.Random, around: str) -> Loop:
    return Loop(draw.randrange(VARIABLES), _block(draw, around + "l"))


@dataclass(frozen=True, slots=True)
class Program:
    """A program.

    Attributes:
      body: its statements.

    """

    body: tuple[Statement, ...]

    @property
    def loops(self) -> bool:
        """Whether there is a loop in it."""
        return _has_loop(self.body)

    def run(self, values: Sequence[int]) -> tuple[list[int], int]:
        """The variables in the end, and how often the resource was bumped."""
        state = list(values)
        return state, _run(self.body, state)

    def graph(self) -> dict[str, Json]:
        """The GraphDef: feeds `v0`, ...; fetches `r0`, ...; `init` and `count` of the resource."""
        writer = GraphWriter()
        emitter = _Emitter(writer)
        empty = {"s": ""}
        handle = writer.node(
            "VarHandleOp",
            (),
            {
                "dtype": _INT,
                "shape": {"shape": {}},
                "container": empty,
                "shared_name": empty,
            },
            "resource",
        )
        zero = emitter.number(0)
        writer.node("AssignVariableOp", (handle, zero), {"dtype": _INT}, "init")
        writer.node("ReadVariableOp", (handle,), {"dtype": _INT}, "count")
        inputs = [writer.placeholder("int32", (), f"v{n}") for n in range(VARIABLES)]
        *results, last = emitter.block(self.body, [*inputs, handle])
        done = writer.node("Identity", (last,), {"T": _RESOURCE})
        for number, result in enumerate(results):
            writer.node("Identity", (result, f"^{done}"), {"T": _INT}, f"r{number}")
        return writer.graph()


def _has_loop(block: Sequence[Statement]) -> bool:
    for statement in block:
        if isinstance(statement, Loop):
            return True
        if isinstance(statement, If) and (
            _has_loop(statement.then) or _has_loop(statement.otherwise)
        ):
            return True
    return False


def _run(block: Sequence[Statement], state: list[int]) -> int:
    bumps = 0
    for statement in block:
        match statement:
            case Set(target, op, left, right):
                state[target] = _OPS[op](state[left], state[right]) % _MODULUS
            case Bump():
                bumps += 1
            case If(left, right, then, otherwise):
                bumps += _run(then if state[left] < state[right] else otherwise, state)
            case Loop(times, body):
                bumps += sum(_run(body, state) for _ in range(state[times] % _MOST))
    return bumps


def _types_of_variables() -> list[JsonObject]:
    """The type attributes of what a program's statements read and write."""
    return [*(_INT for _ in range(VARIABLES)), _RESOURCE]


@dataclass(slots=True)
class _Emitter:
    """Writes statements as nodes; the tensor `pivot` is dead where a statement is not executed."""

    writer: GraphWriter
    pivot: str | None = None
    frames: int = 0
    types: list[JsonObject] = field(default_factory=_types_of_variables)

    def number(self, value: int) -> str:
        name = self.writer.constant(np.array(value, np.int32))
        if self.pivot is not None:
            self.writer.wait(name, self.pivot)
        return name

    def block(self, statements: Sequence[Statement], values: Sequence[str]) -> list[str]:
        """The values after the statements."""
        state = list(values)
        for statement in statements:
            match statement:
                case Set(target, op, left, right):
                    result = self._of_ints(op, state[left], state[right])
                    state[target] = self._of_ints("FloorMod", result, self.number(_MODULUS))
                case Bump():
                    state[-1] = self._bumped(state[-1])
                case If():
                    state = self._branches(statement, state)
                case Loop():
                    state = self._loop(statement, state)
        return state

    def _of_ints(self, op: str, left: str, right: str) -> str:
        return self.writer.node(op, (left, right), {"T": _INT})

    def _bumped(self, handle: str) -> str:
        """The handle of the resource after the bump: later operations on it execute the bump."""
        bump = self.writer.node("AssignAddVariableOp", (handle, self.number(1)), {"dtype": _INT})
        return self.writer.node("Identity", (handle, f"^{bump}"), {"T": _RESOURCE})

    def _switches(self, values: Sequence[str], pred: str) -> list[str]:
        pairs = zip(values, self.types, strict=True)
        return [self.writer.node("Switch", (value, pred), {"T": kind}) for value, kind in pairs]

    def _merge(self, inputs: Sequence[str], kind: JsonObject) -> str:
        return self.writer.node("Merge", inputs, {"T": kind, "N": {"i": str(len(inputs))}})

    def _alive(self, value: str, kind: JsonObject = _INT) -> str:
        return self.writer.node("Identity", (value,), {"T": kind})

    def _branches(self, statement: If, state: list[str]) -> list[str]:
        pred = self._of_ints("Less", state[statement.left], state[statement.right])
        switches = self._switches(state, pred)
        outer, ends = self.pivot, []
        for side, block in (("", statement.otherwise), (":1", statement.then)):
            inside = [switch + side for switch in switches]
            self.pivot = self._alive(inside[0])
            ends.append(self.block(block, inside))
        self.pivot = outer
        return [self._merge(pair, kind) for *pair, kind in zip(*ends, self.types, strict=True)]

    def _loop(self, statement: Loop, state: list[str]) -> list[str]:
        self.frames += 1
        frame = f"frame{self.frames}"
        limit = self._of_ints("FloorMod", state[statement.times], self.number(_MOST))
        limit = self._enter(frame, limit, _INT, constant=True)
        kinds = [_INT, *self.types]
        entered = [
            self._enter(frame, value, kind)
            for value, kind in zip([self.number(0), *state], kinds, strict=True)
        ]
        ends = [f"{frame}/next{number}" for number in range(len(kinds))]
        starts = [self._merge(pair, kind) for *pair, kind in zip(entered, ends, kinds, strict=True)]
        less = self._of_ints("Less", starts[0], limit)
        goes_on = self.writer.node("LoopCond", (less,), {})
        switches = [
            self.writer.node("Switch", (start, goes_on), {"T": kind})
            for start, kind in zip(starts, kinds, strict=True)
        ]
        outer = self.pivot
        pairs = zip(switches, kinds, strict=True)
        inside = [self._alive(f"{switch}:1", kind) for switch, kind in pairs]
        self.pivot = inside[0]
        following = [
            self._of_ints("AddV2", inside[0], self.number(1)),
            *self.block(statement.body, inside[1:]),
        ]
        self.pivot = outer
        for name, value, kind in zip(ends, following, kinds, strict=True):
            self.writer.node("NextIteration", (value,), {"T": kind}, name)
        exits = zip(switches[1:], self.types, strict=True)
        return [self.writer.node("Exit", (switch,), {"T": kind}) for switch, kind in exits]

    def _enter(self, frame: str, value: str, kind: JsonObject, *, constant: bool = False) -> str:
        attrs = {
            "T": kind,
            "frame_name": text_attr(frame),
            "is_constant": {"b": constant},
            "parallel_iterations": {"i": "10"},
        }
        return self.writer.node("Enter", (value,), attrs)
