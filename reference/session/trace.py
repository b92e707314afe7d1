"""What a run tells of itself: per-operation times for `RunMetadata.step_stats`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from sessrun.spec.proto import DeviceStepStats, NodeExecStats, RunMetadata, RunOptions

if TYPE_CHECKING:
    from sessrun.reference.operation import Operation

__all__ = ["Trace", "wanted"]

_NANOS_PER_MICRO: Final = 1000


def wanted(options: RunOptions | None, run_metadata: RunMetadata | None) -> bool:
    """Whether the options ask for a trace, and there is somewhere to put it."""
    return (
        options is not None
        and run_metadata is not None
        and options.trace_level > RunOptions.NO_TRACE
    )


class Trace:
    """Collects when each step of a plan started and ended."""

    def __init__(self) -> None:
        self._started_wall = time.time_ns()
        self._started = time.perf_counter_ns()
        self._nodes: dict[tuple[str, Operation], list[int]] = {}

    def note(self, op: Operation, device: str, start: int, end: int) -> None:
        """Add a step of `op`, timed by `perf_counter_ns`; several steps of one are summed."""
        times = self._nodes.setdefault((device, op), [start, 0])
        times[1] += end - start

    def write(self, run_metadata: RunMetadata) -> None:
        """Fill in `step_stats`: for each device its nodes in the order they ran."""
        run_metadata.step_stats.Clear()
        run_metadata.step_stats.SetInParent()
        by_device: dict[str, DeviceStepStats] = {}
        for (device, op), (start, spent) in self._nodes.items():
            if device not in by_device:
                by_device[device] = run_metadata.step_stats.dev_stats.add(device=device)
            by_device[device].node_stats.append(self._stats(op, start, spent))

    def _stats(self, op: Operation, start: int, spent: int) -> NodeExecStats:
        began = self._started_wall + start - self._started
        return NodeExecStats(
            node_name=op.name,
            all_start_micros=began // _NANOS_PER_MICRO,
            all_start_nanos=began,
            op_start_rel_micros=0,
            op_end_rel_micros=spent // _NANOS_PER_MICRO,
            op_end_rel_nanos=spent,
            all_end_rel_micros=spent // _NANOS_PER_MICRO,
            all_end_rel_nanos=spent,
            timeline_label=f"{op.name} = {op.type}({', '.join(t.op.name for t in op.inputs)})",
        )
