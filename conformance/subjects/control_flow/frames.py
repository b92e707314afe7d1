"""Writes programs as version 1 of control flow does: Switch, Merge, and the nodes of frames.

Branches and loops carry the variables and, for each state, the number of its effects so far. An
effect waits for that number, and the next number waits for the effect. Handles and the fixed number
enter a branch by a Switch and a loop as constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, text_attr
from sessrun.conformance.subjects.control_flow.site import INT, REF, Kind, scalar, waiting
from sessrun.conformance.subjects.control_flow.statements import (
    CYCLES,
    MODULUS,
    VARIABLES,
    Again,
    Effect,
    If,
    Loop,
    Set,
    Statement,
    touched,
)
from sessrun.conformance.subjects.control_flow.states import Doing, State
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import JsonObject

__all__ = ["FIXED", "Frames"]

#: The placeholder of the number that never changes.
FIXED = "fixed"
_Body = Callable[[list[str]], list[str]]


@dataclass(slots=True)
class _Context:
    """A branch or a loop's body: its pivot, and how tensors of the outer graph enter it."""

    pivot: str
    lift: Callable[[str, Kind], str]
    lifted: dict[str, str] = field(default_factory=dict)


def _replaced(values: Sequence[str], indices: Sequence[int], new: Sequence[str]) -> list[str]:
    """The values, replaced by `new` ones at these indices."""
    others = dict(zip(indices, new, strict=True))
    return [others.get(index, value) for index, value in enumerate(values)]


