"""The host's end of a process whose calls are timed: starts it, and times batches.

The host is not the backend's process, so that no backend can alter the clock. A batch has two
times: by the clock on the wall, and the time that the process had on processors, which the kernel
counts and the host reads. On a machine with other work the second varies far less: under a load of
11 on two cores by 1 to 5 % where the first varied by 5 to 25 %. What a backend sleeps or waits for
is in the first alone.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import IO, Any, Final, Self

from sessrun.adapters.errors import AdapterError

__all__ = ["BatchTime", "BenchProcess", "JobError", "ProcessEndedError", "Side", "runs"]

_MODULE: Final = "sessrun.conformance.benchmarks.worker"
#: Seconds until a process that does not answer is given up.
_DEADLINE: Final = 300.0
#: How often it is asked whether the process still lives, while it is waited for, in seconds.
_ASKED_EVERY: Final = 1.0
#: How long a process has to end by itself, in seconds.
_PATIENCE: Final = 5.0
#: How long the host waits for a process to sleep before it reads its time, and how often it looks,
#: in seconds.
_AWAKE: Final = 0.05
_GLANCE: Final = 0.0002
#: The longest answer, in bytes.
_LONGEST: Final = 2**24
#: What of its standard error, or of what it raised, an error message shows, in characters.
_SHOWN: Final = 600


class JobError(AdapterError):
    """A job cannot be done; the process has said so, and can do others."""


class ProcessEndedError(AdapterError):
    """The process has ended before it was told to."""


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
            start_new_session=True,  # what it starts ends with it
        )
        self._answers = b""
        self.version = ""

    def __enter__(self) -> Self:
        """Nothing more: the process is started already, and ended when it is left."""
        return self

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def loaded(self) -> None:
        """Wait until the backend is loaded, and take its version.

        Raises:
          AdapterError: it cannot be loaded.

        """
        self.version = self._answer(version=str)["version"]

    def imported(self) -> list[str]:
        """The files of all modules that the process has imported.

        Raises:
          AdapterError: the process ended, or answers something else.

        """
        self._ask({"imported": True})
        return [str(file) for file in self._answer(imported=list)["imported"]]

    def prepare(self, job: str, device: str) -> tuple[float, float]:
        """Make a job ready: seconds of the shortest call and of the first.

        Raises:
          JobError: the backend cannot do it.
          ProcessEndedError: the process ended.
          AdapterError: it does not answer, or with something else.

        """
        self._ask({"prepare": job, "device": device})
        answer = self._answer(seconds=float, first=float)
        seconds, first = answer["seconds"], answer["first"]
        if not 0 <= seconds <= first < math.inf:
            raise AdapterError(f"{self.side.name}: no times of calls: {seconds} and {first} s")
        return seconds, first

    def batch(self, job: str, calls: int) -> tuple[BatchTime, str | None]:
        """Time so many calls and the one that is checked; what was wrong with its result.

        Raises:
          JobError: a call raised.
          ProcessEndedError: the process ended.
          AdapterError: it does not answer, or with something else.

        """
        return self._timed({"job": job, "calls": calls})

    def repeat(self, job: str, calls: int) -> str | None:
        """Have so many calls made, which are not timed; what was wrong with the last result.

        Raises:
          AdapterError: as `batch`.

        """
        self._ask({"job": job, "repeat": calls})
        wrong: str | None = self._answer(wrong=(str, type(None)))["wrong"]
        return wrong

    def prepare_cost(self, cost: str, size: int, device: str) -> tuple[float, str | None]:
        """Make a cost of a size ready: seconds of the shortest call, and what was wrong with one.

        Raises:
          AdapterError: as `prepare`.

        """
        self._ask({"cost": cost, "size": size, "device": device})
        answer = self._answer(seconds=float, wrong=(str, type(None)))
        if not 0 <= answer["seconds"] < math.inf:
            raise AdapterError(f"{self.side.name}: no time of a call: {answer['seconds']} s")
        return answer["seconds"], answer["wrong"]

    def cost_batch(self, calls: int) -> tuple[BatchTime, str | None]:
        """Time so many calls of the cost, made ready before; what was wrong with the last result.

        Raises:
          AdapterError: as `batch`.

        """
        self._ask({"ready": calls})
        self._answer()
        return self._timed({"go": True})

    def finish_cost(self) -> None:
        """Free what the cost holds."""
        self._ask({"end": True})
        self._answer()

    def finish(self, job: str) -> None:
        """Free a job's session."""
        self._ask({"close": job})
        self._answer()

    def _timed(self, request: dict[str, Any]) -> tuple[BatchTime, str | None]:
        """The time of a request until its empty line, and what was wrong with its result."""
        before = self._processor_seconds()
        began = perf_counter()
        self._ask(request)
        line = self._line()
        wall = perf_counter() - began
        after = self._processor_seconds()
        self._write(b"\n")
        if line:  # no empty line: the batch failed
            self._parsed(line)
            raise self._no_answer(line)
        wrong: str | None = self._answer(wrong=(str, type(None)))["wrong"]
        spent = None if before is None or after is None else after - before
        return BatchTime(wall, spent), wrong

    def _processor_seconds(self) -> float | None:
        """What the process's threads have had on processors so far.

        Linux numbers the clock of a process by its id: the bits inverted, shifted by three, and 2
        for the scheduler's own count. To another process the count is that of the last tick or
        switch, milliseconds ago where a thread runs: so this waits until the main one sleeps.
        """
        if sys.platform != "linux":
            return None
        ends = perf_counter() + _AWAKE
        while runs(self._process.pid) and perf_counter() < ends:
            time.sleep(_GLANCE)
        try:
            return time.clock_gettime(((~self._process.pid) << 3) | 2)
        except OSError:
            return None

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdout is not None
        if select.select([self._process.stdout], [], [], 0)[0]:
            self._answers += os.read(self._process.stdout.fileno(), 65536)
            if not self._answers:
                raise self._ended()
        if self._answers:  # a time would end with what was there before it began
            raise AdapterError(f"{self.side.name}: answers unasked: {self._answers[:200]!r}")
        self._write(json.dumps(request).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except OSError as error:
            raise self._ended() from error

    def _answer(self, **kinds: type | tuple[type, ...]) -> dict[str, Any]:
        """The next line, which has at least these entries, of these types."""
        line = self._line()
        answer = self._parsed(line)
        if not all(isinstance(answer.get(name, ...), kind) for name, kind in kinds.items()):
            raise self._no_answer(line)
        return answer

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            answer: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._no_answer(line) from error
        if not isinstance(answer, dict):
            raise self._no_answer(line)
        if "error" in answer:
            raise JobError(f"{self.side.name}: {str(answer['error'])[:_SHOWN]}")
        return answer

    def _no_answer(self, line: bytes) -> AdapterError:
        return AdapterError(f"{self.side.name}: not an answer: {line[:200]!r}")

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        ends = perf_counter() + _DEADLINE
        while b"\n" not in self._answers:
            ready, _, _ = select.select([self._process.stdout], [], [], _ASKED_EVERY)
            if ready:
                more = os.read(self._process.stdout.fileno(), 65536)
                if not more:
                    raise self._ended()
                self._answers += more
            elif self._process.poll() is not None:  # a child of its own may hold the pipe
                raise self._ended()
            elif perf_counter() > ends:
                raise AdapterError(f"{self.side.name} did not answer within {_DEADLINE:.0f} s")
            if len(self._answers) > _LONGEST:
                raise self._no_answer(self._answers)
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _ended(self) -> ProcessEndedError:
        """That the process ended, with the last of what it wrote to standard error."""
        try:
            ending = f"its process ended with {self._process.wait(_PATIENCE)}"
        except subprocess.TimeoutExpired:
            ending = "its process closed its answers"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 4 * _SHOWN))
        last = self._errors.read().decode(errors="replace").strip()[-_SHOWN:]
        return ProcessEndedError(f"{self.side.name}: {ending}" + (f": {last}" if last else ""))

    def close(self, patience: float = _PATIENCE) -> None:
        """End the process, and what it has started.

        Args:
          patience: seconds that it has to end by itself.

        """
        if self._errors.closed:  # its number may be another process's by now
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._errors.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close(_PATIENCE if error is None else 0)


def runs(pid: int) -> bool:
    """Whether a process's main thread runs or is about to, by the kernel's list."""
    with suppress(OSError):  # it has ended
        state = Path(f"/proc/{pid}/task/{pid}/stat").read_bytes().rpartition(b")")[2]
        return state.lstrip().startswith(b"R")
    return False
