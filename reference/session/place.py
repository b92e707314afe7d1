"""The place stage: which device each operation runs on.

The whole graph is placed, or with `place_pruned_graph` what the run needs. Operations that share
a reference, a resource or a colocation group share a device. Clauses: PLACEMENT.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sessrun.reference import errors
from sessrun.reference.devices import LocalDevice, local_devices
from sessrun.reference.kernels import registry
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName, DeviceNameError

if TYPE_CHECKING:
    from sessrun.reference.graph import Graph
    from sessrun.reference.operation import Operation

__all__ = ["Placer", "local_devices"]


class Placer:
    """Places the operations of one graph for one session, each once.

    Attributes:
      placed: the device of each operation placed so far.

    """

    def __init__(self, graph: Graph, local: Sequence[LocalDevice], config: Any) -> None:
        self._graph = graph
        self._devices = local
        self._soft = bool(config.allow_soft_placement)
        self._pruned = bool(config.graph_options.place_pruned_graph)
        self._log = bool(config.log_device_placement)
        self._seen = 0
        self._of_kind: dict[tuple[str, str, Any], LocalDevice] = {}
        self.placed: dict[Operation, LocalDevice] = {}

    def place(self, needed: Sequence[Operation]) -> dict[Operation, LocalDevice]:
        """Place what is not placed yet: of the whole graph, or of what is needed.

        Returns:
          The device of each operation placed so far; every needed one is there.

        Raises:
          InvalidArgumentError: an operation's device does not exist, has no kernel for it, or
            contradicts that of an operation it must share a device with.

        """
        if self._pruned:
            self._place_all([op for op in needed if op not in self.placed])
        elif self._seen < self._graph.version:
            ops = self._graph.get_operations()
            self._place_all(ops[self._seen :])
            self._seen = len(ops)
        return self.placed

    def _place_all(self, ops: Sequence[Operation]) -> None:
        groups = _Groups(ops)
        decided: dict[Operation, LocalDevice] = {}
        for op in ops:
            if groups.is_alone(op):
                decided[op] = self._alone(op)
                continue
            leader = groups.leader(op)
            if leader not in decided:
                members = groups.members(leader)
                earlier = next((self.placed[m] for m in members if m in self.placed), None)
                decided[leader] = earlier or self._choose(members)
            device = decided[leader]
            self._check_kernel(op, device)
            decided[op] = device
        for op in ops:
            self.placed[op] = decided[op]
            if self._log:
                print(f"{op.name}: ({op.type}): {decided[op].name}", file=sys.stderr)  # noqa: T201 - the log that was asked for

    def _alone(self, op: Operation) -> LocalDevice:
        """The device of an operation that shares it with none: the same for all of its kind."""
        kind = (op.type, op.device, op.attrs.get("T", op.attrs.get("dtype")))
        device = self._of_kind.get(kind)
        if device is None:
            device = self._choose((op,))
            self._check_kernel(op, device)
            self._of_kind[kind] = device
        return device

    def _check_kernel(self, op: Operation, device: LocalDevice) -> None:
        if registry.lookup(op.type, device.kind) is None:
            raise _refused(
                op, f"No OpKernel was registered to support Op '{op.type}' used by "
                f"{op.name!r} on {device.kind} devices."
            )  # fmt: skip

    def _choose(self, members: Sequence[Operation]) -> LocalDevice:
        wanted = self._merged(members)
        able = [d for d in self._devices if _has_kernels(members, d)]
        named = [d for d in able if wanted.matches(d.full)]
        if named:
            return _best(named)
        if self._soft:
            anywhere = [d for d in able if wanted.without_kind().matches(d.full)]
            if anywhere:
                return _best(anywhere)
        raise self._impossible(members, wanted)

    def _impossible(self, members: Sequence[Operation], wanted: DeviceName) -> errors.OpError:
        asking = next((m for m in members if m.device), members[0])
        there = [d.full for d in self._devices]
        if not any(wanted.matches(full) for full in there):
            return _refused(
                asking, f"Cannot assign a device for operation {asking.name}: Operation was "
                f"explicitly assigned to {asking.device} but available devices are "
                f"{devices.listing(there)}. Make sure the device specification refers to a "
                "valid device."
            )  # fmt: skip
        kinds = wanted.kind or "any"
        return _refused(
            asking, f"Cannot assign a device for operation {asking.name}: Could not satisfy "
            f"explicit device specification '{asking.device}' because no supported kernel for "
            f"{kinds} devices is available for every one of "
            f"{', '.join(sorted({m.type for m in members}))}."
        )  # fmt: skip

    def _merged(self, members: Sequence[Operation]) -> DeviceName:
        """What the members ask for together.

        What uses a variable goes where the variable is, whatever it asks for itself. With soft
        placement a contradiction about the kind or the index asks for neither.
        """
        merged, first = DeviceName(), None
        for op in sorted(members, key=_uses_a_handle):
            if not op.device:
                continue
            asked = _parsed(op)
            if first is not None and not _agree(merged, asked):
                if _uses_a_handle(op):
                    continue
                if not self._soft:
                    raise _refused(
                        op, f"Cannot colocate nodes '{op.name}' and '{first.name}' because no "
                        f"device type supports both of those nodes and the other nodes "
                        f"colocated with them: {op.device} and {first.device}."
                    )  # fmt: skip
                merged = merged.without_kind()
            else:
                merged = asked.over(merged)
            first = first or op
        return merged


class _Groups:
    """Operations that must share a device: a union of references, resources and `_class`."""

    def __init__(self, ops: Iterable[Operation]) -> None:
        self._parent: dict[Operation, Operation] = {}
        self._members: dict[Operation, list[Operation]] = {}
        for op in ops:
            for other in _tied(op):
                self._join(op, other)

    def leader(self, op: Operation) -> Operation:
        """The operation that stands for the group of `op`; itself if it is alone."""
        while op in self._parent:
            op = self._parent[op]
        return op

    def is_alone(self, op: Operation) -> bool:
        """Whether `op` must share its device with no other operation."""
        return op not in self._parent and op not in self._members

    def members(self, leader: Operation) -> list[Operation]:
        """Every operation of a leader's group."""
        return self._members.get(leader, [leader])

    def _join(self, op: Operation, other: Operation) -> None:
        left, right = self.leader(other), self.leader(op)
        if left is right:
            return
        joined = self._members.setdefault(left, [left])
        joined.extend(self._members.pop(right, [right]))
        self._parent[right] = left


