"""Runs one case after another against a backend and classifies the outcomes.

The backend lives in a worker process, so that one that dies, hangs or babbles costs its own
cases only. `results` are closed (design: "The suite"); no path turns an exception into a pass.
"""

from __future__ import annotations

import dataclasses
import re
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.adapters.backend import Backend, Description
from sessrun.adapters.process.errors import (
    AdapterError,
    CaseRefusedError,
    WorkerContractError,
    WorkerCrash,
    WorkerError,
    WorkerTimeout,
)
from sessrun.adapters.process.host import ProcessBackend, prepare
from sessrun.adapters.registry import load
from sessrun.conformance.facts import facts
from sessrun.conformance.observe import observe
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.patience import PROBE, Losses, Patience
from sessrun.conformance.result_lines import (
    ResultLine,
    is_worth_a_second_try,
    lost_at,
    result_line,
    second_try,
)
from sessrun.spec.cases.audit import audit, unasked
from sessrun.spec.cases.judge import Finding, judge, oracle_steps
from sessrun.spec.cases.model import Case, Observation, canonical_json, walk
from sessrun.spec.cases.steady import steady_observations, steady_text
from sessrun.spec.inference import Offer, demand_of
from sessrun.spec.records import BUSY, DISTURBED, TRIED_AGAIN
from sessrun.spec.releases import Release

__all__ = ["Patience", "Runner"]

