"""Blocks of measurements: in each a new process for each side, and rounds in turns.

What a process gets of memory, addresses and hashes decides its speed for as long as it lives, so
that its rounds are no independent samples of the code's speed; blocks are. A round times, for each
side in a drawn order, a batch of n calls and one of 2n: the difference is the time of n calls,
without what asking takes, and a backend that leaves work undone until the batch is over would be
seen by the result that ends it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks.processes import BatchTime, BenchProcess, Side

__all__ = ["Batches", "Blocks"]

#: A batch of n calls lasts about this long, so that asking for it is a small part.
_BATCH_SECONDS: Final = 0.004
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
      wrong: what was wrong with a result, None if nothing.

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

    def jobs(self) -> list[str]:
        """The jobs that every side does."""
        return list(dict.fromkeys(job for job, _ in self.batches))

    def measure(self, jobs: Sequence[str]) -> None:
        """One block of these jobs; what a side cannot do is left out for all.

        Raises:
          AdapterError: a backend cannot be loaded, or its process ended.

        """
        seed = self._draw.randrange(2**31)
        with ExitStack() as stack:
            processes = [
                stack.enter_context(BenchProcess(side, seed))
                for side in self._draw.sample(self.sides, len(self.sides))
            ]
            for process in processes:  # all of them load at the same time
                process.loaded()
                self.versions[process.side.name] = process.version
            able = [job for job in jobs if self._prepared(processes, job)]
            for _ in range(self.rounds):
                for job in self._draw.sample(able, len(able)):
                    self._round(processes, job)
        for job in able:
            for side in self.sides:
                self.batches[job, side.name].blocks += 1

    def _prepared(self, processes: Sequence[BenchProcess], job: str) -> bool:
        """Whether every side has the job ready; n is chosen when it is for the first time."""
        ready = []
        for process in processes:
            batches = self.batches[job, process.side.name]
            try:
                best, first = process.prepare(job, self.device)
            except AdapterError as error:
                self._leave_out(job, process.side.name, str(error))
                return False
            if not batches.calls:
                batches.best_seconds, batches.first_seconds = best, first
            ready.append(batches)
        if not ready[0].calls:
            longest = max(_LEAST_SECONDS, *(batches.best_seconds for batches in ready))
            for batches in ready:
                batches.calls = max(1, min(_MAX_CALLS, int(_BATCH_SECONDS / longest)))
        return True

    def _leave_out(self, job: str, side: str, reason: str) -> None:
        self.left_out.append({"case": job, "backend": side, "reason": reason[:500]})
        for other in self.sides:
            del self.batches[job, other.name]

    def _round(self, processes: Sequence[BenchProcess], job: str) -> None:
        """Each side's two batches, in a drawn order."""
        for process in self._draw.sample(processes, len(processes)):
            batches = self.batches[job, process.side.name]
            for times in self._draw.sample((1, 2), 2):
                seconds, wrong = process.batch(job, batches.calls * times)
                (batches.once if times == 1 else batches.twice).append(seconds)
                batches.wrong = batches.wrong or wrong
