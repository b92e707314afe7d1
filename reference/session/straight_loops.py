"""Loops that are executed as two lists of steps: the condition's, then the body's.

Most loops hold nothing but operations: no branches, no loops within, nothing that may have to wait.
What executes in an iteration of such a loop is known beforehand, so that values need not find their
way edge by edge; `dataflow` executes all others. A value that is only handed on (by a Merge, a
Switch, an Identity, into the next iteration) shares its register.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessrun.reference.resources import KernelError
from sessrun.reference.session.execute import run_error

if TYPE_CHECKING:
    from sessrun.reference.resources import Step
    from sessrun.reference.session.flow_nodes import Node
    from sessrun.reference.tensor import Tensor

__all__ = ["StraightLoop", "straight_loop"]

_ALWAYS, _BODY, _AFTER = range(3)
#: The registers of inputs, what reads each, and the registers of outputs.
_General = tuple[tuple[int, ...], tuple[Any, ...] | None, tuple[int, ...]]
#: A kernel; the registers of one or two inputs (else -1) and of one output, or the general form;
#: and the node.
_Step = tuple[Callable[..., Any], int, int, int, _General | None, Any]


@dataclass(frozen=True, slots=True)
class StraightLoop:
    """A loop as lists of steps.

    Attributes:
      enters: the register of each Enter.
      size: how many registers there are.
      condition: the steps up to the condition.
      goes_on: the register of the condition.
      switch: a Switch, which errors of the condition's shape are those of.
      body: the steps after it, if it holds.
      moves: from which register to which a value goes into the next iteration.
      exits: each Exit, and the register of its value.

    """

    enters: Mapping[Node, int]
    size: int
    condition: tuple[_Step, ...]
    goes_on: int
    switch: Node
    body: tuple[_Step, ...]
    moves: tuple[tuple[int, int], ...]
    exits: tuple[tuple[Node, int], ...]

    def run(self, entered: Sequence[tuple[Node, Any]], step: Step | None) -> list[Any]:
        """Execute it; the values of the exits, in order.

        Raises:
          OpError: a kernel failed, the condition is no scalar, or the step has ended.

        """
        registers: list[Any] = [None] * self.size
        for node, value in entered:
            registers[self.enters[node]] = value
        while True:
            _execute(self.condition, registers)
            goes_on = registers[self.goes_on]
            if goes_on.ndim:
                text = f"pred must be a scalar, not of shape {list(goes_on.shape)}"
                raise run_error(KernelError(3, text), self.switch.op, self.switch.device.name)
            if not goes_on:
                return [registers[register] for _, register in self.exits]
            if step is not None:
                self._check(step)
            _execute(self.body, registers)
            following = [registers[source] for source, _ in self.moves]
            for (_, target), value in zip(self.moves, following, strict=True):
                registers[target] = value

    def _check(self, step: Step) -> None:
        try:
            step.check()
        except KernelError as error:
            raise run_error(error, self.switch.op, self.switch.device.name) from error


def _execute(steps: Sequence[_Step], registers: list[Any]) -> None:
    node: Any = None
    try:
        for function, left, right, target, general, node in steps:  # noqa: B007 - of the error
            if general is None:
                if right < 0:
                    registers[target] = function(registers[left])
                else:
                    registers[target] = function(registers[left], registers[right])
                continue
            sources, readers, targets = general
            values = [registers[source] for source in sources]
            if readers is not None:
                values = [
                    value if read is None else read(value)
                    for read, value in zip(readers, values, strict=True)
                ]
            result = function(*values)
            if len(targets) == 1:
                registers[targets[0]] = result
            elif targets:
                for place, value in zip(targets, result, strict=True):
                    registers[place] = value
    except Exception as error:  # every kernel's failure becomes an OpError
        raise run_error(error, node.op, node.device.name) from error


class _NotStraight(Exception):  # noqa: N818 - it is no error
    """The loop holds what lists of steps cannot execute."""


def straight_loop(
    nodes: Sequence[Node], enters: Sequence[Node], by_op: Mapping[Any, Node]
) -> StraightLoop | None:
    """The lists of steps of a loop; None if it has none.

    Args:
      nodes: the nodes of its frame, each after those that it needs but for the loop's ends.
      enters: what brings values into it.
      by_op: the node of each operation.

    """
    try:
        return _Straightened(nodes, enters, by_op).whole()
    except _NotStraight:
        return None


def _need(holds: bool) -> None:
    if not holds:
        raise _NotStraight


class _Straightened:
    """One attempt to make lists of steps."""

    def __init__(
        self, nodes: Sequence[Node], enters: Sequence[Node], by_op: Mapping[Any, Node]
    ) -> None:
        self.nodes = nodes
        self.by_op = by_op
        self.registers: dict[Tensor, int] = {}
        self.phases: dict[Node, int] = {}
        self.steps: tuple[list[_Step], list[_Step]] = ([], [])
        self.enters = {node: self._new(node.op.outputs[0]) for node in enters}
        self.phases.update(dict.fromkeys(enters, _ALWAYS))
        self.moves: list[tuple[int, int]] = []
        self.exits: list[tuple[Node, int]] = []
        self.triggers: list[Node] = []
        self.preds: dict[Tensor, Node] = {}

    def _new(self, tensor: Tensor) -> int:
        self.registers[tensor] = len(self.registers)
        return self.registers[tensor]

    def whole(self) -> StraightLoop:
        """The loop; raises _NotStraight."""
        for node in [*self.enters, *self.nodes]:
            is_seen = node.kind != "Exit" and max(node.fetched, default=-1) >= 0
            _need(not is_seen and not node.op.type.startswith("Ref"))
        for node in self.nodes:
            _need(node.child is None and not node.takes_step)
            self._take(node)
        for node in self.nodes:
            if node.kind == "Merge":
                self._close(node)
        for trigger in self.triggers:  # it fires after the last iteration, too
            _need(all(self._is_of_body(user) for user in trigger.controls))
        _need(len(self.preds) == 1)
        ((pred, switch),) = self.preds.items()
        condition, body = self.steps
        return StraightLoop(
            self.enters, len(self.registers), tuple(condition), self.registers[pred], switch,
            tuple(body), tuple(self.moves), tuple(self.exits),
        )  # fmt: skip

    def _take(self, node: Node) -> None:
        op = node.op
        if node.kind == "Merge":
            _need(len(op.inputs) == 2 and not op.control_inputs and not node.edges[1])
            first = self.by_op.get(op.inputs[0].op)
            _need(first in self.enters and not op.inputs[0].op.attrs["is_constant"])
            _need(first is not None and all(user is node for user, _ in first.edges[0]))
            self.registers[op.outputs[0]] = self.registers[op.inputs[0]]
            self.phases[node] = _ALWAYS
            return
        if node.kind == "Switch":
            self._take_switch(node)
            return
        phase = self._phase(node)
        if node.kind == "Exit":
            source = op.inputs[0].op
            _need(source.type == "Switch" and op.inputs[0].value_index == 0)
            self.exits.append((node, self.registers[op.inputs[0]]))
            return
        _need(phase != _AFTER)
        self.phases[node] = phase
        if node.kind == "NextIteration":
            self.registers[op.outputs[0]] = self._register(op.inputs[0])
            return
        if node.kind == "ControlTrigger":
            self.triggers.append(node)
            return
        _need(not node.kind)
        self._step(node, phase)

    def _take_switch(self, node: Node) -> None:
        data, pred = node.op.inputs
        _need(pred.op.type == "LoopCond" and data.op.type == "Merge")
        _need(not node.op.control_inputs)
        self.preds[pred] = node
        self._register(pred)
        for output in node.op.outputs:
            self.registers[output] = self._register(data)
        self.phases[node] = _BODY

    def _phase(self, node: Node) -> int:
        """When it executes: always, in the body only, or after the last iteration."""
        found = _ALWAYS
        for tensor in node.op.inputs:
            source = self.by_op[tensor.op]
            _need(source in self.phases)
            is_left = tensor.op.type == "Switch" and tensor.value_index == 0
            found = max(found, _AFTER if is_left else self.phases[source])
        for other in node.op.control_inputs:
            waited = self.by_op.get(other)
            if waited is not None:  # no fed placeholder
                _need(waited.kind != "Switch" and waited in self.phases)
                found = max(found, self.phases[waited])
        return found

    def _is_of_body(self, user: Node) -> bool:
        """Whether an operation takes a value of the body."""
        sources = [tensor.op for tensor in user.op.inputs]
        return any(self.phases.get(self.by_op.get(op)) == _BODY for op in sources)  # type: ignore[arg-type]  # None is in none

    def _register(self, tensor: Tensor) -> int:
        _need(tensor in self.registers)
        return self.registers[tensor]

    def _step(self, node: Node, phase: int) -> None:
        op = node.op
        sources = tuple(self._register(tensor) for tensor in op.inputs)
        reads = any(read is not None for read in node.readers)
        if op.type == "Identity" and not reads:
            self.registers[op.outputs[0]] = sources[0]
            return
        targets = tuple(self._new(output) for output in op.outputs)
        if len(targets) == 1 and len(sources) in {1, 2} and not reads:
            left, right = (*sources, -1)[:2]
            self.steps[phase].append((node.function, left, right, targets[0], None, node))
            return
        general = (sources, node.readers if reads else None, targets)
        self.steps[phase].append((node.function, -1, -1, -1, general, node))

    def _close(self, node: Node) -> None:
        """Let a Merge begin with its Enter's value, and go on with what comes round."""
        op = node.op
        following = self.by_op.get(op.inputs[1].op)
        _need(following is not None and following.kind == "NextIteration")
        _need(self.phases.get(following) == _BODY)  # type: ignore[arg-type]  # it is a node
        target = self.registers[op.outputs[0]]
        self.moves.append((self._register(op.inputs[1]), target))
