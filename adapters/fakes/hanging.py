"""A fake whose runs never return."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine

__all__ = ["HangingEngine", "backend"]


def backend(argument: str | None = None) -> HangingEngine:
    """Make the fake.

    Raises:
      AdapterError: an argument is given; it takes none.

    """
    if argument is not None:
        raise AdapterError(f"this fake takes no argument, got {argument!r}")
    return HangingEngine()


class HangingEngine(TinyEngine):
    """The conforming engine, but for runs."""

    def run(self, *_: Any, **__: Any) -> NoReturn:
        """Wait for what never comes."""
        never = threading.Event()
        while True:
            never.wait()
