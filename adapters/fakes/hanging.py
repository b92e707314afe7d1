"""A fake whose runs never return."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.forms import JsonObject

__all__ = ["HangingEngine", "backend"]


def backend(argument: str | None = None) -> HangingEngine:
    """Make the fake.

    Raises:
      AdapterError: an argument is given; it takes none.

    """
    if argument is not None:
        raise AdapterError(f"this fake takes no argument, got {argument!r}")
    return HangingEngine()


class HangingEngine(TinyEngine):
    """The conforming engine, but for runs."""

    def run(
        self,
        session: str,  # noqa: ARG002 - nothing is computed
        fetches: Sequence[str],  # noqa: ARG002 - as above
        feeds: Mapping[str, np.ndarray],  # noqa: ARG002 - as above
        options: JsonObject,  # noqa: ARG002 - as above
    ) -> NoReturn:
        """Wait for what never comes."""
        never = threading.Event()
        while True:
            never.wait()
