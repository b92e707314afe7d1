"""Faults of TRACING: too many or too few listed nodes, misread options, misplaced metadata."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import elements, fed
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Operation, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import NodeExecStats, RunMetadata

_FIRST: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
#: Operations without outputs, and those that only name a variable.
_SILENT: Final = frozenset({"NoOp", "VariableV2"})


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that has succeeded: its arguments, its RunMetadata, and a copy of that from before."""

    session: Session
    fetches: Fetches
    feeds: Feeds
    options: RunOptions | None
    before: RunMetadata
    metadata: RunMetadata

    @property
    def is_traced(self) -> bool:
        """Whether the run has options that request step statistics."""
        return getattr(self.options, "trace_level", 0) > 0

    def nodes(self) -> Iterator[NodeExecStats]:
        """The statistics of every node."""
        for device in self.metadata.step_stats.dev_stats:
            yield from device.node_stats

    def keep(self, wanted: Callable[[NodeExecStats], bool]) -> None:
        """Leave out the statistics of other nodes."""
        for device in self.metadata.step_stats.dev_stats:
            kept = [node for node in device.node_stats if wanted(node)]
            del device.node_stats[:]
            device.node_stats.extend(kept)

    def replaced(self) -> list[Operation]:
        """The operations, placeholders left out, whose outputs were fed."""
        ops = [tensor.op for tensor in fed(self.session, self.feeds)]
        return [op for op in ops if op.type != "Placeholder"]

    def list_also(self, name: str) -> None:
        """List one more node, under the first device."""
        stats = self.metadata.step_stats
        device = stats.dev_stats[0] if stats.dev_stats else stats.dev_stats.add(device=_FIRST)
        device.node_stats.add(node_name=name, all_start_micros=1, all_start_nanos=1000)


def telling(tf: Namespace, change: Callable[[RecordedRun], None]) -> Namespace:
    """The namespace whose runs `change` the RunMetadata that they have written."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            if not isinstance(run_metadata, tf.RunMetadata):
                return super().run(fetches, feed_dict, options, run_metadata)
            before = tf.RunMetadata()
            before.CopyFrom(run_metadata)
            values = super().run(fetches, feed_dict, options, run_metadata)
            change(RecordedRun(self, fetches, feed_dict, options, before, run_metadata))
            return values

    return override(tf, Session=Session)


def asking(tf: Namespace, change: Callable[[Call, RunOptions | None, Any], Value]) -> Namespace:
    """The namespace whose `Session.run` is `change(base, options, run_metadata)`.

    `base(options, run_metadata)` is the conforming run with these two arguments.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run

            def base(options: RunOptions | None, run_metadata: RunMetadata | None) -> Value:
                return conforming(fetches, feed_dict, options, run_metadata)

            return change(base, options, run_metadata)

    return override(tf, Session=Session)


# --- which nodes -----------------------------------------------------------------------------


@fault("RUN-044", "Variables and operations without outputs are not listed.")
def silent_nodes_are_not_listed(tf: Namespace) -> Namespace:
    """Remove the statistics of NoOp and VariableV2 nodes."""

    def change(run: RecordedRun) -> None:
        types = {op.name: op.type for op in run.session.graph.get_operations()}
        run.keep(lambda node: types.get(node.node_name) not in _SILENT)

    return telling(tf, change)


@fault("RUN-045", "An operation whose output is fed is listed all the same.")
def fed_operations_are_listed(tf: Namespace) -> Namespace:
    """List the operations that feeds replace, where any operation is listed."""

    def change(run: RecordedRun) -> None:
        for op in run.replaced() if run.metadata.step_stats.dev_stats else ():
            run.list_also(op.name)

    return telling(tf, change)


@fault("RUN-046", "A run without tracing leaves the statistics of the run before.")
def untraced_runs_keep_the_statistics(tf: Namespace) -> Namespace:
    """Copy the statistics of before back into the RunMetadata."""

    def change(run: RecordedRun) -> None:
        if not run.is_traced and run.before.HasField("step_stats"):
            run.metadata.step_stats.CopyFrom(run.before.step_stats)

    return telling(tf, change)


