"""One job on one backend: warmed up, then sampled once a round, each sample until it is done.

A sample is the mean of enough calls to last a few milliseconds, and ends when the device has
finished; where the backend has a clock of its device, the same calls are timed by its events too.
After each sample the result of a call that is not timed is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Any, Final

from sessrun.adapters.device_clock import DeviceClock
from sessrun.conformance.benchmarks.clock import OtherClock, Seen
from sessrun.conformance.benchmarks.jobs import Job, Prepared

__all__ = ["Series"]

#: A sample lasts about this long, so that the clock and the loop do not matter.
_SAMPLE_SECONDS: Final = 0.004
_MAX_CALLS: Final = 5000
#: The warm-up: at most this many calls, for no longer than this many seconds.
_WARM_UP: Final = (30, 0.5)
#: The fewest calls to warm up: a graph of a GPU may be captured in the third.
_FEWEST: Final = 3
#: The shortest time that a device's events resolve.
_LEAST_SECONDS: Final = 1e-9


@dataclass(slots=True)
class Series:
    """One job on one backend.

    Attributes:
      job: the job.
      backend: the backend's name.
      prepared: the job on the backend.
      clock: the device's clock, None where it has none.
      note: how the job's size was cut.
      samples: seconds of one call by the clock of this process, one a round.
      device_samples: the same between two events of the device; empty without a clock.
      cold_samples: as `samples`, with inputs that are not in the device's cache; may be empty.
      compile_seconds: by how much the first call was longer than the shortest one.
      counts: what one call asks of the device, where that is counted.
      wrong: what was wrong with a result, None if nothing.
      clocks: what another process's clock said of the samples.

    """

    job: Job
    backend: str
    prepared: Prepared
    clock: DeviceClock | None = None
    note: str = ""
    calls: int = 1
    samples: list[float] = field(default_factory=list)
    device_samples: list[float] = field(default_factory=list)
    cold_samples: list[float] = field(default_factory=list)
    compile_seconds: float = 0.0
    counts: Mapping[str, Any] | None = None
    wrong: str | None = None
    clocks: Seen = field(default_factory=Seen)

    def warm_up(self, counted: Callable[[Callable[[], Any]], Mapping[str, Any] | None]) -> None:
        """Run it hot, check it, and choose how many calls make a sample.

        Args:
          counted: counts what a call asks of the device, None where nothing counts.

        """
        one = (self.prepared.call,)
        first, _ = self._time(one, 1)
        self._check()
        best, spent = float("inf"), 0.0
        for number in range(_WARM_UP[0]):
            seconds, _ = self._time(one, 1)
            best, spent = min(best, seconds), spent + seconds
            if number >= _FEWEST and spent > _WARM_UP[1]:
                break
        for call in self.prepared.rotated:  # compiled, each
            call()
        self._check()  # and whatever was started is done
        self.compile_seconds = max(0.0, first - best)
        self.calls = max(1, min(_MAX_CALLS, int(_SAMPLE_SECONDS / max(best, _LEAST_SECONDS))))
        self.counts = counted(self.prepared.call)

    def sample(self, clock: OtherClock) -> None:
        """Take one sample, and check the result of a call that is not timed."""
        began = clock.now()
        seconds, by_device = self._time((self.prepared.call,), self.calls)
        ended = clock.now()
        self.samples.append(seconds)
        if by_device is not None:
            self.device_samples.append(max(by_device, _LEAST_SECONDS))
        self.clocks.measured.append(seconds * self.calls)
        self.clocks.seen.append(ended - began)
        if self.prepared.rotated:
            count = max(self.calls, len(self.prepared.rotated))
            self.cold_samples.append(self._time(self.prepared.rotated, count)[0])
        self._check()

    def _check(self) -> None:
        result = (self.prepared.checked or self.prepared.call)()
        self._settle()
        self.wrong = self.wrong or self.prepared.check(result)

    def _time(self, calls: Sequence[Callable[[], Any]], count: int) -> tuple[float, float | None]:
        """Seconds of a call, by this process and by the device: the calls in turn, so many."""
        clock = self.clock
        first = clock.mark() if clock is not None else None
        started = perf_counter()
        for call in islice(cycle(calls), count):
            call()
        last = clock.mark() if clock is not None else None
        self._settle()
        seconds = (perf_counter() - started) / count
        return seconds, None if clock is None else clock.seconds(first, last) / count

    def _settle(self) -> None:
        if self.clock is not None:
            self.clock.settle()
        elif self.prepared.settle is not None:
            self.prepared.settle()

    def to_json(self) -> dict[str, Any]:
        """The series as `bench.schema.json` has it."""
        detail = self.wrong or f"calls a sample: {self.calls:,}"
        form: dict[str, Any] = {
            "case": self.job.name,
            "backend": self.backend,
            "unit": "s",
            "samples": self.samples,
            "correct": self.wrong is None,
            "about": self.job.summary,
            "detail": f"{detail}; {self.note}" if self.note else detail,
            "compile_seconds": self.compile_seconds,
        }
        optional = {
            "device_samples": self.device_samples,
            "cold_samples": self.cold_samples,
            "bytes": self.job.nbytes,
            "flops": self.job.flops,
            "dtype": self.job.dtype,
            "counts": self.counts,
        }
        return form | {key: value for key, value in optional.items() if value}
