"""Measures two sides block by block until each job's verdict is known, or its budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from time import monotonic
from typing import Any, Final

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks.blocks import Batches, Blocks
from sessrun.conformance.benchmarks.processes import BatchTime

__all__ = ["Judge", "measured_in_blocks", "series_of", "until_decided"]

#: The shortest time that a benchmark file may hold.
_LEAST_SECONDS: Final = 1e-12
#: Digits of seconds that are kept: clocks tell nanoseconds.
_DIGITS: Final = 9
#: Whether a job is decided: from its old and new series, the rounds of a block, how many jobs.
Judge = Callable[[dict[str, Any], dict[str, Any], int, int], bool]


def until_decided(
    blocks: Blocks,
    judge: Judge,
    *,
    budget: float,
    progress: Callable[[int, int, int], None] | None = None,
) -> None:
    """Measure blocks of the jobs that are not decided yet.

    Args:
      blocks: two sides and their jobs.
      judge: whether a job is decided.
      budget: seconds for each job at most; what one does not need is there for the others.
      progress: called after each block with its number, the jobs decided, and all jobs.

    Raises:
      AdapterError: a side cannot be loaded, or does none of the jobs.

    """
    jobs = blocks.jobs()
    open_jobs, ends, number = jobs, monotonic() + budget * len(jobs), 0
    while open_jobs and (number == 0 or monotonic() < ends):
        blocks.measure(open_jobs)
        number += 1
        open_jobs = [job for job in open_jobs if job in blocks.jobs()]
        open_jobs = [job for job in open_jobs if not _decided(blocks, job, judge, len(jobs))]
        if progress is not None:
            progress(number, len(jobs) - len(open_jobs), len(jobs))
    _refuse_nothing(blocks)


def measured_in_blocks(
    blocks: Blocks, count: int, progress: Callable[[int, int], None] | None = None
) -> None:
    """Measure so many blocks of all jobs.

    Args:
      blocks: sides and their jobs.
      count: how many blocks.
      progress: called after each with its number and `count`.

    Raises:
      AdapterError: a side cannot be loaded, or does none of the jobs.

    """
    for number in range(count):
        blocks.measure(blocks.jobs())
        if progress is not None:
            progress(number + 1, count)
    _refuse_nothing(blocks)


def _refuse_nothing(blocks: Blocks) -> None:
    if not blocks.jobs():
        first = blocks.left_out[0]
        raise AdapterError(f"no job can be measured: {first['case']}: {first['reason']}")


def _decided(blocks: Blocks, job: str, judge: Judge, jobs: int) -> bool:
    old, new = (series_of(blocks.batches[job, side.name]) for side in blocks.sides)
    return judge(old, new, blocks.rounds, jobs)


def series_of(batches: Batches) -> dict[str, Any]:
    """A job on a side, as `bench.schema.json` has a series, without what the job says of itself."""
    times = {"once": batches.once, "twice": batches.twice}
    kept: dict[str, Any] = {"calls": batches.calls}
    for kind, several in times.items():
        kept[f"wall_{kind}"] = [round(time.wall, _DIGITS) for time in several]
        spent = [time.processor for time in several if time.processor is not None]
        if len(spent) == len(several):
            kept[f"processor_{kind}"] = [round(seconds, _DIGITS) for seconds in spent]
    memory = batches.memory
    return {
        "case": batches.job,
        "backend": batches.side,
        "unit": "s",
        "samples": _samples(batches.once, batches.twice, batches.calls),
        "batches": kept,
        "blocks": batches.blocks,
        "correct": batches.wrong is None,
        "detail": batches.wrong or f"batches of {batches.calls:,} and {2 * batches.calls:,} calls",
        "compile_seconds": max(0.0, batches.first_seconds - batches.best_seconds),
    } | ({"memory": memory and asdict(memory)} if batches.is_memory_asked else {})


def _samples(once: Sequence[BatchTime], twice: Sequence[BatchTime], calls: int) -> list[float]:
    """Seconds of one call in each round: the difference of its batches over n.

    Where other work on the machine made the longer batch the shorter one, it is the time of the
    longer batch over its calls, which asking for it makes a little too long.
    """
    return [
        max(_LEAST_SECONDS, (long.wall - short.wall) / calls)
        if long.wall > short.wall
        else long.wall / (2 * calls + 1)
        for short, long in zip(once, twice, strict=True)
    ]