def _tied(op: Operation) -> Iterator[Operation]:
    """The operations that `op` must share a device with, by what it reads and is told."""
    yield from _owners(op)
    if "_class" in op.extra:
        for group in op.colocation_groups():
            other = op.graph.operations_by_name.get(group.removeprefix(b"loc:@").decode())
            if other is not None and other is not op:
                yield other


def _owners(op: Operation) -> Iterator[Operation]:
    """The operations whose reference or resource `op` takes."""
    declared = op.declaration.inputs
    for index, tensor in enumerate(op.inputs):
        dtype = tensor.dtype
        if dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
            # An argument of several tensors never takes references, only what they hold.
            if len(declared) == len(op.inputs) and declared[index].is_ref:
                yield tensor.op
        elif dtype.spec_name == "resource":
            yield tensor.op


def _uses_a_handle(op: Operation) -> bool:
    return any(True for _ in _owners(op))


def _has_kernels(members: Sequence[Operation], device: LocalDevice) -> bool:
    return all(_runs_on(op, device) for op in members)


def _runs_on(op: Operation, device: LocalDevice) -> bool:
    entry = registry.lookup(op.type, device.kind)
    if entry is None:
        return False
    dtype = op.attrs.get("T", op.attrs.get("dtype"))
    if device.kind == "GPU":
        if dtype in {"string", "variant"}:
            return False
        return not entry.gpu_dtypes or dtype in entry.gpu_dtypes
    return True


def _best(named: Sequence[LocalDevice]) -> LocalDevice:
    """A GPU before a CPU, the lowest number of its kind."""
    return next((d for d in named if d.kind == "GPU"), named[0])


def _agree(one: DeviceName, other: DeviceName) -> bool:
    return all(
        a is None or b is None or a == b
        for a, b in (
            (one.job, other.job), (one.replica, other.replica), (one.task, other.task),
            (one.kind, other.kind), (one.index, other.index),
        )
    )  # fmt: skip


def _parsed(op: Operation) -> DeviceName:
    try:
        return devices.parse(op.device)
    except DeviceNameError as error:
        raise _refused(op, f"Malformed device specification '{op.device}': {error}") from error


def _refused(op: Operation, message: str) -> errors.OpError:
    """An error that names the operation in its text only: it has raised nothing."""
    return errors.InvalidArgumentError(None, None, f"{message}\n\t [[{{{{node {op.name}}}}}]]")
