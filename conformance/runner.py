"""Runs one case after another against a backend and classifies what came of it.

The backend lives in a worker process, so that one that dies, hangs or babbles costs its own
cases only. `results` are closed (design: "The suite"); no path turns an exception into a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.adapters.backend import CAPABILITIES, Backend, Description
from sessrun.adapters.process.errors import (
    AdapterError,
    WorkerContractError,
    WorkerCrash,
    WorkerError,
    WorkerTimeout,
)
from sessrun.adapters.process.host import spawn
from sessrun.adapters.registry import load
from sessrun.conformance.facts import facts
from sessrun.conformance.patience import PROBE, Losses, Patience
from sessrun.conformance.steady import steady_observations, steady_text
from sessrun.spec.cases import engine
from sessrun.spec.cases.judge import Finding, Judgement, judge
from sessrun.spec.cases.model import Case, Observation, canonical_json, walk

__all__ = ["FACTS", "Patience", "Runner"]

#: The facts of a machine that a case's `needs` may name.
FACTS: Final = frozenset({"gpu", "no-gpu", "two-cpus"})

_KEEP_BYTES: Final = 65536

#: The capability that a backend declares if it offers a step of an engine case.
_CAPABILITY_OF: Final[Mapping[str, str]] = {
    "extend": "extend",
    "setup": "partial_runs",
    "partial": "partial_runs",
    "callable": "callables",
    "call": "callables",
    "devices": "devices",
    "reset": "reset",
    "start": "concurrent",
    "join": "concurrent",
}


@dataclass(slots=True)
class Runner:
    """Runs cases against one backend.

    Args:
      spec: the backend, as `sessrun.adapters.registry` names it.
      in_process: run it in this process: for debugging, cannot certify.
      oracle: the backend that answers for steps that expect `oracle`.
      on_event: called with (event, detail, seconds) when a worker restarts or is given up.
      patience: when a backend that keeps losing cases is given up.
      deadline_s: what no case's own deadline exceeds, in seconds.
      ask_oracle: what gives the oracle's observations of a case; a worker of `oracle` if None.

    """

    spec: str
    in_process: bool = False
    oracle: str = "reference"
    on_event: Callable[[str, str, float], None] | None = None
    patience: Patience = field(default_factory=Patience)
    deadline_s: float = 600.0
    ask_oracle: Callable[[Case], list[Observation]] | None = None
    _backend: Any = None
    _oracle: Any = None
    _description: Description | None = None
    _losses: Losses = field(init=False)
    _retries: int = 0
    _retry_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._losses = Losses(self.patience)

    def describe(self) -> Description:
        """Start the backend and ask who it is.

        Raises:
          AdapterError: it cannot be found or started.

        """
        if self._description is None:
            self._description = self.backend().describe()
        return self._description

    def backend(self) -> Backend:
        """The backend, started if need be.

        Raises:
          AdapterError: it cannot be found or started.

        """
        if self._backend is None:
            self._backend = load(self.spec) if self.in_process else spawn(self.spec)
        found: Backend = self._backend
        return found

    def resume_after(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Count what an earlier part of this run has used up: the second tries."""
        self._retries += sum(line.get("attempts", 1) > 1 for line in lines)

    def run(self, case: Case) -> dict[str, Any]:
        """Run one case, a failing one twice: its line of the record."""
        line = self.run_once(case)
        if line["result"] != "fail" or self.in_process or not self._may_retry():
            return line
        self._retries += 1
        self._retry_seconds += self._restart("a failing case is tried again on a fresh worker", 0.0)
        again = self.run_once(case)
        if again["result"] == "missing":  # there is no second answer: the first one stands
            return line
        if again["result"] != "fail":
            line |= {"result": "flaky", "detail": f"the second try: {again['result']}"}
        return line | {"attempts": 2}

    def run_once(self, case: Case) -> dict[str, Any]:
        """Run one case a single time: its line of the record.

        Raises:
          AdapterError: the backend has not been started yet, and cannot be.

        """
        if self._losses.given_up:
            return _line(case, "missing", 0.0, detail="backend unresponsive")
        absent = sorted(set(case.needs) & (FACTS - facts()))
        if absent:
            return _line(case, "skipped", 0.0, detail=f"not here: {', '.join(absent)}")
        self.describe()
        refused = self._beyond_protocol(case)
        if refused is not None:
            return _line(case, "unsupported", 0.0, refused)
        line = self._attempt(case)
        backend = self._backend
        if self.in_process:
            return line
        if case.isolated:
            self._restart("the case disturbs its process", 0.0)
        elif not backend.alive or backend.pending:
            # A call that a finished case left blocked must not be the next case's burden.
            self._restart("the case left its worker busy or dead", 0.0)
        return line

    def observe(self, case: Case) -> list[Observation]:
        """What the backend was seen to do; raises what the worker's host raises."""
        deadline_s = self._losses.deadline(min(case.deadline_s, self.deadline_s))
        return _observe(self.backend(), case, deadline_s)

    def shutdown(self) -> None:
        """Stop the backend and the oracle."""
        held = (self._backend, self._oracle)
        self._backend = self._oracle = None
        for backend in held:
            if backend is not None:
                backend.shutdown()

    def _may_retry(self) -> bool:
        patience = self.patience
        return self._retries < patience.retries and self._retry_seconds < patience.retry_seconds

    def _beyond_protocol(self, case: Case) -> Finding | None:
        """Why the case cannot even be put to this backend: its calls may not overlap."""
        if self.in_process or "concurrent" in self.describe().capabilities:
            return None
        overlapping = (path for path, step in walk(case.steps) if step["do"] == "start")
        first = next(overlapping, None)
        return None if first is None else Finding(first, "unsupported: concurrent (not declared)")

    def _attempt(self, case: Case) -> dict[str, Any]:
        started = time.perf_counter()
        result, detail = "", ""
        try:
            seen = steady_observations(case, self.observe(case))
        except (WorkerTimeout, TimeoutError) as error:
            result, detail = "timeout", str(error)
        except WorkerCrash as error:
            result, detail = "crash", str(error)
        except WorkerContractError as error:
            result, detail = "error", str(error)
        except Exception as error:  # noqa: BLE001 - it costs this case, and never passes it
            # In a worker nothing of the backend gets here: then the case or the suite is wrong.
            result = "error" if self.in_process else "infra_error"
            return _line(case, result, time.perf_counter() - started, detail=_told(error))
        seconds = time.perf_counter() - started
        if result:
            self._lost(detail, seconds)
            return _line(case, result, seconds, detail=detail)
        self._losses.answered()
        try:
            return self._judged(case, seen, seconds)
        except Exception as error:  # noqa: BLE001 - an answer that no judge can read
            return _line(case, "error", seconds, detail=f"cannot be judged: {_told(error)}")

    def _judged(self, case: Case, seen: list[Observation], seconds: float) -> dict[str, Any]:
        expected = None
        asked = [path for path, step in walk(case.steps) if _asks_oracle(step)]
        if asked:
            try:
                expected = self._ask_oracle(case)
            except Exception as error:  # noqa: BLE001 - the oracle's fault is ours: it voids the run
                return _line(case, "infra_error", seconds, detail=f"the oracle: {_told(error)}")
            answered = {e["step"] for e in expected if e["outcome"] != "unsupported"}
            silent = [path for path in asked if path not in answered]
            if silent:
                detail = f"the oracle: no answer at step {silent[0]}"
                return _line(case, "infra_error", seconds, detail=detail)
        judgement = self._audited(case, judge(case, seen, expected), seen)
        return _line(case, judgement.result, seconds, judgement.finding, seen)

    def _audited(self, case: Case, judgement: Judgement, seen: list[Observation]) -> Judgement:
        """Hold the answers against the declared capabilities, in both directions."""
        declared = self.describe().capabilities
        finding = judgement.finding
        if judgement.result == "unsupported" and finding is not None:
            broken = _refused_capability(case, finding.step, seen)
            if broken in declared:
                reason = f"declares {broken}, but refused: {finding.reason}"
                return Judgement("fail", Finding(finding.step, reason))
        if judgement.result == "pass":
            for step, capability in _used(case):
                if capability not in declared and not self.in_process:
                    reason = f"answered without declaring the capability {capability}"
                    return Judgement("error", Finding(step, reason))
        return judgement

    def _ask_oracle(self, case: Case) -> list[Observation]:
        if self.ask_oracle is not None:
            return steady_observations(case, self.ask_oracle(case))
        if self._oracle is None:
            self._oracle = load(self.oracle) if self.in_process else spawn(self.oracle)
        try:
            return steady_observations(case, _observe(self._oracle, case, case.deadline_s))
        except WorkerError:
            self._oracle.restart()
            raise

    def _lost(self, reason: str, seconds: float) -> None:
        losses = self._losses
        losses.lost(seconds + self._restart(reason, seconds))
        if losses.given_up:
            return
        if losses.spent:
            self._give_up("its timeouts and crashes have cost all the time there is")
        elif losses.probe_is_due:
            self._probe()

    def _probe(self) -> None:
        started = time.perf_counter()
        try:
            _observe(self.backend(), PROBE, min(PROBE.deadline_s, self.deadline_s))
        except WorkerError as error:
            self._give_up(f"the probe failed too: {error}")
        else:
            self._losses.answered_probe()
        self._losses.seconds += time.perf_counter() - started

    def _restart(self, reason: str, seconds: float) -> float:
        """Have a new worker: the seconds that took."""
        started = time.perf_counter()
        if self.in_process:  # there is no worker; a blocked thread stays behind
            return 0.0
        try:
            self._backend.restart()
        except (AdapterError, WorkerError) as error:
            self._give_up(f"it does not start again: {error}")
        self._tell("restart", reason, seconds)
        return time.perf_counter() - started

    def _give_up(self, reason: str) -> None:
        if not self._losses.given_up:
            self._losses.give_up(reason)
            self._tell("unresponsive", reason, self._losses.seconds)

    def _tell(self, event: str, detail: str, seconds: float) -> None:
        if self.on_event is not None:
            self.on_event(event, steady_text(detail)[:500], seconds)


