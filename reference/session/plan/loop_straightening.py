"""Loop straightening: from the nodes of a loop to lists of steps that execute its iterations.

Where an operation is alive follows from the Switches before it: its *path* is the set of conditions
that must hold, each the number of a value with a truth. An operation has the conditions of all that
it needs; a Merge of what two sides of a condition give loses that condition. Operations of one path
make one list, those of a longer one the lists of a branch in it. A value that is only handed on (by
a Switch, an Identity, into the next iteration) keeps its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.dataflow_nodes import FrameShape, Node
from sessrun.reference.session.execute.steps import (
    Kernel,
    Registers,
    StepForm,
    Value,
    make_step,
)
from sessrun.reference.session.execute.straight_loops import Branch, InnerLoop, Steps, StraightLoop
from sessrun.reference.session.plan.folding import FOLDED, folded

__all__ = ["straight_loop"]

#: The conditions under which a value is alive.
_Path = frozenset[tuple[int, bool]]
_ALWAYS: Final[_Path] = frozenset()


@dataclass(slots=True, eq=False)
class _Item:
    """A kernel, a loop within the loop, or a node that hands its input on: it becomes one step.

    Attributes:
      node: its node, which errors are of.
      path: the conditions under which it executes.
      needs: the items that must have executed before.
      function: the kernel; None for a loop within, and for a node that only hands its input on.
      inputs: the numbers of the values that it takes.
      outputs: the numbers of the values that it gives.
      make: for a loop within, from the registers of its inputs and outputs to its step.
      is_lonely: whether it needs nothing but constant Enters.
      is_done: whether it is in a list.

    """

    node: Node
    path: _Path
    needs: Sequence[_Item] = ()
    function: Kernel | None = None
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    make: Callable[[Sequence[int], Sequence[int]], Callable[[Registers], None]] | None = None
    is_lonely: bool = False
    is_done: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether all items that it needs are in a list already."""
        return all(item.is_done for item in self.needs)


@dataclass(frozen=True, slots=True)
class _Value:
    """A tensor's value: its number, the path on which it is alive, the item that computes it."""

    number: int
    path: _Path
    item: _Item


class _NotStraight(Exception):  # noqa: N818 - it is no error
    """The loop has an operation that lists of steps cannot execute."""


def straight_loop(
    nodes: Sequence[Node], enters: Sequence[Node], by_op: Mapping[Operation, Node]
) -> StraightLoop | None:
    """The lists of steps of a loop; None if it has none.

    Args:
      nodes: the nodes of its frame.
      enters: what brings values into it.
      by_op: the node of each operation; loops within the loop have been straightened.

    """
    try:
        return _Straightened(enters, by_op).loop(nodes)
    except _NotStraight:
        return None


def _need(holds: bool) -> None:
    if not holds:
        raise _NotStraight


