"""The compile stage: from pruned, placed operations to a plan of register steps.

Kernels are bound here, once per node and session; references are read where a consumer wants a
value; values cross between host and device by explicit copy steps. Each tensor gets a register of
its own first; then registers are shared out again, so that a value lives to its last reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Call,
    Kernel,
    Value,
    make_step,
    read_reference,
)
from sessrun.reference.session.execute.waiting_plan import WaitingPlan
from sessrun.reference.session.plan.dataflow_compiler import compile_flow
from sessrun.reference.session.plan.drafts import Draft, TracedPlan
from sessrun.reference.session.plan.folding import FOLDED, folded
from sessrun.reference.session.plan.kernel_bindings import KernelBindings
from sessrun.reference.session.plan.late_reads import late_reads
from sessrun.reference.session.plan.locations import (
    HOST,
    check_not_fed,
    location_of,
    mover,
    slots_of,
)
from sessrun.reference.session.plan.optimizer_batching import batched
from sessrun.reference.session.plan.registers import (
    Registers,
    separate_registers,
    shared_registers,
)
from sessrun.reference.session.plan.waiting_order import groups_of, waiting_last
from sessrun.spec.operations import ArgDecl

__all__ = ["compile_plan"]

#: Operations whose value, if any, is the same in every run of a session: the compiler computes it.
_GIVEN: Final = frozenset(
    {
        "Const",
        "FIFOQueueV2",
        "NoOp",
        "PaddingFIFOQueueV2",
        "PriorityQueueV2",
        "RandomShuffleQueueV2",
        "VarHandleOp",
        "Variable",
        "VariableV2",
    }
)


def compile_plan(
    ops: Sequence[Operation],
    fetched: Sequence[Tensor],
    fed: Sequence[Tensor],
    placed: Mapping[Operation, LocalDevice],
    bindings: KernelBindings,
    *,
    keep: bool = False,
    traced: bool = False,
) -> Plan:
    """Compile operations to a plan.

    Args:
      ops: the operations to execute, producers before consumers (`prune`).
      fetched: the tensors to fetch, in order, none of them fed.
      fed: the fed tensors, in order.
      placed: the device of each operation.
      bindings: the session's kernels.
      keep: whether every value stays in its register, so that steps can be run one by one.
      traced: whether the plan is to be timed: then every operation gets a step, and the plan is a
        `TracedPlan`.

    Raises:
      InvalidArgumentError: an operation has no kernel on its device.
      UnimplementedError: the values of conditionals and loops should be kept.

    """
    bindings = bindings.for_plan(ops, fetched)
    if any(op.type in FLOW for op in ops):
        if keep:
            text = "A partial run cannot execute conditionals and loops."
            raise errors.UnimplementedError(None, None, text)
        return compile_flow(ops, fetched, fed, placed, bindings)
    compiler = _Compiler(placed, bindings, fed, traced=traced)
    return compiler.compile(ops, fetched, keep=keep)


#: A tensor, and the location of its value or reference: host memory or a device.
_Key = tuple[Tensor, str]


class _Compiler:
    """One compilation: the registers of tensors at their locations, and the steps so far."""

    def __init__(
        self,
        placed: Mapping[Operation, LocalDevice],
        bindings: KernelBindings,
        fed: Sequence[Tensor],
        *,
        traced: bool,
    ) -> None:
        self.placed = placed
        self.traced = traced
        self.bindings = bindings
        self.fed = fed
        self.is_fed = frozenset(fed)
        self.home: dict[Tensor, str] = {}  # where each value is computed or fed
        self.registers: dict[Tensor, int] = {}  # of values at their homes
        self.copies: dict[_Key, int] = {}  # registers of values elsewhere
        self.devices: dict[str, LocalDevice] = {}  # those of the operations so far, by name
        self.given: dict[int, Value] = {}
        self.drafts: list[Draft] = []
        self.count = STEP_REGISTER + 1
        self.cancellable = False
        self.only_takes = True
        self.late: frozenset[tuple[Operation, Tensor]] = frozenset()
        for tensor in fed:
            self._define(tensor, HOST)

    def compile(self, ops: Sequence[Operation], fetched: Sequence[Tensor], *, keep: bool) -> Plan:
        ops, waiting = waiting_last(ops, self.is_fed)
        self.late = late_reads(ops)
        ends = []
        for op in ops:
            self._operation(op)
            ends.append(len(self.drafts))
        is_waiting = waiting > 1 and not keep and not self.traced
        held = [self._at_host(tensor) for tensor in fetched]
        if not (waiting or keep or self.traced):
            self.drafts = batched(ops, self.drafts, self.given, held)
        feeds = [self.registers[tensor] for tensor in self.fed]
        shared = self._shared(held, feeds, keep=keep or is_waiting)
        template: list[Value] = [None] * shared.size
        for register, value in self.given.items():
            template[shared.numbers[register]] = value
        calls = tuple(
            Call(draft.function, *form)
            for draft, form in zip(self.drafts, shared.forms, strict=True)
        )
        plan = Plan(
            steps=tuple(map(make_step, calls)),
            ops=tuple((draft.op, draft.device.name) for draft in self.drafts),
            template=template,
            feeds=tuple(shared.numbers[register] for register in feeds),
            fetches=tuple(shared.numbers[register] for register in held),
            cancellable=self.cancellable,
            calls=calls,
            only_takes=self.only_takes,
        )
        values = {field.name: getattr(plan, field.name) for field in fields(Plan)}
        if self.traced:
            drafts = tuple(zip(self.drafts, shared.forms, strict=True))
            return TracedPlan(**values, drafts=drafts)
        if is_waiting:
            groups = groups_of(ops, self.is_fed, ends, len(self.drafts))
            return WaitingPlan(**values, groups=groups)
        return plan

    def _shared(self, held: Sequence[int], feeds: Sequence[int], *, keep: bool) -> Registers:
        if keep:
            return separate_registers(self.drafts, self.count)
        return shared_registers(
            self.drafts,
            (STEP_REGISTER, *self.given, *feeds),
            (
                STEP_REGISTER,
                *self.given,
                *held,
            ),
        )

    def _define(self, tensor: Tensor, location: str) -> int:
        register = self.count
        self.count += 1
        self.registers[tensor] = register
        self.home[tensor] = location
        return register

    def _operation(self, op: Operation) -> None:
        device = self.placed[op]
        self.devices[device.name] = device
        entry, function = self.bindings.kernel(op, device)
        inputs = [STEP_REGISTER] if entry.needs_step else []
        self.cancellable |= entry.needs_step
        self.only_takes &= entry.only_takes or not entry.needs_step
        for tensor, arg in zip(op.inputs, slots_of(op, op.declaration.inputs), strict=True):
            location = location_of(device, tensor.dtype, on_host=entry.takes_host(arg.name))
            inputs.append(self._input(tensor, arg, location, op, device))
        outputs: list[int | None] = []
        for tensor, arg in zip(op.outputs, slots_of(op, op.declaration.outputs), strict=True):
            if tensor in self.home:  # fed: what the kernel computes is not looked at
                outputs.append(None)
            else:
                location = location_of(device, tensor.dtype, on_host=entry.gives_host(arg.name))
                outputs.append(self._define(tensor, location))
        if not self._is_given(op, device, function, inputs, outputs):
            self.drafts.append(Draft(op, device, function, inputs, outputs))

    def _is_given(
        self,
        op: Operation,
        device: LocalDevice,
        function: Kernel,
        inputs: Sequence[int],
        outputs: Sequence[int | None],
    ) -> bool:
        """Whether the operation's value is the same in every run, and could be computed now."""
        if self.traced or device.kind != "CPU" or device.is_limited:
            return False
        if op.type in FOLDED and inputs and self.given.keys() >= set(inputs):
            values = folded(function, [self.given[register] for register in inputs], len(outputs))
            pairs = zip(outputs, values or (), strict=False)
            self.given.update((out, value) for out, value in pairs if out is not None)
            return values is not None
        if op.type not in _GIVEN:
            return False
        try:
            self.given.update((out, function()) for out in outputs if out is not None)
        except KernelError:  # an ill-formed constant fails the run
            return False
        return True

    def _input(
        self, tensor: Tensor, arg: ArgDecl, location: str, op: Operation, device: LocalDevice
    ) -> int:
        """The register of an input at the location that the kernel takes it from.

        It holds a reference if the kernel takes one, else a value.
        """
        if tensor in self.is_fed:
            check_not_fed(op, arg, tensor)
        elif (op, tensor) in self.late:
            tensor = tensor.op.inputs[0]
        home = self.home[tensor]
        register = self.registers[tensor]
        if tensor.dtype._is_ref_dtype and not arg.is_ref:  # noqa: SLF001 - TensorFlow's own name
            # Every consumer reads for itself: it sees the variable's value when it runs.
            read = self.count
            self.count += 1
            self.drafts.append(Draft(op, device, read_reference, [register], [read], "read"))
            register = read
            return self._moved(register, home, location, op, device)
        if home == location or arg.is_ref:
            return register
        known = self.copies.get((tensor, location))
        if known is None:
            known = self._moved(register, home, location, op, device)
            self.copies[tensor, location] = known
        return known

    def _moved(
        self, register: int, home: str, location: str, op: Operation, device: LocalDevice
    ) -> int:
        """The register of a copy at `location` of what a register holds at `home`."""
        function = mover(home, location, self.devices.get(home), device)
        if function is None:
            return register
        copied = self.count
        self.count += 1
        self.drafts.append(Draft(op, device, function, [register], [copied], "copy"))
        return copied

    def _at_host(self, tensor: Tensor) -> int:
        home = self.home[tensor]
        register = self.registers[tensor]
        if home == HOST:
            return register
        device = self.placed[tensor.op]
        if tensor.dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
            read = self.count
            self.count += 1
            drafted = Draft(tensor.op, device, read_reference, [register], [read], "read")
            self.drafts.append(drafted)
            register = read
        return self._moved(register, home, HOST, tensor.op, device)
