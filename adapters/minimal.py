"""A base for small engines: methods that a subclass does not override are declined."""

# ruff: noqa: ARG002 - declined calls ignore their arguments

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sessrun.adapters.backend import Description, unsupported
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.outcomes import Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["MinimalEngine"]


class MinimalEngine:
    """A Backend (`sessrun.adapters.backend`) of which every call is Unsupported.

    An engine that reads a GraphDef needs `describe`, `open`, `run` and `close`; it overrides the
    rest as it grows, and declares each capability that it then offers.
    """

    def describe(self) -> Description:
        """Who this is."""
        return Description(type(self).__name__, "0", frozenset())

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:
        """Decline at the first step: there is no namespace."""
        return [observation("0", unsupported("api"))]

    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Decline, as do the methods below."""
        return unsupported("open")

    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Decline."""
        return unsupported("extend")

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Decline."""
        return unsupported("run")

    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Decline."""
        return unsupported("partial_runs")

    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """Decline."""
        return unsupported("partial_runs")

    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Decline."""
        return unsupported("callables")

    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Decline."""
        return unsupported("callables")

    def devices(self, session: str) -> Outcome:
        """Decline."""
        return unsupported("devices")

    def reset(self, containers: Sequence[str]) -> Outcome:
        """Decline."""
        return unsupported("reset")

    def close(self, session: str) -> Outcome:
        """Decline."""
        return unsupported("close")

    def shutdown(self) -> None:
        """Hold nothing, free nothing."""
