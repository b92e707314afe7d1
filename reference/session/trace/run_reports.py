"""What a run is asked for by RunOptions, and what it tells in RunMetadata.

Both arguments are taken as TensorFlow takes them: whatever can be serialized, whatever can be
parsed into; one that is false (None, an empty string) is none. Clauses: TRACING, RUN-044 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from sessrun.reference import errors
from sessrun.reference.session.plan.partition_graphs import Partitions
from sessrun.reference.session.trace import step_stats
from sessrun.reference.session.trace.cost_model import CostModel
from sessrun.reference.session.trace.trace import Trace
from sessrun.spec.proto import ConfigProto, RunMetadata, RunOptions

if TYPE_CHECKING:
    from sessrun.reference.devices.devices import LocalDevice
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.session.execute.steps import Plan
    from sessrun.reference.session.resolve.signature import Signature

__all__ = [
    "Observed",
    "check_options",
    "read_options",
    "tell",
    "wants_graphs",
    "wants_report",
    "wants_trace",
    "write_session",
]


def read_options(options: Any) -> RunOptions | None:
    """The RunOptions of the argument `options`; None if it is none.

    Raises:
      AttributeError: it cannot be serialized.
      InvalidArgumentError: what it serializes to are no RunOptions.

    """
    if not options:
        return None
    data = options.SerializeToString()
    try:
        return RunOptions.FromString(data.encode() if isinstance(data, str) else data)
    except DecodeError as error:
        raise errors.InvalidArgumentError(None, None, "Unparseable RunOptions proto") from error


def wants_trace(asked: RunOptions | None) -> bool:
    """Whether step statistics are asked for: every level but NO_TRACE gives the same ones.

    TensorFlow gathers them, too, to report the tensors that are there when memory runs out.
    """
    return asked is not None and (
        asked.trace_level > RunOptions.NO_TRACE or asked.report_tensor_allocations_upon_oom
    )


def wants_report(asked: RunOptions | None) -> bool:
    """Whether want of memory is to be told with what was allocated."""
    return asked is not None and asked.report_tensor_allocations_upon_oom


def wants_graphs(asked: RunOptions | None) -> bool:
    """Whether the graphs that are executed are asked for."""
    return asked is not None and asked.output_partition_graphs


def check_options(asked: RunOptions | None, config: ConfigProto) -> None:
    """Refuse options that a session of this configuration cannot serve.

    Raises:
      InvalidArgumentError: there is no such thread pool, or partition graphs are disabled.

    """
    if asked is None:
        return
    pools = 1
    if not config.use_per_session_threads:
        pools = max(1, len(config.session_inter_op_thread_pool))
    if not -1 <= asked.inter_op_thread_pool < pools:
        text = f"Invalid inter_op_thread_pool: {asked.inter_op_thread_pool}"
        raise errors.InvalidArgumentError(None, None, text)
    if asked.output_partition_graphs and config.experimental.disable_output_partition_graphs:
        raise errors.InvalidArgumentError(
            None,
            None,
            "RunOptions.output_partition_graphs() is not supported when "
            "disable_output_partition_graphs is true.",
        )


class Observed:
    """What a session keeps of a plan that was traced, or whose graphs were asked for.

    Args:
      signature: a signature of that plan.
      plan: the plan, compiled to be traced.
      ops: the operations it executes, in order.
      placed: the device of each of them.
      host: the device of feeds and fetches.

    """

    def __init__(
        self,
        signature: Signature,
        plan: Plan,
        ops: Sequence[Operation],
        placed: Mapping[Operation, LocalDevice],
        host: LocalDevice,
    ) -> None:
        self._plan = plan
        self._partitions = Partitions(ops, signature.fed, signature.wanted, placed, host)
        self._costs = CostModel()
        self._host = host

    def trace(self, signature: Signature, asked: RunOptions | None) -> Trace:
        """A trace for one run, with these options, of a signature of the plan."""
        reports = wants_report(asked)
        return Trace(signature, self._plan, self._partitions, self._host, reports=reports)

    def write(self, told: RunMetadata, trace: Trace | None, *, graphs: bool, costs: bool) -> None:
        """Write into `told` what a run tells.

        Args:
          told: the message to write into.
          trace: the run's trace, or None.
          graphs: whether the graphs were asked for.
          costs: whether the run counts for the cost model.

        """
        if trace is not None:
            told.step_stats.CopyFrom(step_stats.written(trace, self._partitions.labels))
        if graphs:
            told.partition_graphs.extend(self._partitions.graphs.values())
        if costs and trace is not None:
            self._costs.add(trace)
            told.cost_graph.CopyFrom(self._costs.graph(self._partitions.graphs))


def write_session(told: RunMetadata, config: ConfigProto) -> None:
    """Write into `told` the name and version that the configuration gives its session."""
    if config.experimental.HasField("session_metadata"):
        told.session_metadata.CopyFrom(config.experimental.session_metadata)


def tell(run_metadata: Any, told: RunMetadata) -> None:
    """Replace all that the argument `run_metadata` holds.

    Raises:
      AttributeError: nothing can be parsed into it; the run is over all the same.
      DecodeError: it is a message of another kind.

    """
    if run_metadata:
        run_metadata.ParseFromString(told.SerializeToString())
