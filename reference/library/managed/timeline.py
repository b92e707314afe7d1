"""`timeline.Timeline`: the statistics of a traced run as a trace that a browser's viewer opens.

The format is Chrome's Trace Event Format. A device is two processes of the trace: one shows its
operations, with a row for each of those that ran at the same time, the other its tensors. One more
process shows the allocators. Kinds of events and their fields are TensorFlow's.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sessrun.reference.graph.graph import Graph
from sessrun.spec.forms import Json
from sessrun.spec.proto import DeviceStepStats, NodeExecStats, StepStats

__all__ = ["AllocationMaximum", "StepStatsAnalysis", "Timeline"]

_LABEL: Final = re.compile(r"(.*) = (.*)\((.*)\)")
#: The node of a transfer between processes: its label is free text.
_RECEIVED: Final = "RecvTensor"

Event = dict[str, Any]


class AllocationMaximum(NamedTuple):
    """The most memory of an allocator that was in use at once.

    Attributes:
      timestamp: when that was, in microseconds.
      num_bytes: how much it was.
      tensors: the names of the tensors that held it.

    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """The result of `Timeline.analyze_step_stats`.

    Attributes:
      chrome_trace: the trace; `format_to_string` gives its JSON.
      allocator_maximums: the most that was in use of each allocator, by its name.

    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """The events of a trace: those that name processes first, then all in the order of `add`."""

    def __init__(self) -> None:
        self._names: list[Event] = []
        self._events: list[Event] = []

    def name_process(self, name: str, pid: int) -> None:
        """Name a process."""
        self._names.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(
        self, ph: str, category: str, name: str, track: tuple[int, int], ts: int, **more: Json
    ) -> None:
        """Add an event of phase `ph`, on the track (process, thread) at microsecond `ts`."""
        event = {"ph": ph, "cat": category, "name": name, "pid": track[0], "tid": track[1]}
        self._events.append({**event, "ts": ts, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON, indented if `pretty`."""
        trace = {"traceEvents": self._names + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


@dataclass(slots=True)
class _Tensor:
    """An output of an operation, and when it was in use."""

    number: int
    allocator: str
    nbytes: int
    pid: int
    start: int
    flow: tuple[int, tuple[int, int]]
    uses: list[int] = field(default_factory=list)

    @property
    def last_use(self) -> int:
        return max(self.uses)


@dataclass(frozen=True, slots=True)
class _Node:
    """An execution of an operation, and the row of its device that shows it."""

    stats: NodeExecStats
    row: int
    pid: int
    tensors_pid: int
    is_kernel: bool

    @property
    def start(self) -> int:
        return int(self.stats.all_start_micros)

    @property
    def end(self) -> int:
        return self.start + int(self.stats.all_end_rel_micros)

    @property
    def track(self) -> tuple[int, int]:
        return self.pid, self.row


class Timeline:
    """The timeline of one traced run.

    Args:
      step_stats: the StepStats of its RunMetadata.
      graph: the graph that was run; it is not used.

    """

    def __init__(self, step_stats: StepStats, graph: Graph | None = None) -> None:
        self._step_stats = step_stats
        self._graph = graph

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True, op_time: str = "schedule"
    ) -> StepStatsAnalysis:
        """The trace, and the largest use of memory for each allocator.

        Args:
          show_dataflow: whether arrows lead from the producer of a tensor to its consumers.
          show_memory: whether tensors, and the use of allocators, are shown.
          op_time: the time that an operation is shown with: `schedule` as the statistics have
            it, `gpu` from its first kernel on a GPU on, `all` to the end of its last one.

        """
        stats = self._step_stats
        if op_time != "schedule":
            stats = copy.deepcopy(stats)
            _retime(stats, from_kernel=op_time == "gpu")
        return _Picture(stats, show_dataflow, show_memory).analysis()

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The trace as JSON; arguments as of `analyze_step_stats`."""
        analysis = self.analyze_step_stats(show_dataflow, show_memory, op_time)
        return analysis.chrome_trace.format_to_string(pretty=True)


class _Picture:
    """One analysis of one StepStats."""

    def __init__(self, stats: StepStats, show_dataflow: bool, show_memory: bool) -> None:
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._trace = ChromeTrace()
        self._tensors: dict[str, _Tensor] = {}
        self._flows = 0
        self._trace.name_process("Allocators", 0)
        self._nodes = [
            node
            for number, device in enumerate(stats.dev_stats)
            for node in self._device(device, 2 * number + 1)
        ]

    def analysis(self) -> StepStatsAnalysis:
        for node in self._nodes:
            self._make_tensors(node)
        for node in self._nodes:
            self._show(node)
        maximums = self._count_memory() if self._show_memory else {}
        return StepStatsAnalysis(self._trace, maximums)

    def _device(self, device: DeviceStepStats, pid: int) -> Iterator[_Node]:
        self._trace.name_process(f"{device.device} Compute", pid)
        self._trace.name_process(f"{device.device} Tensors", pid + 1)
        is_kernel = _shows_kernels(device.device)
        for stats, row in zip(device.node_stats, _rows(device.node_stats), strict=True):
            yield _Node(stats, row, pid, pid + 1, is_kernel)

    def _make_tensors(self, node: _Node) -> None:
        for slot, output in enumerate(node.stats.output):
            name = f"{node.stats.node_name}:{slot}" if slot else node.stats.node_name
            memory = output.tensor_description.allocation_description
            tensor = self._tensors[name] = _Tensor(
                len(self._tensors),
                memory.allocator_name,
                memory.requested_bytes,
                node.tensors_pid,
                node.start,
                (node.end, node.track),
                [node.end],
            )
            if self._show_memory:
                track = node.tensors_pid, node.row
                shown = str(output.tensor_description).replace('"', "")
                self._trace.add("N", "Tensor", name, track, node.start, id=tensor.number)
                self._trace.add(
                    "O",
                    "Tensor",
                    name,
                    track,
                    node.end - 1,
                    id=tensor.number,
                    args={"snapshot": {"tensor_description": shown}},
                )

    def _show(self, node: _Node) -> None:
        name, inputs = node.stats.node_name, list[str]()
        if node.is_kernel:
            name, op_type = _kernel(node.stats)
        elif name == _RECEIVED:
            op_type = _RECEIVED
        else:
            op_type, inputs = _operation(node.stats.timeline_label)
        args = {"name": name, "op": op_type}
        args |= {f"input{index}": source for index, source in enumerate(inputs)}
        self._trace.add(
            "X", "Op", op_type, node.track, node.start, dur=node.stats.all_end_rel_micros, args=args
        )
        for source in inputs:
            self._read(source, node)

    def _read(self, name: str, node: _Node) -> None:
        if name not in self._tensors and name.rfind("/_") > 0:
            name = name[: name.rfind("/_")]  # a _Recv stands for the tensor that was sent
        tensor = self._tensors.get(name)
        if tensor is None:
            return
        tensor.uses.append(node.end - 1)
        computed_at, track = tensor.flow
        if self._show_dataflow and track != node.track:
            self._trace.add("s", "DataFlow", name, track, computed_at, id=self._flows)
            self._trace.add("t", "DataFlow", name, node.track, node.start, id=self._flows)
            self._flows += 1

    def _count_memory(self) -> dict[str, AllocationMaximum]:
        """Add the ends of tensors and the use of allocators to the trace; returns the maximums."""
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for name, tensor in self._tensors.items():
            self._trace.add("D", "Tensor", name, (tensor.pid, 0), tensor.last_use, id=tensor.number)
            changes.setdefault(tensor.allocator, []).extend(
                [
                    (tensor.start, tensor.nbytes, name),
                    (tensor.last_use, -tensor.nbytes, name),
                ]
            )
        return {name: self._usage(name, sorted(its)) for name, its in changes.items()}

    def _usage(self, allocator: str, changes: Iterable[tuple[int, int, str]]) -> AllocationMaximum:
        used, alive = 0, set[str]()
        most = AllocationMaximum(0, 0, set())
        for moment, change, name in changes:
            used += change
            if change < 0:
                alive.discard(name)
            else:
                alive.add(name)
            if used > most.num_bytes:
                most = AllocationMaximum(moment, used, set(alive))
            self._trace.add("C", "Memory", allocator, (0, 0), moment, args={allocator: used})
        return most


def _rows(nodes: Iterable[NodeExecStats]) -> Iterator[int]:
    """For each node, the first row that is free when the node starts."""
    ends = [0]
    for node in nodes:
        end = node.all_start_micros + node.all_end_rel_micros
        free = (row for row, before in enumerate(ends) if before < node.all_start_micros)
        row = next(free, len(ends))
        ends[row : row + 1] = [end]
        yield row


def _operation(label: str) -> tuple[str, list[str]]:
    """The op type and the inputs that a label names."""
    match = _LABEL.match(label)
    if match is None:
        return "unknown", []
    _, op_type, inputs = match.groups()
    return op_type, inputs.split(", ") if inputs else []


def _kernel(stats: NodeExecStats) -> tuple[str, str]:
    """The name and op type of the operation that launched a GPU kernel: `... @@NAME:TYPE#...`."""
    label, name = stats.timeline_label, stats.node_name
    start, end = label.find("@@"), label.find("#")
    if 0 <= start < end - 2:
        name = label[start + 2 : end]
    parts = [*name.split(":"), "unknown"]
    return parts[0], parts[1]


def _shows_kernels(device: str) -> bool:
    return "/stream:" in device or "/memcpy" in device


def _retime(stats: StepStats, *, from_kernel: bool) -> None:
    """Extend each operation to the end of its last kernel; `from_kernel` also moves its start."""
    spans: dict[str, tuple[int, int]] = {}
    for device in stats.dev_stats:
        if "/stream:all" in device.device:
            for kernel in device.node_stats:
                _widen(spans, _kernel(kernel)[0], kernel)
    for device in stats.dev_stats:
        if "/stream:all" not in device.device and "/job" in device.device:
            for node in device.node_stats:
                _last_until(node, spans, from_kernel=from_kernel)


def _widen(spans: dict[str, tuple[int, int]], name: str, kernel: NodeExecStats) -> None:
    start = kernel.all_start_micros
    end = start + kernel.all_end_rel_micros
    known = spans.get(name, (start, end))
    spans[name] = min(known[0], start), max(known[1], end)


def _last_until(
    node: NodeExecStats, spans: Mapping[str, tuple[int, int]], *, from_kernel: bool
) -> None:
    if node.node_name not in spans:
        return
    first, last = spans[node.node_name]
    end = max(last, node.all_start_micros + node.all_end_rel_micros)
    if from_kernel:
        node.all_start_micros = first
    node.all_end_rel_micros = end - node.all_start_micros
