"""Blocks of measurements: in each a new process for each side, and rounds in turns.

What a process gets of memory, addresses and hashes decides its speed for as long as it lives, so
that its rounds are no independent samples of the code's speed; blocks are. A round times, for each
side in a drawn order, a batch of n calls, and so one of 2n: the difference is the time of n calls,
without what asking takes, and a backend that leaves work undone until the batch is over would be
seen by the result that ends it.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from sessrun.conformance.benchmarks.memory import JobMemory
from sessrun.conformance.benchmarks.processes import (
    BatchTime,
    BenchProcess,
    JobError,
    ProcessEndedError,
    Side,
)
from sessrun.conformance.benchmarks.trees import check_imports

__all__ = ["Batches", "Blocks"]

#: A batch of n calls lasts about this long, so that asking for it is a small part.
_BATCH_SECONDS: Final = 0.002
_MAX_CALLS: Final = 2**18
_LEAST_SECONDS: Final = 1e-9


@dataclass(slots=True)
class Batches:
    """A job on a side: every batch of every round, block by block.

    Attributes:
      job: the job's name.
      side: the side's name.
      calls: n.
      blocks: how many blocks it was in.
      once: the batches of n calls, one a round.
      twice: the batches of 2n calls, one a round.
      first_seconds: of the first call of all, by the process's own clock.
      best_seconds: of the shortest call before anything was timed, by the same clock.
      wrong: what was wrong with a result, None if nothing.
      memory: of a process that did this job alone; None where the kernel does not tell it.
      is_memory_asked: whether it was to be measured.

    """

    job: str
    side: str
    calls: int = 0
    blocks: int = 0
    once: list[BatchTime] = field(default_factory=list)
    twice: list[BatchTime] = field(default_factory=list)
    first_seconds: float = 0.0
    best_seconds: float = 0.0
    wrong: str | None = None
    memory: JobMemory | None = None
    is_memory_asked: bool = False


class Blocks:
    """Jobs on sides, measured block by block."""

    def __init__(
        self, sides: Sequence[Side], jobs: Sequence[str], *, rounds: int, seed: int, device: str
    ) -> None:
        """Measure nothing yet.

        Args:
          sides: what is measured, the first is what others are held to.
          jobs: the names of the jobs.
          rounds: of each block.
          seed: of the orders and of the processes' hashes.
          device: where graphs are placed, empty for the default.

        """
        self.sides = tuple(sides)
        self.rounds = rounds
        self.device = device
        self.versions: dict[str, str] = {}
        self.left_out: list[dict[str, str]] = []
        self.batches = {(job, side.name): Batches(job, side.name) for job in jobs for side in sides}
        self._draw = random.Random(seed)
        self._checked: set[Side] = set()
        self._times: dict[tuple[str, str], list[tuple[int, BatchTime]]] = {}

    def jobs(self) -> list[str]:
        """The jobs that every side does."""
        return list(dict.fromkeys(job for job, _ in self.batches))

    def measure(self, jobs: Sequence[str]) -> None:
        """One block of these jobs; what a side cannot do is left out for all.

        A job that ends a side's process is left out too, and the block is begun anew. What was
        measured of a block that did not come to its end is dropped.

        Raises:
          AdapterError: a backend cannot be loaded, does not answer, or answers something else.

        """
        while True:
            self._times.clear()
            left = [job for job in jobs if job in self.jobs()]
            if not left:
                return
            if self._block(left):
                break
        for key, times in self._times.items():
            if key in self.batches:
                batches = self.batches[key]
                batches.blocks += 1
                for calls, seconds in times:
                    (batches.once if calls == 1 else batches.twice).append(seconds)

    def _block(self, jobs: Sequence[str]) -> bool:
        """Whether every process lived until the end of the block."""
        seed = self._draw.randrange(2**31)
        with ExitStack() as stack:
            processes = [
                stack.enter_context(BenchProcess(side, seed))
                for side in self._draw.sample(self.sides, len(self.sides))
            ]
            for process in processes:  # all of them load at the same time
                process.loaded()
                self.versions[process.side.name] = process.version
            able = []
            for job in jobs:
                if not self._done(job, processes, self._prepare):
                    return False
                if job in self.jobs():
                    able.append(job)
            for process in processes:
                self._check_tree(process)
            for _ in range(self.rounds):
                for job in self._draw.sample(able, len(able)):
                    if not self._round(job, processes):
                        return False
        return True

    def _round(self, job: str, processes: Sequence[BenchProcess]) -> bool:
        """A batch of n calls on every side, and one of 2n, in a drawn order; whether all live on.

        Batches that are compared follow one another, since the speed of a processor varies.
        """
        for times in self._draw.sample((1, 2), 2):
            measured = functools.partial(self._batch, times=times)
            if job in self.jobs() and not self._done(job, processes, measured):
                return False
        return True

    def _check_tree(self, process: BenchProcess) -> None:
        """Once for each side: that it measures its own tree, where it has one."""
        side = process.side
        if side.roots and side not in self._checked:
            check_imports(side, self.sides, process.imported())
            self._checked.add(side)

    def _done(
        self,
        job: str,
        processes: Sequence[BenchProcess],
        step: Callable[[BenchProcess, str], None],
    ) -> bool:
        """Do a step of a job on each side, in a drawn order; whether all processes live on."""
        for process in self._draw.sample(processes, len(processes)):
            try:
                step(process, job)
            except (JobError, ProcessEndedError) as error:
                reason = str(error)[:500]
                entry = {"case": job, "backend": process.side.name, "reason": reason}
                self.left_out.append(entry)
                for side in self.sides:
                    del self.batches[job, side.name]
                return isinstance(error, JobError)
        return True

    def _prepare(self, process: BenchProcess, job: str) -> None:
        """Have a side make a job ready."""
        batches = self.batches[job, process.side.name]
        best, first = process.prepare(job, self.device)
        if not batches.best_seconds:
            batches.best_seconds, batches.first_seconds = best, first

    def _calls(self, job: str) -> int:
        """How many calls make a batch: as many for every side, by the slowest."""
        sides = [self.batches[job, side.name] for side in self.sides]
        if not sides[0].calls:
            longest = max(_LEAST_SECONDS, *(batches.best_seconds for batches in sides))
            for batches in sides:
                batches.calls = max(1, min(_MAX_CALLS, int(_BATCH_SECONDS / longest)))
        return sides[0].calls

    def _batch(self, process: BenchProcess, job: str, times: int) -> None:
        """A side's batch of so many times n calls."""
        batches, calls = self.batches[job, process.side.name], self._calls(job)
        seconds, wrong = process.batch(job, calls * times)
        self._times.setdefault((job, process.side.name), []).append((times, seconds))
        batches.wrong = batches.wrong or wrong
