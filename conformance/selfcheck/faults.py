"""The suite's own examination: every faulty backend must be caught by the clause it breaks.

A suite is worth what it catches. Each fault is run through the suite like any backend; it must
fail at least one case of its own clause, and cases of at most three other clauses, those of
operations aside, which presuppose all the rest. That takes a process of its own for each, forked
from one that is ready (`examined.py`), and for a fault that hangs or dies a worker, as for any
backend: there the cases of its own clause come first, so that it is caught before the runner loses
patience with it, and the oracle's answers, the same for every fault, are asked for once.

A fault rots when what it looks at changes: then its clause no longer catches it. Whether that is
so, the cases of its own clause tell, in some milliseconds.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.faulty.framework import Fault
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.patience import Patience
from sessrun.conformance.runner import Runner
from sessrun.conformance.selfcheck.examined import DEADLINE_S, summary_of
from sessrun.spec.cases.facts import OF_GPUS
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.loader import load_clauses, subject_of
from sessrun.spec.records import QUIET

__all__ = ["MAX_OTHERS", "Examiner", "FaultReport", "draw", "examine", "examine_all", "of_its_own"]

#: Clauses other than its own that a fault may fail, so that each test points at one rule.
MAX_OTHERS: Final = 3
#: The subjects of what operations and whole programs compute: they presuppose all the rest.
_COMPUTED: Final = frozenset({"operations", "numbers", "programs"})
#: Results by which a backend shows a fault; an unanswered case shows nothing.
_CAUGHT: Final = frozenset({"fail", "flaky", "timeout", "crash", "error"})
#: A fault that hangs has shown itself after a few cases.
_PATIENCE: Final = Patience(cases=5, seconds=40.0, again=20.0, limit=60.0, retries=0)
#: How long a fault may take that neither hangs nor dies, and for each case; with TensorFlow, too.
_AT_ONCE_S: Final = 12.0
_PER_CASE_S: Final = 0.1


F = TypeVar("F")

#: What counts of a result line: its `result`, and the `clauses` that it blames.
Summary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FaultReport:
    """What the suite said of one faulty backend.

    Attributes:
      fault: the fault.
      failed: case id to result, for each case that did not pass.
      caught_by: the first failing case of the fault's own clause, or None.
      others: the other clauses that failing cases speak of, but for those of cases that speak of
        the fault's own clause too.
      cases: how many cases ran.
      seconds: wall time.
      trouble: why it could not be examined, or empty.
      skipped: this machine cannot show it: all cases of its clause were skipped.

    """

    fault: Fault
    failed: Mapping[str, str]
    caught_by: str | None
    others: tuple[str, ...]
    cases: int
    seconds: float
    trouble: str = ""
    skipped: bool = False

    @property
    def good(self) -> bool:
        """Whether the suite caught it, and pointed at it."""
        return not self.complaint

    @property
    def complaint(self) -> str:
        """What is wrong with it, in words; empty if nothing is."""
        if self.trouble:
            return self.trouble
        if self.caught_by is None and not self.skipped:
            also = f"; fails {', '.join(self.others[:8])}" if self.others else ""
            return "not caught by its own clause" + also
        return f"blurs {', '.join(self.others)}" if len(self.others) > MAX_OTHERS else ""


def draw(faults: Sequence[F], count: int, seed: int) -> list[F]:
    """A slice of the faults: `count` of them, chosen by the seed, in their own order."""
    chosen = set(random.Random(seed).sample(range(len(faults)), min(count, len(faults))))
    return [fault for index, fault in enumerate(faults) if index in chosen]


def examine(
    fault: Fault,
    cases: Sequence[Case],
    examiner: Examiner,
    base: str = "reference",
    oracle: Callable[[Case], list[Observation]] | None = None,
) -> FaultReport:
    """Run the cases against one faulty backend, in a process of its own or a worker."""
    started = time.perf_counter()
    spec = f"sessrun.conformance.faulty:backend#{fault.name}@{_base(fault, base)}"
    cases = _asked_of(fault, cases)
    results, trouble = examiner(spec, cases, _AT_ONCE_S + _PER_CASE_S * len(cases)), ""
    if results is None:
        results, trouble = _one_by_one(spec, fault, cases, oracle)
    failures = {id_: line for id_, line in results.items() if line["result"] not in QUIET}
    failed = {id_: line["result"] for id_, line in failures.items()}
    void = next((id_ for id_, result in failed.items() if result == "infra_error"), None)
    if void is not None:
        trouble = f"{void} ended in infra_error"
    seconds = time.perf_counter() - started
    caught_by, others = _pointed_at(fault, cases, failures)
    own = [results.get(case.id, {}).get("result") for case in of_its_own(fault, cases)]
    skipped = bool(own) and set(own) == {"skipped"}
    return FaultReport(fault, failed, caught_by, others, len(results), seconds, trouble, skipped)


def _base(fault: Fault, base: str) -> str:
    """The backend underneath; for a fault of GPUs one with GPUs, which this machine may lack."""
    clause = load_clauses().get(fault.clause)
    needs_gpus = clause is not None and clause.condition in OF_GPUS
    return f"{base}#simulated-gpu=2" if needs_gpus and base == "reference" else base


def _asked_of(fault: Fault, cases: Sequence[Case]) -> Sequence[Case]:
    """Whoever garbles feeds or fetches garbles every operation: their cases tell nothing then.

    Likewise whoever garbles an operation garbles it at size.
    """
    own = subject_of(fault.clause)
    subjects = [{subject_of(id_) for id_ in case.clauses} for case in cases]
    return [
        case
        for case, theirs in zip(cases, subjects, strict=True)
        if own in theirs or not theirs <= _COMPUTED
    ]


class Examiner:
    """A process of `examined.py`, which is sent each case once; not for two threads at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._sent: set[str] = set()

    def __call__(
        self, spec: str, cases: Sequence[Case], seconds: float
    ) -> Mapping[str, Summary] | None:
        """The summary of each case by its id; None if they did not all come in time."""
        fresh = [case for case in cases if case.id not in self._sent]
        asked = {
            "backend": spec,
            "ids": [case.id for case in cases],
            "seconds": seconds,
            "cases": [case.to_json() for case in fresh],
        }
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018 - both are pipes
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:  # it died, though the fault has a process of its own
            self.shutdown()
            return None
        self._sent.update(case.id for case in fresh)
        summaries: Mapping[str, Summary] | None = json.loads(answer)
        return summaries

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "sessrun.conformance.selfcheck.examined"]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self._process

    def shutdown(self) -> None:
        """End the process; a later question starts another."""
        process, self._process = self._process, None
        self._sent.clear()
        if process is not None:
            process.kill()
            process.communicate()


