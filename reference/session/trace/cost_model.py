"""The cost model of `graph_options.build_cost_model`: the most that each node has taken.

A run that is due is traced, and what it saw is added up; `run_metadata.cost_graph` has all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import Any, Final

from sessrun.reference.session.trace.trace import Held, Trace
from sessrun.spec.proto import CostGraphDef, GraphDef

__all__ = ["CostModel", "CostSchedule"]

_NANOS_PER_MICRO: Final = 1000


class CostSchedule:
    """Which runs of a session a cost model is made of, counted for each signature.

    Args:
      every: of this many runs the last one counts; 0 for none.
      after: from this run on, the first being 0.

    Attributes:
      is_on: whether any run counts.

    """

    def __init__(self, every: int, after: int) -> None:
        self._every = every
        self.is_on = every > 0
        self._after = after
        self._counts: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def is_due(self, key: Hashable) -> bool:
        """Whether the run that begins counts for the cost model; each call counts a run."""
        with self._lock:
            count = self._counts.get(key, 0)
            self._counts[key] = count + 1
        past = count - self._after
        return self.is_on and past >= 0 and (past + 1) % self._every == 0


class CostModel:
    """The costs of the nodes of one signature, over the runs that count."""

    def __init__(self) -> None:
        self._nanos: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._outputs: dict[str, dict[int, Held]] = {}
        self._lock = threading.Lock()

    def add(self, trace: Trace) -> None:
        """Add a traced run; of times and of sizes the largest is kept."""
        with self._lock:
            for execution in trace.executions:
                name, nanos = execution.name, execution.op_end - execution.op_start
                self._nanos[name] = max(nanos, self._nanos.get(name, 0))
                self._kept[name] = max(execution.kept, self._kept.get(name, 0))
                known = self._outputs.setdefault(name, {})
                for held in execution.outputs:
                    if held.slot not in known or held.nbytes >= known[held.slot].nbytes:
                        known[held.slot] = held

    def graph(self, graphs: Mapping[str, GraphDef]) -> CostGraphDef:
        """The cost graph of the graphs that the signature executes."""
        costs = CostGraphDef()
        numbers: dict[str, int] = {}
        for definition in graphs.values():
            for node in definition.node:
                numbers[node.name] = len(numbers)
        for definition in graphs.values():
            for node in definition.node:
                cost = costs.node.add(name=node.name, device=node.device, id=numbers[node.name])
                for name in node.input:
                    source, _, port = name.partition(":")
                    if source.startswith("^"):
                        cost.control_input.append(numbers[source[1:]])
                    else:
                        cost.input_info.add(
                            preceding_node=numbers[source], preceding_port=int(port or 0)
                        )
                self._write(cost)
        return costs

    def _write(self, cost: CostGraphDef.Node) -> None:
        cost.compute_cost = self._nanos.get(cost.name, 0) // _NANOS_PER_MICRO
        cost.persistent_memory_size = self._kept.get(cost.name, 0)
        for _, held in sorted(self._outputs.get(cost.name, {}).items()):
            dtype: Any = held.tensor.dtype.base_dtype.as_datatype_enum
            info = cost.output_info.add(
                size=held.nbytes, alias_input_port=held.is_input, dtype=dtype
            )
            info.shape.SetInParent()
            for size in held.shape:
                info.shape.dim.add(size=size)
