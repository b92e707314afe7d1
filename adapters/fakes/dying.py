"""A fake that takes its process with it now and then: it exits in every Nth run of a life."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["DyingEngine", "backend"]

_STATUS: Final = 3


def backend(argument: str | None = None) -> DyingEngine:
    """Make the fake; the argument says how many runs a life has, 20 without one."""
    return DyingEngine(int(argument or 20))


class DyingEngine(TinyEngine):
    """The conforming engine, whose process ends without a word in the last of its runs."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._left = runs

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Run, or exit."""
        self._left -= 1
        if self._left == 0:
            os._exit(_STATUS)
        return super().run(session, fetches, feeds, options)
