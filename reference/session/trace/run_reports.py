"""RunReports: what the runs of a session say in RunMetadata beside their values.

Statistics of steps, the graphs that were executed, the costs of nodes. A run that is timed has a
separate plan, in which every operation has a step. Clauses: TRACING, RUN-044 on.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field

from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.plan.partition_graphs import PartitionGraphs
from sessrun.reference.session.plan.planner import Planner
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.session.trace.cost_model import CostModel, CostSchedule
from sessrun.reference.session.trace.run_options import (
    check_options,
    wants_graphs,
    wants_report,
    wants_trace,
)
from sessrun.reference.session.trace.step_stats import step_stats
from sessrun.reference.session.trace.trace import Trace
from sessrun.spec.proto import ConfigProto, RunMetadata, RunOptions

__all__ = ["RunReport", "RunReports"]


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one run is to say beside its values.

    Attributes:
      signature: its signature.
      is_empty: whether it reports nothing.
      trace: what executes it and takes the times; None if it is not timed.
      has_graphs: whether the executed graphs are wanted.
      has_costs: whether it counts for the cost model.

    """

    signature: Signature
    is_empty: bool = False
    trace: Trace | None = None
    has_graphs: bool = False
    has_costs: bool = False


@dataclass(frozen=True, slots=True)
class _Traceable:
    """The reports kept for a plan that was traced, or whose graphs were wanted."""

    plan: Plan
    graphs: PartitionGraphs
    costs: CostModel = field(default_factory=CostModel)


class RunReports:
    """What is needed to trace the runs of a session and to report of them; safe for threads.

    Args:
      config: the session's configuration.
      planner: makes its plans.
      host: the device of feeds and fetches.

    """

    def __init__(self, config: ConfigProto, planner: Planner, host: LocalDevice) -> None:
        options = config.graph_options
        self._config = config
        self._planner = planner
        self._host = host
        self._schedule = CostSchedule(options.build_cost_model, options.build_cost_model_after)
        self._traceables: dict[Hashable, _Traceable] = {}
        self._lock = threading.Lock()

    @property
    def counts_every_run(self) -> bool:
        """Whether there is a cost model, which counts every run of a signature."""
        return self._schedule.is_on

    def begin(
        self, signature: Signature, plan: Plan | None, options: RunOptions | None
    ) -> RunReport:
        """The report of a run that begins.

        Args:
          signature: its signature.
          plan: its plan; None if nothing is executed, of which nothing is reported.
          options: what it was called with.

        Raises:
          InvalidArgumentError: the session cannot serve these options.

        """
        if plan is None:
            return RunReport(signature, is_empty=True)
        if options is None and not self._schedule.is_on:
            return RunReport(signature)
        check_options(options, self._config)
        has_costs = self._schedule.is_on and self._schedule.is_due(signature.key)
        trace = None
        if has_costs or wants_trace(options):
            traceable = self._traceable(signature)
            trace = Trace(
                signature,
                traceable.plan,
                traceable.graphs,
                self._host,
                reports=wants_report(options),
            )
        return RunReport(
            signature, trace=trace, has_graphs=wants_graphs(options), has_costs=has_costs
        )

    def write(self, report: RunReport, run_metadata: RunMetadata | None) -> None:
        """Replace the contents of the argument `run_metadata` of a run that has succeeded.

        Args:
          report: the run's report.
          run_metadata: the argument; nothing is written if it is a false value.

        Raises:
          AttributeError: nothing can be parsed into it; the run is over all the same.
          DecodeError: `run_metadata` is a message of another type.

        """
        metadata = RunMetadata()
        if not report.is_empty:
            self._fill(report, metadata)
        if run_metadata:
            run_metadata.ParseFromString(metadata.SerializeToString())

    def _fill(self, report: RunReport, metadata: RunMetadata) -> None:
        if self._config.experimental.HasField("session_metadata"):
            metadata.session_metadata.CopyFrom(self._config.experimental.session_metadata)
        trace = report.trace
        if trace is None and not report.has_graphs:
            return
        traceable = self._traceable(report.signature)
        if trace is not None:
            metadata.step_stats.CopyFrom(step_stats(trace, traceable.graphs.labels))
        if report.has_graphs:
            metadata.partition_graphs.extend(traceable.graphs.graphs.values())
        if report.has_costs and trace is not None:
            traceable.costs.add(trace)
            metadata.cost_graph.CopyFrom(traceable.costs.graph(traceable.graphs.graphs))

    def _traceable(self, signature: Signature) -> _Traceable:
        with self._lock:
            traceable = self._traceables.get(signature.key)
            if traceable is None:
                traceable = _Traceable(*self._planner.traced_plan(signature))
                self._traceables[signature.key] = traceable
        return traceable

    def clear(self) -> None:
        """Forget the plans."""
        with self._lock:
            self._traceables = {}
