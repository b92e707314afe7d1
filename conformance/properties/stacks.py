"""Runs of operations on stacks, one after the other, as a model of the stacks says.

A stack lives for one run, so a case is one graph whose operations wait for each other; each run of
it does the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, text_attr
from sessrun.conformance.generators.resource_histories import DTYPES, History, drawn
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case

_STACKS: Final = (
    "STACKS-001", "STACKS-002", "STACKS-003", "STACKS-004", "STACKS-005", "STACKS-006",
    "STACKS-007", "STACKS-008", "STACKS-009", "STACKS-010",
)  # fmt: skip
_SHAPES: Final = ((), (2,), (0,), (1, 3))


@dataclass(slots=True)
class _Stack:
    """A stack: its node, its form (`V2`, or `` for the older one), and what is on it."""

    node: str
    form: str
    dtype: str
    limit: int
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
        self.code = 0
        self._stacks = [self._made() for _ in range(draw.randint(1, 3))]

    def graph(self) -> dict[str, Any]:
        """The graph of the operations."""
        return self._writer.graph()

    def _made(self) -> _Stack:
        dtype, form = self._draw.choice(DTYPES), self._draw.choice(("V2", "V2", ""))
        attrs = {"elem_type": dtype_attr(dtype)}
        if self._draw.random() < 0.5:
            attrs["stack_name"] = text_attr("one name")  # for as many stacks as have it
        limit, inputs = -1, []
        if form:
            limit = self._draw.choice((-1, -1, 1, 2, 3))
            inputs = [self._writer.constant(np.array(limit, np.int32))]
        return _Stack(self._writer.node(f"Stack{form}", inputs, attrs), form, dtype, limit)

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
            self._do(f"StackClose{stack.form}", [stack.node], {}, None)
            stack.is_closed = True

    def _push(self, stack: _Stack) -> None:
        dtype = self._dtype_for(stack)
        value = drawn(self._draw, dtype, self._draw.choice(_SHAPES))
        fed = self._writer.placeholder(dtype, None)
        attrs = {"T": dtype_attr(dtype), "swap_memory": {"b": self._draw.random() < 0.3}}
        self.feeds[f"{fed}:0"] = value
        self._do(f"StackPush{stack.form}", [stack.node, fed], attrs, value)
        if dtype != stack.dtype or stack.is_full or stack.is_closed:
            self._pop(stack)  # an optimizer may take a push on what is never popped for nothing
            self.code = 3
        stack.held.append(value)

    def _pop(self, stack: _Stack) -> None:
        dtype = self._dtype_for(stack)
        if not stack.held or stack.is_closed:
            self.code = 3
        elif dtype != stack.dtype:
            self.code = 13
        value = stack.held.pop() if stack.held else np.zeros((), np.int32)
        attrs = {"elem_type": dtype_attr(dtype)}
        self._do(f"StackPop{stack.form}", [stack.node], attrs, value)

    def _dtype_for(self, stack: _Stack) -> str:
        """The stack's dtype, and now and then another one, which is refused."""
        return self._draw.choice(DTYPES) if self._draw.random() < 0.02 else stack.dtype

    def _do(
        self, op: str, inputs: list[str], attrs: dict[str, Any], value: np.ndarray | None
    ) -> None:
        waits = [] if self._before is None else [f"^{self._before}"]
        self._before = self._writer.node(op, [*inputs, *waits], attrs)
        self.fetches.append(self._before if value is None else f"{self._before}:0")
        self.values.append(value)


@prop("stacks", *_STACKS)
def stacks(draw: random.Random, id_: str) -> Case:
    """A stack gives what a list gives that is only changed at its end, in each run anew."""
    life = _Life(draw)
    for _ in range(draw.randint(4, 16)):
        life.go_on()
    history = History()
    history.open()
    for _ in range(2):
        if life.code:
            history.run(life.fetches, life.feeds, error=[life.code])
        else:
            history.run(life.fetches, life.feeds, values=life.values)
    title = "Stacks give what was put on them last, in each run anew."
    return history.case(id_, title, _STACKS, life.graph())