@dataclass(slots=True)
class _Straightened:
    """One attempt to make lists of steps.

    Attributes:
      enters: what brings values into the loop.
      by_op: the node of each operation.
      tensors: the value of each tensor.
      items: the item of each node.
      order: the items that are to be in lists.
      bases: for each number the path of what computes its value.
      same: for a number another one that it shares its register with.
      switches: a Switch by each condition.
      loop_conds: the numbers of the loop's conditions.
      inner: the Exits of each loop within.
      heads: the Merges that an iteration begins with.
      constants: by number the values that are the same in every run.

    """

    enters: Sequence[Node]
    by_op: Mapping[Operation, Node]
    tensors: dict[Tensor, _Value] = field(default_factory=dict)
    items: dict[Node, _Item] = field(default_factory=dict)
    order: list[_Item] = field(default_factory=list)
    bases: list[_Path] = field(default_factory=lambda: [_ALWAYS])  # number 0 is the running step
    same: dict[int, int] = field(default_factory=dict)
    switches: dict[int, Node] = field(default_factory=dict)
    loop_conds: set[int] = field(default_factory=set)
    inner: dict[FrameShape, list[Node]] = field(default_factory=dict)
    heads: list[Node] = field(default_factory=list)
    constants: dict[int, Value] = field(default_factory=dict)

    def loop(self, nodes: Sequence[Node]) -> StraightLoop:
        """The loop with these nodes; raises _NotStraight."""
        for node in self.enters:
            self._take_enter(node)
        for node in self.by_op.values():
            if node.kind == "Exit" and node.frame.around is self.enters[0].child:
                self.inner.setdefault(node.frame, []).append(node)
        todo = list(nodes)
        for node in todo:
            is_seen = node.kind != "Exit" and max(node.fetched, default=-1) >= 0
            _need(not is_seen and not node.takes_step)
        while todo:
            left = [node for node in todo if not self._take(node)]
            _need(len(left) < len(todo))
            todo = left
        return self._in_lists(nodes)

    def _new(self, path: _Path) -> int:
        self.bases.append(path)
        return len(self.bases) - 1

    def _take_enter(self, node: Node) -> None:
        is_constant = bool(node.op.attrs["is_constant"])
        _need(max(node.fetched, default=-1) < 0)
        if not is_constant:  # it brings its value into the first iteration only
            users = [user for user, _ in node.edges[0]]
            _need([user.kind for user in users] == ["Merge"] and not node.controls)
        item = self.items[node] = _Item(node, _ALWAYS, is_lonely=is_constant, is_done=True)
        self.tensors[node.op.outputs[0]] = _Value(self._new(_ALWAYS), _ALWAYS, item)

    # -- nodes

    def _take(self, node: Node) -> bool:
        """Add the item and the values of a node; False if one that it needs has none yet."""
        op = node.op
        is_head = node.kind == "Merge" and any(t.op.type == "NextIteration" for t in op.inputs)
        if is_head:
            self._take_head(node)
            return True
        controls = [self.by_op[other] for other in op.control_inputs if other in self.by_op]
        if not all(tensor in self.tensors for tensor in op.inputs):
            return False
        if not all(control in self.items for control in controls):
            return False
        values = [self.tensors[tensor] for tensor in op.inputs]
        if node.kind == "Merge":
            _need(not controls)
            self._take_merge(node, values)
            return True
        waited = [self.items[control] for control in controls]
        path = _ALWAYS.union(*(value.path for value in values), *(item.path for item in waited))
        if node.kind == "ControlTrigger":  # runs even if inputs are dead: only its order counts
            path = _ALWAYS
        _need(len({number for number, _ in path}) == len(path))  # else it is never alive
        item = self.items[node] = self._item(node, path, [v.item for v in values] + waited)
        if node.kind != "ControlTrigger":
            self.order.append(item)
            self._finish(node, item, values)
        return True

    def _item(self, node: Node, path: _Path, needs: Sequence[_Item]) -> _Item:
        """The item of a node, which hands its input on until it gets a function."""
        direct: list[_Item] = []
        for need in needs:  # what waits for a trigger waits for what that one waits for
            direct.extend(need.needs if need.node.kind == "ControlTrigger" else [need])
        is_lonely = all(need.is_lonely for need in needs if need.node.kind != "ControlTrigger")
        return _Item(node, path, direct, is_lonely=is_lonely)

    def _finish(self, node: Node, item: _Item, values: Sequence[_Value]) -> None:
        """Set the values of a node's outputs, and the function of its item."""
        op, path = node.op, item.path
        reads = any(read is not None for read in node.readers)
        _need(not (node.kind and reads))
        if node.kind == "Switch":
            data, pred = values
            self.switches.setdefault(pred.number, node)
            for truth, output in enumerate(op.outputs):
                way = path | {(pred.number, bool(truth))}
                self.tensors[output] = _Value(data.number, way, item)
        elif node.child is not None:
            self._enter_within(node.child)
        elif node.kind in {"Exit", "NextIteration"} or (
            op.type in {"Identity", "LoopCond"} and not reads
        ):
            self.tensors[op.outputs[0]] = _Value(values[0].number, path, item)
            if op.type == "LoopCond":
                self.loop_conds.add(values[0].number)
        else:
            outputs = [self._new(path) for _ in op.outputs]
            for output, number in zip(op.outputs, outputs, strict=True):
                self.tensors[output] = _Value(number, path, item)
            inputs = [value.number for value in values]
            if reads or not self._is_folded(node, inputs, outputs):
                item.function = _reading(node) if reads else node.function
                item.inputs, item.outputs = inputs, outputs

    def _is_folded(self, node: Node, inputs: Sequence[int], outputs: Sequence[int]) -> bool:
        """Whether the node's values are the same in every run: then they are known from now on."""
        kind, known = node.op.type, self.constants
        if node.device.kind != "CPU" or node.device.is_limited:
            return False
        if not (kind == "Const" or (kind in FOLDED and inputs and known.keys() >= {*inputs})):
            return False
        values = folded(node.function, [known[number] for number in inputs], len(outputs))
        self.constants.update(zip(outputs, values or (), strict=False))
        return values is not None

    def _take_head(self, node: Node) -> None:
        """Add the Merge at which an iteration begins for one variable of the loop."""
        first, following = (tensor.op for tensor in node.op.inputs[:2])
        enter = self.by_op.get(first)
        _need(len(node.op.inputs) == 2 and not node.op.control_inputs and not node.edges[1])
        _need(enter in self.enters and not first.attrs["is_constant"])
        _need(following.type == "NextIteration" and not any(node.readers))
        self.heads.append(node)
        number = self.tensors[node.op.inputs[0]].number
        item = self.items[node] = _Item(node, _ALWAYS, is_done=True)
        self.tensors[node.op.outputs[0]] = _Value(number, _ALWAYS, item)

    def _take_merge(self, node: Node, values: Sequence[_Value]) -> None:
        """Add a Merge of the values that the two branches of a condition give."""
        _need(len(values) == 2 and not any(node.readers))
        path = values[0].path & values[1].path
        sides = [value.path - path for value in values]
        _need([len(side) for side in sides] == [1, 1])
        ((number, truth),), ((other, otherwise),) = sides
        _need(number == other and truth is not otherwise and self.bases[number] <= path)
        merged, chosen = self._new(path), self._new(path)
        needs = [self._given(node, value, merged) for value in values]
        if node.edges[1]:
            for index, value in enumerate(values):
                choice = _Item(node, value.path, [value.item], _numbered(index), outputs=[chosen])
                self.order.append(choice)
                needs.append(choice)
        item = self.items[node] = _Item(node, path, needs, outputs=[merged])
        self.order.append(item)
        for output, number in zip(node.op.outputs, (merged, chosen), strict=True):
            self.tensors[output] = _Value(number, path, item)

    def _given(self, node: Node, value: _Value, merged: int) -> _Item:
        """The item that gives a Merge its value in one branch.

        It is the one that computes the value, if that is in the branch; else a new one that copies.
        """
        maker = value.item
        is_new = value.number in maker.outputs and maker.path == value.path
        if is_new and value.number not in self.same:
            self.same[value.number] = merged
            return maker
        copy = _Item(node, value.path, [maker], _copied_value, [value.number], [merged])
        self.order.append(copy)
        return copy

    # -- loops within

    def _enter_within(self, shape: FrameShape) -> None:
        """Add the item of a loop within the loop, once the items of all its Enters are known."""
        loop = shape.straight
        if loop is None:
            raise _NotStraight
        enters = [self.by_op[op] for op in loop.enters]
        if not all(enter in self.items for enter in enters):
            return
        sources = [self.tensors[enter.op.inputs[0]] for enter in enters]
        entered = [self.items[enter] for enter in enters]
        paths = {item.path for item in entered if not item.node.op.attrs["is_constant"]}
        _need(len(paths) == 1)
        (path,) = paths
        # With some of it dead, a loop gives nothing; but what needs only the rest is executed.
        _need(not loop.has_lonely or all(item.path == path for item in entered))
        exits = list(shape.exits)
        _need(all(max(node.fetched) < 0 for node in exits))
        _need(set(self.inner.get(shape, ())) == set(exits))
        item = self._item(entered[-1].node, path, entered)
        self.order.append(item)
        item.inputs = [source.number for source in sources]
        item.outputs = [self._new(path) for _ in exits]
        item.make = lambda inputs, outputs: InnerLoop(loop, tuple(inputs), tuple(outputs))
        for node, number in zip(exits, item.outputs, strict=True):
            self.items[node] = item
            self.tensors[node.op.outputs[0]] = _Value(number, path, item)

    # -- the lists

    def _in_lists(self, nodes: Sequence[Node]) -> StraightLoop:
        _need(len(self.loop_conds) == 1 and self.loop_conds <= self.switches.keys())
        (goes_on,) = self.loop_conds
        into, out = frozenset({(goes_on, True)}), frozenset({(goes_on, False)})
        lists = _Lists(self.bases, self.same, self.switches)
        for index in range(len(self.enters)):
            lists.register(index + 1)
        has_lonely = any(item.is_lonely and (item.function or item.make) for item in self.order)
        condition, body, after = (
            lists.list_of(path, [item for item in self.order if item.path & both == path])
            for both in [into | out]
            for path in (_ALWAYS, into, out)
        )
        constants = tuple((lists.register(n), value) for n, value in self.constants.items())
        moves = []
        for node in self.heads:
            last = self.tensors.get(node.op.inputs[1])
            if last is None or last.path != into:
                raise _NotStraight
            target = self.tensors[node.op.outputs[0]].number
            moves.append((lists.register(last.number), lists.register(target)))
        exits = []
        for node in nodes:
            if node.kind == "Exit":
                value = self.tensors[node.op.outputs[0]]
                _need(value.path == out)
                exits.append(lists.register(value.number))
        return StraightLoop(
            tuple(enter.op for enter in self.enters),
            len(lists.registers) + 1,
            condition,
            lists.register(goes_on),
            _at(self.switches[goes_on]),
            body,
            after,
            tuple(moves),
            tuple(exits),
            has_lonely,
            constants,
        )


