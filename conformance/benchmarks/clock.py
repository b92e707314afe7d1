"""A clock in a process of its own, which no backend that is measured can touch.

Backends are timed in one process, and might alter its clock. Around each sample the process that
measures asks this clock, too; what the two say must agree but for the time that asking takes.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["Moment", "OtherClock", "Seen"]

_TIME: Final = struct.Struct("d")
#: How far the two clocks may differ over a whole run, as a share of its time.
_RUN_SHARE: Final = 0.01
#: By how much a sample may be longer than the other clock saw: a share, and seconds.
_LONGER: Final = (0.05, 0.0005)
#: By how much it may be shorter: on a busy machine the process that asks may have to wait.
_SHORTER: Final = (0.2, 0.002)


@dataclass(slots=True)
class Seen:
    """What the two clocks said of the samples of a series, in seconds, in the order of the rounds.

    Attributes:
      measured: by the clock of the process that measures.
      seen: by the other clock, with the time that asking it took.

    """

    measured: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)

    def disagreement(self) -> str | None:
        """In words, that the clocks are apart; None if not.

        Samples are longer than the other clock saw in more than three rounds of four, or much
        shorter in every round: the machine may be busy, and then most questions wait.
        """
        both = list(zip(self.measured, self.seen, strict=True))
        longer = sorted(t - s - _LONGER[0] * s - _LONGER[1] for t, s in both)
        shorter = [s - t - _SHORTER[0] * s - _SHORTER[1] for t, s in both]
        if both and max(longer[len(both) // 4], min(shorter)) > 0:
            return _in_words(sum(self.measured), sum(self.seen))
        return None


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment by this process's clock, and by the other one just before and just after it."""

    before: float
    here: float
    after: float

    def disagreement(self, later: Moment) -> str | None:
        """In words, that the clocks went apart from this moment to a later one; None if not."""
        elapsed = later.here - self.here
        least, most = later.before - self.after, later.after - self.before
        if least * (1 - _RUN_SHARE) <= elapsed <= most * (1 + _RUN_SHARE):
            return None
        return _in_words(elapsed, most)


def _in_words(elapsed: float, seen: float) -> str:
    return (
        f"the clock of the process that measures told {elapsed:.4g} s, "
        f"that of another process {seen:.4g} s"
    )


class OtherClock:
    """The clock, while it is entered."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 - this file, by the interpreter that runs
            [sys.executable, "-I", "-S", str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.now()  # it has started
        return self

    def now(self) -> float:
        """The time by the other process's clock, in seconds.

        Raises:
          OSError: the process has gone.

        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.write(self._process.stdin.fileno(), b"?")
        data = os.read(self._process.stdout.fileno(), _TIME.size)
        if len(data) != _TIME.size:
            raise OSError("the process that holds the clock has gone")
        seconds: float = _TIME.unpack(data)[0]
        return seconds

    def moment(self, here: Callable[[], float]) -> Moment:
        """The moment it is now, by a clock of this process too."""
        return Moment(self.now(), here(), self.now())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def _serve() -> None:
    """Write the time for each byte that is read, until there is no more."""
    while os.read(0, 1):
        os.write(1, _TIME.pack(time.monotonic()))


if __name__ == "__main__":
    _serve()
