"""Random libraries of functions that call each other, with a model of each in Python.

Every value is an int32 scalar. A function has two arguments and gives two values; it may call those
that were written before it, by a call, a branch or a loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.forms import Json, JsonObject

__all__ = ["Body", "Library"]

_SUMS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "AddV2": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Maximum": max,
    "Minimum": min,
}
_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")
_IFS: Final = ("If", "StatelessIf")
_CASES: Final = ("Case", "StatelessCase")
_WHILES: Final = ("While", "StatelessWhile")
_Step = Callable[[list[int]], list[int]]
#: How many functions of a library call no other one.
_PLAIN: Final = 2
#: Which clause says what a step gives, of the values there are before it.
_Clause = Callable[[list[int]], str]
_CALL: Final = "GRAPH-133"
_CHOSEN: Final = "CONTROL-FLOW-013"
_NUMBER: Final = "CONTROL-FLOW-014"
_LAST: Final = "CONTROL-FLOW-017"
_NOT_AT_ALL: Final = "CONTROL-FLOW-018"
_REPEATED: Final = "CONTROL-FLOW-019"
_INDEXED: Final = "CONTROL-FLOW-062"


def _func(name: str) -> JsonObject:
    """A function's name as an AttrValue."""
    return {"func": {"name": name}}


def _types(*dtypes: str) -> dict[str, Json]:
    """Some dtypes as AttrValue."""
    return {"list": {"type": [dtype_attr(dtype)["type"] for dtype in dtypes]}}


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


class Body:
    """A graph, or the body of a function: its nodes, and a model of the values that they give.

    Args:
      draw: the source of chance.
      library: the functions that it may call.
      first: what names the values at first.
      inside: whether it is a function's, in which outputs have names.
      is_plain: whether it calls no function.

    """

    def __init__(
        self,
        draw: random.Random,
        library: Library,
        first: Sequence[str],
        *,
        inside: bool,
        is_plain: bool = False,
    ) -> None:
        self._draw, self._library, self._inside = draw, library, inside
        self._is_plain, self._calls_plain = is_plain, False
        self.writer = GraphWriter()
        self.values = list(first)
        self._steps: list[tuple[_Step, _Clause | None]] = []

    def shown(self, first: Sequence[int]) -> dict[str, tuple[int, str]]:
        """The outputs of calls, branches and loops: name to value and clause."""
        held, wanted = list(first), {}
        for step, clause in self._steps:
            values = step(held)
            if clause is not None:
                for index, value in enumerate(values, len(held)):
                    wanted[self.values[index]] = value, clause(held)
            held += values
        return wanted

    def run(self, first: Sequence[int]) -> list[int]:
        """The model's values for these first values."""
        held = list(first)
        for step, _ in self._steps:
            held += step(held)
        return held

    def output(self, node: str, name: str, index: int = 0) -> str:
        """The name by which other nodes take an output of a node."""
        return f"{node}:{name}:{index}" if self._inside else f"{node}:{index}"

    def go_on(self) -> None:
        """Add one more operation."""
        ways = [self._sum, self._sum, self._constant]
        if self._library.names and not self._is_plain:
            ways += [self._call, self._branch, self._case, self._loop]
        self._draw.choice(ways)()

    def _pick(self) -> int:
        return self._draw.randrange(len(self.values))

    def _sum(self) -> None:
        op, one, two = self._draw.choice(sorted(_SUMS)), self._pick(), self._pick()
        inputs = [self.values[one], self.values[two]]
        node = self.writer.node(op, inputs, {"T": dtype_attr("int32")})
        self.values.append(self.output(node, "z"))
        self._add(lambda held: [_wrapped(_SUMS[op](held[one], held[two]))])

    def _constant(self, value: int | None = None) -> None:
        number = self._draw.randint(-3, 3) if value is None else value
        node = self.writer.constant(np.array(number, np.int32))
        self.values.append(self.output(node, "output"))
        self._add(lambda _: [number])

    def advance(self) -> None:
        """Add one to the first value; the sum is the fourth value."""
        self._constant(1)
        inputs = [self.values[0], self.values[2]]
        node = self.writer.node("AddV2", inputs, {"T": dtype_attr("int32")})
        self.values.append(self.output(node, "z"))
        self._add(lambda held: [_wrapped(held[0] + held[2])])

    def _add(self, step: _Step, clause: _Clause | None = None) -> None:
        self._steps.append((step, clause))

    def _two_results(
        self, op: str, inputs: Sequence[str], attrs: JsonObject, step: _Step, clause: _Clause
    ) -> None:
        node = self.writer.node(op, inputs, attrs)
        self.values += [self.output(node, "output", index) for index in (0, 1)]
        self._add(step, clause)

    def begin(self) -> None:
        """Call functions that call no others, in each way: their failures have one cause each."""
        self._calls_plain = True
        for op in _CALLS:
            self._call(op)
        for op in _IFS:
            self._branch(op, compares=True)
            self._branch(op, compares=False)
        for op in _CASES:
            self._case(op)
        for op in _WHILES:
            self._loop(op)
        self._calls_plain = False

    def _function(self) -> str:
        """Draw the name of a function to be called."""
        library = self._library
        return self._draw.choice(library.plain if self._calls_plain else library.names)

    def _call(self, op: str = "") -> None:
        one, two, name = self._pick(), self._pick(), self._function()
        attrs = {
            "Tin": _types("int32", "int32"),
            "Tout": _types("int32", "int32"),
            "f": _func(name),
        }
        self._two_results(
            op or self._draw.choice(_CALLS),
            [self.values[one], self.values[two]],
            attrs,
            lambda held: self._library.call(name, held[one], held[two]),
            lambda _: _CALL,
        )

    def _branch(self, op: str = "", *, compares: bool | None = None) -> None:
        draw, one, two = self._draw, self._pick(), self._pick()
        then, other = self._function(), self._function()
        condition, dtype = self.values[one], "int32"  # a number holds unless it is zero
        compares = draw.random() < 0.6 if compares is None else compares
        if compares:
            kind = {"T": dtype_attr("int32")}
            node = self.writer.node("Less", [self.values[one], self.values[two]], kind)
            condition, dtype = self.output(node, "z"), "bool"
        attrs = {
            "Tcond": dtype_attr(dtype),
            "Tin": _types("int32", "int32"),
            "Tout": _types("int32", "int32"),
            "then_branch": _func(then),
            "else_branch": _func(other),
        }

        def step(held: list[int]) -> list[int]:
            holds = held[one] < held[two] if compares else held[one] != 0
            return self._library.call(then if holds else other, held[one], held[two])

        inputs = [condition, self.values[one], self.values[two]]
        clause = _CHOSEN if compares else _NUMBER
        self._two_results(op or draw.choice(_IFS), inputs, attrs, step, lambda _: clause)

    def _case(self, op: str = "") -> None:
        draw, number, one, two = self._draw, self._pick(), self._pick(), self._pick()
        names = [self._function() for _ in range(draw.randint(1, 3))]
        attrs: JsonObject = {
            "Tin": _types("int32", "int32"),
            "Tout": _types("int32", "int32"),
            "branches": {"list": {"func": [{"name": name} for name in names]}},
        }

        def step(held: list[int]) -> list[int]:
            index = held[number] if 0 <= held[number] < len(names) else -1
            return self._library.call(names[index], held[one], held[two])

        inputs = [self.values[number], self.values[one], self.values[two]]
        self._two_results(
            op or draw.choice(_CASES),
            inputs,
            attrs,
            step,
            lambda held: _INDEXED if 0 <= held[number] < len(names) else _LAST,
        )

    def _loop(self, op: str = "") -> None:
        """Write a loop from a small number to the library's limit; turns compute a second value."""
        draw, library, start = self._draw, self._library, self._draw.randint(-1, 4)
        self._constant(start)
        turns = [name for name in library.turns if name in library.plain or not self._calls_plain]
        two, name = self._pick(), draw.choice(turns)
        attrs = {
            "T": _types("int32", "int32"),
            "cond": _func(library.condition),
            "body": _func(name),
        }

        def step(held: list[int]) -> list[int]:
            turn = [start, held[two]]
            while turn[0] < library.limit:
                turn = library.call(name, *turn)
            return turn

        clause = _REPEATED if start < library.limit else _NOT_AT_ALL
        inputs = [self.values[-1], self.values[two]]
        self._two_results(op or draw.choice(_WHILES), inputs, attrs, step, lambda _: clause)


