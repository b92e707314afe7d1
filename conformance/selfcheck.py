"""The suite's own examination: every faulty backend must be caught by the clause it breaks.

A suite is worth what it catches. Each fault is run through the suite like any backend; it must
fail at least one case of its own clause, and cases of at most three other clauses.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from sessrun.conformance.faulty.framework import Fault
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case

__all__ = ["MAX_OTHERS", "FaultReport", "examine", "examine_all"]

#: Clauses other than its own that a fault may fail, so that each test points at one rule.
MAX_OTHERS: Final = 3


@dataclass(frozen=True, slots=True)
class FaultReport:
    """What the suite said of one faulty backend.

    Attributes:
      fault: the fault.
      failed: case id to result, for each case that did not pass.
      caught_by: the first failing case of the fault's own clause, or None.
      others: the other clauses whose cases failed: those all of whose failing cases do not also
        name the fault's own clause.
      cases: how many cases ran.
      seconds: wall time.

    """

    fault: Fault
    failed: dict[str, str]
    caught_by: str | None
    others: tuple[str, ...]
    cases: int
    seconds: float

    @property
    def good(self) -> bool:
        """Whether the suite caught it, and pointed at it."""
        return self.caught_by is not None and len(self.others) <= MAX_OTHERS


def examine(fault: Fault, cases: Sequence[Case], base: str = "reference") -> FaultReport:
    """Run the cases against one faulty backend in a worker of its own."""
    started = time.perf_counter()
    runner = Runner(f"sessrun.conformance.faulty:backend#{fault.name}@{base}")
    failed: dict[str, str] = {}
    others: set[str] = set()
    caught_by = None
    try:
        for case in cases:
            result = runner.run_once(case)["result"]
            if result in {"pass", "skipped"}:
                continue
            failed[case.id] = result
            if fault.clause in case.clauses:
                caught_by = caught_by or case.id
            else:
                others.update(case.clauses)
    finally:
        runner.shutdown()
    seconds = time.perf_counter() - started
    return FaultReport(fault, failed, caught_by, tuple(sorted(others)), len(cases), seconds)


def examine_all(
    faults: Iterable[Fault], cases: Sequence[Case], base: str = "reference", jobs: int = 2
) -> Iterator[FaultReport]:
    """Examine each fault, several at a time, in the order given."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda fault: examine(fault, cases, base), faults)