class Frames:
    """Writes statements into a graph.

    Args:
      writer: the graph.
      states: the states of the program; the first is the tally.
      prefix: the prefix of the names of its frames.

    """

    def __init__(self, writer: GraphWriter, states: Sequence[State], prefix: str = "frame") -> None:
        self._writer = writer
        self._prefix = prefix
        self._states = states
        #: The nodes of each part of a statement, in the keys of `Passes`.
        self.parts: dict[tuple[int, str], list[str]] = {}
        self._part: list[str] = []
        self._contexts: list[_Context] = []
        self._frames = 0

    def node(
        self,
        op: str,
        inputs: Sequence[str] = (),
        attrs: JsonObject | None = None,
        output: str = "",
    ) -> str:
        """Write a node; return its name. Outputs go by number, whatever their declared names."""
        del output
        name = self._writer.node(op, inputs, attrs)
        self._part.append(name)
        return name

    def constant(self, value: Value) -> str:
        """Write a constant that waits for the innermost branch or body to be executed."""
        name = self._writer.constant(np.asarray(value))
        self._part.append(name)
        if self._contexts:
            self._writer.wait(name, self._contexts[-1].pivot)
        return name

    def outside(self, text: str, kind: Kind) -> str:
        """The name by which nodes in the innermost block take a tensor of the outer graph."""
        for context in self._contexts:
            if text not in context.lifted:
                context.lifted[text] = context.lift(text, kind)
            text = context.lifted[text]
        return text

    def block(self, statements: Sequence[Statement], values: Sequence[str]) -> list[str]:
        """Write statements; return the tensors that are carried after them."""
        carried = list(values)
        around = self._part
        for statement in statements:
            self._part = self.parts.setdefault((id(statement), ""), [])
            carried = self._statement(statement, carried)
        self._part = around
        return carried

    def repeat(
        self, times: str, values: Sequence[str], body: _Body, parallel: int = 10
    ) -> list[str]:
        """Write a loop of `times` iterations over int32 values; return their last values."""
        return self._loop(0, times, values, lambda inside: inside, body, parallel)

    def _statement(self, statement: Statement, carried: list[str]) -> list[str]:
        match statement:
            case Set(target, op, left, right):
                result = self._ints(op, carried[left], carried[right])
                carried[target] = self._reduced(result)
            case Effect(state, value):
                count = carried[VARIABLES + state]
                carried[VARIABLES + state] = self._effect(state, carried[value], count)
            case If():
                return self._branches(statement, carried)
            case Loop():
                return self._repeated(statement, carried)
            case Again(target, times, parallel):
                total = self._again(id(statement), times, parallel)
                carried[target] = self._reduced(self._ints("AddV2", carried[target], total))
                tallied = (carried[VARIABLES], waiting(total))
                carried[VARIABLES] = self.node("Identity", tallied, {"T": INT})
        return carried

    def _ints(self, op: str, left: str, right: str, *waits: str) -> str:
        return self.node(op, (left, right, *waits), {"T": INT})

    def _reduced(self, value: str) -> str:
        return self._ints("FloorMod", value, self.constant(scalar(MODULUS)))

    def _effect(self, state: int, value: str, count: str) -> str:
        """Write an effect; return the number of effects after it."""
        done = self._states[state].effect(self, Doing(value, count, (waiting(count),)))
        return self._ints("AddV2", count, self.constant(scalar(1)), waiting(done))

    def _switch(self, value: str, pred: str, kind: Kind = INT) -> str:
        return self.node("RefSwitch" if kind is REF else "Switch", (value, pred), {"T": kind})

    def _merge(self, first: str, second: str) -> str:
        return self.node("Merge", (first, second), {"T": INT, "N": {"i": "2"}})

    def _branches(self, statement: If, carried: list[str]) -> list[str]:
        pred = self._ints("Less", carried[statement.left], carried[statement.right])
        indices = sorted(touched(statement.then + statement.otherwise))
        switches = [self._switch(carried[index], pred) for index in indices]
        ends = []
        for side, block in (("", statement.otherwise), (":1", statement.then)):
            inside = [switch + side for switch in switches]
            pivot = self._writer.node("Identity", (inside[0],), {"T": INT})

            def lift(text: str, kind: Kind, side: str = side) -> str:
                return self._switch(text, pred, kind) + side

            self._contexts.append(_Context(pivot, lift))
            ends.append(self._within(block, indices, inside))
            self._contexts.pop()
        merged = [self._merge(*pair) for pair in zip(*ends, strict=True)]
        return _replaced(carried, indices, merged)

    def _within(
        self, block: Sequence[Statement], indices: Sequence[int], values: Sequence[str]
    ) -> list[str]:
        """Write statements that touch only these variables; return their last values."""
        count = VARIABLES + len(self._states)
        ends = self.block(block, _replaced([""] * count, indices, values))
        return [ends[index] for index in indices]

    def _repeated(self, statement: Loop, carried: list[str]) -> list[str]:
        cycles = self.constant(scalar(CYCLES))
        limit = self._ints("FloorMod", carried[statement.times], cycles)
        if statement.most is not None:
            limit = self._ints("Minimum", limit, self.constant(scalar(statement.most)))

        indices = sorted(touched(statement.asking + statement.body))
        ends = self._loop(
            id(statement),
            limit,
            [carried[index] for index in indices],
            lambda inside: self._within(statement.asking, indices, inside),
            lambda inside: self._within(statement.body, indices, inside),
            statement.parallel,
        )
        return _replaced(carried, indices, ends)

    def _again(self, number: int, times: int, parallel: int) -> str:
        """Write an inner loop whose inputs do not change in the outer loop; return its sum."""

        def body(inside: list[str]) -> list[str]:
            turn, total = inside
            term = self._ints("AddV2", self.outside(FIXED, INT), turn)
            done = self._states[0].effect(self, Doing(term, turn))
            following = self._ints("AddV2", turn, self.constant(scalar(1)), waiting(done))
            return [following, self._ints("AddV2", total, term)]

        zeros = [self.constant(scalar(0)), self.constant(scalar(0))]
        limit = self.constant(scalar(times))
        return self._loop(number, limit, zeros, lambda inside: inside, body, parallel)[1]

    def _loop(
        self,
        number: int,
        limit: str,
        carried: Sequence[str],
        asked: _Body,
        body: _Body,
        parallel: int,
    ) -> list[str]:
        self._frames += 1
        frame = f"{self._prefix}{self._frames}"

        def enter(text: str, kind: Kind = INT, *, constant: bool = True) -> str:
            attrs = {
                "T": kind,
                "frame_name": text_attr(frame),
                "is_constant": {"b": constant},
                "parallel_iterations": {"i": str(parallel)},
            }
            return self.node("RefEnter" if kind is REF else "Enter", (text,), attrs)

        bound = enter(limit)
        ends = [f"{frame}/next{number}" for number in range(len(carried) + 1)]
        entered = [enter(value, constant=False) for value in (self.constant(scalar(0)), *carried)]
        starts = [self._merge(*pair) for pair in zip(entered, ends, strict=True)]
        context = _Context(starts[0], enter)
        self._contexts.append(context)
        around, self._part = self._part, self.parts.setdefault((number, "asked"), [])
        turn, *held = starts[0], *asked(starts[1:])
        goes_on = self.node("LoopCond", (self._ints("Less", turn, bound),))
        switches = [self._switch(value, goes_on) for value in (turn, *held)]
        self._part = self.parts.setdefault((number, "turned"), [])
        inside = [self.node("Identity", (f"{switch}:1",), {"T": INT}) for switch in switches]
        context.pivot = inside[0]
        following = [
            self._ints("AddV2", inside[0], self.constant(scalar(1))),
            *body(inside[1:]),
        ]
        self._contexts.pop()
        self._part = around
        for name, value in zip(ends, following, strict=True):
            self._writer.node("NextIteration", (value,), {"T": INT}, name)
        return [self.node("Exit", (switch,), {"T": INT}) for switch in switches[1:]]
