"""A fake that knows one error and gives it for everything that goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Call, Failure, Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["OneErrorEngine", "backend"]

_INTERNAL: Final = 13


def backend(argument: str | None = None) -> OneErrorEngine:
    """Make the fake; with the argument `always` it gives its error for good runs too.

    Raises:
      AdapterError: another argument is given.

    """
    if argument not in {None, "always"}:
        raise AdapterError(f"this fake takes the argument 'always', got {argument!r}")
    return OneErrorEngine(always=argument == "always")


class OneErrorEngine(TinyEngine):
    """The conforming engine, but every failure is INTERNAL."""

    def __init__(self, *, always: bool) -> None:
        super().__init__()
        self._always = always

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Run; whatever goes wrong is INTERNAL."""
        return self._flattened("run", super().run(session, fetches, feeds, options))

    def close(self, session: str) -> Outcome:
        """Close; whatever goes wrong is INTERNAL."""
        return self._flattened("close", super().close(session))

    def _flattened(self, call: Call, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure) or (self._always and call == "run"):
            return Failure(call, _INTERNAL, ("InternalError",), None, "something went wrong")
        return outcome
