"""The execute stage for graphs with control flow: operations fire once their inputs are available.

A value may be *dead*: an operation with a dead input, or that waits for a dead one, does not
execute and its outputs are dead too. `Switch` makes one of its outputs dead; `Merge` fires with the
first input that lives, and is dead only if all are. A *frame* is a loop being run: `Enter` brings a
value into its first iteration, `NextIteration` into the next, `Exit` back into the frame around it;
each iteration has separate inputs. A constant `Enter` brings its value into every iteration.
Source: TF 2.21, as its executor was seen to behave.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.base.quiet_arithmetic import quietly
from sessrun.reference.session.execute.dataflow_nodes import FrameShape, Node
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Reader, Registers, Value
from sessrun.reference.session.execute.straight_flow import checked_scalar
from sessrun.reference.state.steps import Postponed, Step

__all__ = ["DEAD", "FlowPlan"]


class _Dead:
    """The type of `DEAD`, which stands for the value of a dead tensor."""


DEAD: Final = _Dead()
#: See `FlowPlan.run`.
Watch = Callable[[Node, int, int, Sequence[Value], Sequence[Value]], None]


class _Iteration:
    """One iteration of a frame, with the inputs of its nodes that have arrived so far."""

    __slots__ = ("dead", "entered", "frame", "inputs", "number", "open", "pending")

    def __init__(self, frame: _Frame, number: int) -> None:
        shape = frame.shape
        self.frame = frame
        self.number = number
        self.pending = shape.pending.copy()
        self.dead: dict[int, int] = {}
        self.inputs: list[Value] = [None] * shape.slots
        self.open = 0  # nodes that are ready, frames inside, and loops of steps to be entered
        # What has entered a loop of steps so far, by the loop.
        self.entered: dict[FrameShape, list[tuple[Node, Value]]] = {}


class _Frame:
    """A loop being run.

    Attributes:
      shape: what its iterations begin with.
      around: the iteration that it is in; None for the run itself.
      missing: how many `Enter` have not brought their value yet.
      last: the number of the latest iteration.
      iterations: those under way.
      kept: what constant `Enter` have brought, for every iteration.
      waiting: the values of the next iteration, which may not begin yet.
      dead_exits: the `Exit` that were dead in the latest iteration.
      children: the frames inside, by shape and iteration.

    """

    __slots__ = (
        "around",
        "children",
        "dead_exits",
        "iterations",
        "kept",
        "last",
        "missing",
        "shape",
        "waiting",
    )

    def __init__(self, shape: FrameShape, around: _Iteration | None) -> None:
        self.shape = shape
        self.around = around
        self.missing = shape.enters
        self.last = 0
        self.iterations = {0: _Iteration(self, 0)}
        self.kept: list[tuple[Node, Value]] = []
        self.waiting: list[tuple[Node, Value]] = []
        self.dead_exits: list[Node] = []
        self.children: dict[tuple[int, int], _Frame] = {}


@dataclass(frozen=True, slots=True)
class FlowPlan(Plan):
    """A plan whose operations fire as their inputs arrive.

    Attributes:
      root: the frame of the run itself.
      roots: the nodes that wait for nothing.
      entries: for each fed tensor its register, and the nodes and slots that it goes to.
      moves: for each fetch what brings its value to host memory, or None.

    """

    root: FrameShape = field(default_factory=lambda: FrameShape(""))
    roots: tuple[Node, ...] = ()
    entries: tuple[tuple[int, tuple[tuple[Node, int], ...]], ...] = ()
    moves: tuple[Reader | None, ...] = ()

    def run(self, registers: Registers, watch: Watch | None = None) -> None:
        """Execute.

        Args:
          registers: as for `Plan.run`.
          watch: called after each operation with its node, when its kernel began and ended by
            `perf_counter_ns`, its inputs and its outputs; or None.

        Raises:
          OpError: a kernel failed, or a fetched tensor is dead.

        """
        run = _Run(registers, watch)
        quietly(run.execute, self)
        for number, (register, move) in enumerate(zip(self.fetches, self.moves, strict=True)):
            if registers[register] is not DEAD:
                if move is not None:
                    registers[register] = move(registers[register])
            else:
                raise errors.bad_argument(
                    f"Retval[{number}] does not have value: it is on a branch that was not taken",
                )

    #: It makes its arithmetic quiet where it has to.
    run_within = run


class _Run:
    """One execution of a plan: the nodes that are ready, and the frames under way."""

    def __init__(self, registers: Registers, watch: Watch | None) -> None:
        self.registers = registers
        self.watch = watch
        self.step: Step | None = registers[STEP_REGISTER]
        self.ready: deque[tuple[Node, _Iteration, bool]] = deque()
        self.postponed: list[tuple[Node, _Iteration, bool]] = []

    def execute(self, plan: FlowPlan) -> None:
        for register in plan.fetches:
            self.registers[register] = DEAD
        first = _Frame(plan.root, None).iterations[0]
        for node in plan.roots:
            self._start(node, first, is_dead=False)
        for register, edges in plan.entries:
            for node, slot in edges:
                self._arrive(node, slot, self.registers[register], first)
        if self.step is not None:
            self.step.postpones = True
        try:
            self._loop()
        finally:
            if self.step is not None:
                self.step.withdraw()

    def _loop(self) -> None:
        ready = self.ready
        while True:
            while ready:
                self._fire(*ready.popleft())
            if not self.postponed:
                return
            node = self.postponed[0][0]
            assert self.step is not None  # a kernel that waits has one
            try:
                self.step.wait()
            except KernelError as error:
                raise run_error(error, node.op, node.device.name) from error
            ready.extend(self.postponed)
            self.postponed.clear()

    def _start(self, node: Node, at: _Iteration, *, is_dead: bool) -> None:
        at.open += 1
        self.ready.append((node, at, is_dead))

    # -- one node

    def _fire(self, node: Node, at: _Iteration, is_dead: bool) -> None:
        if is_dead:
            outputs: Sequence[Value] = [DEAD] * len(node.edges)
        else:
            try:
                outputs = self._outputs(node, at)
            except Postponed:
                self.postponed.append((node, at, is_dead))
                return
            except Exception as error:  # every kernel's failure becomes an OpError
                raise run_error(error, node.op, node.device.name) from error
        # Nobody reads the inputs any more: let the memory go.
        at.inputs[node.first : node.first + node.count] = [None] * node.count
        try:
            self._hand_on(node, at, outputs, is_dead)
        except errors.OpError:  # of a loop of steps: it knows its operation
            raise
        except Exception as error:  # the step has ended, or a reference cannot be read
            raise run_error(error, node.op, node.device.name) from error
        at.open -= 1
        if not at.open:
            self._end(at)

    def _outputs(self, node: Node, at: _Iteration) -> Sequence[Value]:
        kind, values = node.kind, at.inputs[node.first : node.first + node.count]
        if kind == "Merge":
            return values[0]  # type: ignore[no-any-return]  # the value and its number
        values = [
            value if read is None else read(value)
            for read, value in zip(node.readers, values, strict=True)
        ]
        if kind == "Switch":
            data, pred = values
            return (DEAD, data) if checked_scalar(pred) else (data, DEAD)
        if kind and node.edges:
            return values
        start = perf_counter_ns() if self.watch else 0
        if node.entry.needs_step:
            assert self.step is not None  # a plan with such a kernel gets one
            self.step.iteration = at
            values.insert(0, self.step)
        result = node.function(*values)
        count = len(node.edges)
        outputs = (result,) if count == 1 else result if count else ()
        if self.watch:
            node.device.settle()
            self.watch(node, start, perf_counter_ns(), values[node.entry.needs_step :], outputs)
        return outputs

    def _hand_on(self, node: Node, at: _Iteration, outputs: Sequence[Value], is_dead: bool) -> None:
        """Send the outputs of a node on; an `Enter` of a straight loop gathers them instead."""
        if node.child is not None and node.child.straight is not None and self.watch is None:
            self._gather(node, at, outputs[0])
            return
        self._pass_on(node, at, outputs, is_dead)

    def _gather(self, node: Node, at: _Iteration, value: Value) -> None:
        """Keep the value that an `Enter` brings into a straight loop; the last one executes it."""
        shape = node.child
        assert shape is not None  # who calls has looked
        assert shape.straight is not None  # the same
        if shape not in at.entered:
            at.entered[shape] = []
            at.open += 1
        entered = at.entered[shape]
        entered.append((node, value))
        if len(entered) < shape.enters:
            return
        del at.entered[shape]
        at.open -= 1  # who calls keeps it open
        if any(first is DEAD for _, first in entered):
            for enter, first in entered:
                self._pass_on(enter, at, [first], first is DEAD)
            return
        values_of = {enter.op: first for enter, first in entered}
        entering = [values_of[enter] for enter in shape.straight.enters]
        values = shape.straight.run(entering, self.step)
        for leaving, last in zip(shape.exits, values, strict=True):
            for register in leaving.fetched:
                if register >= 0:
                    self._fetch(leaving, register, last)
            self._deliver(leaving, [last], False, at)

    def _pass_on(self, node: Node, at: _Iteration, outputs: Sequence[Value], is_dead: bool) -> None:
        """Send the outputs of a node along its edges, into the iteration that its kind demands."""
        target = self._target(node, at, outputs, is_dead=is_dead) if node.kind else at
        if target is None:
            return
        for register, value in zip(node.fetched, outputs, strict=True):
            if register >= 0:
                self._fetch(node, register, value)
        self._deliver(node, outputs, is_dead, target)
        if node.child is not None:
            target.frame.missing -= 1
            if not target.frame.missing and not target.open:
                self._end(target)

    def _fetch(self, node: Node, register: int, value: Value) -> None:
        if value is DEAD:
            return
        if self.registers[register] is not DEAD:
            raise errors.InternalError(
                node.op.node_def,
                node.op,
                f"Retval of {node.op.name} has already been set: it is "
                "inside of a loop. Fetch what an Exit brings out of it.",
            )
        self.registers[register] = value

    def _target(
        self, node: Node, at: _Iteration, outputs: Sequence[Value], *, is_dead: bool
    ) -> _Iteration | None:
        """The iteration in which the outputs of a node arrive; None if they are dropped."""
        if node.kind == "Enter":
            return self._entered(node, at, outputs[0])
        if node.kind == "NextIteration":
            return None if is_dead else self._next(at, node, outputs[0])
        if node.kind != "Exit":
            return at
        if is_dead and at.number == at.frame.last:
            at.frame.dead_exits.append(node)
        return None if is_dead else at.frame.around

    def _deliver(
        self, node: Node, outputs: Sequence[Value], is_dead: bool, target: _Iteration
    ) -> None:
        for edges, value in zip(node.edges, outputs, strict=True):
            for reader, slot in edges:
                self._arrive(reader, slot, value, target)
        for waiter in node.controls:
            self._arrive(waiter, -1, DEAD if is_dead else None, target)

    def _arrive(self, node: Node, slot: int, value: Value, at: _Iteration) -> None:
        """Store an input of a node (slot -1: a control input); the last one starts the node."""
        number = node.number
        if node.kind == "Merge":
            self._arrive_at_merge(node, slot, value, at)
            return
        at.pending[number] -= 1
        if value is DEAD:
            at.dead[number] = 1
        elif slot >= 0:
            at.inputs[slot] = value
        if not at.pending[number]:
            is_dead = number in at.dead and node.kind != "ControlTrigger"
            self._start(node, at, is_dead=is_dead)

    def _arrive_at_merge(self, node: Node, slot: int, value: Value, at: _Iteration) -> None:
        number = node.number
        pending = at.pending[number]
        if slot < 0:
            pending = at.pending[number] = pending - 2
            is_dead = at.dead.get(number, 0) == node.count
            if pending == 0 or (pending == 1 and is_dead):
                self._start(node, at, is_dead=is_dead)
        elif value is DEAD:
            dead = at.dead[number] = at.dead.get(number, 0) + 1
            # A loop on a branch that is not taken: no value of a later iteration will come.
            has_entered = node.op.inputs[slot - node.first].op.type in ENTERS
            if pending == 1 and (has_entered or dead == node.count):
                self._start(node, at, is_dead=True)
        elif pending & 1:  # the first that lives
            at.pending[number] = pending - 1
            index = slot - node.first
            read = node.readers[index]
            at.inputs[node.first] = (value if read is None else read(value), np.int32(index))
            if pending == 1:
                self._start(node, at, is_dead=False)

    # -- frames

    def _entered(self, node: Node, at: _Iteration, value: Value) -> _Iteration:
        shape = node.child
        assert shape is not None
        key = (id(shape), at.number)
        frame = at.frame.children.get(key)
        if frame is None:
            frame = at.frame.children[key] = _Frame(shape, at)
            at.open += 1
        if node.op.attrs["is_constant"]:
            frame.kept.append((node, value))
            for number in range(1, frame.last + 1):
                if number in frame.iterations:
                    self._constant(node, value, frame.iterations[number])
        return frame.iterations[0]

    def _next(self, at: _Iteration, node: Node, value: Value) -> _Iteration | None:
        """The next iteration; None, and the value waits, if `parallel_iterations` are running."""
        frame, number = at.frame, at.number + 1
        if number > frame.last:
            if len(frame.iterations) >= frame.shape.limit:
                frame.waiting.append((node, value))
                return None
            self._begin(frame)
        return frame.iterations[number]

    def _begin(self, frame: _Frame) -> None:
        """Begin the next iteration of a frame, with the constants and the values that wait."""
        if self.step is not None:
            self.step.check()
        frame.last += 1
        frame.dead_exits.clear()
        new = frame.iterations[frame.last] = _Iteration(frame, frame.last)
        waiting, frame.waiting = frame.waiting, []
        for node, value in frame.kept:
            self._constant(node, value, new)
        for node, value in waiting:
            self._deliver(node, [value], False, new)

    def _constant(self, node: Node, value: Value, at: _Iteration) -> None:
        self._deliver(node, [value], value is DEAD, at)

    def _end(self, at: _Iteration) -> None:
        """Drop an iteration whose nodes have all fired, and with the last one its frame."""
        frame, around = at.frame, at.frame.around
        if around is None:
            return
        number = at.number
        while number in frame.iterations and self._is_over(frame, number):
            del frame.iterations[number]
            number += 1
        if frame.waiting and len(frame.iterations) < frame.shape.limit:
            self._begin(frame)
        key = (id(frame.shape), around.number)
        if frame.iterations or around.frame.children.pop(key, None) is None:
            return
        for node in frame.dead_exits:
            self._deliver(node, [DEAD], True, around)
        around.open -= 1
        if not around.open:
            self._end(around)

    def _is_over(self, frame: _Frame, number: int) -> bool:
        """Whether all nodes of an iteration have fired, and no more inputs can arrive."""
        if frame.iterations[number].open:
            return False
        return not frame.missing if number == 0 else number - 1 not in frame.iterations
