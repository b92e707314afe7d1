"""The compile stage for graphs with control flow: from operations to nodes in frames.

The frame of an operation follows from the graph alone: the output of an `Enter` is in the frame
that it names, the output of an `Exit` in the enclosing frame. `dataflow` executes the nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels.registry import Entry
from sessrun.reference.session.execute.dataflow import FlowPlan
from sessrun.reference.session.execute.dataflow_nodes import FrameShape, Node
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Reader, read_reference
from sessrun.reference.session.plan.kernel_bindings import KernelBindings
from sessrun.reference.session.plan.late_reads import (
    late_reads,
    reference_read,
    variable_of,
    written_variables,
)
from sessrun.reference.session.plan.locations import (
    HOST,
    check_not_fed,
    location_of,
    mover,
    slots_of,
)
from sessrun.reference.session.plan.loop_straightening import straight_loop
from sessrun.reference.session.plan.run_straightening import Fetch, straight_plan
from sessrun.spec.operations import ArgDecl

__all__ = ["compile_flow"]

#: The op types whose nodes have a `kind`: those of control flow.
_KINDS: Final = FLOW | {"ControlTrigger"}


def compile_flow(
    ops: Sequence[Operation],
    types: Iterable[str],
    fetched: Sequence[Tensor],
    fed: Sequence[Tensor],
    placed: Mapping[Operation, LocalDevice],
    bindings: KernelBindings,
    *,
    traced: bool,
) -> Plan:
    """Compile operations with control flow, of these op types, to steps or to nodes.

    The other arguments are those of `compiler.compile_plan`. A run that is traced has nodes.

    Raises:
      InvalidArgumentError: an operation has no kernel on its device, or the frames are
        malformed: inputs from different frames, an `Exit` outside of all frames.

    """
    compiler = _Compiler(placed, bindings, fed)
    compiler.late, compiler.written = late_reads(ops, types), written_variables(ops, types)
    for op in ops:
        compiler.add(op)
    for op in ops:
        compiler.connect(op)
    return compiler.plan(fetched, traced=traced)


class _Compiler:
    """One compilation: the nodes and frames so far."""

    def __init__(
        self,
        placed: Mapping[Operation, LocalDevice],
        bindings: KernelBindings,
        fed: Sequence[Tensor],
    ) -> None:
        self.placed = placed
        self.bindings = bindings
        self.fed = {tensor: STEP_REGISTER + 1 + index for index, tensor in enumerate(fed)}
        self.root = FrameShape("")
        self.frames: dict[tuple[int, str], FrameShape] = {}
        self.nodes: dict[Operation, Node] = {}
        self.entries: dict[Operation, Entry] = {}
        self.arrivals: dict[Tensor, list[tuple[Node, int]]] = {tensor: [] for tensor in fed}
        self.late: frozenset[tuple[Operation, Tensor]] = frozenset()
        self.written: frozenset[Operation] = frozenset()
        # Variables that a run writes to go into branches and loops as references, in place of
        # their values: `references` by the Switch or Enter, `carried` by its outputs and those of
        # further Switches and Enters behind it.
        self.references: dict[Operation, Tensor] = {}
        self.carried: dict[Tensor, Tensor] = {}
        self.waits = False

    # -- nodes

    def add(self, op: Operation) -> None:
        """Add the node of an operation, after those of its inputs except NextIterations."""
        device = self.placed[op]
        entry, function = self.bindings.kernel(op, device)
        self.waits |= entry.needs_step
        frame = self._frame(op)
        self._carry(op, frame)
        kind = op.type.removeprefix("Ref") if op.type in _KINDS else ""
        node = Node(
            op,
            device,
            kind,
            function,
            entry,
            frame,
            len(frame.pending),
            frame.slots,
            len(op.inputs),
            edges=[[] for _ in op.outputs],
            fetched=[-1] * len(op.outputs),
        )
        controls = len(self._controls(op))
        node.needs = 2 * controls + 1 if kind == "Merge" else len(op.inputs) + controls
        frame.pending.append(node.needs)
        frame.slots += max(len(op.inputs), 1)
        if kind == "Enter":
            node.child = self._child(frame, str(op.attrs["frame_name"]))
            node.child.enters += 1
            node.child.limit = max(1, int(op.attrs["parallel_iterations"]))
        self.nodes[op] = node
        self.entries[op] = entry

    def _carry(self, op: Operation, frame: FrameShape) -> None:
        """Note a Switch or a constant Enter of the value of a variable that this run writes to.

        It passes on the reference instead, which is read by the operations that take the value:
        so an iteration of a loop sees the value that the previous one has written.
        """
        if op.type != "Switch" and not (op.type == "Enter" and op.attrs["is_constant"]):
            return
        source = op.inputs[0]
        reference = self.carried.get(source)
        if reference is None and frame is self.root and source not in self.fed:
            reference = reference_read(source)
            if reference is None or variable_of(reference) not in self.written:
                return
            self.references[op] = reference
        if reference is not None:
            self.carried.update(dict.fromkeys(op.outputs, reference))

    def _controls(self, op: Operation) -> list[Operation]:
        """The operations that `op` waits for beside its inputs; fed placeholders are left out."""
        read = [op.inputs[0].op] if op in self.references else []
        return read + [
            other
            for other in op.control_inputs
            if not (other.type == "Placeholder" and other.outputs[0] in self.fed)
        ]

    def _frame(self, op: Operation) -> FrameShape:
        """The frame that an operation is executed in: that of its inputs and control inputs."""
        first: Operation | None = None
        frame = self.root
        sources = [tensor.op for tensor in op.inputs if tensor not in self.fed]
        for source in (*sources, *self._controls(op)):
            node = self.nodes.get(source)
            if node is None:  # a NextIteration, which comes later
                continue
            after = self._after(node)
            if first is None:
                first, frame = source, after
            elif after is not frame:
                raise errors.InvalidArgumentError(
                    op.node_def,
                    op,
                    f"{{{{node {op.name}}}}} has inputs from different frames. "
                    f"The input {{{{node {first.name}}}}} is in frame '{frame.name}'. "
                    f"The input {{{{node {source.name}}}}} is in frame '{after.name}'.",
                )
        return frame

    def _after(self, node: Node) -> FrameShape:
        """The frame of a node's outputs."""
        if node.child is not None:
            return node.child
        if node.kind != "Exit":
            return node.frame
        if node.frame.around is None:
            raise errors.InvalidArgumentError(
                node.op.node_def,
                node.op,
                f"{{{{node {node.op.name}}}}} leaves a frame, but is in none.",
            )
        return node.frame.around

    def _child(self, frame: FrameShape, name: str) -> FrameShape:
        key = (id(frame), name)
        if key not in self.frames:
            self.frames[key] = FrameShape(name, frame)
        return self.frames[key]

    # -- edges

    def connect(self, op: Operation) -> None:
        """Add the edges from an operation's inputs to its node, and the readers of its inputs."""
        node, entry = self.nodes[op], self.entries[op]
        self._after(node)  # an Exit outside of all frames is refused even if nothing takes it
        readers, sources = [], []
        for index, (given, arg) in enumerate(
            zip(op.inputs, slots_of(op, op.declaration.inputs), strict=True)
        ):
            tensor, slot = given, node.first + index
            if tensor in self.fed:
                check_not_fed(op, arg, tensor)
                self._fed_edge(node, tensor, slot)
            else:
                if index == 0 and op in self.references:
                    tensor = self.references[op]
                elif (op, tensor) in self.late and node.frame is self.root:
                    tensor = tensor.op.inputs[0]
                self.nodes[tensor.op].edges[tensor.value_index].append((node, slot))
            sources.append(tensor)
            is_carried = index == 0 and op.outputs and op.outputs[0] in self.carried
            readers.append(None if is_carried else self._reader(tensor, arg, node, entry))
        node.readers, node.sources = tuple(readers), sources
        node.waits = [self.nodes[other] for other in self._controls(op)]
        for other in node.waits:
            other.controls.append(node)

    def _fed_edge(self, node: Node, tensor: Tensor, slot: int) -> None:
        if node.frame is not self.root:
            raise errors.InvalidArgumentError(
                node.op.node_def,
                node.op,
                f"{tensor.name} is fed to {{{{node {node.op.name}}}}} "
                f"in frame '{node.frame.name}': a loop takes what is fed by an Enter only.",
            )
        self.arrivals[tensor].append((node, slot))

    def _reader(self, tensor: Tensor, arg: ArgDecl, node: Node, entry: Entry) -> Reader | None:
        """The function from a tensor's value to the value that the kernel takes; None if equal."""
        wanted = location_of(node.device, tensor.dtype, on_host=entry.takes_host(arg.name))
        tensor = self.carried.get(tensor, tensor)
        home, source = self._home(tensor)
        return None if arg.is_ref else _read(tensor, mover(home, wanted, source, node.device))

    def _home(self, tensor: Tensor) -> tuple[str, LocalDevice | None]:
        """The location of a tensor's value, and the device that has computed it."""
        if tensor in self.fed:
            return HOST, None
        node = self.nodes[tensor.op]
        outputs = list(slots_of(tensor.op, tensor.op.declaration.outputs))
        on_host = self.entries[tensor.op].gives_host(outputs[tensor.value_index].name)
        return location_of(node.device, tensor.dtype, on_host=on_host), node.device

    # -- the plan

    def plan(self, fetched: Sequence[Tensor], *, traced: bool) -> Plan:
        """The plan whose fetches are these tensors."""
        first = STEP_REGISTER + 1 + len(self.fed)
        fetches = []
        for index, tensor in enumerate(fetched):
            node = self.nodes[tensor.op]
            node.fetched[tensor.value_index] = first + index
            value = self.carried.get(tensor, tensor)
            home, source = self._home(value)
            read = _read(value, mover(home, HOST, source, node.device))
            fetches.append(Fetch(tensor, node, read))
        nodes = self.nodes.values()
        members: dict[FrameShape, list[Node]] = defaultdict(list)
        enters: dict[FrameShape, list[Node]] = defaultdict(list)
        for node in nodes:
            members[node.frame].append(node)
            if node.child is not None:
                enters[node.child].append(node)
        for frame in reversed(self.frames.values()):  # inner loops come first
            frame.exits = [node for node in members[frame] if node.kind == "Exit"]
            frame.straight = straight_loop(members[frame], enters[frame], self.nodes)
        fed = list(self.fed)
        plan = None if traced else straight_plan(self.root, self.nodes, fed, fetches)
        if plan is not None:
            return plan
        roots = [n for n in nodes if not n.needs and n.frame is self.root]
        return FlowPlan(
            steps=(),
            ops=(),
            devices=(),
            template=[None] * (first + len(fetched)),
            feeds=tuple(self.fed.values()),
            fetches=tuple(range(first, first + len(fetched))),
            cancellable=self.waits or bool(self.frames),
            only_takes=False,
            may_wait=True,
            root=self.root,
            roots=tuple(roots),
            entries=tuple((self.fed[t], tuple(edges)) for t, edges in self.arrivals.items()),
            moves=tuple(fetch.read for fetch in fetches),
        )


def _read(tensor: Tensor, move: Reader | None) -> Reader | None:
    """The function that reads a reference, if the tensor is one, and then applies `move`.

    None if there is neither to do.
    """
    if not tensor.dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
        return move
    return read_reference if move is None else lambda value: move(read_reference(value))
