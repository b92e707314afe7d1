"""How many worker processes `certify` and `run` have: one for each processor where that is safe."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Final

from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from sessrun.conformance.runner import Runner

__all__ = ["add_workers", "worker_count"]

#: The most unless more are asked for: each has a process of its own, and its oracle another.
_MOST: Final = 4


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how many cases run at a time."""
    parser.add_argument(
        "--workers", type=int, metavar="N",
        help="run so many cases at a time, each in a worker process of its own (default: one for "
        f"each processor, at most {_MOST}; one in all where a backend has other devices "
        "than CPUs, whose memory a second process might lack)",
    )  # fmt: skip


def worker_count(asked: int | None, runner: Runner) -> int:
    """How many worker processes a run has.

    Raises:
      UserError: less than one is asked for, or several in this process.

    """
    if asked is not None and asked < 1:
        raise UserError("--workers is 1 or more")
    if runner.in_process:
        if asked not in {None, 1}:
            raise UserError("--in-process has no worker processes: leave out --workers")
        return 1
    devices = runner.describe().devices
    shared = bool(devices) and all("CPU" in device.upper() for device in devices)
    return asked or (min(os.cpu_count() or 1, _MOST) if shared else 1)
