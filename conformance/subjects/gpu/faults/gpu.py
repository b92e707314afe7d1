"""Faults of GPU: where operations run and values lie, copies, variables, logs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import (
    UPDATES,
    elements,
    fed,
    giving,
    needed,
    running,
)
from sessrun.conformance.subjects.placement.faults.machine import listing
from sessrun.conformance.subjects.placement.faults.placing import configuring
from sessrun.conformance.subjects.tracing.faults.tracing import RecordedRun, telling
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Call,
    Feeds,
    Fetches,
    Operation,
    OpError,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.config_pb2 import ConfigProto

__all__ = ["failing", "is_on"]

_FULL: Final = "/job:localhost/replica:0/task:0/device:"


def is_on(op: Operation, kind: str) -> bool:
    """Whether an operation names a device of a kind."""
    return f"device:{kind}:" in op.device


def relisting(
    tf: Namespace, wanted: Callable[[RecordedRun, Operation], bool], device: str
) -> Namespace:
    """The namespace whose traces list operations with `wanted(traced, op)` under a device."""

    def change(traced: RecordedRun) -> None:
        ops = {op.name: op for op in traced.session.graph.get_operations()}
        moved = []
        for stats in traced.metadata.step_stats.dev_stats:
            here = [
                n
                for n in stats.node_stats
                if n.node_name in ops and wanted(traced, ops[n.node_name])
            ]
            names = {node.node_name for node in here}
            moved += here
            kept = [node for node in stats.node_stats if node.node_name not in names]
            del stats.node_stats[:]
            stats.node_stats.extend(kept)
        traced.metadata.step_stats.dev_stats.add(device=_FULL + device).node_stats.extend(moved)

    return telling(tf, change)


def failing(tf: Namespace, type_: str, change: Callable[[OpError], Value]) -> Namespace:
    """The namespace in which a failed run of an operation of a type gives `change(error)`."""

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            ops = needed(elements(session, fetches), fed(session, feeds))
            if not any(op.type == type_ for op in ops):
                raise
            return change(error)

    return running(tf, run)


# --- devices and placement ----------------------------------------------------------------


@fault("GPU-001", "A GPU's memory is not listed.")
def the_memory_of_gpus_is_not_listed(tf: Namespace) -> Namespace:
    """List a memory limit of 0 for GPUs."""

    def change(_session: Session, devices: Iterable[ListedDevice]) -> Iterable[ListedDevice]:
        for d in devices:
            limit = 0 if d.device_type == "GPU" else d.memory_limit_bytes
            yield SimpleNamespace(name=d.name, device_type=d.device_type, memory_limit_bytes=limit)

    return listing(tf, change)


@fault("GPU-001", "GPUs are listed before the CPUs.")
def gpus_come_first(tf: Namespace) -> Namespace:
    """Sort the GPUs to the front of the list of devices."""
    return listing(tf, lambda _, devices: sorted(devices, key=lambda d: d.device_type != "GPU"))


@fault("GPU-002", "The test module knows of no GPU.")
def the_test_module_is_blind(tf: Namespace) -> Namespace:
    """Return an empty name from `gpu_device_name`."""
    return override(tf, test=override(tf.test, gpu_device_name=lambda: ""))


@fault("GPU-003", "A session has its GPUs whatever device_count says.")
def gpus_are_not_counted(tf: Namespace) -> Namespace:
    """Remove `GPU` from `device_count`."""
    return configuring(tf, lambda config: config.device_count.pop("GPU", None))


@fault("GPU-004", "What names no device runs on the CPU.")
def the_cpu_is_preferred(tf: Namespace) -> Namespace:
    """List operations that name no device under CPU:0 in traces."""
    return relisting(tf, lambda _, op: not op.device, "CPU:0")


@fault("GPU-005", "What names the CPU runs on the GPU beside it.")
def everything_runs_on_the_gpu(tf: Namespace) -> Namespace:
    """List operations that name the CPU under GPU:0 in traces."""
    return relisting(tf, lambda _, op: is_on(op, "CPU"), "GPU:0")


@fault("GPU-006", "Subnormal numbers and signs of zeros are lost on a GPU.")
def subnormal_numbers_are_flushed(tf: Namespace) -> Namespace:
    """Replace the subnormal results of an Identity on a GPU by zero."""

    def flushed(value: Array, tensor: Any) -> Value:
        op = getattr(tensor, "op", tensor)
        if op.type != "Identity" or not is_on(op, "GPU") or tensor.dtype.name != "float32":
            return value
        return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.float32(0), value)

    return giving(tf, flushed)


@fault("GPU-007", "An operation without a kernel for GPUs is an internal error.")
def no_kernel_is_an_internal_error(tf: Namespace) -> Namespace:
    """Raise InternalError (code 13)."""

    def change(error: OpError) -> NoReturn:
        raise tf.errors.InternalError(error.node_def, error.op, error.message)

    return failing(tf, "ListDiff", change)


@fault("GPU-007", "An operation without a kernel for GPUs runs on the CPU all the same.")
def soft_placement_for_strings(tf: Namespace) -> Namespace:
    """Return a value where the run fails."""
    return failing(tf, "StringJoin", lambda _error: b"aa")


@fault("GPU-008", "Where there is no kernel the message does not say for what.")
def the_message_names_nothing(tf: Namespace) -> Namespace:
    """Raise the error with a message that names no operation."""

    def change(_error: OpError) -> NoReturn:
        raise tf.errors.InvalidArgumentError(None, None, "there is no kernel for this device")

    return failing(tf, "StringJoin", change)


@fault("GPU-009", "Soft placement is ignored where there is a GPU.")
def soft_placement_is_ignored(tf: Namespace) -> Namespace:
    """Set `allow_soft_placement` to False."""

    def change(config: ConfigProto) -> None:
        config.allow_soft_placement = False

    return configuring(tf, change)


@fault("GPU-009", "With soft placement all operations run on the CPU.")
def soft_placement_leaves_the_gpu(tf: Namespace) -> Namespace:
    """List all operations under CPU:0 in traces where soft placement is on."""
    configured = configuring(tf, lambda _config: None)
    return relisting(
        configured, lambda traced, _: traced.session.configuration.allow_soft_placement, "CPU:0"
    )


@fault("GPU-010", "The refusal of a missing GPU lists CPUs only.")
def refusals_list_cpus(tf: Namespace) -> Namespace:
    """Replace the names of GPUs in the message."""

    def change(error: OpError) -> NoReturn:
        text = error.message.replace(f"{_FULL}GPU", "another")
        raise tf.errors.InvalidArgumentError(error.node_def, error.op, text)

    return failing(tf, "Exp", change)


@fault("GPU-011", "Strings have no device where there is a GPU.")
def strings_have_no_device(tf: Namespace) -> Namespace:
    """Refuse a StringJoin that names no device."""

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        for op in needed(elements(session, fetches), fed(session, feeds)):
            if op.type == "StringJoin" and not op.device:
                raise tf.errors.InvalidArgumentError(None, op, "there is no kernel for it")
        return base(fetches)

    return running(tf, run)


# --- host memory and copies ---------------------------------------------------------------


@fault("GPU-012", "Shapes are kept in the GPU's memory.")
def shapes_are_on_the_gpu(tf: Namespace) -> Namespace:
    """Write the allocator of the GPU into the traces of all outputs on it."""

    def change(traced: RecordedRun) -> None:
        for stats in traced.metadata.step_stats.dev_stats:
            for node in stats.node_stats if "GPU" in stats.device else ():
                for output in node.output:
                    output.tensor_description.allocation_description.allocator_name = "gpu"

    return telling(tf, change)


@fault("GPU-013", "A shape that was computed does not reach the GPU.")
def computed_shapes_are_lost(tf: Namespace) -> Namespace:
    """Raise InternalError where a Reshape takes its shape from a ReverseV2."""

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        for op in needed(elements(session, fetches), fed(session, feeds)):
            if op.type == "Reshape" and op.inputs[1].op.type == "ReverseV2":
                raise tf.errors.InternalError(None, op, "a pointer of another device")
        return base(fetches)

    return running(tf, run)


@fault("GPU-014", "A loop on a GPU goes on once too often.")
def loops_go_on(tf: Namespace) -> Namespace:
    """Add 1 to the counter that the loop gives."""

    def while_loop(*args: Argument, **kwargs: Argument) -> Tensor | Sequence[Tensor]:
        counter, *rest = tf.while_loop(*args, **kwargs)
        return [counter + 1, *rest]

    return override(tf, while_loop=while_loop)


@fault("GPU-021", "The partition graphs are one.")
def partitions_are_one(tf: Namespace) -> Namespace:
    """Merge the partition graphs into the first one."""

    def change(traced: RecordedRun) -> None:
        graphs = traced.metadata.partition_graphs
        for graph in graphs[1:]:
            graphs[0].MergeFrom(graph)
        del graphs[1:]

    return telling(tf, change)


@fault("GPU-022", "A value is sent to another device for each operation that reads it.")
def values_are_sent_again(tf: Namespace) -> Namespace:
    """Repeat each _Send in the partition graphs."""

    def change(traced: RecordedRun) -> None:
        for graph in traced.metadata.partition_graphs:
            for node in [node for node in graph.node if node.op == "_Send"]:
                graph.node.add().CopyFrom(node)

    return telling(tf, change)


@fault("GPU-034", "There is no placement log where there is a GPU.")
def nothing_is_logged(tf: Namespace) -> Namespace:
    """Set `log_device_placement` to False."""

    def change(config: ConfigProto) -> None:
        config.log_device_placement = False

    return configuring(tf, change)


@fault("GPU-035", "Copies are not traced.")
def copies_are_not_traced(tf: Namespace) -> Namespace:
    """Remove the copies between memories from traces."""
    return telling(tf, lambda traced: traced.keep(lambda node: "MEMCPY" not in node.node_name))


# --- variables ----------------------------------------------------------------------------


@fault("GPU-015", "Updates of a variable on a GPU run on the CPU.")
def updates_run_on_the_cpu(tf: Namespace) -> Namespace:
    """List updates of variables on a GPU under CPU:0 in traces."""
    return relisting(tf, lambda _, op: op.type in UPDATES and is_on(op, "GPU"), "CPU:0")


@fault("GPU-041", "A variable of int32 that asks for no device is counted on a GPU.")
def counters_are_on_the_gpu(tf: Namespace) -> Namespace:
    """List the counting there."""

    def is_counter(_: RecordedRun, op: Any) -> bool:
        return op.type == "AssignAdd" and not op.device and op.inputs[1].dtype == tf.int32

    return relisting(tf, is_counter, "GPU:0")


@fault("GPU-042", "A variable of int32 may be on a GPU.")
def counters_on_gpus(tf: Namespace) -> Namespace:
    """Return None where the assignment fails."""
    return failing(tf, "VariableV2", lambda _error: None)


def _fetched_variable(session: Session, fetches: Fetches) -> str:
    """The name of the variable that is fetched alone; empty if something else is."""
    fetched = elements(session, fetches)
    ops = needed(fetched, ())
    names = [op.name for op in ops if op.type in {"VariableV2", "VarHandleOp"}]
    reads = {"VariableV2", "VarHandleOp", "ReadVariableOp", "Identity"}
    alone = len(fetched) == len(names) == 1 and all(op.type in reads for op in ops)
    return names[0] if alone else ""


@fault("GPU-017", "An array that was fetched from a variable on a GPU is handed out again.")
def fetched_arrays_are_shared(tf: Namespace) -> Namespace:
    """Keep the first array that is fetched of a variable, and return it again."""

    def run(session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        name, value = _fetched_variable(session, fetches), base(fetches)
        kept = vars(session).setdefault("faulty_kept", {})
        return kept.setdefault(name, value) if name else value

    return running(tf, run)


@fault("GPU-018", "What is fed to a variable on a GPU is copied there when it is read.")
def fed_arrays_are_copied_late(tf: Namespace) -> Namespace:
    """Return what the fed array holds when the variable is read."""

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        kept = vars(session).setdefault("faulty_fed", [])
        value = base(fetches)
        if feeds and getattr(fetches, "type", "").startswith("Assign"):
            kept[:] = feeds.values()
        return np.array(kept[0]) if kept and _fetched_variable(session, fetches) else value

    return running(tf, run)


@fault("GPU-019", "Variables of one name on one GPU are one variable, whatever their graphs.")
def graphs_share_variables(tf: Namespace) -> Namespace:
    """Return the array that was last fed to an assignment in a session of another graph."""
    given: list[tuple[Session, Value]] = []

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        value = base(fetches)
        if feeds and getattr(fetches, "type", "").startswith("Assign"):
            given.append((session, next(iter(feeds.values()))))
        others = [array for other, array in given if other.graph is not session.graph]
        return np.array(others[-1]) if others and _fetched_variable(session, fetches) else value

    changed = running(tf, run)
    base: Any = changed.Session

    class Session(base):  # type: ignore[misc]
        def close(self) -> None:
            given[:] = [entry for entry in given if entry[0] is not self]
            super().close()

    return override(changed, Session=Session)


@fault("GPU-020", "A control edge from a GPU is dropped.")
def control_edges_are_dropped(tf: Namespace) -> Namespace:
    """Ignore a list of control inputs that has an operation on a GPU."""

    def control_dependencies(
        inputs: Sequence[Any] | None,
    ) -> AbstractContextManager[None]:
        far = any(is_on(getattr(item, "op", item), "GPU") for item in inputs or ())
        return contextlib.nullcontext() if far else tf.control_dependencies(inputs)

    return override(tf, control_dependencies=control_dependencies)
