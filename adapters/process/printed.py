"""Standard output of a worker's own: where a backend prints, apart from its answers.

Standard output belongs to the program that uses an engine. The host gives each worker a second
pipe, named in its environment; our own worker puts it where descriptor 1 was before it imports
a backend, so that native prints disturb no answer and yet are seen.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["PIPE", "Printed", "flush_output", "redirect_output"]

#: The environment variable that tells the worker the descriptor of its pipe.
PIPE: Final = "SESSRUN_OUTPUT"
#: How much of the printed text is shown.
_SHOWN: Final = 200
_CHUNK: Final = 1 << 16


class Printed:
    """The host's end of the pipe.

    Args:
      log: called with every chunk.

    Attributes:
      writing: the worker's end, for the process that starts it to hand on and close.

    """

    def __init__(self, log: Callable[[bytes], None]) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        self._log = log
        self._lock = threading.Lock()
        self._open = True
        self._size = 0
        self._first = b""

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._reading

    def hear(self) -> bool:
        """Read the bytes in the pipe; return whether there may be more."""
        with self._lock:
            while self._open:
                try:
                    chunk = os.read(self._reading, _CHUNK)
                except BlockingIOError:
                    return True
                if not chunk:
                    return False
                self._size += len(chunk)
                self._first = (self._first + chunk)[:_SHOWN]
                self._log(chunk)
                if len(chunk) == _CHUNK:  # a backend that prints without end is read part by part
                    return True
        return False

    def take(self) -> str:
        """What was printed since the last time, in a sentence; empty if nothing was."""
        self.hear()
        with self._lock:
            size, first = self._size, self._first
            self._size, self._first = 0, b""
        if not size:
            return ""
        begins = ", beginning" if size > len(first) else ":"
        return f"{size:,} bytes on standard output{begins} {first.decode('utf-8', 'replace')!r}"

    def close(self) -> None:
        """Read the remaining bytes, and close the pipe."""
        self.hear()
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._reading)


def redirect_output() -> None:
    """Make descriptor 1 of this process the host's pipe, or stderr if there is none."""
    given = os.environ.pop(PIPE, "")
    try:
        os.dup2(int(given), 1)
        os.close(int(given))
    except (OSError, ValueError):  # not started by our host
        os.dup2(2, 1)


def flush_output() -> None:
    """Write out what this process has printed and still buffers, Python's and C's."""
    with contextlib.suppress(BaseException):  # a backend may have closed or replaced it
        sys.stdout.flush()
    if _C_STDOUT is not None:
        _C.fflush(_C_STDOUT)


def _c_stdout() -> ctypes.c_void_p | None:
    for name in ("stdout", "__stdoutp"):  # glibc and musl; macOS
        with contextlib.suppress(ValueError):
            return ctypes.c_void_p.in_dll(_C, name)
    return None


_C: Final = ctypes.CDLL(None)
_C_STDOUT: Final = _c_stdout()
