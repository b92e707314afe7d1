"""A fake that computes rightly, late: each run sleeps first."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["SlowEngine", "backend"]


def backend(argument: str | None = None) -> SlowEngine:
    """Make the fake; the argument is how many seconds a run sleeps, 0.5 without one."""
    return SlowEngine(float(argument or 0.5))


class SlowEngine(TinyEngine):
    """The conforming engine, `seconds` late in every run."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Sleep, then run."""
        time.sleep(self._seconds)
        return super().run(session, fetches, feeds, options)
