"""A fake that declines everything, politely: it must never be counted as passing anything."""

from __future__ import annotations

from typing import Any

from sessrun.adapters.backend import Description, unsupported
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.outcomes import Outcome

__all__ = ["RefusingEngine", "backend"]


def backend(argument: str | None = None) -> RefusingEngine:
    """Make the fake; with the argument `boastful` it declares every capability but api."""
    return RefusingEngine(boastful=argument == "boastful")


class RefusingEngine:
    """Every call of the contract is Unsupported; smaller engines override what they can do."""

    def __init__(self, *, boastful: bool = False) -> None:
        self._boastful = boastful

    def describe(self) -> Description:
        """Who this is."""
        declared = {"callables", "devices", "extend", "partial_runs", "reset", "state"}
        capabilities = frozenset(declared if self._boastful else ())
        return Description("always-unsupported fake", "1", capabilities)

    def interpret_api(self, case: Case) -> list[Observation]:
        """Decline at the first step: there is no namespace."""
        return [observation("0", unsupported("api", case.id))]

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
