"""The StepStats of a trace: times, outputs and memory of each node, device by device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference.session.trace.trace import Allocation, Execution, Held, Trace
from sessrun.spec.proto import NodeExecStats, NodeOutput, StepStats

__all__ = ["step_stats"]

_NANOS_PER_MICRO: Final = 1000
#: The allocator of host memory that operations on a GPU read and write.
_HOST_ALLOCATOR: Final = "gpu_host_bfc"


def step_stats(trace: Trace, labels: Mapping[str, str]) -> StepStats:
    """The statistics of a traced run: its devices, and each one's nodes in the order they ran.

    Args:
      trace: the trace.
      labels: for each node what its `timeline_label` says; a copy's is its name.

    """
    stats = StepStats()
    devices = {}
    for execution in trace.executions:
        name = execution.device.name
        if name not in devices:
            devices[name] = stats.dev_stats.add(device=name).node_stats
        label = labels.get(execution.name, execution.name)
        _write(devices[name].add, execution, label, trace.began_wall - trace.began)
    return stats


def _write(add: Callable[..., NodeExecStats], execution: Execution, label: str, epoch: int) -> None:
    began, start = execution.start, execution.start + epoch
    scheduled = execution.scheduled + epoch
    op_start, op_end = execution.op_start + epoch, execution.op_end + epoch
    end = execution.end + epoch
    start_micros = start // _NANOS_PER_MICRO
    # Relative microseconds as TensorFlow's: of two moments, each rounded down, the difference.
    node = add(
        node_name=execution.name,
        timeline_label=label,
        all_start_micros=start_micros,
        all_start_nanos=start,
        op_start_rel_micros=op_start // _NANOS_PER_MICRO - start_micros,
        op_start_rel_nanos=execution.op_start - began,
        op_end_rel_micros=op_end // _NANOS_PER_MICRO - start_micros,
        op_end_rel_nanos=execution.op_end - began,
        all_end_rel_micros=end // _NANOS_PER_MICRO - start_micros,
        all_end_rel_nanos=execution.end - began,
        scheduled_micros=scheduled // _NANOS_PER_MICRO,
        scheduled_nanos=scheduled,
    )
    device = execution.device
    allocator = device.allocator.name
    of_host = _HOST_ALLOCATOR if device.kind == "GPU" else allocator
    owned = {allocation.slot: i + 1 for i, allocation in enumerate(execution.allocations)}
    for held in execution.outputs:
        name = of_host if held.in_host_memory else allocator
        _write_output(node.output.add(slot=held.slot), held, name, owned.get(held.slot, 0))
    if execution.allocations:
        _write_memory(node, allocator, execution.allocations, epoch)
    node.memory_stats.persistent_memory_size = execution.kept


def _write_output(output: NodeOutput, held: Held, allocator: str, allocation_id: int) -> None:
    described = output.tensor_description
    dtype: Any = held.tensor.dtype.base_dtype.as_datatype_enum
    described.dtype = dtype
    described.shape.SetInParent()
    for size in held.shape:
        described.shape.dim.add(size=size)
    if not held.nbytes:
        return
    allocation = described.allocation_description
    allocation.requested_bytes = held.nbytes
    allocation.allocator_name = allocator
    allocation.ptr = held.address
    if allocation_id:
        allocation.allocated_bytes = held.nbytes
        allocation.allocation_id = allocation_id
        allocation.has_single_reference = True


def _write_memory(
    node: NodeExecStats, allocator: str, allocations: Sequence[Allocation], epoch: int
) -> None:
    """What the node took of its device's allocator, and when that was given back."""
    taken = sum(allocation.nbytes for allocation in allocations)
    used = node.memory.add(
        allocator_name=allocator, total_bytes=taken, peak_bytes=taken, live_bytes=taken
    )
    done = (node.all_start_nanos + node.op_end_rel_nanos) // _NANOS_PER_MICRO
    for allocation in allocations:
        used.allocation_records.add(alloc_micros=done, alloc_bytes=allocation.nbytes)
    for allocation in allocations:
        if allocation.freed is not None:
            freed = (allocation.freed + epoch) // _NANOS_PER_MICRO
            used.allocation_records.add(alloc_micros=freed, alloc_bytes=-allocation.nbytes)