@dataclass(slots=True)
class _Lists:
    """The lists of steps of one loop, and the registers of its values.

    Attributes:
      bases: for each number the path of what computes its value.
      same: for a number another one that it shares its register with.
      switches: a Switch by each condition.
      registers: the register of each number.

    """

    bases: Sequence[_Path]
    same: Mapping[int, int]
    switches: Mapping[int, Node]
    registers: dict[int, int] = field(default_factory=dict)

    def register(self, number: int) -> int:
        """The register of a value."""
        while number in self.same:
            number = self.same[number]
        return self.registers.setdefault(number, len(self.registers) + 1)

    def list_of(self, path: _Path, items: Sequence[_Item]) -> Steps:
        """The list of all these items, whose paths begin with `path`; raises _NotStraight."""
        steps, left = self._list(path, items)
        _need(not left)
        return steps

    def _list(self, path: _Path, items: Sequence[_Item]) -> tuple[Steps, Sequence[_Item]]:
        """The list of the items that can execute on this path, and the items that are left."""
        steps: list[tuple[StepForm, tuple[Operation, str]]] = []
        left = items
        while left:
            before, left = left, []
            for item in before:
                if item.path == path and item.is_ready:
                    item.is_done = True
                    steps.extend(self._step(item))
                else:
                    left.append(item)
            if len(left) == len(before):
                left = self._branch(path, left, steps)
                if len(left) == len(before):
                    break
        forms, origins = [form for form, _ in steps], [origin for _, origin in steps]
        ops, devices = [op for op, _ in origins], [device for _, device in origins]
        return Steps(tuple(forms), tuple(ops), tuple(devices)), left

    def _step(self, item: _Item) -> list[tuple[StepForm, tuple[Operation, str]]]:
        inputs = [self.register(number) for number in item.inputs]
        outputs = [self.register(number) for number in item.outputs]
        op = _at(item.node)
        if item.make is not None:
            return [((item.make(inputs, outputs), -1, -1, -1, 0), op)]
        if item.function is not None:
            return [(make_step(item.function, inputs, outputs, ()), op)]
        return []

    def _branch(
        self,
        path: _Path,
        items: list[_Item],
        before: list[tuple[StepForm, tuple[Operation, str]]],
    ) -> list[_Item]:
        """Add a branch on a condition that makes items ready; return the items that are left.

        Args:
          path: the path of the list.
          items: the items that are not in a list yet.
          before: the steps of the list so far, to which the branch is added.

        """
        ready = next((item for item in items if item.path > path and item.is_ready), None)
        if ready is None:
            return items
        pred = next(n for n, _ in ready.path - path if self.bases[n] <= path)
        sides = []
        left = items
        for truth in (False, True):
            way = path | {(pred, truth)}
            side, _ = self._list(way, [item for item in left if item.path >= way])
            left = [item for item in left if not item.is_done]
            sides.append(side)
        if any(side.forms for side in sides):
            switch = _at(self.switches[pred])
            branch = Branch(self.register(pred), switch, (sides[0], sides[1]))
            before.append(((branch, -1, -1, -1, 0), switch))
        return left


def _at(node: Node) -> tuple[Operation, str]:
    """The operation of a node and the name of its device, as an error of its step names them."""
    return node.op, node.device.name


def _copied_value(value: Value) -> Value:
    return value


def _numbered(index: int) -> Callable[[], np.int32]:
    """The kernel that gives the number of a Merge's input, int32."""
    return lambda: np.int32(index)


def _reading(node: Node) -> Kernel:
    """The kernel of a node, with its readers applied to the inputs first."""
    function, readers = node.function, node.readers

    def read_first(*values: Value) -> Value:
        return function(
            *[
                value if read is None else read(value)
                for read, value in zip(readers, values, strict=True)
            ]
        )

    return read_first
