"""A worker's operating-system process: started under a keeper, fed, heard, ended.

Nothing here knows the protocol; lines are bytes. The keeper (`keeper.py`) sees to it that
nothing which the worker starts outlives it, nor the worker this process, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

from sessrun.adapters.process.errors import AdapterError, ProtocolError
from sessrun.adapters.process.printed import PIPE, Printed
from sessrun.spec.cases.files import FOLDER_VARIABLE

__all__ = ["Child"]

#: How much of the end of stderr is kept.
_LOG_BYTES: Final = 65536
_CHUNK: Final = 1 << 16
#: How soon a sender that is stuck notices that the process has been ended, in seconds.
_SLICE: Final = 0.2
#: How long the keeper may take to end everything, in seconds; more than it gives itself.
_SWEEP: Final = 4.0
_KEEPER: Final = Path(__file__).with_name("keeper.py")


def _environment() -> dict[str, str]:
    """Our environment without what pytest puts there: a test's name, which names the case."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


class Child:
    """A running process with pipes to its stdin, stdout and stderr, and one for what it prints.

    Args:
      command: program and arguments; no shell is involved.
      folder: its exchange folder, which is removed if this process ends without doing so.

    Raises:
      AdapterError: it cannot be started.

    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._log = bytearray()
        self._printed = Printed(self._add_to_log)
        control, self._control = os.pipe()
        output = self._printed.writing
        try:
            if shutil.which(command[0]) is None:
                raise FileNotFoundError("no program is called so")
            keeper = (sys.executable, "-I", "-S", str(_KEEPER), str(control), str(folder))
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, no shell
                [*keeper, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # so that its whole group can be killed
                pass_fds=(control, output),
                env={**_environment(), PIPE: str(output), FOLDER_VARIABLE: str(folder)},
            )
        except (OSError, ValueError) as error:
            os.close(self._control)
            self._printed.close()
            raise AdapterError(f"cannot start {command[0]!r}: {error}") from error
        finally:
            os.close(control)
            os.close(output)
        # Each pipe has one owner that closes it: the sender, the reader of lines, the listener.
        self._sending = threading.Lock()
        self._ended = threading.Event()
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._listener = threading.Thread(target=self._listen, daemon=True, name="worker log")
        self._listener.start()
        self._ending = threading.Lock()
        self._code: int | None = None

    def send(self, data: bytes, deadline: float) -> bool:
        """Write to its stdin: whether all of it was taken before `deadline` (monotonic seconds).

        A process that has closed its stdin counts as having taken it: what is wrong with it
        shows on its stdout.
        """
        assert self._process.stdin is not None
        view = memoryview(data)
        if not self._sending.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            while view and not self._ended.is_set():
                try:
                    view = view[os.write(self._process.stdin.fileno(), view) :]
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        return False
                    select.select((), (self._process.stdin,), (), min(left, _SLICE))
        except OSError:
            return True
        finally:
            self._sending.release()
        return True

    def lines(self, limit: int) -> Iterator[bytes]:
        """The lines of its stdout, without newlines, until it closes it.

        Raises:
          ProtocolError: a line has more than `limit` bytes.

        """
        assert self._process.stdout is not None
        pending = bytearray()
        with self._process.stdout as stdout:
            while chunk := os.read(stdout.fileno(), _CHUNK):
                *finished, rest = chunk.split(b"\n")
                for part in finished:
                    pending += part
                    yield bytes(pending)
                    pending.clear()
                pending += rest
                if len(pending) > limit:
                    raise ProtocolError(f"a line of more than {limit} bytes")

    def wait(self, seconds: float) -> int | None:
        """Its return code (negative: a signal's number) once it has ended, else None.

        The process stays unreaped, so that its group's id cannot be anybody else's yet.
        """
        until = time.monotonic() + seconds
        while True:
            code = self._peek()
            if code is not None or time.monotonic() >= until:
                return code
            time.sleep(0.002)

    def end(self) -> int:
        """Kill it with all it started, reap it, close the pipes: its return code. Repeatable."""
        with self._ending:
            if self._code is None:
                ended = self._peek()
                os.close(self._control)  # which is what the keeper waits for
                self.wait(_SWEEP)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
                self._code = ended if ended is not None else self._process.returncode
                self._ended.set()
                with self._sending:
                    assert self._process.stdin is not None
                    self._process.stdin.close()
                self._listener.join(1.0)
            return self._code

    def log(self) -> str:
        """The end of its standard error, and of its printed text."""
        return self._log.decode("utf-8", "replace")

    def printed(self) -> str:
        """A sentence with its printed text since the last call; empty if there is none."""
        return self._printed.take()

    def _peek(self) -> int | None:
        if self._code is not None:
            return self._code
        try:
            info = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # another thread has just reaped it
            return self._process.returncode
        if info is None:
            return None
        return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stderr, contextlib.closing(self._printed) as printed:
            open_ones: list[IO[bytes] | Printed] = [stderr, printed]
            while open_ones:
                for end in select.select(open_ones, (), ())[0]:
                    if not (printed.hear() if end is printed else self._hear(stderr)):
                        open_ones.remove(end)

    def _hear(self, stderr: IO[bytes]) -> bool:
        chunk = os.read(stderr.fileno(), _CHUNK)
        self._add_to_log(chunk)
        return bool(chunk)

    def _add_to_log(self, chunk: bytes) -> None:
        # Of two threads: each line is one step of the interpreter's.
        self._log += chunk
        del self._log[:-_LOG_BYTES]
