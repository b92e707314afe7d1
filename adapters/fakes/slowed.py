"""The reference, slowed down on purpose: every run takes so many per cent longer than it would.

Benchmarks are tried on it: a planted slowdown is to be called SLOWER, none (`slowed#0`) is not.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.reference import backend as reference

__all__ = ["backend"]


def backend(argument: str | None = None) -> NamespaceBackend:
    """The reference, whose runs take longer.

    Args:
      argument: by how many per cent; 0 without one.

    Raises:
      AdapterError: it is no number, or less than 0.

    """
    try:
        share = float(argument or 0) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < 1000:
        raise AdapterError(f"slowed#{argument}: by how many per cent runs take longer, 0 or more")
    backend = reference()
    return NamespaceBackend(_Slowed(backend.namespace, share), "slowed", backend.version)


class _Slowed:
    """The reference's namespace with another Session."""

    def __init__(self, namespace: Any, share: float) -> None:
        self._namespace = namespace

        class Session(namespace.Session):  # type: ignore[misc]  # a namespace has no types
            """A session whose runs compute for longer."""

            def run(self, *args: Any, **kwargs: Any) -> Any:
                """Run, and then be busy for the share of the time that it took."""
                began = perf_counter()
                result = super().run(*args, **kwargs)
                ended = perf_counter()
                until = ended + (ended - began) * share
                while perf_counter() < until:
                    pass
                return result

        self.Session = Session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._namespace, name)
