"""Trace: executes a plan and records the times, outputs and allocations of its operations.

The plan is a `TracedPlan`, in which every operation is a separate step, or a `FlowPlan`.
`step_stats` makes a StepStats from the Trace. Clauses: TRACING, RUN-044 on.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.quiet_arithmetic import quietly
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.dataflow import FlowPlan
from sessrun.reference.session.execute.dataflow_nodes import Node
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Call, Registers, Value
from sessrun.reference.session.plan.drafts import Draft, TracedPlan
from sessrun.reference.session.plan.partition_graphs import PartitionGraphs
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.session.resolve.unpacking import fetched_value
from sessrun.reference.state.steps import Step
from sessrun.spec.feeds import StringElementError

__all__ = ["Allocation", "Execution", "Held", "Trace"]

_now: Final = time.perf_counter_ns

#: The number of nodes of each device that a report of allocations names.
_REPORTED: Final = 10
_KIB: Final = 1024
#: Operations whose outputs persist from run to run.
_PERSISTENT: Final = frozenset({"Const", "Variable", "VariableV2"})


@dataclass(slots=True, weakref_slot=True)
class Allocation:
    """Memory that an operation allocated for one of its outputs.

    Attributes:
      slot: the index of the output.
      nbytes: the size in bytes.
      freed: when the last reference to the memory was gone, or None.

    """

    slot: int
    nbytes: int
    freed: int | None = None

    def free(self) -> None:
        """Set `freed` to now."""
        self.freed = _now()


@dataclass(frozen=True, slots=True)
class Held:
    """The value of one output of an operation.

    Attributes:
      slot: the index of the output.
      tensor: the tensor that is the output.
      shape: the value's shape; empty for a value that is not an array.
      nbytes: the bytes of the array, 0 for another value.
      address: the array's address in memory, 0 for another value.
      is_input: the index of the input that the operation returned as this output, or -1.
      in_host_memory: whether the array lies in host memory, whatever device it was computed on.

    """

    slot: int
    tensor: Tensor
    shape: tuple[int, ...]
    nbytes: int
    address: int
    is_input: int
    in_host_memory: bool = False


@dataclass(slots=True)
class Execution:
    """One execution of a node; times are readings of `perf_counter_ns`.

    Attributes:
      name: the node's name in the partition graph.
      device: the device of the node.
      scheduled: when the last of its inputs and control inputs was ready.
      start: when its first step began, which may read or copy an input.
      op_start: when its kernel began.
      op_end: when its kernel was done.
      end: when its outputs were stored, and inputs without further readers freed.
      outputs: the values of its output slots.
      allocations: the memory allocated for them.
      kept: the bytes of outputs that persist from run to run.

    """

    name: str
    device: LocalDevice
    scheduled: int
    start: int
    op_start: int
    op_end: int = 0
    end: int = 0
    outputs: list[Held] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    kept: int = 0


class Trace:
    """One traced run of a signature.

    Args:
      signature: the signature.
      plan: the signature's plan: a TracedPlan or a FlowPlan.
      partitions: the partition graphs, with the names of the nodes.
      host: the device of feeds and fetches.
      reports: whether the error of an operation that runs out of memory lists the allocations.

    Attributes:
      executions: the executions of nodes, in order.
      began: when the run began, by `perf_counter_ns`.
      began_wall: the same moment in nanoseconds since the epoch.

    """

    def __init__(
        self,
        signature: Signature,
        plan: Plan,
        partitions: PartitionGraphs,
        host: LocalDevice,
        *,
        reports: bool = False,
    ) -> None:
        self._signature = signature
        self._reports = reports
        self._plan = plan
        self._partitions = partitions
        self._host = host
        self._done: dict[Operation | Tensor, int] = {}
        self.executions: list[Execution] = []
        self.began = _now()
        self.began_wall = time.time_ns()

    def run(self, fed: Sequence[np.ndarray], step: Step | None = None) -> list[Value]:
        """Execute the plan on the fed arrays; returns the values of the signature's tensors.

        Raises:
          OpError: as `Plan.execute`.

        """
        registers = self._plan.template.copy()
        self._enter(fed, registers)
        registers[STEP_REGISTER] = step
        if isinstance(self._plan, FlowPlan):
            self._plan.run(registers, self._record_node)
        else:
            assert isinstance(self._plan, TracedPlan)  # which it was compiled to be
            quietly(self._loop, self._plan.drafts, registers)
        return self._fetched(registers)

    def _enter(self, fed: Sequence[np.ndarray], registers: Registers) -> None:
        """Store the fed arrays in their registers, as the values that kernels take."""
        for register, view, tensor, array in zip(
            self._plan.feeds, self._signature.views, self._signature.fed, fed, strict=True
        ):
            start = _now()
            try:
                value = registers[register] = view(array)
            except StringElementError as error:
                raise errors.InternalError(None, None, str(error)) from error
            name = self._partitions.args.get(tensor)
            if name is None:  # no operation of this run reads the fed tensor
                continue
            held = _held(0, tensor, value, self._host, ())
            self.executions.append(
                Execution(name, self._host, self.began, start, start, _now(), outputs=[held])
            )
            self._done[tensor] = self.executions[-1].end = _now()

    def _fetched(self, registers: Registers) -> list[Value]:
        """The values of the signature's tensors, as the caller of `run` gets them."""
        values = []
        for tensor, register in zip(self._signature.tensors, self._plan.fetches, strict=True):
            start = _now()
            values.append(fetched_value(registers[register]))
            name = self._partitions.retvals[tensor]
            done = self._done.get(tensor.op, start)
            execution = Execution(name, self._host, done, start, start, _now(), _now())
            self.executions.append(execution)
        return values

    def _loop(self, drafts: Iterable[tuple[Draft, Call]], registers: Registers) -> None:
        prepared: Execution | None = None
        for draft, call in drafts:
            now = _now()
            if prepared is None or draft.role == "copy":
                execution = self._new_execution(draft, now)
            else:  # the read of a variable for this kernel is part of the kernel's execution
                execution, execution.op_start = prepared, now
            try:
                self._step(draft, call, registers, execution)
            except Exception as error:  # every kernel's failure becomes an OpError
                report = self._allocations if self._reports else None
                raise run_error(error, draft.op, draft.device.name, report) from error
            execution.end = _now()
            if draft.role == "read":
                prepared = execution
                continue
            self.executions.append(execution)
            if draft.role == "kernel":
                self._done[draft.op] = execution.end
                prepared = None

    def _record_node(
        self, node: Node, start: int, end: int, inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> None:
        """Record an execution of a node of a FlowPlan; in a loop a node is executed many times."""
        op, device = node.op, node.device
        execution = Execution(op.name, device, start, start, start, end, end)
        execution.outputs = [
            _held(slot, tensor, value, device, inputs)
            for slot, (tensor, value) in enumerate(zip(op.outputs, outputs, strict=True))
        ]
        self.executions.append(execution)
        self._done[op] = end

    def _new_execution(self, draft: Draft, now: int) -> Execution:
        """The execution that begins with this step; a copy of an input is a separate execution."""
        name = f"{draft.op.name}:MEMCPY" if draft.role == "copy" else draft.op.name
        ready = (self._done.get(source, self.began) for source in self._dependencies(draft.op))
        return Execution(name, draft.device, max(ready, default=self.began), now, now)

    def _dependencies(self, op: Operation) -> Iterator[Operation | Tensor]:
        """The inputs of an operation, fed tensors or operations, and its control inputs."""
        yield from (tensor if tensor in self._done else tensor.op for tensor in op.inputs)
        yield from op.control_inputs

    def _step(self, draft: Draft, call: Call, registers: Registers, execution: Execution) -> None:
        """Execute one step on the registers; record when its kernel ended, and its outputs."""
        arguments = [registers[index] for index in call.inputs]
        result = call.function(*arguments)
        draft.device.settle()
        execution.op_end = _now()
        outputs = _listed(result, len(call.outputs))
        del result
        if draft.role == "kernel":
            self._record_outputs(draft, outputs, arguments, execution)
        del arguments
        for index in call.outputs:
            value = outputs.pop(0)
            if index is not None:
                registers[index] = value
        for index in call.dying:
            registers[index] = None

    def _record_outputs(
        self, draft: Draft, outputs: list[Value], arguments: list[Value], execution: Execution
    ) -> None:
        op, device = draft.op, draft.device
        if len(arguments) > len(op.inputs):  # the running step comes first
            arguments = arguments[1:]
        for slot, tensor in enumerate(op.outputs):
            held = _held(slot, tensor, outputs[slot], device, arguments)
            execution.outputs.append(held)
            if op.type in _PERSISTENT:
                execution.kept += held.nbytes
            # A new value has two references: the list of outputs and the argument of getrefcount.
            elif sys.getrefcount(outputs[slot]) == 2 and _owns(outputs[slot]):
                allocation = Allocation(slot, held.nbytes)
                execution.allocations.append(allocation)
                _call_when_freed(outputs[slot], allocation.free)

    def _allocations(self) -> str:
        """The report of the live allocations, for each device, the largest first."""
        alive: dict[LocalDevice, dict[str, int]] = {}
        for execution in self.executions:
            live = [allocation for allocation in execution.allocations if allocation.freed is None]
            nbytes = sum(allocation.nbytes for allocation in live)
            if nbytes:
                nodes = alive.setdefault(execution.device, {})
                nodes[execution.name] = nodes.get(execution.name, 0) + nbytes
        text = ""
        for device, nodes in alive.items():
            largest = sorted(nodes.items(), key=lambda item: (-item[1], item[0]))
            rest = sum(nbytes for _, nbytes in largest[_REPORTED:])
            text += f"\n\nCurrent usage from device: {device.name}, "
            text += f"allocator: {device.allocator.name}"
            for name, nbytes in largest[:_REPORTED]:
                text += f"\n  {_readable(nbytes)} from {name}"
            if rest:
                count = len(largest) - _REPORTED
                text += f"\n  Remaining {count} nodes with {_readable(rest)}"
        return text


def _readable(nbytes: int) -> str:
    """A number of bytes as people read it: 12B, 3.0KiB, 19.07MiB."""
    if nbytes < _KIB:
        return f"{nbytes}B"
    size, units = nbytes / _KIB, "KMGTPE"
    while size >= _KIB:
        size, units = size / _KIB, units[1:]
    return f"{size:.{1 if units[0] == 'K' else 2}f}{units[0]}iB"


def _listed(result: Value, count: int) -> list[Value]:
    if count == 1:
        return [result]
    return list(result) if count else []


def _held(
    slot: int, tensor: Tensor, value: Value, device: LocalDevice, arguments: Sequence[Value]
) -> Held:
    is_input = next((i for i, argument in enumerate(arguments) if argument is value), -1)
    if isinstance(value, VariableBuffer):
        value = value.value
    in_host_memory = isinstance(value, np.ndarray | np.generic)
    if isinstance(value, np.generic):
        return Held(slot, tensor, (), value.nbytes, 0, is_input, in_host_memory)
    if not isinstance(value, np.ndarray | device.xp.ndarray):
        return Held(slot, tensor, (), 0, 0, is_input)
    address = device.address(value) if value.nbytes else 0
    return Held(slot, tensor, value.shape, value.nbytes, address, is_input, in_host_memory)


def _owns(value: Value) -> bool:
    """Whether a value is an array that is not a view, or a numpy scalar; empty ones are not."""
    return getattr(value, "base", False) is None and getattr(value, "nbytes", 0) > 0


def _call_when_freed(value: Value, call: Callable[[], None]) -> None:
    """Call a function when a value is freed; never for a numpy scalar."""
    try:
        weakref.finalize(value, call).atexit = False
    except TypeError:  # a numpy scalar cannot be referred to weakly
        return
