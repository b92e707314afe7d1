"""A fake that answers in perfect form and wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Fetched, Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["LIES", "LyingEngine", "backend"]

#: The values of a run: None for an operation.
_Values: TypeAlias = tuple[np.ndarray | None, ...]
#: Each lie by name: a function from the right values to wrong ones.
LIES: Final[Mapping[str, Callable[[_Values], _Values]]] = {
    "zeros": lambda values: tuple(v if v is None else np.zeros_like(v) for v in values),
    "dtype": lambda values: tuple(v if v is None else np.asarray(v, np.float64) for v in values),
    "shape": lambda values: tuple(v if v is None else np.asarray(v)[np.newaxis] for v in values),
    "count": lambda values: (*values, *values[:1]),
}


def backend(argument: str | None = None) -> LyingEngine:
    """Make the fake; the argument names the lie, `zeros` without one.

    Raises:
      AdapterError: it knows no such lie.

    """
    lie = argument or "zeros"
    if lie not in LIES:
        raise AdapterError(f"this fake knows the lies {', '.join(LIES)}, not {lie!r}")
    return LyingEngine(lie)


class LyingEngine(TinyEngine):
    """The conforming engine, but for the values of runs."""

    def __init__(self, lie: str) -> None:
        super().__init__()
        self._lie = LIES[lie]

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Run, and lie about it."""
        outcome = super().run(session, fetches, feeds, options)
        return Fetched(self._lie(outcome.values)) if isinstance(outcome, Fetched) else outcome
