"""A fake that computes rightly, late: each run sleeps first."""

from __future__ import annotations

import time
from typing import Any

from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Outcome

__all__ = ["SlowEngine", "backend"]


def backend(argument: str | None = None) -> SlowEngine:
    """Make the fake; the argument is how many seconds a run sleeps, 0.5 without one."""
    return SlowEngine(float(argument or 0.5))


class SlowEngine(TinyEngine):
    """The conforming engine, `seconds` late in every run."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def run(self, *args: Any, **kwargs: Any) -> Outcome:
        """Sleep, then run."""
        time.sleep(self._seconds)
        return super().run(*args, **kwargs)
