"""The place stage: which device each operation runs on.

The graph is placed as a whole, or with `place_pruned_graph` only what the run needs. Operations
that share a reference, a resource or a colocation group share a device (`colocation`). Of several
possible devices the first GPU is preferred, then the first CPU, with TensorFlow's exceptions: an
operation without inputs goes to the device of its consumers; Shape, Size, Rank, and an Identity
between operations that ask for the same device go to the device of their input. Soft placement is
in `Placer._devices_of`. Clauses: PLACEMENT.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base import dtypes
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels import registry
from sessrun.reference.session.plan.colocation import Group, Groups, asked, refused
from sessrun.reference.session.plan.locations import slots_of
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName, DeviceNameError
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import ConfigProto

__all__ = ["Placer"]

#: Operations that need the shape of their input, not its value.
_OF_SHAPES: Final = frozenset({"Rank", "Shape", "Size"})


class Placer:
    """Places the operations of one graph for one session, each once.

    Attributes:
      placed: the device of each operation placed so far.

    """

    def __init__(self, graph: Graph, local: Sequence[LocalDevice], config: ConfigProto) -> None:
        self._graph = graph
        # In the order of preference.
        self._devices = sorted(local, key=lambda device: device.kind != "GPU")
        self._soft = bool(config.allow_soft_placement)
        self._pruned = bool(config.graph_options.place_pruned_graph)
        self._log = bool(config.log_device_placement)
        self._seen = 0
        self._removals = 0
        self._fitting: set[tuple[str, str]] = set()
        self._of_kind: dict[tuple[object, ...], Sequence[LocalDevice]] = {}
        self.placed: dict[Operation, LocalDevice] = {}

    def assign(self, needed: Sequence[Operation]) -> dict[Operation, LocalDevice]:
        """Place operations that have no device yet: of the whole graph, or those that are needed.

        Returns:
          The device of each operation placed so far, which includes every needed one.

        Raises:
          InvalidArgumentError: an operation's device does not exist, has no kernel for it, or
            contradicts that of an operation it must share a device with.

        """
        if self._pruned:
            self._assign_all([op for op in needed if op not in self.placed])
            self._write_log(needed)
        elif self._seen < self._graph.version or self._removals != self._graph.removals:
            if self._removals != self._graph.removals:  # a number may be that of another operation
                self._seen, self._removals = 0, self._graph.removals
            extent = self._graph.version
            if not self._all_fit():
                ops = self._graph.get_operations()[:extent]
                if self._has_one_device:  # those that fitted before were not put into `placed`
                    self.placed.update(dict.fromkeys(ops[: self._seen], self._devices[0]))
                self._assign_all(ops[self._seen :])
                self._write_log(ops)
            self._seen = extent
        if self._has_one_device:
            self.placed.update(dict.fromkeys(needed, self._devices[0]))
        return self.placed

    @property
    def _has_one_device(self) -> bool:
        """Whether there is one device, a CPU, so that an operation runs there or not at all."""
        return len(self._devices) == 1 and self._devices[0].kind == "CPU"

    def _all_fit(self) -> bool:
        """Whether the only device has kernels for the whole graph, and is what each op asks for.

        Then there is nothing to choose, and no two that share a device contradict each other. If
        not, the operations have to be looked at: the graph knows kinds that none has any more.
        """
        if not self._has_one_device or self._log or self._graph.misfits:
            return False
        new = self._graph.kinds - self._fitting
        fits = all(map(self._fits, new))
        if fits:
            self._fitting |= new
        return fits

    def _fits(self, kind: tuple[str, str]) -> bool:
        """Whether the only device, a CPU, has the kernel of a type and is what is asked for."""
        op_type, wanted = kind
        (only,) = self._devices
        try:
            matches = devices.parse(wanted).matches(only.full)
        except DeviceNameError:
            return False
        return matches and registry.lookup(op_type, only.kind) is not None

    def _assign_all(self, ops: Sequence[Operation]) -> None:
        self._check_inputs(ops)
        groups = Groups(ops, soft=self._soft)
        chosen: dict[Operation, LocalDevice] = {}
        shared: dict[int, LocalDevice] = {}
        readers = _readers(ops) if len(self._devices) > 1 else {}
        sources = []
        for op in ops:
            if op in readers and _is_source(op):
                sources.append(op)
                continue
            source = _preferred_neighbor(op, readers[op]) if op in readers else None
            wanted = None if source is None else chosen.get(source) or self.placed.get(source)
            chosen[op] = self._choose(op, groups.group(op), shared, wanted)
        for op in sources:
            devices_of_readers = {
                chosen.get(reader) or self.placed.get(reader) for reader in readers[op]
            }
            wanted = devices_of_readers.pop() if len(devices_of_readers) == 1 else None
            chosen[op] = self._choose(op, groups.group(op), shared, wanted)
        self.placed.update(chosen)

    def _choose(
        self,
        op: Operation,
        group: Group | None,
        shared: dict[int, LocalDevice],
        wanted: LocalDevice | None,
    ) -> LocalDevice:
        """The device of an operation: that of its group, else `wanted` if possible, else the first.

        Args:
          op: the operation.
          group: the group of the operations that share its device, or None.
          shared: the devices of groups that have been placed, by the group's identity.
          wanted: the preferred device, or None.

        """
        if group is None:
            able = self._devices_of_single(op)
            return wanted if wanted is not None and wanted in able else able[0]
        device = shared.get(id(group))
        if device is None:
            device = next((self.placed[m] for m in group.members if m in self.placed), None)
        if device is None:
            able = self._devices_of(group.members, group.asked, group.owned)
            device = wanted if wanted is not None and wanted in able else able[0]
        shared[id(group)] = device
        self._check_kernel(op, device)
        return device

    def _devices_of_single(self, op: Operation) -> Sequence[LocalDevice]:
        """As `_devices_of`, of an operation without a group; cached by its type and device."""
        kind: tuple[object, ...] = (op.kernel_type, op.device)
        if self._devices[0].kind == "GPU":  # then the choice depends on the dtypes, too
            kind += tuple(tensor.dtype for tensor in (*op.inputs, *op.outputs))
        able = self._of_kind.get(kind)
        if able is None:
            able = self._of_kind[kind] = self._devices_of((op,), asked(op), DeviceName())
        return able

    def _devices_of(
        self, members: Sequence[Operation], wanted: DeviceName, owned: DeviceName
    ) -> Sequence[LocalDevice]:
        """The devices that have kernels for all of the members and match the requested device.

        With soft placement, if no device matches, those of another type, too: first what the
        variables ask for, then any.

        Args:
          members: the operations.
          wanted: the merged device specifications of all members.
          owned: the merged device specifications of the variables among them.

        Raises:
          InvalidArgumentError: there is no such device.

        """
        able = [d for d in self._devices if all(_runs_on(op, d) for op in members)]
        matching = [d for d in able if wanted.matches(d.full)]
        if not matching and self._soft:
            # The device that a variable requests comes before those that its consumers request.
            anywhere = wanted.without_kind()
            matching = [d for d in able if owned.over(anywhere).matches(d.full)]
            matching = matching or [d for d in able if anywhere.matches(d.full)]
        if not matching:
            raise self._placement_error(members, wanted)
        return matching

    def _placement_error(self, members: Sequence[Operation], wanted: DeviceName) -> errors.OpError:
        """The error for operations that no device can run: an unknown device, or no kernel."""
        asking = next((m for m in members if m.device), members[0])
        there = [d.full for d in self._devices]
        if not any(wanted.matches(full) for full in there):
            return refused(
                asking,
                f"Cannot assign a device for operation {asking.name}: {{{{node "
                f"{asking.name}}}}} was explicitly assigned to {asking.device} but available "
                f"devices are {devices.listing(there)}. Make sure the device specification "
                "refers to a valid device.",
            )
        unable = [m for m in members if not any(_runs_on(m, d) for d in self._devices)]
        if unable:
            registered = sorted({d.kind for d in self._devices})
            return refused(
                unable[0],
                f"No OpKernel was registered to support Op '{unable[0].type}' used "
                f"by {{{{node {unable[0].name}}}}} with its attributes. Registered devices: "
                f"[{', '.join(registered)}]",
            )
        kinds = wanted.kind or "any"
        return refused(
            asking,
            f"Cannot assign a device for operation {asking.name}: Could not satisfy "
            f"explicit device specification '{asking.device}' because no supported kernel for "
            f"{kinds} devices is available for every one of "
            f"{', '.join(sorted({m.type for m in members}))}.",
        )

    def _check_inputs(self, ops: Sequence[Operation]) -> None:
        """Refuse an operation whose input was replaced by one of a wrong dtype."""
        if not self._graph.misfits:
            return
        among = set(ops)
        for (op, index), expected in self._graph.misfits.items():
            if op in among:
                given = op.inputs[index]
                raise refused(
                    op,
                    f"Input {index} of node {op.name} was passed {given.dtype.opdef_name} from "
                    f"{given.name} incompatible with expected {expected.opdef_name}.",
                )

    def _check_kernel(self, op: Operation, device: LocalDevice) -> None:
        if registry.lookup(op.kernel_type, device.kind) is None:
            raise refused(
                op,
                f"No OpKernel was registered to support Op '{op.type}' used by "
                f"{op.name!r} on {device.kind} devices.",
            )

    def _write_log(self, ops: Sequence[Operation]) -> None:
        """Print the device of each operation, for `log_device_placement`."""
        if not self._log:
            return
        for op in sorted(ops, key=_is_source):
            print(f"{op.name}: ({op.type}): {self.placed[op].name}")  # noqa: T201 - the log that was asked for


def _is_source(op: Operation) -> bool:
    """Whether an operation has no inputs and one output, which is not a reference."""
    outputs = op.outputs
    return not op.inputs and len(outputs) == 1 and not outputs[0].dtype._is_ref_dtype  # noqa: SLF001 - TensorFlow's own name


def _preferred_neighbor(op: Operation, readers: Sequence[Operation]) -> Operation | None:
    """The producer of an input whose device is preferred for `op`, or None."""
    if op.type in _OF_SHAPES:
        return op.inputs[0].op
    is_bare = not op.device and not op.control_inputs
    if op.type == "Identity" and is_bare and len(readers) < 2:
        source = op.inputs[0].op
        if source.device == (readers[0].device if readers else ""):
            return source
    return None


def _readers(ops: Iterable[Operation]) -> dict[Operation, list[Operation]]:
    """The consumers of each operation among those that are placed now, one for each edge."""
    readers: dict[Operation, list[Operation]] = {op: [] for op in ops}
    for op in readers:
        for source in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if source in readers:
                readers[source].append(op)
    return readers


def _runs_on(op: Operation, device: LocalDevice) -> bool:
    """Whether a device has a kernel for an operation with its dtypes."""
    entry = registry.lookup(op.kernel_type, device.kind)
    if entry is None or device.kind != "GPU":
        return entry is not None
    if entry.gpu_dtypes and op.attrs.get("T", op.attrs.get("dtype")) not in entry.gpu_dtypes:
        return False
    taken = zip(op.inputs, slots_of(op, op.declaration.inputs), strict=True)
    given = zip(op.outputs, slots_of(op, op.declaration.outputs), strict=True)
    on_device = [tensor for tensor, arg in taken if not entry.takes_host(arg.name)]
    on_device += [tensor for tensor, arg in given if not entry.gives_host(arg.name)]
    return all(map(_fits_gpu, on_device)) and not _is_of_int32_variable(op)


def _is_of_int32_variable(op: Operation) -> bool:
    """Whether an operation is on an int32 variable: TensorFlow has no GPU kernels of these."""
    tensors = (*op.inputs, *op.outputs)
    if any(tensor.dtype == dtypes.resource for tensor in tensors):
        return op.attrs.get("dtype") == "int32"
    return any(tensor.dtype.name == "int32_ref" for tensor in tensors)


def _fits_gpu(tensor: Tensor) -> bool:
    """Whether a tensor of this dtype can be in a GPU's memory, or is the handle of a resource."""
    dtype = tensor.dtype.base_dtype
    return BY_NAME[dtype.name].is_in_gpu_memory or dtype == dtypes.resource
