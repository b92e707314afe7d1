"""Planner: the plan stage of a session: each signature is pruned, placed and compiled once.

Clauses: RUN, PLACEMENT.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence

from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.plan.compiler import compile_plan
from sessrun.reference.session.plan.function_calls import FunctionCalls
from sessrun.reference.session.plan.partition_graphs import PartitionGraphs
from sessrun.reference.session.plan.placement import Placer
from sessrun.reference.session.plan.pruning import prune
from sessrun.reference.session.resolve.set_up import SetUp
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.proto import ConfigProto

__all__ = ["Planner"]


class Planner:
    """Makes the plans of one session; safe for threads.

    Args:
      graph: the graph.
      devices: the session's devices; the first has feeds and fetches.
      config: its configuration.
      resources: its resources.
      lifetime: whether it was closed or reset.

    Attributes:
      extent: how many operations the graph had when `extend` was last called.

    """

    def __init__(
        self,
        graph: Graph,
        devices: Sequence[LocalDevice],
        config: ConfigProto,
        resources: ResourceStore,
        lifetime: Lifetime,
    ) -> None:
        self._nodes = graph.operations_by_name
        self._host = devices[0]
        self._lifetime = lifetime
        self._placer = Placer(graph, devices, config)
        self._bindings = FunctionCalls(devices, config, resources).bindings
        self._plans: dict[Hashable, Plan] = {}
        self._lock = threading.RLock()
        self.extent = 0

    def extend(self) -> None:
        """Place the operations that were added to the graph since the last run.

        Raises:
          InvalidArgumentError: an operation cannot be placed, even one that the run does not need.

        """
        extent = len(self._nodes)
        self._placer.assign(())
        self.extent = extent

    @property
    def is_current(self) -> bool:
        """Whether nothing was added to the graph since `extend` was last called."""
        return self.extent == len(self._nodes)

    def keep_up(self) -> None:
        """`extend`, if something was added to the graph; raises as that does."""
        if self.extent != len(self._nodes):
            self.extend()

    def plan(self, signature: Signature) -> Plan | None:
        """The plan of a signature; None if every fetch is fed, so that nothing runs.

        If there is a plan, operations added to the graph since the last run are placed, too.

        Raises:
          CancelledError: the session was closed or reset.
          InvalidArgumentError: the needed part of the graph has a cycle, or cannot be placed.

        """
        if not signature.tensors and not signature.ops:
            return None
        with self._lock:
            plan = self._plans.get(signature.key)
            if plan is None:  # a session that has ended has no plans
                self._lifetime.check_not_over()
                tensors, ops, fed = signature.tensors, signature.ops, signature.fed
                needed = prune(tensors, ops, frozenset(fed))
                placed = self._placer.assign(needed)
                plan = compile_plan(needed, tensors, fed, placed, self._bindings)
                self._plans[signature.key] = plan
        self.keep_up()
        return plan

    def partial_plan(self, set_up: SetUp) -> Plan:
        """The plan of a partial run, in which every value keeps its register; raises as `plan`."""
        self._lifetime.check_not_over()
        needed = prune(set_up.tensors, set_up.ops, frozenset(set_up.fed))
        self.extend()
        placed = self._placer.assign(needed)
        return compile_plan(needed, set_up.tensors, set_up.fed, placed, self._bindings, keep=True)

    def traced_plan(self, signature: Signature) -> tuple[Plan, PartitionGraphs]:
        """A plan of a planned signature, compiled to be traced, and the graphs that it executes."""
        tensors, fed = signature.tensors, signature.fed
        needed = prune(tensors, signature.ops, frozenset(fed))
        placed: Mapping[Operation, LocalDevice] = self._placer.placed
        plan = compile_plan(needed, tensors, fed, placed, self._bindings, traced=True)
        return plan, PartitionGraphs(needed, fed, tensors, placed, self._host)

    def clear(self) -> None:
        """Forget plans and kernels, which hold constants and variables."""
        with self._lock:
            self._plans = {}
            self._bindings.kernels.clear()
