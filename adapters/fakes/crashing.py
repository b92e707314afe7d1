"""A fake that takes its process with it: it dies of SIGSEGV in its Nth run."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence

import numpy as np

from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["CrashingEngine", "backend"]


def backend(argument: str | None = None) -> CrashingEngine:
    """Make the fake; the argument says which run is its last, the first without one."""
    return CrashingEngine(int(argument or 1))


class CrashingEngine(TinyEngine):
    """The conforming engine for `last - 1` runs."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self._left = last

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Run, or die."""
        self._left -= 1
        if self._left == 0:
            signal.raise_signal(signal.SIGSEGV)  # to this thread: no answer overtakes it
        return super().run(session, fetches, feeds, options)
