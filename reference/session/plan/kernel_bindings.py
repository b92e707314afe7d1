"""KernelBindings: the kernels of a session, each bound to its operation once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.build.functions.function_bodies import is_inlined
from sessrun.reference.build.functions.loop_needs import needed_variables
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels import registry
from sessrun.reference.kernels.host import HOST as HOST_ARRAYS
from sessrun.reference.kernels.host_integers import is_left_to_host
from sessrun.reference.session.execute.body_calls import BodyCall
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.steps import Kernel
from sessrun.reference.session.plan.folding import FOLDED
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.proto import NameAttrList
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["FunctionCall", "KernelBindings"]

#: A kernel that is bound to an operation, and its entry in the registry.
BoundKernel = tuple[registry.Entry, Kernel]
#: See `KernelBindings.call`.
FunctionCall = Callable[..., BodyCall]
#: Conditionals: operations that call one of several functions, of which a part may be run.
_CHOOSING: Final = frozenset({"Case", "If", "StatelessCase", "StatelessIf"})
#: Loops: operations that call functions repeatedly, of whose variables a part may be computed.
_LOOPING: Final = frozenset({"StatelessWhile", "While"})
_CHOOSING_OR_LOOPING: Final = _CHOOSING | _LOOPING
#: Operations whose attributes decide all of their kernel, those of control flow among them.
_SHARED: Final = FOLDED | FLOW | {"Identity", "LoopCond"}


@dataclass(slots=True)
class KernelBindings:
    """The bound kernels of a session: a node keeps its own (a random stream) between plans.

    Attributes:
      resources: the session's resources.
      call: from an operation that calls a function of its graph, and the function, to what runs
        the function's body: `FunctionCalls.of_call`.
      kernels: each operation's registry entry and bound kernel, by its needed outputs; and those
        that operations share, by op type, device and attributes.
      wanted: for each conditional and loop the numbers of the outputs that this plan takes.
      widths: how many outputs conditionals had when they were first bound.
      is_call: whether a plan's values are what a function returns, and not what a run fetches.

    """

    resources: ResourceStore
    call: FunctionCall
    kernels: dict[Hashable, BoundKernel] = field(default_factory=dict)
    wanted: Mapping[Operation, frozenset[int]] = field(default_factory=dict)
    widths: dict[Operation, int] = field(default_factory=dict)
    is_call: bool = False

    def for_plan(
        self, ops: Sequence[Operation], types: frozenset[str], fetched: Sequence[Tensor]
    ) -> KernelBindings:
        """The bindings for a plan of operations, of these op types, that fetches these tensors.

        Of a conditional or a loop only those outputs are computed that the plan reads or fetches.
        """
        if types.isdisjoint(_CHOOSING_OR_LOOPING):
            return replace(self, wanted={})
        calls = [op for op in ops if op.type in _CHOOSING_OR_LOOPING and is_inlined(op)]
        taken = {tensor for op in ops for tensor in op.inputs}
        taken.update(fetched)
        wanted = {
            op: frozenset(number for number, output in enumerate(op.outputs) if output in taken)
            for op in calls
        }
        complete = {other for op in ops for other in op.control_inputs}
        complete.update(tensor.op for tensor in (() if self.is_call else fetched))
        for op in calls:
            if op.type in _LOOPING:
                wanted[op] = _computed(op, wanted[op], is_complete=op in complete)
        return replace(self, wanted=wanted)

    def kernel(self, op: Operation, device: LocalDevice) -> BoundKernel:
        """The registry entry and the bound kernel of an operation on its device.

        Raises:
          InvalidArgumentError: no kernel of this operation is registered for the device, or the
            operation was given more outputs since this session has run it.
          OpError: the kernel refuses the attributes.

        """
        key = self._key(op) if op.extra and is_inlined(op) else op
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = self.kernels[key] = self._shared_or_bound(op, device)
        return kernel

    def _key(self, op: Operation) -> Hashable:
        """The key of the kernel of a conditional, a loop or a call that is inlined.

        Gradients add outputs to a loop: then it is bound anew.
        """
        is_choice = op.type in _CHOOSING and op in self.wanted
        width = self.widths.setdefault(op, len(op.outputs)) if is_choice else None
        if width is not None and width != len(op.outputs):
            raise errors.bad_argument(
                f"Connecting to invalid output {width} of source node {op.name} which "
                f"has {width} outputs. Try using "
                "tf.compat.v1.experimental.output_all_intermediates(True).",
            )
        return op, len(op.outputs), self.wanted.get(op)

    def _shared_or_bound(self, op: Operation, device: LocalDevice) -> BoundKernel:
        """The kernel of operations with equal attributes if these decide all of it, else its own.

        It stays the operation's, whatever attributes that is given later.
        """
        if op.type not in _SHARED or op.extra:
            return self._bound(op, device)
        key = (op.type, device.name, *op.attrs, *op.attrs.values())
        try:
            kernel = self.kernels.get(key)
        except TypeError:  # a list among the attributes
            return self._bound(op, device)
        if kernel is None:
            kernel = self._bound(op, device)
            if device.kind == "CPU" and not device.is_limited:
                self.kernels[key] = kernel
        return kernel

    def _bound(self, op: Operation, device: LocalDevice) -> BoundKernel:
        entry = registry.lookup(op.kernel_type, device.kind)
        if entry is None:
            text = f"No OpKernel was registered to support Op '{op.type}' on {device.kind}"
            raise errors.InvalidArgumentError(op.node_def, op, text)
        bodies: list[BodyCall] = []
        on_host = device.kind == "GPU" and is_left_to_host(op.type, op.attrs)
        bind = self._bind(op, device, HOST_ARRAYS if on_host else device.xp, bodies)
        try:
            with device.selected():  # where a constant is uploaded
                bound = entry.bind(bind)
        except KernelError as error:  # as in TensorFlow, before any operation runs
            raise run_error(error, op, device.name) from error
        if bodies and all(body.only_takes and not body.may_wait for body in bodies):
            entry = replace(entry, may_wait=False, only_takes=True)
        if on_host:
            all_arguments = frozenset({registry.EVERY})
            return replace(entry, host_inputs=all_arguments, host_outputs=all_arguments), bound
        return entry, device.guarded(bound, op.name)

    def _bind(
        self, op: Operation, device: LocalDevice, xp: Any, bodies: list[BodyCall]
    ) -> registry.Bind:
        """What a kernel is bound to; the bodies of the functions that it calls are added."""
        seeds = (int(op.attrs.get("seed", 0)), int(op.attrs.get("seed2", 0)))
        node = registry.Node(op.name, op.type)
        attrs = op.attrs
        if op.type not in OPERATIONS:
            attrs = {"f": NameAttrList(name=op.type, attr=op.node_def.attr)}

        def function(*args: Any, **options: Any) -> BodyCall:
            body = self.call(op, *args, **{"wanted": self.wanted.get(op)} | options)
            bodies.append(body)
            return body

        return registry.Bind(xp, attrs, node, device.name, self.resources, seeds, function)


def _computed(op: Operation, wanted: frozenset[int], *, is_complete: bool) -> frozenset[int]:
    """The numbers of a loop's variables that are computed.

    All of them are where the loop itself is fetched or run, or its end is waited for.
    """
    count = len(op.outputs)
    if is_complete or not wanted:
        return frozenset(range(count))
    condition, body = op.get_attr("cond").name, op.get_attr("body").name
    return needed_variables(op.graph.functions, condition, body, wanted, count)
