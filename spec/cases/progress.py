"""How far an API case has come: a worker writes the step it is at, which its host reads if it dies.

The file lies in the worker's folder while the case goes on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

__all__ = ["At", "noting_steps", "step_in"]

_FILE: Final = "step"
#: Longer than the path of any step: numbers of steps in steps, `3.0.12`.
_BYTES: Final = 64


class At(Protocol):
    """What an interpreter calls with the path of each step before it begins it."""

    def __call__(self, path: str) -> None:
        """Be at this step."""


@contextlib.contextmanager
def noting_steps(folder: str | None) -> Iterator[At]:
    """A function that notes the step an interpretation is at, in a worker's folder if any."""
    if folder is None:
        yield lambda path: None  # noqa: ARG005 - nobody reads it
        return
    file = Path(folder, _FILE)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        yield lambda path: _write(descriptor, path)
    finally:
        os.close(descriptor)
        file.unlink(missing_ok=True)


def _write(descriptor: int, path: str) -> None:
    os.pwrite(descriptor, path.encode()[:_BYTES].ljust(_BYTES), 0)


def step_in(folder: str) -> str:
    """The step that a worker noted last; empty if no case was under way."""
    try:
        return Path(folder, _FILE).read_bytes()[:_BYTES].decode("ascii", "replace").strip()
    except OSError:
        return ""
