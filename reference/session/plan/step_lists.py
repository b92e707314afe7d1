"""Lists of steps of what executes under conditions: their order, and when registers are emptied.

An *item* becomes one step. The items of one path (see `straightening`) make one list, in an order
in which each follows what it needs; those of a longer path are the lists of a branch within it. A
condition may have several branches one after the other, where what is between them needs one and
is needed by the next.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from sessrun.reference.session.execute.dataflow_nodes import Node
from sessrun.reference.session.execute.steps import STEP_REGISTER, Kernel, StepForm, make_step
from sessrun.reference.session.execute.straight_flow import Branch, InnerLoop, Steps, StraightLoop
from sessrun.reference.session.plan.drafts import Draft, Role

__all__ = [
    "ALWAYS",
    "MOST_BLOCKS",
    "Fork",
    "Item",
    "Path",
    "StepLists",
    "blocks_of",
    "loops_of",
    "steps_of",
]

#: The number of a predicate's value, and whether it holds.
_Condition = tuple[int, bool]
#: The conditions under which a value is alive.
Path = frozenset[_Condition]
ALWAYS: Final[Path] = frozenset()
#: How many blocks may be in one another in a run's text: Python takes 100 indents.
MOST_BLOCKS: Final = 80


@dataclass(slots=True, eq=False)
class Item:
    """A kernel, a reader, a loop, or a node that hands its input on: it becomes one step or none.

    Attributes:
      node: its node, which errors are of.
      path: the conditions under which it executes.
      needs: the items that must have executed before.
      function: the kernel; None for a loop, and for a node that only hands its input on.
      inputs: the numbers of the values that it takes.
      outputs: the numbers of the values that it gives.
      role: what it does for the operation.
      loop: the loop, if it is one.
      needs_only_constants: whether it needs nothing but constant Enters.

    """

    node: Node
    path: Path
    needs: Sequence[Item] = ()
    function: Kernel | None = None
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    role: Role = "kernel"
    loop: StraightLoop | None = None
    needs_only_constants: bool = False


@dataclass(slots=True)
class Fork(Draft):
    """The draft of a branch; its inputs are all registers that it reads or writes.

    Attributes:
      pred: the register of the condition.
      sides: the drafts if it does not hold, and if it does.
      counts: how often each register is read or written in it.

    """

    pred: int = 0
    sides: tuple[Sequence[Draft], Sequence[Draft]] = ((), ())
    counts: Counter[int] = field(default_factory=Counter)


class StepLists:
    """Puts items into lists, each once, and numbers the registers of their values.

    Args:
      items: the items; those that they need beside them are taken to have executed.
      bases: for each number the path of what computes its value.
      same: for a number another one that it shares its register with.
      switches: for each predicate a Switch that takes it.
      last: an item that executes after all that do not need it: it may have to wait.

    Attributes:
      registers: the register of each number; that of the running step is its own.
      left: how many items are not in a list yet.

    """

    def __init__(
        self,
        items: Sequence[Item],
        bases: Sequence[Path],
        same: Mapping[int, int],
        switches: Mapping[int, Node],
        last: Item | None = None,
    ) -> None:
        self._items = items
        self._bases, self._same, self._switches = bases, same, switches
        self.registers: dict[int, int] = {0: STEP_REGISTER}
        self.left = len(items)
        indices = {item: index for index, item in enumerate(items)}
        self._missing = [0] * len(items)
        self._users: list[list[int]] = [[] for _ in items]
        self._ready: dict[Path, list[int]] = {}  # by path the heap of their numbers
        self._under: dict[_Condition, dict[Path, None]] = {}  # the paths of `_ready` with it
        self._last = None if last is None else indices[last]
        if self._last is not None:
            self._missing[self._last] = 1
        for index, item in enumerate(items):
            for need in item.needs:
                if need in indices:
                    self._missing[index] += 1
                    self._users[indices[need]].append(index)
            if not self._missing[index]:
                self._add_ready(index)

    def register(self, number: int) -> int:
        """The register of a value."""
        number = self._same.get(number, number)
        return self.registers.setdefault(number, len(self.registers))

    def run_list(self) -> list[Draft]:
        """The list of all items of a run."""
        drafts = self.list_of(ALWAYS)
        if self._last is not None:
            self._provide(self._last)
            drafts += self.list_of(ALWAYS)
        return drafts

    def list_of(
        self, path: Path, barred: Path = ALWAYS, newest: _Condition | None = None
    ) -> list[Draft]:
        """The list of the items that can execute on this path, those of longer paths in branches.

        Args:
          path: the path.
          barred: conditions of items that are left for later.
          newest: the condition of the innermost branch that the list is in.

        """
        drafts: list[Draft] = []
        while True:
            while path in self._ready:
                drafts.extend(self._next(path))
            ready = self._ready if newest is None else self._under.get(newest, {})
            longer = next((other for other in ready if other > path and not other & barred), None)
            if longer is None:
                return drafts
            drafts.extend(self._branch(path, longer, barred))

    def _add_ready(self, index: int) -> None:
        path = self._items[index].path
        if path not in self._ready:
            self._ready[path] = []
            for condition in path:
                self._under.setdefault(condition, {})[path] = None
        heapq.heappush(self._ready[path], index)

    def _provide(self, index: int) -> None:
        """Note that one of the things that an item needs is there."""
        self._missing[index] -= 1
        if not self._missing[index]:
            self._add_ready(index)

    def _next(self, path: Path) -> list[Draft]:
        """The draft of the first item of this path that is ready, if it has one."""
        heap = self._ready[path]
        index = heapq.heappop(heap)
        if not heap:
            del self._ready[path]
            for condition in path:
                del self._under[condition][path]
        self.left -= 1
        for user in self._users[index]:
            self._provide(user)
        return self._draft(self._items[index])

    def _draft(self, item: Item) -> list[Draft]:
        node = item.node
        inputs = tuple(self.register(number) for number in item.inputs)
        outputs = tuple(self.register(number) for number in item.outputs)
        if item.loop is not None:
            loop = InnerLoop(item.loop, inputs, outputs)
            return [Draft(node.op, node.device, loop, inputs, outputs, "region")]
        if item.function is not None:
            return [Draft(node.op, node.device, item.function, inputs, outputs, item.role)]
        return []

    def _branch(self, path: Path, longer: Path, barred: Path) -> list[Draft]:
        """The draft of a branch on a condition of a longer path on which an item is ready."""
        number = next(n for n, _ in longer - path if self._bases[n] <= path)
        conditions = [(number, truth) for truth in (False, True)]
        no, yes = (self.list_of(path | {newest}, barred, newest) for newest in conditions)
        if not (no or yes):
            return []
        switch, pred = self._switches[number], self.register(number)
        counts = _counts([*no, *yes])
        counts[pred] += 1
        inputs = tuple(counts)
        return [
            Fork(
                switch.op,
                switch.device,
                _never_called,
                inputs,
                (),
                "region",
                pred,
                (no, yes),
                counts,
            )
        ]


def steps_of(
    lists: Sequence[Sequence[Draft]],
    lasting: Collection[int],
    replaced: Sequence[Collection[int]] = (),
) -> list[Steps]:
    """The steps of all lists of a run or a loop.

    A register is emptied after the last step that looks at it, by the innermost list that has all
    the steps that do.

    Args:
      lists: the drafts of each list.
      lasting: registers that are not emptied.
      replaced: for each list the registers that get other values after it.

    """
    total = _counts([draft for drafts in lists for draft in drafts])
    return [
        _steps(drafts, lasting, total, ended)
        for drafts, ended in zip_longest(lists, replaced, fillvalue=())
    ]


def loops_of(drafts: Sequence[Draft]) -> Iterator[StraightLoop]:
    """The loops of a list, and those of the branches within it."""
    for draft in drafts:
        if isinstance(draft, Fork):
            for side in draft.sides:
                yield from loops_of(side)
        elif isinstance(draft.function, InnerLoop):
            yield draft.function.loop


def blocks_of(drafts: Sequence[Draft]) -> int:
    """How many blocks are in one another in the text of a list."""
    deepest = 0
    for draft in drafts:
        if isinstance(draft, Fork):
            deepest = max(deepest, *(1 + blocks_of(side) for side in draft.sides))
        elif isinstance(draft.function, InnerLoop):
            deepest = max(deepest, draft.function.loop.blocks)
    return deepest


def _steps(
    drafts: Sequence[Draft],
    lasting: Collection[int],
    total: Counter[int],
    replaced: Collection[int] = (),
) -> Steps:
    """The steps of one list; `total` counts how often each register is looked at in all lists."""
    last: dict[int, int] = {}
    counts: Counter[int] = Counter()
    inner: set[int] = set()
    for index, draft in enumerate(drafts):
        if isinstance(draft, Fork):
            counts.update(draft.counts)
            last.update(dict.fromkeys(draft.counts, index))
            for side in map(_counts, draft.sides):
                inner.update(
                    register for register, count in side.items() if count == total[register]
                )
        else:
            registers = _registers(draft)
            counts.update(registers)
            last.update(dict.fromkeys(registers, index))
    dying: list[list[int]] = [[] for _ in drafts]
    for register, index in last.items():
        is_last = counts[register] == total[register] and register not in inner
        if register in replaced or (is_last and register not in lasting):
            dying[index].append(register)
    forms = [_form(draft, ends, lasting, total) for draft, ends in zip(drafts, dying, strict=True)]
    ops, devices = [draft.op for draft in drafts], [draft.device.name for draft in drafts]
    return Steps(tuple(forms), tuple(ops), tuple(devices))


def _form(
    draft: Draft, dying: list[int], lasting: Collection[int], total: Counter[int]
) -> StepForm:
    if isinstance(draft, Fork):
        no, yes = (_steps(side, lasting, total) for side in draft.sides)
        switch = draft.op, draft.device.name
        branch = Branch(draft.pred, switch, (no, yes), draft.inputs, tuple(dying))
        return branch, -1, -1, -1, 0
    if isinstance(draft.function, InnerLoop):
        spent = tuple(register for register in dying if register in draft.inputs)
        unread = tuple(register for register in dying if register not in draft.inputs)
        return replace(draft.function, spent=spent, dying=unread), -1, -1, -1, 0
    outputs = [
        None if output in dying and output not in draft.inputs else output
        for output in draft.outputs
    ]
    return make_step(draft.function, draft.inputs, outputs, [r for r in dying if r in draft.inputs])


def _counts(drafts: Sequence[Draft]) -> Counter[int]:
    """How often each register is read or written by drafts."""
    counts: Counter[int] = Counter()
    for draft in drafts:
        counts.update(draft.counts if isinstance(draft, Fork) else _registers(draft))
    return counts


def _registers(draft: Draft) -> list[int]:
    """The registers that a draft of no branch reads or writes."""
    return [register for register in (*draft.inputs, *draft.outputs) if register is not None]


def _never_called(*_: object) -> None:
    raise AssertionError("the function of a branch is made with its steps")
