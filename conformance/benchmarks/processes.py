"""The host's end of a process whose calls are timed: starts it, and times batches.

The host is not the backend's process, so that no backend can alter the clock. A batch has two
times: by the clock on the wall, and the time that the process had on processors, which the kernel
counts and the host reads. On a machine with other work the second varies far less: under a load of
11 on two cores by 1 to 5 % where the first varied by 5 to 25 %. What a backend sleeps or waits for
is in the first alone.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import IO, Any, Final, Self

from sessrun.adapters.errors import AdapterError

__all__ = ["BatchTime", "BenchProcess", "Side"]

_MODULE: Final = "sessrun.conformance.benchmarks.worker"
#: Seconds until a process that does not answer is given up.
_DEADLINE: Final = 300.0
#: What of its standard error an error message shows, in characters.
_SHOWN: Final = 600


@dataclass(frozen=True, slots=True)
class Side:
    """One of those that are compared.

    Attributes:
      name: what reports call it.
      backend: the backend, as `sessrun.adapters.registry.load` takes it.
      roots: folders in which its modules are looked for first: a tree of another revision.
      folder: the working folder of its processes; that of this one if None.

    """

    name: str
    backend: str
    roots: tuple[Path, ...] = ()
    folder: Path | None = None

    def environment(self, hash_seed: int) -> dict[str, str]:
        """The environment of one of its processes, whose hashes have a seed."""
        paths = [*map(str, self.roots), *filter(None, [os.environ.get("PYTHONPATH")])]
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONHASHSEED": str(hash_seed),
        }


@dataclass(frozen=True, slots=True)
class BatchTime:
    """The time of a batch of calls, in seconds.

    Attributes:
      wall: by the host's clock, from the request to the answer.
      processor: what the process's threads had on processors together; None where the kernel does
        not tell.

    """

    wall: float
    processor: float | None


class BenchProcess:
    """A process of a side, while it is entered."""

    def __init__(self, side: Side, hash_seed: int = 0) -> None:
        """Start it.

        Args:
          side: whose process.
          hash_seed: of Python's hashes in it, which decide how the look-ups of its
            dictionaries collide: processes that are compared have the same.

        """
        self.side = side
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a module of ours
            [sys.executable, "-P", "-m", _MODULE, side.backend],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=side.environment(hash_seed),
            cwd=side.folder,
            bufsize=0,
        )
        self._answers = b""
        self.version = ""

    def __enter__(self) -> Self:
        """Nothing more: the process is started already, and ended when it is left."""
        return self

    def loaded(self) -> None:
        """Wait until the backend is loaded, and take its version.

        Raises:
          AdapterError: it cannot be loaded.

        """
        self.version = self._answer()["version"]

    def prepare(self, job: str, device: str) -> tuple[float, float]:
        """Make a job ready: seconds of the shortest call and of the first.

        Raises:
          AdapterError: the backend cannot do it, or gives a wrong result.

        """
        self._ask({"prepare": job, "device": device})
        answer = self._answer()
        return answer["seconds"], answer["first"]

    def batch(self, job: str, calls: int) -> tuple[BatchTime, str | None]:
        """Time so many calls and the one that is checked; what was wrong with its result.

        Raises:
          AdapterError: a call raised, or the process ended.

        """
        before = self._processor_seconds()
        began = perf_counter()
        self._ask({"job": job, "calls": calls})
        line = self._line()
        wall = perf_counter() - began
        after = self._processor_seconds()
        if line:  # no empty line: the batch failed
            self._parsed(line)
        wrong: str | None = self._answer()["wrong"]
        spent = None if before is None or after is None else after - before
        return BatchTime(wall, spent), wrong

    def finish(self, job: str) -> None:
        """Free a job's session."""
        self._ask({"close": job})
        self._answer()

    def _processor_seconds(self) -> float | None:
        """What the process's threads have had on processors so far.

        Linux numbers the clock of a process by its id: the bits inverted, shifted by three, and 2
        for the scheduler's own count.
        """
        if sys.platform != "linux":
            return None
        try:
            return time.clock_gettime(((~self._process.pid) << 3) | 2)
        except OSError:
            return None

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise self._ended() from error

    def _answer(self) -> dict[str, Any]:
        return self._parsed(self._line())

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise AdapterError(f"{self.side.name}: not an answer: {line[:200]!r}") from error
        if "error" in answer:
            raise AdapterError(f"{self.side.name}: {answer['error']}")
        return answer

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        while b"\n" not in self._answers:
            ready, _, _ = select.select([self._process.stdout], [], [], _DEADLINE)
            if not ready:
                raise AdapterError(f"{self.side.name} did not answer within {_DEADLINE:.0f} s")
            more = os.read(self._process.stdout.fileno(), 65536)
            if not more:
                raise self._ended()
            self._answers += more
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _ended(self) -> AdapterError:
        """That the process ended, with the last of what it wrote to standard error."""
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip()[-_SHOWN:]
        return AdapterError(
            f"{self.side.name}: its process ended with {code}" + (f": {last}" if last else "")
        )

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
