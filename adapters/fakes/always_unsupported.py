"""A fake that declines everything, politely: it must never be counted as passing anything."""

from __future__ import annotations

from sessrun.adapters.backend import Description
from sessrun.adapters.minimal import MinimalEngine

__all__ = ["RefusingEngine", "backend"]


def backend(argument: str | None = None) -> RefusingEngine:
    """Make the fake; with the argument `boastful` it declares every capability but api."""
    return RefusingEngine(boastful=argument == "boastful")


class RefusingEngine(MinimalEngine):
    """Every call of the contract is Unsupported."""

    def __init__(self, *, boastful: bool = False) -> None:
        self._boastful = boastful

    def describe(self) -> Description:
        """Who this is."""
        declared = {"callables", "devices", "extend", "partial_runs", "reset", "state"}
        capabilities = frozenset(declared if self._boastful else ())
        return Description("always-unsupported fake", "1", capabilities)
