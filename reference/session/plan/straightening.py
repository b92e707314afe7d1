"""Straightening: from the nodes of a run or a loop to lists of steps that execute it.

An operation executes if the conditions of all Switches before it hold. Its *path* is the set of
these conditions, each as the number of the predicate's value and True or False. The output of a
Merge of both branches has the path without that condition. Identity, Switch and NextIteration
compute nothing: their outputs keep the number of their input.

This module has what the run itself and its loops have in common; `run_straightening` and
`loop_straightening` make the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.dataflow_nodes import FrameShape, Node
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Value,
    copied_value,
    read_reference,
)
from sessrun.reference.session.execute.straight_flow import checked_scalar
from sessrun.reference.session.plan.folding import FOLDED, GIVEN, folded
from sessrun.reference.session.plan.step_lists import ALWAYS, Item, Path

__all__ = ["NamedValue", "NotStraightError", "Straightened", "require_straight"]

#: How many conditions may have to hold for an operation, beside those around its loop.
_MOST_CONDITIONS: Final = 40


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A tensor's value: its number, the path on which it is alive, the item that computes it."""

    number: int
    path: Path
    item: Item


class NotStraightError(Exception):
    """There is an operation that lists of steps cannot execute."""


def require_straight(holds: bool) -> None:
    """Raise NotStraightError unless it holds."""
    if not holds:
        raise NotStraightError


