"""Runs cases in several workers of one backend at a time; their lines keep the order of the cases.

A case that fails, hangs or kills its worker costs the others nothing but time: each worker runs one
case after another, as if it were alone.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from sessrun.adapters.process.errors import AdapterError
from sessrun.conformance.result_lines import EventLine, ResultLine
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case

__all__ = ["MOST_WORKERS", "record_lines"]

#: The most workers of a run, as the schema of its record has it.
MOST_WORKERS: Final = 64
#: Lines of a record: events, and then the result of the case in which they happened.
Line: TypeAlias = "ResultLine | EventLine"
_Lines: TypeAlias = list[Line]


def record_lines(
    runner: Runner, cases: Sequence[Case], workers: int
) -> Generator[Line, None, None]:
    """The lines of each case in order: its events, then its result.

    Args:
      runner: the backend's runner, which is started; it is not shut down here.
      cases: the cases.
      workers: the number of worker processes; the run goes on without those that do not start.

    """
    others = [runner.beside() for _ in range(min(workers, len(cases)) - 1)]
    if not others:
        for case in cases:
            yield from _lines_of(runner, case)
        return
    queue = _CaseQueue(cases)
    threads = [threading.Thread(target=queue.run_all, args=(runner,), daemon=True)]
    threads += [
        threading.Thread(target=queue.start_and_run_all, args=(other, runner), daemon=True)
        for other in others
    ]
    for thread in threads:
        thread.start()
    finished = False
    try:
        yield from queue.lines()
        finished = True
    finally:
        queue.stop()
        if not finished:
            runner.interrupt()
        for other in others:
            other.interrupt()  # it may be starting still
        for thread in threads:
            thread.join()


class _CaseQueue:
    """Cases that several threads take in order, each for a runner of its own."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._waiting: SimpleQueue[tuple[Case, Future[_Lines]]] = SimpleQueue()
        self._futures: list[Future[_Lines]] = [Future() for _ in cases]
        self._refused: SimpleQueue[Line] = SimpleQueue()
        self._stopping = threading.Event()
        for pair in zip(cases, self._futures, strict=True):
            self._waiting.put(pair)

    def run_all(self, runner: Runner) -> None:
        """Run cases until none is left."""
        while not self._stopping.is_set():
            try:
                case, future = self._waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(_lines_of(runner, case))
            except BaseException as error:  # noqa: BLE001 - it ends the run, where it is awaited
                future.set_exception(error)
                return

    def start_and_run_all(self, other: Runner, first: Runner) -> None:
        """Start a further worker and run cases until none is left; an event says if it fails."""
        try:
            _start_alike(other, first)
        except (AdapterError, OSError) as error:
            if not self._stopping.is_set():  # or we have ended it
                self._refused.put(_event("fewer workers", str(error)))
        else:
            self.run_all(other)

    def lines(self) -> Iterator[Line]:
        """The lines of each case in order, as soon as they are there."""
        for future in self._futures:
            lines = future.result()
            yield from (self._refused.get() for _ in range(self._refused.qsize()))
            yield from lines

    def stop(self) -> None:
        """Have no thread take a further case."""
        self._stopping.set()


def _lines_of(runner: Runner, case: Case) -> _Lines:
    events: _Lines = []
    runner.on_event = lambda *event: events.append(_event(*event))
    result = runner.run(case)
    return [*events, result]


def _event(event: str, detail: str, seconds: float = 0.0) -> EventLine:
    return {"kind": "event", "event": event, "detail": detail, "seconds": round(seconds, 3)}


def _start_alike(other: Runner, first: Runner) -> None:
    """Start a further worker.

    Raises:
      AdapterError: it does not start, or introduces itself as another than the first one did.

    """
    if part := other.describe().unlike(first.describe()):
        raise AdapterError(f"a second worker introduced itself with another {part}")