def _line(
    case: Case,
    result: str,
    seconds: float,
    finding: Finding | None = None,
    seen: list[Observation] | None = None,
    *,
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
            "reason": steady_text(finding.reason)[:2000],
            "want": finding.want,
            "got": finding.got,
        }
    if seen is not None and len(canonical_json(seen)) <= _KEEP_BYTES:
        line["observations"] = seen
    if detail:
        line["detail"] = steady_text(detail)[:2000]
    return line


def _used(case: Case) -> list[tuple[str, str]]:
    """The capabilities that the case needs, each with the step that needs it first."""
    if case.surface == "api":
        return [("0", "api")]
    found: dict[str, str] = {}
    for path, step in walk(case.steps):
        inner = step.get("step", {}).get("do", "")
        for do in (step["do"], inner):
            if do in _CAPABILITY_OF:
                found.setdefault(_CAPABILITY_OF[do], path)
    return [(path, capability) for capability, path in found.items()]


def _refused_capability(case: Case, step: str, seen: Iterable[Observation]) -> str:
    """The capability that an Unsupported at this step speaks of."""
    named = next((e.get("capability") for e in seen if e["step"] == step), None)
    if isinstance(named, str) and named.strip() in CAPABILITIES:
        return named.strip()
    if case.surface == "api":
        return "api"
    do = dict(walk(case.steps))[step]["do"]
    return _CAPABILITY_OF.get(do, str(named))


def _asks_oracle(step: Mapping[str, Any]) -> bool:
    expect = step.get("expect", {})
    return any("oracle" in option for option in (expect, *expect.get("any_of", ())))


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _observe(backend: Any, case: Case, deadline_s: float) -> list[Observation]:
    if hasattr(backend, "deadline_s"):
        backend.deadline_s = deadline_s
    if case.surface == "api":
        seen: list[Observation] = backend.interpret_api(case)
        return seen
    return engine.interpret(case, backend)