#: Why a backend that answers too slowly is given up, and why each further case is missing.
_LATE: Final = "the run has taken all the time that it may"
_TIME_IS_UP: Final = "the time of the run is up"
#: The one option that has TensorFlow print on standard output, as the two surfaces spell it.
_PLACEMENT_LOG: Final = re.compile(rb"log_device_placement|logDevicePlacement")
_LOSSES: Final[Mapping[type[Exception], str]] = {
    WorkerTimeout: "timeout",
    WorkerCrash: "crash",
    WorkerContractError: "error",
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
      deadline_s: the longest deadline that a case may have, in seconds.
      ask_oracle: a function that gives the oracle's steady observations; None for an own `Oracle`.
      leaves_out: leave out nine in ten of the cases that need what the backend does not declare.
      asks_all: ask what the backend does not declare as if it did, to see what it answers.
      on_log: called with the end of a worker's log, or a traceback, where a case is lost.

    """

    spec: str
    in_process: bool = False
    oracle: str = "reference"
    on_event: Callable[[str, str, float], None] | None = None
    patience: Patience = field(default_factory=Patience)
    deadline_s: float = 600.0
    ask_oracle: Callable[[Case], list[Observation]] | None = None
    on_log: Callable[[str], None] | None = None
    leaves_out: bool = True
    asks_all: bool = False
    _backend: Backend | None = None
    _oracle: Oracle | None = None
    _description: Description | None = None
    _losses: Losses = field(init=False)
    _interrupted: bool = False
    _gave_up: bool = False
    _declined: bool = False
    _used: bool = False

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

    def offer(self) -> Offer:
        """What the backend declares.

        Raises:
          AdapterError: it cannot be found or started.

        """
        description = self.describe()
        operations = None if self.asks_all else description.operations
        release = Release.of_details(description.details)
        return Offer(description.capabilities, operations, release)

    def backend(self) -> Backend:
        """The backend, started if need be.

        Raises:
          AdapterError: it cannot be found or started.

        """
        if self._backend is None:
            self._backend = load(self.spec) if self.in_process else self._started()
        return self._backend

    def _worker(self) -> ProcessBackend:
        """The worker that the backend lives in, where it does not live in this process."""
        assert isinstance(self._backend, ProcessBackend)
        return self._backend

    def _started(self) -> ProcessBackend:
        # It is ours before it is started, so that `interrupt` in another thread ends its start.
        self._backend = starting = prepare(self.spec, self._losses.until, spare=True)
        if self._interrupted:
            starting.shutdown()
        try:
            starting.start()
        except BaseException:
            self._backend = None
            raise
        return starting

    def resume_after(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Count what an earlier part of this run has used up: the second tries."""
        for line in lines:
            if line.get("attempts", 1) > 1:
                result = line["result"]
                self._losses.count_retry("fail" if result == "flaky" else result)

    def beside(self) -> Runner:
        """A runner of the same backend with a worker of its own; what one loses counts for both."""
        other = dataclasses.replace(
            self,
            _backend=None,
            _oracle=None,
            _description=None,
            _interrupted=False,
            _gave_up=False,
            _declined=False,
            _used=False,
        )
        other._losses = self._losses  # noqa: SLF001 - of the same class
        return other

    def interrupt(self) -> None:
        """End the worker for good, and with it the case that another thread may be running."""
        self._interrupted = True
        self.shutdown()

    def run(self, case: Case) -> ResultLine:
        """Run one case, one that went wrong twice: its line of the record.

        A worker that has run other cases may have been spoilt by one of them, which shows as this
        case's crash or broken answer. A timeout is not tried again: it has cost its time.
        """
        line = self.run_once(case)
        result = line["result"]
        if not is_worth_a_second_try(line) or self.in_process or self._losses.given_up:
            return line
        if not self._losses.grant_retry(result):
            return line
        self._losses.retry_took(result, self._restart(TRIED_AGAIN, 0.0))
        again = self.run_once(case)
        if again["result"] == "missing":  # there is no second answer: the first one stands
            return line
        if again["result"] != result:
            line |= {"result": "flaky", "detail": second_try(again["result"], line)}
        return line | {"attempts": 2}

    def run_once(self, case: Case) -> ResultLine:
        """Run one case a single time: its line of the record.

        Raises:
          AdapterError: the backend has not been started yet, and cannot be.

        """
        if self._losses.late:
            self._give_up(_LATE, _TIME_IS_UP)
        if self._losses.given_up:
            self._note_given_up()
            return self._missing(case, 0.0)
        absent = sorted(set(case.needs) - facts(self.describe()))
        if absent:
            return result_line(case, "skipped", 0.0, detail=f"not here: {', '.join(absent)}")
        refused = self._why_not_asked(case)
        if refused is not None:
            return result_line(case, "unsupported", 0.0, refused)
        if case.isolated and "gpu" in case.needs and self._used:
            # The first session of a process decides how TensorFlow divides its GPUs.
            self._restart(DISTURBED, 0.0)
        line = self._attempt(case)
        self._used = True
        self._declined = line["result"] == "unsupported"
        if self.in_process or self._losses.given_up:
            return line
        backend = self._worker()
        if backend.fault is not None:
            return self._died_since(case, line, backend.fault)
        if case.isolated:
            self._restart(DISTURBED, 0.0)
        elif backend.pending:
            # A call that a finished case left blocked must not be the next case's burden.
            self._restart(BUSY, 0.0)
        return line

    def _died_since(self, case: Case, line: ResultLine, fault: WorkerError) -> ResultLine:
        """The line of a case whose worker answered, and died after that."""
        detail = f"after its last answer: {fault}"
        self._log(fault.log)
        self._lost(detail, 0.0)
        if line["result"] == "infra_error":
            return line
        return result_line(case, _LOSSES[type(fault)], line["seconds"], detail=detail)

    def _missing(self, case: Case, seconds: float) -> ResultLine:
        return result_line(case, "missing", seconds, detail=self._losses.why_missing)

    def observe(self, case: Case) -> list[Observation]:
        """What the backend was seen to do; raises what the worker's host raises."""
        deadline_s = self._losses.deadline(min(case.deadline_s, self.deadline_s))
        return observe(self.backend(), case, deadline_s)

    def shutdown(self) -> None:
        """Stop the backend and the oracle."""
        backend, self._backend = self._backend, None
        for held in (backend, self._oracle):
            if held is not None:
                held.shutdown()

    def _why_not_asked(self, case: Case) -> Finding | None:
        """Why the case is not put to this backend: it is declined, or its calls may not overlap."""
        declined = unasked(case, self.offer()) if self.leaves_out else None
        if declined is not None or self.in_process:
            return declined
        if "concurrent" in self.describe().capabilities:
            return None
        overlapping = (path for path, step in walk(case.steps) if step["do"] == "start")
        first = next(overlapping, None)
        return None if first is None else Finding(first, "unsupported: concurrent (not declared)")

    def _attempt(self, case: Case) -> ResultLine:
        if oracle_steps(case) and not self._declined:  # who declined the last may decline this one
            self._ask_oracle_ahead(case)
        started = time.perf_counter()
        try:
            seen = self.observe(case)
        except (WorkerError, TimeoutError) as error:
            seconds = time.perf_counter() - started
            self._log(getattr(error, "log", ""))
            self._lost(str(error), seconds)
            if self._losses.given_up == _LATE:  # it had less time than it is entitled to
                return self._missing(case, seconds)
            result = _LOSSES.get(type(error), "timeout")
            finding = lost_at(case, error, self.offer())
            return result_line(case, result, seconds, finding, detail=str(error))
        except Exception as error:  # noqa: BLE001 - it costs this case, and never passes it
            self._log(traceback.format_exc())
            return self._unasked(case, error, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        self._losses.answered()
        printed = "" if self.in_process else self._worker().printed()
        if printed and not _PLACEMENT_LOG.search(canonical_json(case.to_json())):
            # Standard output is the program's: an engine that prints there unasked spoils it.
            return result_line(case, "error", seconds, detail=f"the backend wrote {printed}")
        try:
            return self._judged(case, steady_observations(case, seen), seconds)
        except Exception as error:  # noqa: BLE001 - an answer that no judge can read
            return result_line(case, "error", seconds, detail=f"cannot be judged: {_words(error)}")

    def _unasked(self, case: Case, error: Exception, seconds: float) -> ResultLine:
        """The line of a case that could not be interpreted.

        In the host nothing of a backend raises: then the case or the suite is wrong. A worker may
        say so of an API case, which is not taken on its word: the oracle must say the same.
        """
        if self.in_process:
            return result_line(case, "error", seconds, detail=_words(error))
        if isinstance(error, CaseRefusedError) and not self._oracle_refuses(case):
            detail = f"it calls the case ill-formed, the oracle does not: {error}"
            return result_line(case, "error", seconds, detail=detail)
        return result_line(case, "infra_error", seconds, detail=_words(error))

    def _oracle_refuses(self, case: Case) -> bool:
        try:
            self._answers(case)
        except CaseRefusedError:
            return True
        except Exception as error:  # noqa: BLE001 - an oracle without an answer confirms nothing
            self._log(_words(error))
        return False

    def _judged(self, case: Case, seen: list[Observation], seconds: float) -> ResultLine:
        expected = None
        asked = oracle_steps(case)
        if asked:
            try:
                expected = self._answers(case)
            except Exception as error:  # noqa: BLE001 - the oracle's fault is ours: it voids the run
                detail = f"the oracle: {_words(error)}"
                return result_line(case, "infra_error", seconds, detail=detail)
            # A module that is not installed says nothing of what a conforming backend does.
            lacking = next((e for e in expected if "ImportError" in e.get("classes", ())), None)
            if lacking is not None:
                detail = f"the oracle: {lacking['message']}"
                return result_line(case, "infra_error", seconds, detail=detail)
            answered = {e["step"] for e in expected if e["outcome"] != "unsupported"}
            silent = [path for path in asked if path not in answered]
            if silent:
                detail = f"the oracle: no answer at step {silent[0]}"
                return result_line(case, "infra_error", seconds, detail=detail)
        judgement = judge(case, seen, expected)
        if not self.in_process or judgement.result != "pass" or demand_of(case) is not None:
            judgement = audit(case, judgement, seen, self.offer())
        return result_line(case, judgement.result, seconds, judgement.finding, seen)

    def _ask_oracle_ahead(self, case: Case) -> None:
        """Have an oracle of our own answer while the backend does: it has a process of its own."""
        self._choose_oracle()
        if self._oracle is not None:
            self._oracle.ask_ahead(case)

    def _answers(self, case: Case) -> list[Observation]:
        return self._choose_oracle()(case)

    def _choose_oracle(self) -> Callable[[Case], list[Observation]]:
        if self.ask_oracle is None:
            self._oracle = Oracle(self.oracle, in_process=self.in_process, kept=1)
            self.ask_oracle = self._oracle
        return self.ask_oracle

    def _lost(self, reason: str, seconds: float) -> None:
        if self._losses.given_up:  # by another worker's runner, meanwhile
            self._note_given_up()
            return
        losses = self._losses
        if losses.late:
            self._give_up(_LATE, _TIME_IS_UP)
            return
        losses.lost(seconds + self._restart(reason, seconds))
        if losses.given_up:
            self._note_given_up()
            return
        if losses.spent:
            reason = "its timeouts and crashes have cost all the time there is"
            self._give_up(reason, f"out of time: {reason}")
        elif losses.probe_is_due:
            self._probe()

    def _probe(self) -> None:
        started = time.perf_counter()
        try:
            observe(self.backend(), PROBE, min(PROBE.deadline_s, self.deadline_s))
        except WorkerError as error:
            self._unresponsive(f"the probe failed too: {error}")
        else:
            self._losses.answered_probe()
        self._losses.cost(time.perf_counter() - started)

    def _restart(self, reason: str, seconds: float) -> float:
        """Start a new worker; returns the seconds that it took."""
        started = time.perf_counter()
        if self.in_process or self._interrupted:
            return 0.0  # there is no worker; a blocked thread of this process stays behind
        self._used = False
        try:
            self._worker().restart()
        except (AdapterError, WorkerError) as error:
            self._unresponsive(f"it does not start again: {error}")
        self._tell("restart", reason, seconds)
        return time.perf_counter() - started

    def _unresponsive(self, reason: str) -> None:
        if self._losses.late:  # it had less time to answer than it is entitled to
            self._give_up(_LATE, _TIME_IS_UP)
        else:
            self._give_up(reason, f"backend unresponsive: {reason}")

    def _give_up(self, reason: str, why_missing: str) -> None:
        self._losses.give_up(reason, why_missing)  # unless another worker's runner has
        self._note_given_up()

    def _note_given_up(self) -> None:
        """Tell, once, that this worker is asked nothing more."""
        if not self._gave_up:
            self._gave_up = True
            self._tell("unresponsive", self._losses.given_up, self._losses.seconds)

    def _log(self, log: str) -> None:
        if self.on_log is not None and log:
            self.on_log(log)

    def _tell(self, event: str, detail: str, seconds: float) -> None:
        if self.on_event is not None:
            self.on_event(event, steady_text(detail)[:500], seconds)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
