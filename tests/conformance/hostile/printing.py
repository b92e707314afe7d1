"""The reference, but native code prints to standard output in each run, past Python's own.

The argument says how many megabytes; without one it is a line like an answer, and half a line.
"""

import ctypes
import os
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(megabytes: str = "0") -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace
    libc = ctypes.CDLL(None)

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, *args: Any, **kwargs: Any) -> Any:
            libc.puts(b'{"id": 1, "outcome": "done"}')
            libc.printf(b"half a line")
            libc.fflush(None)
            for _ in range(int(megabytes)):
                os.write(1, b"x" * 2**20)
            os.write(2, b"computing...\n")
            return super().run(*args, **kwargs)

    return NamespaceBackend(override(tf, Session=Session), "printing", "1")
