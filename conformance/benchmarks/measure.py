"""Interleaved measurement: every backend does every job in every round, in a drawn order.

All backends live in this one process, so that they share the machine's moods; each sample is
the mean of enough calls to last a few milliseconds; after each sample the result of one more call
is checked. All samples are kept. What this process's clock says of each is held against a clock in
another process (`clock.py`): where the two disagree nothing is measured.
"""

from __future__ import annotations

import contextlib
import datetime
import gc
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

import numpy as np

from sessrun import __version__
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.benchmarks.clock import OtherClock, Seen
from sessrun.conformance.benchmarks.jobs import Job, Prepared
from sessrun.conformance.facts import environment

__all__ = ["measure"]

#: A sample lasts about this long, so that the clock and the loop do not matter.
_SAMPLE_SECONDS: Final = 0.004
_MAX_CALLS: Final = 5000
_WARM_UP: Final = 30


@dataclass(slots=True)
class _Series:
    """One job on one backend."""

    job: Job
    backend: str
    prepared: Prepared
    calls: int = 1
    samples: list[float] = field(default_factory=list)
    wrong: str | None = None
    clocks: Seen = field(default_factory=Seen)

    def warm_up(self) -> None:
        """Run it hot, check it, and choose how many calls make a sample."""
        for _ in range(_WARM_UP):
            self.wrong = self.wrong or self.prepared.check(self.prepared.call())
        best = min(self._time(1) for _ in range(5))
        self.calls = max(1, min(_MAX_CALLS, int(_SAMPLE_SECONDS / max(best, 1e-9))))

    def sample(self, clock: OtherClock) -> None:
        """Take one sample, and check the result of a call that is not timed."""
        began = clock.now()
        sample = self._time(self.calls)
        ended = clock.now()
        self.samples.append(sample)
        self.clocks.told.append(sample * self.calls)
        self.clocks.seen.append(ended - began)
        self.wrong = self.wrong or self.prepared.check(self.prepared.call())

    def _time(self, calls: int) -> float:
        call = self.prepared.call
        started = perf_counter()
        for _ in range(calls):
            call()
        return (perf_counter() - started) / calls

    def to_json(self) -> dict[str, Any]:
        """The series as `bench.schema.json` has it."""
        form: dict[str, Any] = {
            "case": self.job.name,
            "backend": self.backend,
            "unit": "s",
            "samples": self.samples,
            "correct": self.wrong is None,
            "about": self.job.summary,
            "detail": self.wrong or f"calls a sample: {self.calls:,}",
        }
        if self.job.nbytes:
            form["bytes"] = self.job.nbytes
        if self.job.flops:
            form["flops"] = self.job.flops
        return form


def measure(
    backends: Sequence[str],
    jobs: Sequence[Job],
    *,
    rounds: int,
    seed: int,
    device: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure jobs on backends.

    Args:
      backends: names as `sessrun.adapters.registry` takes them; they need a namespace.
      jobs: what to time.
      rounds: samples per job and backend.
      seed: of the order in each round.
      device: where the graphs are placed (`/gpu:0`), empty for the default.
      progress: called with (rounds done, rounds).

    Returns:
      The measurement as `bench.schema.json` has it, times in seconds per call.

    Raises:
      AdapterError: a backend cannot be loaded, has no namespace, is named twice, cannot do
        a job at all, or the clock of this process is not to be trusted.

    """
    series, versions, names = [], {}, [job.name for job in jobs]
    if len(set(backends)) < len(backends):
        raise AdapterError(f"a backend is named twice: {', '.join(backends)}")
    for spec in backends:
        backend = load(spec)
        if not isinstance(backend, NamespaceBackend):
            raise AdapterError(f"{spec!r} has no Python namespace; bench times Session.run")
        versions[spec] = backend.describe().version
        series += [_Series(j, spec, _prepared(j, spec, backend, device)) for j in jobs]
    # Jobs in their order, backends as they were named: the first is what the others are held to.
    series.sort(key=lambda entry: names.index(entry.job.name))
    for entry in series:
        with _told(entry.job, entry.backend):
            entry.warm_up()
    with OtherClock() as clock:
        began = clock.moment(perf_counter)
        order = _interleave(series, rounds, seed, clock, progress)
        apart = began.disagreement(clock.moment(perf_counter))
    _check_clocks(series, apart)
    return {
        "bench": 1,
        "sessrun": __version__,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "fingerprint": environment() | {"device": device or "default", "backends": versions},
        "seed": seed,
        "rounds": rounds,
        "order": order,
        "ceilings": _ceilings(),
        "series": [entry.to_json() for entry in series],
    }


def _check_clocks(series: Sequence[_Series], apart: str | None) -> None:
    """Refuse what was measured if the clocks went apart over the run, or around the samples."""
    for entry in series:
        found = entry.clocks.disagreement()
        apart = apart or (found and f"of {entry.job.name!r} on {entry.backend!r} {found}")
    if apart is not None:
        raise AdapterError(f"no time counts: {apart}")


def _prepared(job: Job, spec: str, backend: NamespaceBackend, device: str) -> Prepared:
    with _told(job, spec):
        return job.prepare(backend.namespace, device)


@contextlib.contextmanager
def _told(job: Job, spec: str) -> Iterator[None]:
    """Whatever a backend raises before anything is timed becomes an AdapterError."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AdapterError(f"{spec!r} cannot do the job {job.name!r}: {reason}") from error


def _interleave(
    series: Sequence[_Series],
    rounds: int,
    seed: int,
    clock: OtherClock,
    progress: Callable[[int, int], None] | None,
) -> list[list[int]]:
    """Sample every series once a round, in a drawn order; the orders."""
    draw = random.Random(seed)
    orders = []
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            orders.append(draw.sample(range(len(series)), len(series)))
            for index in orders[-1]:
                series[index].sample(clock)
            if progress is not None:
                progress(number + 1, rounds)
    finally:
        gc.enable()
        for entry in series:
            entry.prepared.close()
    return orders


def _ceilings() -> dict[str, float]:
    """What numpy reaches on this machine: float32 FLOP/s (1024²) and copied bytes/s (64 MB)."""
    left = np.ones((1024, 1024), np.float32)
    source, target = np.ones(2**24, np.float32), np.empty(2**24, np.float32)
    matmul = min(_seconds(lambda: left @ left) for _ in range(5))
    copy = min(_seconds(lambda: np.copyto(target, source)) for _ in range(5))
    return {"flops": 2 * 1024**3 / matmul, "bytes": source.nbytes / copy}


def _seconds(call: Callable[[], Any]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started
