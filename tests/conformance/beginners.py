"""Engines with a fault that somebody makes who writes a first adapter."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Fetched, Opened


def backend(vice: str) -> Beginner:
    return Beginner(vice)


def _numpy_text(value: Any) -> Any:
    """Strings as numpy has them, which drops final zero bytes."""
    is_text = value is not None and np.asarray(value).dtype == object
    return np.array(value, "S") if is_text else value


class Beginner(TinyEngine):
    """Engines of a fault each, which a factory names."""

    def __init__(self, vice: str) -> None:
        super().__init__()
        self.vice = vice

    def describe(self) -> Description:
        told = super().describe()
        if self.vice == "strange":
            return dataclasses.replace(told, operations={"NoSuchOp": ["float32"]})
        return told

    def close(self, session: str) -> object:  # type: ignore[override]
        return None if self.vice == "closing" else super().close(session)

    def run(self, **asked):  # type: ignore[no-untyped-def, override]
        if self.vice == "keywords":
            return self.positional(**asked)
        outcome = super().run(**asked)
        if self.vice == "strings" and isinstance(outcome, Fetched):
            return Fetched(tuple(map(_numpy_text, outcome.values)))
        if self.vice == "operations" and isinstance(outcome, Fetched):
            return Fetched(tuple(np.float32(0) if v is None else v for v in outcome.values))
        return outcome

    def positional(self, handle, names, values, more):  # type: ignore[no-untyped-def]
        return super().run(handle, names, values, more)

    def callable(self, **_):  # type: ignore[no-untyped-def, override]
        return Opened("callable") if self.vice == "undeclared" else super().callable()

    def call(self, **_):  # type: ignore[no-untyped-def, override]
        return Fetched((np.float32(2),))

    def shutdown(self) -> None:
        if self.vice == "lingering":
            time.sleep(60)