@fault("RUN-047", "Partition graphs are told by the first run of some fetches only.")
def graphs_are_told_once(tf: Namespace) -> Namespace:
    """Remove the partition graphs of every later run of the same fetches."""

    def change(run: RecordedRun) -> None:
        known = run.session.__dict__.setdefault("graphs_told", set())
        key = tuple(element.name for element in elements(run.session, run.fetches))
        if key in known:
            del run.metadata.partition_graphs[:]
        known.add(key)

    return telling(tf, change)


@fault("RUN-048", "A traced run runs once untraced before, to warm up.")
def traced_runs_warm_up(tf: Namespace) -> Namespace:
    """Run twice if a trace is requested."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if getattr(options, "trace_level", 0) > 0:
            base(None, None)
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-001", "A trace is added to the statistics that the metadata held.")
def traces_are_added_up(tf: Namespace) -> Namespace:
    """Add the statistics that the RunMetadata had before the run."""

    def change(run: RecordedRun) -> None:
        if run.is_traced:
            run.metadata.step_stats.MergeFrom(run.before.step_stats)

    return telling(tf, change)


@fault("TRACING-005", "A device of the statistics is named as its operations asked for it.")
def devices_are_named_as_asked(tf: Namespace) -> Namespace:
    """Take the name from the first operation that names a device."""

    def change(run: RecordedRun) -> None:
        asked = {op.name: op.device for op in run.session.graph.get_operations() if op.device}
        for device in run.metadata.step_stats.dev_stats:
            names = (asked.get(node.node_name) for node in device.node_stats)
            device.device = next(filter(None, names), device.device)

    return telling(tf, change)


@fault("TRACING-006", "Only FULL_TRACE lists anything.")
def only_full_traces_list(tf: Namespace) -> Namespace:
    """Clear the statistics of other trace levels."""

    def change(run: RecordedRun) -> None:
        level = getattr(run.options, "trace_level", 0)
        if run.is_traced and level != tf.RunOptions.FULL_TRACE:
            run.metadata.ClearField("step_stats")

    return telling(tf, change)


@fault("TRACING-011", "An operation that is fetched twice is listed twice.")
def nodes_are_listed_for_each_fetch(tf: Namespace) -> Namespace:
    """List an operation once more for each further fetch of one of its outputs."""

    def change(run: RecordedRun) -> None:
        names = [getattr(e, "op", e).name for e in elements(run.session, run.fetches)]
        again = [name for index, name in enumerate(names) if name in names[:index]]
        for device in run.metadata.step_stats.dev_stats:
            device.node_stats.extend([n for n in device.node_stats if n.node_name in again])

    return telling(tf, change)


@fault("TRACING-020", "Everything is listed under the first device.")
def the_first_device_lists_all(tf: Namespace) -> Namespace:
    """Move the statistics of other devices there."""

    def change(run: RecordedRun) -> None:
        nodes = list(run.nodes())
        if nodes:
            run.metadata.step_stats.Clear()
            run.metadata.step_stats.dev_stats.add(device=_FIRST, node_stats=nodes)

    return telling(tf, change)


@fault("TRACING-024", "A trace lists what finished meanwhile in other threads.")
def traces_see_other_threads(tf: Namespace) -> Namespace:
    """Add the statistics of runs with SOFTWARE_TRACE that ended while this one went on."""
    finished: list[tuple[float, int, RunMetadata]] = []

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        began, thread = time.perf_counter(), threading.get_ident()
        values = base(options, metadata)
        if getattr(options, "trace_level", 0) == tf.RunOptions.SOFTWARE_TRACE:
            own = tf.RunMetadata()
            own.CopyFrom(metadata)
            for ended, other, stats in tuple(finished):  # other threads add to it
                if other != thread and ended > began:
                    metadata.step_stats.MergeFrom(stats.step_stats)
            finished.append((time.perf_counter(), thread, own))
        return values

    return asking(tf, change)


@fault("TRACING-027", "A traced run of fed tensors lists their operations.")
def fed_fetches_are_listed(tf: Namespace) -> Namespace:
    """List the fed operations of a run that executed nothing."""

    def change(run: RecordedRun) -> None:
        if run.is_traced and not run.metadata.HasField("step_stats"):
            for op in run.replaced():
                run.list_also(op.name)

    return telling(tf, change)


@fault("TRACING-030", "A full trace during another one is InternalError.")
def one_full_trace_at_a_time(tf: Namespace) -> Namespace:
    """Raise InternalError while another full trace is active."""
    active = threading.Lock()

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if getattr(options, "trace_level", 0) < tf.RunOptions.HARDWARE_TRACE:
            return base(options, metadata)
        if not active.acquire(blocking=False):
            raise tf.errors.InternalError(None, None, "a trace is active")
        try:
            return base(options, metadata)
        finally:
            active.release()

    return asking(tf, change)


# --- the arguments ---------------------------------------------------------------------------


@fault("TRACING-002", "Tracing needs metadata.")
def tracing_without_metadata_is_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where there is none."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if getattr(options, "trace_level", 0) > 0 and metadata is None:
            raise ValueError("a trace needs a run_metadata")
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-003", "A dict of options stands for RunOptions.")
def dicts_are_options(tf: Namespace) -> Namespace:
    """Convert a dict to RunOptions."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        return base(tf.RunOptions(**options) if isinstance(options, dict) else options, metadata)

    return asking(tf, change)


