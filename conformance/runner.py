"""Runs one case after another against a backend and classifies what came of it.

The backend lives in a worker process, so that one that dies, hangs or babbles costs its own
cases only. `results` are closed (design: "The suite"); no path turns an exception into a pass.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.adapters.backend import Backend, Description
from sessrun.adapters.process.errors import WorkerContractError, WorkerCrash, WorkerTimeout
from sessrun.adapters.process.host import spawn
from sessrun.adapters.registry import AdapterError, load
from sessrun.conformance.facts import facts
from sessrun.spec.cases import engine
from sessrun.spec.cases.judge import Finding, Judgement, judge
from sessrun.spec.cases.model import Case, Observation, canonical_json, walk

__all__ = ["Runner"]

#: Consecutive timeouts or crashes, and seconds lost to them in all, before the probe decides.
_PATIENCE_CASES: Final = 20
_PATIENCE_SECONDS: Final = 300.0
#: What a backend that answered the probe may lose again before the next one.
_PATIENCE_AGAIN: Final = 90.0
_RETRIES: Final = 20
_KEEP_BYTES: Final = 65536
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{6,}")

#: The smallest question there is; a backend that cannot answer it is unresponsive.
_PROBE: Final = Case(
    id="probe/constant",
    title="A constant is fetched.",
    surface="engine",
    clauses=("RUN-001",),
    steps=(
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": []},
    ),
    graphs={"g": {"versions": {"producer": 1882}}},
)


@dataclass(slots=True)
class _Losses:
    """What timeouts and crashes have cost so far."""

    consecutive: int = 0
    seconds: float = 0.0
    allowed: float = _PATIENCE_SECONDS
    unresponsive: bool = False


@dataclass(slots=True)
class Runner:
    """Runs cases against one backend.

    Args:
      spec: the backend, as `sessrun.adapters.registry` names it.
      in_process: run it in this process: for debugging, cannot certify.
      oracle: the backend that answers for steps that expect `oracle`.
      on_event: called with (event, detail, seconds) when a worker restarts or is given up.

    """

    spec: str
    in_process: bool = False
    oracle: str = "reference"
    on_event: Callable[[str, str, float], None] | None = None
    _backend: Any = None
    _oracle: Any = None
    _description: Description | None = None
    _losses: _Losses = field(default_factory=_Losses)
    _retries: int = 0

    def describe(self) -> Description:
        """Start the backend and ask who it is.

        Raises:
          AdapterError: it cannot be found or started.

        """
        if self._description is None:
            self._description = self.backend().describe()
        return self._description

    def backend(self) -> Backend:
        """The backend, started if need be."""
        if self._backend is None:
            self._backend = load(self.spec) if self.in_process else spawn(self.spec)
        found: Backend = self._backend
        return found

    def run(self, case: Case) -> dict[str, Any]:
        """Run one case, a failing one twice: its line of the record."""
        line = self.run_once(case)
        if line["result"] == "fail" and self._retries < _RETRIES and not self.in_process:
            self._retries += 1
            self._restart("a failing case is tried again on a fresh worker", 0.0)
            again = self.run_once(case)
            if again["result"] != "fail":
                line |= {"result": "flaky", "detail": f"the second try: {again['result']}"}
            line["attempts"] = 2
        return line

    def run_once(self, case: Case) -> dict[str, Any]:
        """Run one case a single time: its line of the record."""
        if self._losses.unresponsive:
            return self._line(case, "missing", 0.0, detail="backend unresponsive")
        absent = sorted(set(case.needs) & {"gpu", "no-gpu", "two-cpus"} - facts())
        if absent:
            return self._line(case, "skipped", 0.0, detail=f"not here: {', '.join(absent)}")
        line = self._attempt(case)
        backend = self._backend
        if case.isolated and not self.in_process:
            self._restart("the case disturbs its process", 0.0)
        elif not getattr(backend, "alive", True) or getattr(backend, "pending", False):
            # A call that a finished case left blocked must not be the next case's burden.
            self._restart("the case left its worker busy or dead", 0.0)
        return line

    def observe(self, case: Case) -> list[Observation]:
        """What the backend was seen to do; raises what the worker's host raises."""
        return _observe(self.backend(), case)

    def shutdown(self) -> None:
        """Stop the backend and the oracle."""
        for held in (self._backend, self._oracle):
            if held is not None:
                held.shutdown()
        self._backend = self._oracle = None

    def _attempt(self, case: Case) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            seen = self.observe(case)
        except (WorkerTimeout, WorkerCrash) as error:
            seconds = time.perf_counter() - started
            result = "timeout" if isinstance(error, WorkerTimeout) else "crash"
            self._lost(str(error), seconds)
            return self._line(case, result, seconds, detail=str(error))
        except WorkerContractError as error:
            seconds = time.perf_counter() - started
            self._lost(str(error), seconds)
            return self._line(case, "error", seconds, detail=str(error))
        seconds = time.perf_counter() - started
        self._losses.consecutive = 0
        return self._judged(case, seen, seconds)

    def _judged(self, case: Case, seen: list[Observation], seconds: float) -> dict[str, Any]:
        expected = None
        if any("oracle" in step.get("expect", {}) for _, step in walk(case.steps)):
            try:
                expected = self._ask_oracle(case)
            except (WorkerTimeout, WorkerCrash, WorkerContractError) as error:
                return self._line(case, "infra_error", seconds, detail=f"the oracle: {error}")
        judgement = self._audited(case, judge(case, seen, expected))
        return self._line(case, judgement.result, seconds, judgement.finding, seen)

    def _audited(self, case: Case, judgement: Judgement) -> Judgement:
        """A capability that is declared but refused is a broken promise, not `unsupported`."""
        declared = self.describe().capabilities
        finding = judgement.finding
        if judgement.result == "unsupported" and finding is not None:
            capability = finding.reason.removeprefix("unsupported: ").split(" ")[0]
            if capability in declared:
                reason = f"declares {capability}, but refused: {finding.reason}"
                return Judgement("fail", Finding(finding.step, reason))
        if case.surface == "api" and "api" not in declared and judgement.result == "pass":
            return Judgement("error", Finding("0", "answered an API case without declaring api"))
        return judgement

    def _ask_oracle(self, case: Case) -> list[Observation]:
        if self._oracle is None:
            self._oracle = load(self.oracle) if self.in_process else spawn(self.oracle)
        return _observe(self._oracle, case)

    def _lost(self, reason: str, seconds: float) -> None:
        losses = self._losses
        losses.consecutive += 1
        losses.seconds += seconds + self._restart(reason, seconds)
        if losses.consecutive < _PATIENCE_CASES and losses.seconds < losses.allowed:
            return
        try:
            _observe(self.backend(), _PROBE)
        except (WorkerTimeout, WorkerCrash, WorkerContractError) as error:
            losses.unresponsive = True
            self._tell("unresponsive", f"the probe failed too: {error}", losses.seconds)
        else:
            losses.consecutive = 0
            losses.allowed = losses.seconds + _PATIENCE_AGAIN

    def _restart(self, reason: str, seconds: float) -> float:
        started = time.perf_counter()
        try:
            self._backend.restart()
        except (AdapterError, WorkerTimeout, WorkerCrash, WorkerContractError) as error:
            self._losses.unresponsive = True
            self._tell("unresponsive", f"it does not start again: {error}", 0.0)
        self._tell("restart", reason, seconds)
        return time.perf_counter() - started

    def _tell(self, event: str, detail: str, seconds: float) -> None:
        if self.on_event is not None:
            self.on_event(event, _ADDRESS.sub("0x…", detail)[:500], seconds)

    def _line(
        self,
        case: Case,
        result: str,
        seconds: float,
        finding: Finding | None = None,
        seen: list[Observation] | None = None,
        detail: str = "",
    ) -> dict[str, Any]:
        line: dict[str, Any] = {
            "kind": "result",
            "id": case.id,
            "hash": case.hash,
            "clauses": list(case.clauses),
            "result": result,
            "seconds": round(seconds, 6),
        }
        if finding is not None:
            line["finding"] = {
                "step": finding.step,
                "reason": _ADDRESS.sub("0x…", finding.reason)[:2000],
                "want": finding.want,
                "got": finding.got,
            }
        if seen is not None and len(canonical_json(seen)) <= _KEEP_BYTES:
            line["observations"] = seen
        if detail:
            line["detail"] = _ADDRESS.sub("0x…", detail)[:2000]
        return line


def _observe(backend: Any, case: Case) -> list[Observation]:
    if hasattr(backend, "deadline_s"):
        backend.deadline_s = case.deadline_s
    if case.surface == "api":
        seen: list[Observation] = backend.interpret_api(case)
        return seen
    return engine.interpret(case, backend)