@dataclass
class Straightened:
    """The values and items of nodes that are to be executed as lists of steps.

    Attributes:
      by_op: the node of each operation; the loops among them have been straightened.
      tensors: the value of each tensor.
      items: the item of each node.
      order: the items that are to be in lists.
      bases: for each number the path of what computes its value.
      same: from the number of a Merge's input to that of its output, where both have one register.
      switches: for each predicate a Switch that takes it, which errors name.
      checks: for each predicate of unknown shape and each path the item that checks that it is a
        scalar.
      loop_conds: the numbers of conditions of loops.
      entering: what each Enter of a loop within takes.
      constants: by number the values that are the same in every run.
      is_run: whether these are the nodes of the run itself, not of a loop.

    """

    by_op: Mapping[Operation, Node]
    tensors: dict[Tensor, NamedValue] = field(default_factory=dict)
    items: dict[Node, Item] = field(default_factory=dict)
    order: list[Item] = field(default_factory=list)
    bases: list[Path] = field(default_factory=lambda: [ALWAYS])  # number 0 is the running step
    same: dict[int, int] = field(default_factory=dict)
    switches: dict[int, Node] = field(default_factory=dict)
    checks: dict[tuple[int, Path], Item] = field(default_factory=dict)
    loop_conds: set[int] = field(default_factory=set)
    entering: dict[Node, NamedValue] = field(default_factory=dict)
    constants: dict[int, Value] = field(default_factory=dict)
    is_run: bool = False

    def take_all(self, nodes: Sequence[Node]) -> None:
        """Add the items and values of all nodes of a frame; raises NotStraightError."""
        todo = list(nodes)
        while todo:
            left = [node for node in todo if not self.take(node)]
            require_straight(len(left) < len(todo))
            todo = left

    def new(self, path: Path) -> int:
        """The number of a new value, which something on this path computes."""
        self.bases.append(path)
        return len(self.bases) - 1

    def take(self, node: Node) -> bool:
        """Add the items and the values of a node; False if one that it needs has none yet."""
        if not all(tensor in self.tensors for tensor in node.sources):
            return False
        if not all(control in self.items for control in node.waits):
            return False
        values = [self.tensors[tensor] for tensor in node.sources]
        if node.kind == "Merge":
            require_straight(not node.waits)
            self._take_merge(node, values)
            return True
        waited = [self.items[control] for control in node.waits]
        path = ALWAYS.union(*(value.path for value in values), *(item.path for item in waited))
        if node.kind == "ControlTrigger":  # runs even if inputs are dead: only its order counts
            path = ALWAYS
        require_straight(len({number for number, _ in path}) == len(path))  # else it is never alive
        require_straight(len(path) <= _MOST_CONDITIONS)
        needs = [value.item for value in values] + waited
        if any(read is not None for read in node.readers):
            values = self._read(node, path, needs, values)
            needs = [value.item for value in values] + waited
        item = self.items[node] = self._item(node, path, needs)
        if node.kind != "ControlTrigger":
            self.order.append(item)
            self._finish(node, item, values)
        return True

    def _read(
        self, node: Node, path: Path, needs: Sequence[Item], values: Sequence[NamedValue]
    ) -> list[NamedValue]:
        """What a node's readers make of its inputs: they read when the node is executed."""
        results = list(values)
        for index, read in enumerate(node.readers):
            if read is not None:
                item = self._item(node, path, needs)
                item.role = "read" if read is read_reference else "copy"
                item.function, item.inputs = read, [values[index].number]
                item.outputs = [self.new(path)]
                self.order.append(item)
                results[index] = NamedValue(item.outputs[0], path, item)
        return results

    def _item(self, node: Node, path: Path, needs: Sequence[Item]) -> Item:
        """The item of a node, which hands its input on until it gets a function."""
        direct: list[Item] = []
        for other in needs:  # what waits for a trigger waits for what that one waits for
            direct.extend(other.needs if other.node.kind == "ControlTrigger" else [other])
        needs_only_constants = all(
            other.needs_only_constants for other in needs if other.node.kind != "ControlTrigger"
        )
        return Item(node, path, direct, needs_only_constants=needs_only_constants)

    def _finish(self, node: Node, item: Item, values: Sequence[NamedValue]) -> None:
        """Set the values of a node's outputs, and the function of its item."""
        op, path = node.op, item.path
        if node.kind == "Switch":
            data, pred = values
            self._take_pred(node, item, pred)
            for truth, output in enumerate(op.outputs):
                self._give(output, data.number, path | {(pred.number, bool(truth))}, item)
        elif node.child is not None:
            self.entering[node] = values[0]
            self._enter_within(node.child)
        elif node.kind == "NextIteration":  # alive in the next iteration alone
            users = [user.kind for user, _ in node.edges[0]]
            require_straight(not self.is_run and not node.controls and set(users) <= {"Merge"})
            self._give(op.outputs[0], values[0].number, path, item)
        elif node.kind == "Exit" or op.type in {"Identity", "LoopCond"}:
            self._give(op.outputs[0], values[0].number, path, item)
            if op.type == "LoopCond":
                self.loop_conds.add(values[0].number)
        elif op.type != "NoOp":
            outputs = [self.new(path) for _ in op.outputs]
            for output, number in zip(op.outputs, outputs, strict=True):
                self._give(output, number, path, item)
            inputs = [value.number for value in values]
            if not self._folds(node, path, inputs, outputs):
                item.outputs = outputs
                self.finish_kernel(item, inputs)

    def finish_kernel(self, item: Item, inputs: Sequence[int]) -> None:
        """Give an item its kernel, on values with these numbers."""
        require_straight(self.is_run or not item.node.entry.may_wait)
        if item.node.entry.needs_step:
            inputs = [STEP_REGISTER, *inputs]
        item.function, item.inputs = item.node.function, inputs

    def _take_pred(self, node: Node, item: Item, pred: NamedValue) -> None:
        """Note a condition; one whose shape is not known is checked, whoever needs it.

        Errors are of the Switch that was made first: that of the conditional itself.
        """
        noted = self.switches.setdefault(pred.number, node)
        if node.op.id < noted.op.id:
            self.switches[pred.number] = node
        if node.sources[1].sizes == ():
            return
        check = self.checks.setdefault((pred.number, item.path), item)
        check.function, check.inputs = checked_scalar, [pred.number]
        if node.op.id < check.node.op.id:
            check.node = node

    def _give(self, output: Tensor, number: int, path: Path, item: Item) -> None:
        """Set the value of an output, unless another one is fed."""
        self.tensors.setdefault(output, NamedValue(number, path, item))

    def _folds(self, node: Node, path: Path, inputs: Sequence[int], outputs: Sequence[int]) -> bool:
        """Compute the node's values now, if they are the same in every run; whether it was done."""
        kind, known = node.op.type, self.constants
        if node.device.kind != "CPU" or node.device.is_limited:
            return False
        if kind in GIVEN and self.is_run and not path:
            try:
                known.update((output, node.function()) for output in outputs)
            except KernelError:  # an ill-formed constant fails the run
                return False
            return True
        if not (kind == "Const" or (kind in FOLDED and inputs and known.keys() >= {*inputs})):
            return False
        values = folded(node.function, [known[number] for number in inputs], len(outputs))
        known.update(zip(outputs, values or (), strict=False))
        return values is not None

    def _take_merge(self, node: Node, values: Sequence[NamedValue]) -> None:
        """Add a Merge of the values that the two branches of a condition give."""
        require_straight(len(values) == 2 and not any(node.readers))
        path = values[0].path & values[1].path
        sides = [value.path - path for value in values]
        require_straight([len(side) for side in sides] == [1, 1])
        ((number, truth),), ((other, otherwise),) = sides
        require_straight(number == other and truth is not otherwise and self.bases[number] <= path)
        merged, chosen = self.new(path), self.new(path)
        needs = [self._merge_input(node, value, merged) for value in values]
        if node.edges[1] or node.fetched[1] >= 0:
            for index, value in enumerate(values):
                choice = Item(node, value.path, [value.item], _numbered(index), outputs=[chosen])
                self.order.append(choice)
                needs.append(choice)
        item = self.items[node] = Item(node, path, needs)
        self.order.append(item)
        for output, number in zip(node.op.outputs, (merged, chosen), strict=True):
            self._give(output, number, path, item)

    def _merge_input(self, node: Node, value: NamedValue, merged: int) -> Item:
        """The item that gives a Merge its value in one branch.

        It is the one that computes the value, if that is in the branch; else a new one that copies.
        """
        maker = value.item
        is_new = value.number in maker.outputs and maker.path == value.path
        if is_new and value.number not in self.same:
            self.same[value.number] = merged
            return maker
        copy = Item(node, value.path, [maker], copied_value, [value.number], [merged])
        self.order.append(copy)
        return copy

    def _enter_within(self, shape: FrameShape) -> None:
        """Add the item of a loop within, once the items of all its Enters are known."""
        loop = shape.straight
        if loop is None:
            raise NotStraightError
        enters = [self.by_op[op] for op in loop.enters]
        if not all(enter in self.items for enter in enters):
            return
        entered = [self.items[enter] for enter in enters]
        paths = {item.path for item in entered if not item.node.op.attrs["is_constant"]}
        require_straight(len(paths) == 1)
        (path,) = paths
        # If one entering value is dead, no Exit gives a value. But operations in the loop that need
        # only constant Enters that live execute all the same: such loops are left to the nodes.
        require_straight(all(item.path <= path for item in entered))
        require_straight(not loop.runs_when_dead or all(item.path == path for item in entered))
        exits = list(shape.exits)
        require_straight(self.is_run or all(max(node.fetched) < 0 for node in exits))
        item = self._item(entered[-1].node, path, entered)
        self.order.append(item)
        item.inputs = [self.entering[enter].number for enter in enters]
        item.outputs = [self.new(path) for _ in exits]
        item.loop = loop
        for node, number in zip(exits, item.outputs, strict=True):
            self.items[node] = item
            self._give(node.op.outputs[0], number, path, item)


def _numbered(index: int) -> Callable[[], np.int32]:
    """The kernel that gives the number of a Merge's input, int32."""
    return lambda: np.int32(index)
