"""Benchmark runs whose sides have processes of their own, in the form of `bench.schema.json`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from sessrun import __version__
from sessrun.conformance.benchmarks.blocks import Blocks
from sessrun.conformance.benchmarks.ceilings import ceilings
from sessrun.conformance.benchmarks.deciding import series_of
from sessrun.conformance.benchmarks.jobs import JOBS, Job
from sessrun.conformance.benchmarks.measured_device import measured_device
from sessrun.conformance.benchmarks.processes import Side
from sessrun.conformance.facts import environment

__all__ = ["measure_in_processes"]


def measure_in_processes(
    sides: Sequence[Side],
    jobs: Sequence[Job],
    measured: Callable[[Blocks], None],
    *,
    rounds: int,
    seed: int,
    device: str = "",
) -> dict[str, Any]:
    """Measure jobs on sides, each in processes of its own.

    Args:
      sides: the sides to measure.
      jobs: the jobs to time; if empty, all that every machine can run.
      measured: measures blocks, and decides how many.
      rounds: how many rounds a block has.
      seed: the seed of the random orders and of the processes' hashes.
      device: where graphs are placed; empty for the default.

    Returns:
      The run in the form of `bench.schema.json`.

    Raises:
      AdapterError: a side cannot be loaded, does none of the jobs, or its process ended.

    """
    chosen = {job.name: job for job in jobs or JOBS}
    host = measured_device("", [])
    before, _ = ceilings(host)
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    blocks = Blocks(sides, list(chosen), rounds=rounds, seed=seed, device=device)
    measured(blocks)
    after, _ = ceilings(host)
    series = [
        series_of(batches) | _description(chosen[batches.job])
        for batches in blocks.batches.values()
    ]
    form = {
        "bench": 1,
        "sessrun": __version__,
        "started": started,
        "fingerprint": environment() | {"device": device or "default", "backends": blocks.versions},
        "device": host.to_json(),
        "seed": seed,
        "rounds": max(len(entry["samples"]) for entry in series),
        "block_rounds": rounds,
        "ceilings": before,
        "ceilings_after": after,
        "series": series,
    }
    return form | ({"left_out": blocks.left_out} if blocks.left_out else {})


def _description(job: Job) -> dict[str, Any]:
    """The keys of a series that describe its job."""
    optional = {"bytes": job.nbytes, "flops": job.flops, "dtype": job.dtype}
    return {"about": job.summary} | {key: value for key, value in optional.items() if value}
