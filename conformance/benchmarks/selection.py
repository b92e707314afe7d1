"""Which jobs a run has: those of every machine, those for a large GPU, each by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from sessrun.conformance.benchmarks.dispatch import DISPATCH_FAMILIES, DISPATCH_JOBS
from sessrun.conformance.benchmarks.jobs import JOBS, Job
from sessrun.conformance.benchmarks.layers import LAYER_JOBS
from sessrun.conformance.benchmarks.loops import LOOPS
from sessrun.conformance.benchmarks.resident import chain, matmul, reduction, scatter, total
from sessrun.conformance.benchmarks.sequences import SEQUENCE_JOBS
from sessrun.conformance.benchmarks.training import training
from sessrun.conformance.benchmarks.updates import UPDATE_JOBS

__all__ = ["FAMILIES", "NAMED_JOBS", "Fitted", "fitted", "gpu_jobs", "needed_bytes", "select"]

#: Name, sizes for a large GPU, and what makes the job of a size: rows, megabytes, images, steps.
FAMILIES: Final[dict[str, tuple[tuple[int, ...], Callable[..., Job]]]] = {
    "matmul-float32": ((1024, 4096, 8192, 16384), matmul("float32")),
    "matmul-bfloat16": ((1024, 4096, 8192, 16384), matmul("bfloat16")),
    "matmul-float64": ((1024, 4096, 8192, 16384), matmul("float64")),
    "add-float32": ((4, 64, 1024), total),
    "sum-float32": ((4, 64, 1024), reduction),
    "scatter-float32": ((4096, 262144), scatter),
    "chain-resident": ((100, 1000), chain),
    "cnn-adam-fed": ((32, 256, 1024, 4096), training("fed")),
    "cnn-adam-resident": ((32, 256, 1024, 4096), training("resident")),
}
#: Jobs that are run where they are named.
NAMED_JOBS: Final = (
    *DISPATCH_JOBS,
    *LAYER_JOBS,
    *SEQUENCE_JOBS,
    *UPDATE_JOBS,
    *LOOPS.values(),
)
#: How much of a device's free memory jobs may have.
_SHARE: Final = 0.8
#: What a job may hold on a simulated GPU, which computes on the host.
_SIMULATED_BYTES: Final = 32 * 2**20
#: Sets of inputs that are rotated: together they are twice the cache, but no more than this.
_MOST_SETS: Final = 32


class Fitted(NamedTuple):
    """Jobs of sizes that a device has memory for.

    Attributes:
      jobs: the jobs.
      notes: by job, how its size was cut.
      left_out: name of a job that is left out, and why.

    """

    jobs: tuple[Job, ...]
    notes: dict[str, str]
    left_out: list[tuple[str, str]]


def gpu_jobs() -> tuple[Job, ...]:
    """The jobs that can fill a large GPU."""
    return tuple(make(size) for sizes, make in FAMILIES.values() for size in sizes)


def select(names: Iterable[str]) -> tuple[Job, ...]:
    """The jobs so named: those of `JOBS` and `NAMED_JOBS`, and `FAMILY-SIZE` in any size.

    Raises:
      ValueError: no job has such a name.

    """
    return tuple(_named(name) for name in dict.fromkeys(names))


def _named(name: str) -> Job:
    known = {job.name: job for job in (*JOBS, *NAMED_JOBS)}
    families = {**{family: make for family, (_, make) in FAMILIES.items()}, **DISPATCH_FAMILIES}
    family, _, size = name.rpartition("-")
    if name not in known and family in families and size.isdecimal() and 0 < int(size) < 2**24:
        job: Job = families[family](int(size))
        return job
    if name not in known:
        more = ", ".join(f"{family}-SIZE" for family in families)
        raise ValueError(f"no job is called {name!r}; there are {', '.join(known)}, {more}")
    return known[name]


def fitted(
    jobs: Sequence[Job], copies: int, free_bytes: int, cache_bytes: int, *, small: bool
) -> Fitted:
    """The jobs, those too large for a device halved until all together fit.

    Args:
      jobs: the jobs in the sizes that are wanted.
      copies: how many backends do each.
      free_bytes: the device's free memory.
      cache_bytes: the device's cache: what fits in it gets sets of inputs that do not.
      small: whether sizes are cut to what a stand-in, which computes on the host, does quickly.

    """
    sized = [_within(job, _SIMULATED_BYTES) if small else job for job in jobs]
    sized = [_rotating(job, cache_bytes) for job in sized]
    budget = free_bytes * _SHARE / copies
    while needed_bytes(sized) > budget:
        index, largest = max(enumerate(sized), key=lambda pair: _bytes(pair[1]))
        if largest.resized is None or largest.size < 2:
            break
        sized[index] = _rotating(largest.resized(largest.size // 2, 1), cache_bytes)
    why = (
        "a simulated GPU computes on the host"
        if small
        else f"the device has {free_bytes / 2**30:.3g} GB free"
    )
    kept: dict[str, Job] = {}
    notes: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    asked = {job.name for job, now in zip(jobs, sized, strict=True) if job.name == now.name}
    for job, now in zip(jobs, sized, strict=True):
        if job.name == now.name:
            kept[job.name] = now
        elif now.name in kept or now.name in asked:
            left_out.append((job.name, f"{why}, and {now.name} is there already"))
        else:
            kept[now.name] = now
            notes[now.name] = f"cut from {job.size:,} to {now.size:,}: {why}"
    return Fitted(tuple(kept.values()), notes, left_out)


def needed_bytes(jobs: Sequence[Job]) -> int:
    """What one backend needs on the device for jobs that are there together and run in turn."""
    return sum(job.held_bytes for job in jobs) + max((job.working_bytes for job in jobs), default=0)


def _bytes(job: Job) -> int:
    return job.held_bytes + job.working_bytes


def _within(job: Job, most: int) -> Job:
    while _bytes(job) > most and job.resized is not None and job.size > 1:
        job = job.resized(job.size // 2, 1)
    return job


def _rotating(job: Job, cache_bytes: int) -> Job:
    """The job with as many sets of inputs as are twice the device's cache."""
    if job.resized is None or not job.nbytes or job.nbytes >= 2 * cache_bytes:
        return job
    sets = min(_MOST_SETS, 2 * cache_bytes // job.nbytes + 1)
    return job.resized(job.size, sets)
