"""A fake that prints, as native libraries do: straight to file descriptor 1, amid a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.outcomes import Outcome
from sessrun.spec.forms import JsonObject

__all__ = ["BabblingEngine", "backend"]

_BABBLE: Final = b'computing...\n{"id": 1, "outcome": "done"}\nhalf a line without its end'


def backend(argument: str | None = None) -> BabblingEngine:
    """Make the fake.

    Raises:
      AdapterError: an argument is given; it takes none.

    """
    if argument is not None:
        raise AdapterError(f"this fake takes no argument, got {argument!r}")
    return BabblingEngine()


class BabblingEngine(TinyEngine):
    """The conforming engine, talkative."""

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """Print to descriptors 1 and 2, then run."""
        os.write(1, _BABBLE)
        os.write(2, _BABBLE)
        return super().run(session, fetches, feeds, options)
