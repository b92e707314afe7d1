"""Random libraries of functions that call each other, with what each gives, as Python says.

Every value is an int32 scalar. A function has two arguments and gives two values; it may call those
that were written before it, by a call, a branch or a loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr

__all__ = ["Body", "Library"]

_SUMS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "AddV2": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "Maximum": max, "Minimum": min,
}  # fmt: skip
_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")
_IFS: Final = ("If", "StatelessIf")
_CASES: Final = ("Case", "StatelessCase")
_WHILES: Final = ("While", "StatelessWhile")
_Step = Callable[[list[int]], list[int]]


def _func(name: str) -> dict[str, Any]:
    """A function's name as AttrValue."""
    return {"func": {"name": name}}


def _types(*dtypes: str) -> dict[str, Any]:
    """Some dtypes as AttrValue."""
    return {"list": {"type": [dtype_attr(dtype)["type"] for dtype in dtypes]}}


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


class Body:
    """A graph, or the body of a function: nodes, and what they give for the values at first.

    Args:
      draw: the source of chance.
      library: the functions that it may call.
      first: what names the values at first.
      inside: whether it is a function's, in which outputs have names.

    """

    def __init__(
        self, draw: random.Random, library: Library, first: Sequence[str], *, inside: bool
    ) -> None:
        self._draw, self._library, self._inside = draw, library, inside
        self.writer = GraphWriter()
        self.values = list(first)
        self._steps: list[_Step] = []

    def run(self, first: Sequence[int]) -> list[int]:
        """The values that it comes to have."""
        held = list(first)
        for step in self._steps:
            held += step(held)
        return held

    def output(self, node: str, name: str, place: int = 0) -> str:
        """How other nodes name an output of a node."""
        return f"{node}:{name}:{place}" if self._inside else f"{node}:{place}"

    def go_on(self) -> None:
        """Add one operation more."""
        ways = [self._sum, self._sum, self._constant]
        if self._library.names:
            ways += [self._call, self._branch, self._case, self._loop]
        self._draw.choice(ways)()

    def _pick(self) -> int:
        return self._draw.randrange(len(self.values))

    def _sum(self) -> None:
        op, one, two = self._draw.choice(sorted(_SUMS)), self._pick(), self._pick()
        inputs = [self.values[one], self.values[two]]
        node = self.writer.node(op, inputs, {"T": dtype_attr("int32")})
        self.values.append(self.output(node, "z"))
        self._steps.append(lambda held: [_wrapped(_SUMS[op](held[one], held[two]))])

    def _constant(self, value: int | None = None) -> None:
        number = self._draw.randint(-3, 3) if value is None else value
        node = self.writer.constant(np.array(number, np.int32))
        self.values.append(self.output(node, "output"))
        self._steps.append(lambda _: [number])

    def advance(self) -> None:
        """Add one to the first value: it becomes the fourth."""
        self._constant(1)
        inputs = [self.values[0], self.values[2]]
        node = self.writer.node("AddV2", inputs, {"T": dtype_attr("int32")})
        self.values.append(self.output(node, "z"))
        self._steps.append(lambda held: [_wrapped(held[0] + held[2])])

    def _made(self, op: str, inputs: Sequence[str], attrs: dict[str, Any], step: _Step) -> None:
        node = self.writer.node(op, inputs, attrs)
        self.values += [self.output(node, "output", place) for place in (0, 1)]
        self._steps.append(step)

    def _call(self) -> None:
        one, two, name = self._pick(), self._pick(), self._library.pick(self._draw)
        attrs = {"Tin": _types("int32", "int32"), "Tout": _types("int32", "int32"),
                 "f": _func(name)}  # fmt: skip
        self._made(
            self._draw.choice(_CALLS), [self.values[one], self.values[two]], attrs,
            lambda held: self._library.call(name, held[one], held[two]),
        )  # fmt: skip

    def _branch(self) -> None:
        draw, one, two = self._draw, self._pick(), self._pick()
        then, other = self._library.pick(draw), self._library.pick(draw)
        condition, dtype = self.values[one], "int32"  # a number holds unless it is zero
        compares = draw.random() < 0.6
        if compares:
            kind = {"T": dtype_attr("int32")}
            node = self.writer.node("Less", [self.values[one], self.values[two]], kind)
            condition, dtype = self.output(node, "z"), "bool"
        attrs = {
            "Tcond": dtype_attr(dtype), "Tin": _types("int32", "int32"),
            "Tout": _types("int32", "int32"), "then_branch": _func(then),
            "else_branch": _func(other),
        }  # fmt: skip

        def step(held: list[int]) -> list[int]:
            holds = held[one] < held[two] if compares else held[one] != 0
            return self._library.call(then if holds else other, held[one], held[two])

        inputs = [condition, self.values[one], self.values[two]]
        self._made(draw.choice(_IFS), inputs, attrs, step)

    def _case(self) -> None:
        draw, place, one, two = self._draw, self._pick(), self._pick(), self._pick()
        names = [self._library.pick(draw) for _ in range(draw.randint(1, 3))]
        attrs = {
            "Tin": _types("int32", "int32"), "Tout": _types("int32", "int32"),
            "branches": {"list": {"func": [{"name": name} for name in names]}},
        }  # fmt: skip

        def step(held: list[int]) -> list[int]:
            number = held[place] if 0 <= held[place] < len(names) else -1
            return self._library.call(names[number], held[one], held[two])

        inputs = [self.values[place], self.values[one], self.values[two]]
        self._made(draw.choice(_CASES), inputs, attrs, step)

    def _loop(self) -> None:
        """From a small number up to the library's limit; each turn makes another second value."""
        draw, library, start = self._draw, self._library, self._draw.randint(-1, 4)
        self._constant(start)
        two, name = self._pick(), library.pick(draw, library.turns)
        attrs = {"T": _types("int32", "int32"), "cond": _func(library.condition),
                 "body": _func(name)}  # fmt: skip

        def step(held: list[int]) -> list[int]:
            turn = [start, held[two]]
            while turn[0] < library.limit:
                turn = library.call(name, *turn)
            return turn

        self._made(draw.choice(_WHILES), [self.values[-1], self.values[two]], attrs, step)