def _one_by_one(
    spec: str,
    fault: Fault,
    cases: Sequence[Case],
    oracle: Callable[[Case], list[Observation]] | None,
) -> tuple[dict[str, Summary], str]:
    """The summaries of the cases run in a worker, and why there are none, if there are none."""
    runner = Runner(
        spec,
        patience=_PATIENCE,
        deadline_s=DEADLINE_S,
        ask_oracle=oracle,
    )
    results: dict[str, Summary] = {}
    trouble = ""
    try:
        for case in sorted(cases, key=lambda case: fault.clause not in case.clauses):
            results[case.id] = summary_of(runner.run_once(case))
    except AdapterError as error:
        trouble = str(error).splitlines()[0]
    finally:
        runner.shutdown()
    return results, trouble


def _pointed_at(
    fault: Fault, cases: Sequence[Case], failures: Mapping[str, Summary]
) -> tuple[str | None, tuple[str, ...]]:
    """The case that caught the fault, and the other clauses that are blamed beside its own."""
    caught_by = None
    others: set[str] = set()
    for case in cases:
        line = failures.get(case.id, {"result": ""})
        if line["result"] not in _CAUGHT:
            continue
        if fault.clause in line["clauses"]:
            caught_by = caught_by or case.id
        else:
            others.update(line["clauses"])
    return caught_by, tuple(sorted(others))


def of_its_own(fault: Fault, cases: Sequence[Case]) -> Sequence[Case]:
    """The cases that name the fault's clause."""
    return [case for case in cases if fault.clause in case.clauses]


def examine_all(
    faults: Iterable[Fault],
    cases_of: Callable[[Fault], Sequence[Case]],
    base: str = "reference",
    jobs: int = 2,
) -> Iterator[FaultReport]:
    """Examine each fault, `jobs` at a time, in the order given.

    Args:
      faults: the faults.
      cases_of: the cases that a fault is examined with.
      base: the conforming backend underneath.
      jobs: how many at a time, at least one.

    """
    oracle = Oracle()
    idle = [Examiner() for _ in range(jobs)]

    def examined(fault: Fault) -> FaultReport:
        examiner = idle.pop()  # as many as there are threads
        try:
            return examine(fault, cases_of(fault), examiner, base, oracle)
        finally:
            idle.append(examiner)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(examined, faults)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        oracle.shutdown()
        for examiner in idle:
            examiner.shutdown()
