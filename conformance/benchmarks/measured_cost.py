"""A cost in the process that pays it: made ready and called as the host says."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time
from typing import Any, Final

from sessrun.conformance.benchmarks.costs import Sized
from sessrun.conformance.benchmarks.graph_costs import COSTS
from sessrun.spec.cases.namespace import Namespace

__all__ = ["MeasuredCost"]

_REQUESTS: Final = {"cost", "ready", "go", "end"}
#: The warm-up takes no longer than so many seconds of processors. On the wall other work may take
#: that long before there is code for what is run often.
_WARM_SECONDS: Final = 1.0


class MeasuredCost:
    """The cost of one size that is ready on a backend, one after the other."""

    def __init__(self, namespace: Namespace) -> None:
        """Prepare nothing yet.

        Args:
          namespace: the backend's.

        """
        self._namespace = namespace
        self._cost: Sized | None = None
        self._calls: Callable[[], Any] | None = None
        self._count = 0

    def takes(self, request: dict[str, Any]) -> bool:
        """Whether a request is of a cost."""
        return not _REQUESTS.isdisjoint(request)

    def answer(self, request: dict[str, Any], end_of_batch: Callable[[], None]) -> dict[str, Any]:
        """Do what a request says; the answer.

        Args:
          request: as `worker` has it.
          end_of_batch: tells the host that the calls of a batch are over.

        """
        if "cost" in request:
            if not gc.get_freeze_count():  # the backend's own objects make collections long
                gc.freeze()
            cost = COSTS[request["cost"]]
            self._cost = cost.prepare(self._namespace, request["device"], request["size"])
            return self._warmed(self._cost)
        assert self._cost is not None
        if "ready" in request:
            self._count = request["ready"]
            self._calls = self._cost.ready(self._count)
            gc.collect()
            return {}
        if "go" in request:
            return {"wrong": self._batch(self._cost, end_of_batch)}
        self._cost.close()
        self._cost = self._calls = None
        return {}

    def _warmed(self, cost: Sized) -> dict[str, Any]:
        best, spent, wrong = float("inf"), 0.0, None
        for _ in range(cost.warm_up):
            call = cost.ready(1)
            began = process_time()
            result = call()
            seconds = process_time() - began
            best, spent = min(best, seconds), spent + seconds
            wrong = wrong or cost.check(result)
            if spent > _WARM_SECONDS:
                break
        return {"seconds": best, "wrong": wrong}

    def _batch(self, cost: Sized, end_of_batch: Callable[[], None]) -> str | None:
        calls, self._calls = self._calls, None
        assert calls is not None
        gc.disable()
        try:
            result = calls()
            end_of_batch()
        finally:
            gc.enable()
        return cost.check(result) if self._count else None