class Library:
    """Functions, in the order in which they were written.

    Attributes:
      names: those that may be called.
      turns: of them those that a loop may have as its body: the first value becomes one more.
      condition: the function that says whether a loop goes on: the first value is below `limit`.

    """

    condition: Final = "goes_on"

    def __init__(self, draw: random.Random) -> None:
        self.names: list[str] = []
        self.turns: list[str] = []
        self.limit = draw.randint(0, 3)
        self._bodies: dict[str, tuple[Body, tuple[int, int]]] = {}
        self._forms: list[dict[str, Any]] = []
        for number in range(draw.randint(2, 4)):
            self._write(draw, f"f{number}", is_turn=number == 0 or draw.random() < 0.3)
        self._write_condition(draw)

    def form(self) -> dict[str, Any]:
        """The library of a GraphDef."""
        return {"function": self._forms}

    def pick(self, draw: random.Random, among: Sequence[str] | None = None) -> str:
        """The name of a function."""
        return draw.choice(self.names if among is None else among)

    def call(self, name: str, one: int, two: int) -> list[int]:
        """What a function gives."""
        body, places = self._bodies[name]
        held = body.run((one, two))
        return [held[place] for place in places]

    def _write(self, draw: random.Random, name: str, *, is_turn: bool) -> None:
        body = Body(draw, self, ("x", "y"), inside=True)
        first = draw.randrange(2)
        if is_turn:
            body.advance()
            first = 3
        for _ in range(draw.randint(1, 4)):
            body.go_on()
        places = (first, len(body.values) - 1)
        if not is_turn:
            places = (draw.randrange(len(body.values)), places[1])
        self._bodies[name] = body, places
        self._add(name, body, [body.values[place] for place in places], ("int32", "int32"))
        self.names.append(name)
        if is_turn:
            self.turns.append(name)

    def _write_condition(self, draw: random.Random) -> None:
        body = Body(draw, self, ("x", "y"), inside=True)
        limit = body.writer.constant(np.array(self.limit, np.int32))
        inputs = ["x", body.output(limit, "output")]
        node = body.writer.node("Less", inputs, {"T": dtype_attr("int32")})
        self._add(self.condition, body, [body.output(node, "z")], ("bool",))

    def _add(
        self, name: str, body: Body, outputs: Sequence[str], dtypes: Sequence[str]
    ) -> None:
        arguments = [{"name": arg, "type": dtype_attr("int32")["type"]} for arg in "xy"]
        results = [
            {"name": f"r{place}", "type": dtype_attr(dtype)["type"]}
            for place, dtype in enumerate(dtypes)
        ]
        self._forms.append({
            "signature": {"name": name, "inputArg": arguments, "outputArg": results},
            "nodeDef": body.writer.graph()["node"],
            "ret": {f"r{place}": output for place, output in enumerate(outputs)},
        })  # fmt: skip
