"""The compile stage: from pruned, placed operations to a plan of register steps.

Kernels are bound here, once per node and session; references are read where a consumer wants a
value; values cross between host and device by explicit copy steps. Each tensor gets a register of
its own first; then registers are shared out again, so that a value lives to its last reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels.registry import Entry
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Kernel,
    Reader,
    Value,
    call_of,
    read_reference,
)
from sessrun.reference.session.execute.waiting_plan import WaitingPlan
from sessrun.reference.session.plan.dataflow_compiler import compile_flow
from sessrun.reference.session.plan.drafts import Draft, Role, TracedPlan
from sessrun.reference.session.plan.folding import FOLDED, GIVEN, folded
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
    types = frozenset({op.type for op in ops})
    bindings = bindings.for_plan(ops, types, fetched)
    if not types.isdisjoint(FLOW):
        if keep:
            text = "A partial run cannot execute conditionals and loops."
            raise errors.UnimplementedError(None, None, text)
        return compile_flow(ops, types, fetched, fed, placed, bindings, traced=traced)
    compiler = _Compiler(placed, bindings, fed, traced=traced)
    return compiler.compile(ops, types, fetched, keep=keep)


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
        self.plain: dict[Tensor, int] = {}  # registers of values that are computed in host memory
        self.others: dict[Tensor, tuple[int, str]] = {}  # registers of all else, and its location
        self.copies: dict[_Key, int] = {}  # registers of values copied to another location
        self.given: dict[int, Value] = {}
        self.drafts: list[Draft] = []
        self.count = STEP_REGISTER + 1
        self.cancellable = False
        self.only_takes = True
        self.late: frozenset[tuple[Operation, Tensor]] = frozenset()
        for tensor in fed:
            self.others[tensor] = self.count, HOST
            self.count += 1

    def compile(
        self,
        ops: Sequence[Operation],
        types: frozenset[str],
        fetched: Sequence[Tensor],
        *,
        keep: bool,
    ) -> Plan:
        ops, waiting = waiting_last(ops, types, self.is_fed, self._may_wait)
        self.late = late_reads(ops, types)
        ends = []
        for op in ops:
            self._operation(op)
            ends.append(len(self.drafts))
        is_waiting = waiting > 1 and not keep and not self.traced
        held = [self._at_host(tensor) for tensor in fetched]
        if not (waiting or keep or self.traced):
            self.drafts = batched(ops, self.drafts, self.given, held)
        feeds = [self.others[tensor][0] for tensor in self.fed]
        shared = self._shared(held, feeds, keep=keep or is_waiting)
        template: list[Value] = [None] * shared.size
        for register, value in self.given.items():
            template[shared.numbers[register]] = value
        plan = Plan(
            steps=tuple(shared.steps),
            ops=tuple([draft.op for draft in self.drafts]),
            devices=tuple([draft.device.name for draft in self.drafts]),
            template=template,
            feeds=tuple(shared.numbers[register] for register in feeds),
            fetches=tuple(shared.numbers[register] for register in held),
            cancellable=self.cancellable,
            only_takes=self.only_takes,
            may_wait=bool(waiting),
        )
        if not (self.traced or is_waiting):
            return plan
        values = {field.name: getattr(plan, field.name) for field in fields(Plan)}
        if self.traced:
            drafts = tuple(zip(self.drafts, map(call_of, plan.steps), strict=True))
            return TracedPlan(**values, drafts=drafts)
        groups = groups_of(ops, self.is_fed, ends, len(self.drafts))
        return WaitingPlan(**values, groups=groups)

    def _may_wait(self, op: Operation) -> bool:
        """Whether an operation's kernel, as it is bound, may have to wait."""
        return self.bindings.kernel(op, self.placed[op])[0].may_wait

    def _shared(self, held: Sequence[int], feeds: Sequence[int], *, keep: bool) -> Registers:
        if keep:
            return separate_registers(self.drafts, self.count)
        return shared_registers(
            self.drafts,
            self.count,
            (STEP_REGISTER, *self.given, *feeds),
            (STEP_REGISTER, *self.given, *held),
        )

    def _operation(self, op: Operation) -> None:
        """Add the drafts of an operation."""
        device = self.placed[op]
        entry, function = self.bindings.kernel(op, device)
        inputs = self._inputs(op, device, entry)
        if entry.needs_step:
            inputs = (STEP_REGISTER, *inputs)
            self.cancellable = True
            self.only_takes &= entry.only_takes
        outputs = self._outputs(op, device, entry)
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
        given = self.given
        if inputs:
            if inputs[0] not in given or op.type not in FOLDED or not given.keys() >= set(inputs):
                return False
        elif op.type not in GIVEN:
            return False
        if self.traced or device.kind != "CPU" or device.is_limited:
            return False
        if inputs:
            values = folded(function, [given[register] for register in inputs], len(outputs))
            pairs = zip(outputs, values or (), strict=False)
            given.update((out, value) for out, value in pairs if out is not None)
            return values is not None
        try:
            given.update((out, function()) for out in outputs if out is not None)
        except KernelError:  # an ill-formed constant fails the run
            return False
        return True

    # -- outputs

    def _outputs(self, op: Operation, device: LocalDevice, entry: Entry) -> tuple[int | None, ...]:
        """New registers for an operation's outputs; None for a fed one, which nobody looks at."""
        is_cpu = device.kind == "CPU"
        slots = () if is_cpu else slots_of(op, op.declaration.outputs)
        outputs: list[int | None] = []
        for index, tensor in enumerate(op.outputs):
            if tensor in self.is_fed:
                outputs.append(None)
                continue
            location = HOST
            if not is_cpu:
                on_host = entry.gives_host(slots[index].name)
                location = location_of(device, tensor.dtype, on_host=on_host)
            if location == HOST and not tensor.dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
                self.plain[tensor] = self.count
            else:
                self.others[tensor] = self.count, location
            outputs.append(self.count)
            self.count += 1
        return tuple(outputs)

    # -- inputs

    def _inputs(self, op: Operation, device: LocalDevice, entry: Entry) -> tuple[int, ...]:
        """The registers of the inputs as the kernel of an operation takes them."""
        if device.kind == "CPU" and not self.late:
            try:
                return tuple([self.plain[tensor] for tensor in op.inputs])
            except KeyError:  # one is fed, is a reference, or lies on another device
                pass
        slots = slots_of(op, op.declaration.inputs)
        return tuple(
            self._input(tensor, arg, op, device, on_host=entry.takes_host(arg.name))
            for tensor, arg in zip(op.inputs, slots, strict=True)
        )

    def _input(
        self, tensor: Tensor, arg: ArgDecl, op: Operation, device: LocalDevice, *, on_host: bool
    ) -> int:
        """The register of an input at the location that the kernel takes it from.

        It holds a reference if the kernel takes one, else a value.
        """
        if tensor in self.is_fed:
            check_not_fed(op, arg, tensor)
        elif (op, tensor) in self.late:
            tensor = tensor.op.inputs[0]
        location = location_of(device, tensor.dtype, on_host=on_host)
        register, home = self._origin(tensor)
        if _is_reference(tensor) and not arg.is_ref:
            # Every consumer reads for itself: it sees the variable's value when it runs.
            read = self._converted(op, device, read_reference, register, "read")
            return self._moved(read, tensor, location, op, device)
        if home == location or arg.is_ref:
            return register
        known = self.copies.get((tensor, location))
        if known is None:
            known = self.copies[tensor, location] = self._moved(
                register, tensor, location, op, device
            )
        return known

    def _at_host(self, tensor: Tensor) -> int:
        """The register of a fetched value in host memory."""
        register, home = self._origin(tensor)
        if home == HOST:
            return register
        device = self.placed[tensor.op]
        if _is_reference(tensor):
            register = self._converted(tensor.op, device, read_reference, register, "read")
        return self._moved(register, tensor, HOST, tensor.op, device)

    def _origin(self, tensor: Tensor) -> tuple[int, str]:
        """The register that a tensor is fed or computed to, and the location of what is in it."""
        register = self.plain.get(tensor)
        return self.others[tensor] if register is None else (register, HOST)

    def _moved(
        self, register: int, tensor: Tensor, location: str, op: Operation, device: LocalDevice
    ) -> int:
        """The register of a copy at `location` of a register with a tensor's value."""
        _, home = self._origin(tensor)
        source = None if home == HOST else self.placed[tensor.op]
        function = mover(home, location, source, device)
        if function is None:
            return register
        return self._converted(op, device, function, register, "copy")

    def _converted(
        self, op: Operation, device: LocalDevice, function: Reader, register: int, role: Role
    ) -> int:
        """The register of what a reader, for which a step is added, makes of another register."""
        output = self.count
        self.count += 1
        self.drafts.append(Draft(op, device, function, (register,), (output,), role))
        return output


def _is_reference(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype  # noqa: SLF001 - TensorFlow's own name
