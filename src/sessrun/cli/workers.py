"""How many worker processes `certify` and `run` have: one for each processor where that is safe.

A run of few cases has fewer: a worker and its oracle would take longer to start than they save.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Final

from sessrun.cli.failure import UserError
from sessrun.spec.records import is_simulated

if TYPE_CHECKING:
    from sessrun.conformance.runner import Runner

__all__ = ["add_workers", "worker_count"]

#: The most unless more are asked for: each may have an oracle and a spare worker beside it.
_MOST: Final = 4
#: A further worker has at least so many cases: they take about as long as its start.
_CASES_PER_WORKER: Final = 25


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how many cases run at a time."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="run so many cases at a time, each in a worker process of its own (default: one for "
        f"each processor, at most {_MOST} and one for {_CASES_PER_WORKER} cases; one in all where "
        "a backend has real devices other than CPUs, whose memory a second process might lack)",
    )


def worker_count(asked: int | None, runner: Runner, cases: int) -> int:
    """How many worker processes a run of so many cases has.

    Raises:
      UserError: no run has so many, or several are asked for in this process.

    """
    from sessrun.conformance.workers import MOST_WORKERS

    if asked is not None and not 1 <= asked <= MOST_WORKERS:
        raise UserError(f"--workers is from 1 to {MOST_WORKERS}")
    if runner.in_process:
        if asked not in {None, 1}:
            raise UserError("--in-process has no worker processes: leave out --workers")
        return 1
    description = runner.describe()
    devices = description.devices
    only_cpus = bool(devices) and all("CPU" in device.upper() for device in devices)
    unshared = only_cpus or is_simulated(description.details)
    most = min(_processors(), _MOST) if unshared else 1
    return asked or max(1, min(most, cases // _CASES_PER_WORKER))


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