class Library:
    """Functions, in the order in which they were written.

    Attributes:
      names: those that may be called.
      plain: of them those that call no other one.
      turns: those of them that add 1 to the first value, so that a loop may have them as its body.
      condition: the function that says whether a loop goes on: the first value is below `limit`.

    """

    condition: Final = "goes_on"

    def __init__(self, draw: random.Random) -> None:
        self.names: list[str] = []
        self.plain: list[str] = []
        self.turns: list[str] = []
        self.limit = draw.randint(0, 3)
        self._bodies: dict[str, tuple[Body, tuple[int, int]]] = {}
        self._forms: list[dict[str, Json]] = []
        for number in range(draw.randint(3, 5)):
            is_turn = number == 0 or draw.random() < 0.3
            self._write(draw, f"f{number}", is_turn=is_turn, is_plain=number < _PLAIN)
        self._write_condition(draw)

    def form(self) -> dict[str, Json]:
        """The library as a FunctionDefLibrary in JSON."""
        return {"function": self._forms}

    def call(self, name: str, one: int, two: int) -> list[int]:
        """The model's results of a function."""
        body, indices = self._bodies[name]
        held = body.run((one, two))
        return [held[index] for index in indices]

    def _write(self, draw: random.Random, name: str, *, is_turn: bool, is_plain: bool) -> None:
        body = Body(draw, self, ("x", "y"), inside=True, is_plain=is_plain)
        first = draw.randrange(2)
        if is_turn:
            body.advance()
            first = 3
        for _ in range(draw.randint(1, 4)):
            body.go_on()
        indices = (first, len(body.values) - 1)
        if not is_turn:
            indices = (draw.randrange(len(body.values)), indices[1])
        self._bodies[name] = body, indices
        self._add(name, body, [body.values[index] for index in indices], ("int32", "int32"))
        self.names.append(name)
        if is_plain:
            self.plain.append(name)
        if is_turn:
            self.turns.append(name)

    def _write_condition(self, draw: random.Random) -> None:
        body = Body(draw, self, ("x", "y"), inside=True)
        limit = body.writer.constant(np.array(self.limit, np.int32))
        inputs = ["x", body.output(limit, "output")]
        node = body.writer.node("Less", inputs, {"T": dtype_attr("int32")})
        self._add(self.condition, body, [body.output(node, "z")], ("bool",))

    def _add(self, name: str, body: Body, outputs: Sequence[str], dtypes: Sequence[str]) -> None:
        arguments = [{"name": arg, "type": dtype_attr("int32")["type"]} for arg in "xy"]
        results = [
            {"name": f"r{index}", "type": dtype_attr(dtype)["type"]}
            for index, dtype in enumerate(dtypes)
        ]
        self._forms.append(
            {
                "signature": {"name": name, "inputArg": arguments, "outputArg": results},
                "nodeDef": body.writer.graph()["node"],
                "ret": {f"r{index}": output for index, output in enumerate(outputs)},
            }
        )
