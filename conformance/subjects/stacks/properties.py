"""Runs of operations on stacks, one after the other, as a model of the stacks says.

A stack lives for one run, so a case is one graph whose operations wait for each other; each run of
it does the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, text_attr
from sessrun.conformance.generators.resource_histories import DTYPES, History, drawn
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json

_STACKS: Final = (
    "STACKS-001",
    "STACKS-002",
    "STACKS-003",
    "STACKS-004",
    "STACKS-006",
    "STACKS-008",
    "STACKS-009",
    "STACKS-012",
    "STACKS-013",
    "STACKS-014",
    "STACKS-015",
)
_SHAPES: Final = ((), (2,), (0,), (1, 3))


@dataclass(slots=True)
class _Stack:
    """A stack: its node, its form (`V2`, or `` for the older one), and what is on it."""

    node: str
    form: str
    dtype: str
    limit: int
    is_named: bool
    held: list[np.ndarray] = field(default_factory=list)
    is_closed: bool = False

    @property
    def is_full(self) -> bool:
        return 0 <= self.limit <= len(self.held)


class _Life:
    """The operations of one run on up to three stacks, in one order."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._writer = GraphWriter()
        self._before: str | None = None
        self.fetches: list[str] = []
        self.feeds: dict[str, np.ndarray] = {}
        self.values: list[np.ndarray | None] = []
        #: For each fetch the clause that it shows false.
        self.clauses: list[str] = []
        self.code = 0
        self._stacks = [self._new_stack() for _ in range(draw.randint(1, 3))]

    def graph(self) -> dict[str, Json]:
        """The graph of the operations."""
        return self._writer.graph()

    def _new_stack(self) -> _Stack:
        dtype, form = self._draw.choice(DTYPES), self._draw.choice(("V2", "V2", ""))
        attrs = {"elem_type": dtype_attr(dtype)}
        is_named = self._draw.random() < 0.5
        if is_named:
            attrs["stack_name"] = text_attr("one name")  # for as many stacks as have it
        limit, inputs = -1, []
        if form:
            limit = self._draw.choice((-1, -1, 1, 2, 3))
            inputs = [self._writer.constant(np.array(limit, np.int32))]
        node = self._writer.node(f"Stack{form}", inputs, attrs)
        return _Stack(node, form, dtype, limit, is_named)

    def go_on(self) -> None:
        """Add one operation more, which waits for the one before it; none after one that fails."""
        stack, chance = self._draw.choice(self._stacks), self._draw.random()
        if self.code or (stack.is_closed and chance < 0.8):
            return
        if chance < 0.5 and (not stack.is_full or chance < 0.03):
            self._push(stack)
        elif chance < 0.93 and (stack.held or chance > 0.9):
            self._pop(stack)
        elif chance > 0.96:
            self._do(f"StackClose{stack.form}", [stack.node], {}, None, "STACKS-013")
            stack.is_closed = True

    def _push(self, stack: _Stack) -> None:
        dtype = self._dtype_for(stack)
        value = drawn(self._draw, dtype, self._draw.choice(_SHAPES))
        fed = self._writer.placeholder(dtype, None)
        attrs: dict[str, Json] = {
            "T": dtype_attr(dtype),
            "swap_memory": {"b": self._draw.random() < 0.3},
        }
        self.feeds[f"{fed}:0"] = value
        clause = self._clause_of_push(stack, dtype)
        self._do(f"StackPush{stack.form}", [stack.node, fed], attrs, value, clause)
        if dtype != stack.dtype or stack.is_full or stack.is_closed:
            self._pop(stack)  # an optimizer may take a push on what is never popped for nothing
            self._fails(3, clause)
        stack.held.append(value)

    def _clause_of_push(self, stack: _Stack, dtype: str) -> str:
        if stack.is_closed:
            return "STACKS-012"
        if dtype != stack.dtype:
            return "STACKS-014"
        if stack.is_full:
            return "STACKS-004"
        return "STACKS-009" if stack.limit < 0 and len(stack.held) > 1 else "STACKS-002"

    def _fails(self, code: int, clause: str) -> None:
        """Note that the run must fail with this code, and the clause that says so."""
        self.code, self.clauses = code, [clause]

    def _pop(self, stack: _Stack) -> None:
        dtype = self._dtype_for(stack)
        is_empty = not stack.held
        value = np.zeros((), np.int32) if is_empty else stack.held.pop()
        attrs = {"elem_type": dtype_attr(dtype)}
        clause = "STACKS-008" if self._shares_name(stack) else "STACKS-001"
        self._do(f"StackPop{stack.form}", [stack.node], attrs, value, clause)
        if stack.is_closed:
            self._fails(3, "STACKS-013")
        elif is_empty:
            self._fails(3, "STACKS-003")
        elif dtype != stack.dtype:
            self._fails(13, "STACKS-015")

    def _shares_name(self, stack: _Stack) -> bool:
        return stack.is_named and sum(other.is_named for other in self._stacks) > 1

    def _dtype_for(self, stack: _Stack) -> str:
        """The stack's dtype, and now and then another one, which is refused."""
        return self._draw.choice(DTYPES) if self._draw.random() < 0.02 else stack.dtype

    def _do(
        self,
        op: str,
        inputs: list[str],
        attrs: Mapping[str, Json],
        value: np.ndarray | None,
        clause: str,
    ) -> None:
        waits = [] if self._before is None else [f"^{self._before}"]
        self._before = self._writer.node(op, [*inputs, *waits], attrs)
        self.fetches.append(self._before if value is None else f"{self._before}:0")
        self.values.append(value)
        self.clauses.append(clause)


@prop("stacks", *_STACKS)
def stacks(draw: random.Random, id_: str) -> Case:
    """A stack gives what a list gives that is only changed at its end, in each run anew."""
    life = _Life(draw)
    for _ in range(draw.randint(4, 16)):
        life.go_on()
    while not life.fetches:
        life.go_on()
    history = History()
    history.open()
    for number in range(2):
        if life.code:
            history.run(life.fetches, life.feeds, error=[life.code], clause=life.clauses[0])
        else:
            clauses = ["STACKS-006"] * len(life.clauses) if number else life.clauses
            history.run(life.fetches, life.feeds, values=life.values, clauses=clauses)
    title = "Stacks give what was put on them last, in each run anew."
    return history.case(id_, title, life.graph())
