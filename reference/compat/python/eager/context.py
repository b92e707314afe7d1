"""`tensorflow.python.eager.context`: a program that asks how it is run is told: by graphs."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from sessrun.reference.compat.python.module_finder import of_places

__all__ = ["graph_mode"]

__getattr__ = of_places("eager.context")


def graph_mode() -> AbstractContextManager[None]:
    """A `with` in which operations are added to a graph, as they always are here."""
    return nullcontext()
