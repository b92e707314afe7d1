"""Questions about the worker's process: what it says of itself, how fast it is, how it ends."""

from __future__ import annotations

import statistics
import time
from typing import Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.process.host import ProcessBackend
from sessrun.conformance.doctor.question import CONTRACT, Answer, binary
from sessrun.spec import devices
from sessrun.spec.cases.outcomes import Fetched, Opened
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "REPETITION",
    "SHUTDOWN",
    "description",
    "printing",
    "repetition",
    "shutdown",
    "start",
]

#: The runs of one session, and the seconds after which no further run is begun.
_RUNS: Final = 30
_RUNS_S: Final = 1.5
#: A run of one addition that takes longer is reported: a plan has some thousand runs.
_SLOW_S: Final = 0.25
#: How long a process may live on after it has answered shutdown, in seconds.
_END_S: Final = 2.0
#: The names of questions, and their texts.
REPETITION: Final = (
    "repetition",
    f"A session runs {_RUNS} times, in less than {_SLOW_S:g} s each.",
)
SHUTDOWN: Final = ("shutdown", "It answers shutdown, and its process ends.")
_LIFE: Final = "docs/protocol.md, The life of a backend"


def start(seconds: float) -> Answer:
    """It started: how long that took."""
    asks = "The program starts, and introduces itself."
    return Answer("start", asks, "ok", f"{seconds:.1f} s", seconds=seconds)


def description(declared: Description) -> Answer:
    """The backend's description of itself; the host has checked its capabilities."""
    asks = "It says who it is, and what it offers, in known words."
    faults = _description_faults(declared)
    if faults:
        advice = (
            "operations maps op types of TensorFlow to dtypes by numpy's names (float32, bool, "
            "string); devices are full names such as /job:localhost/replica:0/task:0/device:CPU:0."
        )
        return Answer("description", asks, "wrong", "; ".join(faults[:4]), advice, CONTRACT)
    offered = ", ".join(sorted(declared.capabilities)) or "no capability"
    return Answer("description", asks, "ok", f"{declared.name} {declared.version}: {offered}")


def _description_faults(declared: Description) -> list[str]:
    faults = [
        f"it has no {part}" for part in ("name", "version") if not getattr(declared, part).strip()
    ]
    for device in declared.devices:
        try:
            devices.parse(device)
        except ValueError as error:
            faults.append(f"device {device!r}: {error}")
    unknown = [op for op in declared.operations or {} if op not in OPERATIONS]
    return faults + [f"operation {op!r} is not known" for op in unknown]


def repetition(backend: ProcessBackend) -> Answer:
    """One session runs again and again: whether each answer is right, and how long a run takes.

    Raises:
      WorkerError: the worker was lost.

    """
    opened = backend.open(binary().graph(), {})
    if not isinstance(opened, Opened):
        return Answer(*REPETITION, "not offered", type(opened).__name__)
    seconds: list[float] = []
    while len(seconds) < _RUNS and sum(seconds) < _RUNS_S:
        value = np.array(len(seconds), np.float32)
        began = time.perf_counter()
        outcome = backend.run(opened.handle, ["z:0"], {"x:0": value, "y:0": value}, {})
        seconds.append(time.perf_counter() - began)
        if not isinstance(outcome, Fetched) or outcome.values[0] != value + value:
            advice = "Nothing of a run may depend on the runs before it, but for variables."
            detail = f"run {len(seconds)} of the same session: {type(outcome).__name__}"
            return Answer(*REPETITION, "wrong", detail, advice, CONTRACT)
    backend.close(opened.handle)
    usual = statistics.median(seconds)
    measured = f"{len(seconds)} runs, {usual * 1000:.1f} ms each"
    if usual <= _SLOW_S:
        return Answer(*REPETITION, "ok", measured)
    advice = (
        "A plan has thousands of runs, and `certify` gives a backend up after 10 minutes "
        "(`--minutes` gives more): keep what was compiled for the next run of the same fetches, "
        "feeds and shapes."
    )
    section = "docs/adapters.md, An engine that compiles"
    return Answer(*REPETITION, "wrong", measured, advice, section)


def printing(printed: str) -> Answer:
    """Text that it printed during the questions."""
    asks = "Nothing is printed on standard output, which belongs to the calling program."
    if not printed:
        return Answer("printing", asks, "ok")
    advice = (
        "Print to standard error, or turn the library's log off. A case during which a backend "
        "prints ends as an error."
    )
    return Answer("printing", asks, "wrong", printed, advice, "docs/protocol.md, Lines")


def shutdown(backend: ProcessBackend) -> Answer:
    """It answers shutdown, and its process ends by itself.

    Raises:
      WorkerError: shutdown is not answered.

    """
    fault = backend.ends_by_itself(_END_S)
    if fault is None:
        return Answer(*SHUTDOWN, "ok")
    advice = (
        "Free everything when shutdown is asked, answer it, then exit with status 0; end threads "
        "and child processes of the engine."
    )
    return Answer(*SHUTDOWN, "wrong", fault, advice, _LIFE)
