"""A base for small engines: what a subclass does not override is declined, never passed."""

from __future__ import annotations

from typing import Any

from sessrun.adapters.backend import Description, unsupported
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Observation
from sessrun.spec.cases.outcomes import Outcome

__all__ = ["MinimalEngine"]


class MinimalEngine:
    """A Backend (`sessrun.adapters.backend`) of which every call is Unsupported.

    An engine that reads a GraphDef needs `describe`, `open`, `run` and `close`; it overrides the
    rest as it grows, and declares each capability that it then offers.
    """

    def describe(self) -> Description:
        """Who this is."""
        return Description(type(self).__name__, "0", frozenset())

    def interpret_api(self, *_: Any) -> list[Observation]:
        """Decline at the first step: there is no namespace."""
        return [observation("0", unsupported("api"))]

    def open(self, *_: Any, **__: Any) -> Outcome:
        """Decline, as do the methods below."""
        return unsupported("open")

    def extend(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("extend")

    def run(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("run")

    def setup(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("partial_runs")

    def partial(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("partial_runs")

    def callable(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("callables")

    def call(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("callables")

    def devices(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("devices")

    def reset(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("reset")

    def close(self, *_: Any, **__: Any) -> Outcome:
        """Decline."""
        return unsupported("close")

    def shutdown(self) -> None:
        """Hold nothing, free nothing."""