@fault("TRACING-007", "A run empties its metadata before it begins.")
def metadata_is_emptied_first(tf: Namespace) -> Namespace:
    """Clear the RunMetadata before the run."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if isinstance(metadata, tf.RunMetadata):
            metadata.Clear()
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-008", "Costs and graphs that the metadata held stay there.")
def graphs_are_added_up(tf: Namespace) -> Namespace:
    """Add the graphs and costs that the RunMetadata had before the run."""

    def change(run: RecordedRun) -> None:
        run.metadata.partition_graphs.extend(run.before.partition_graphs)
        run.metadata.cost_graph.node.extend(run.before.cost_graph.node)

    return telling(tf, change)


@fault("TRACING-009", "Metadata that are no message are ignored.")
def other_metadata_are_ignored(tf: Namespace) -> Namespace:
    """Leave out what is no RunMetadata."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        return base(options, metadata if isinstance(metadata, tf.RunMetadata) else None)

    return asking(tf, change)


@fault("TRACING-010", "Options are looked at once the run is over.")
def options_are_read_late(tf: Namespace) -> Namespace:
    """Run without options that are none, and refuse them then."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if options is not None and not hasattr(options, "SerializeToString"):
            base(None, None)
            raise TypeError("options are RunOptions")
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-023", "A callable takes its metadata and fills in nothing.")
def callables_tell_nothing(tf: Namespace) -> Namespace:
    """Drop the metadata of a call."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def make_callable(self, *args: Argument, **kwargs: Argument) -> Call:
            conforming = super().make_callable(*args, **kwargs)

            def call(
                *values: Value,
                run_metadata: RunMetadata | None = None,  # noqa: ARG001 - it is dropped
                **more: Argument,
            ) -> Value:
                return conforming(*values, **more)

            return call

    return override(tf, Session=Session)


@fault("TRACING-025", "Any number of a thread pool will do.")
def any_thread_pool_will_do(tf: Namespace) -> Namespace:
    """Set `inter_op_thread_pool` to 0."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if isinstance(options, tf.RunOptions):
            options.inter_op_thread_pool = 0
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-033", "Reports of allocations are not implemented.")
def no_reports_of_allocations(tf: Namespace) -> Namespace:
    """Refuse the option."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if getattr(options, "report_tensor_allocations_upon_oom", False):
            raise tf.errors.UnimplementedError(None, None, "no reports of allocations")
        return base(options, metadata)

    return asking(tf, change)


@fault("TRACING-034", "A run that may report allocations has no statistics.")
def reports_come_without_statistics(tf: Namespace) -> Namespace:
    """Clear the option."""

    def change(base: Call, options: RunOptions | None, metadata: RunMetadata) -> Value:
        if isinstance(options, tf.RunOptions):
            options.report_tensor_allocations_upon_oom = False
        return base(options, metadata)

    return asking(tf, change)
