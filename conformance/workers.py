"""Runs cases in several workers of one backend at a time; what they tell comes in the cases' order.

A case that fails, hangs or kills its worker costs the others nothing but time: each worker runs one
case after another, as if it were alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from sessrun.adapters.process.errors import AdapterError
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case

__all__ = ["record_lines"]

#: Lines of a record: events, and then the result of the case in which they happened.
_Lines = list[dict[str, Any]]


def record_lines(
    runner: Runner, cases: Sequence[Case], workers: int
) -> Generator[dict[str, Any], None, None]:
    """The lines of each case in order: its events, then its result.

    Args:
      runner: the backend's runner, which is started; it is not shut down here.
      cases: the cases.
      workers: how many worker processes; a further one that does not start is done without.

    """
    if workers == 1:
        for case in cases:
            yield from _lines_of(runner, case)
        return
    others = [runner.beside() for _ in range(workers - 1)]
    try:
        yield from _at_a_time([runner, *others], cases)
    finally:
        for other in others:
            other.shutdown()


def _at_a_time(
    runners: Sequence[Runner], cases: Sequence[Case]
) -> Generator[dict[str, Any], None, None]:
    """The lines of each case in order, and of workers that do not start; the first runner's has."""
    first, *others = runners
    idle: SimpleQueue[Runner] = SimpleQueue()
    idle.put(first)
    refusals: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def start(other: Runner) -> None:
        try:
            _start_alike(other, first)
        except AdapterError as error:
            refusals.put(_event("fewer workers", str(error)))
        else:
            idle.put(other)

    def run(case: Case) -> _Lines:
        free = idle.get()
        try:
            return _lines_of(free, case)
        finally:
            idle.put(free)

    with ThreadPoolExecutor(len(runners), "worker of a run") as pool:
        try:
            for other in others:
                pool.submit(start, other)
            for lines in pool.map(run, cases):
                yield from _taken(refusals)
                yield from lines
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for runner in runners:
                runner.interrupt()
            raise
    yield from _taken(refusals)


def _lines_of(runner: Runner, case: Case) -> _Lines:
    events: _Lines = []
    runner.on_event = lambda *event: events.append(_event(*event))
    result = runner.run(case)
    return [*events, result]


def _taken(queue: SimpleQueue[dict[str, Any]]) -> _Lines:
    return [queue.get() for _ in range(queue.qsize())]


def _event(event: str, detail: str, seconds: float = 0.0) -> dict[str, Any]:
    return {"kind": "event", "event": event, "detail": detail, "seconds": round(seconds, 3)}


def _start_alike(other: Runner, first: Runner) -> None:
    """Start a further worker.

    Raises:
      AdapterError: it does not start, or introduces itself as another than the first one did.

    """
    known, found = first.describe(), other.describe()
    for part in ("name", "version", "capabilities"):
        if getattr(known, part) != getattr(found, part):
            raise AdapterError(f"a second worker introduced itself with another {part}")
