"""The reference, slowed down on purpose: every run takes so many per cent longer than it would.

Benchmarks are tried on it: a planted slowdown is to be called SLOWER, none (`slowed#0`) is not.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.reference import backend as reference

__all__ = ["backend"]

#: Seconds that a session is busy for at once, at the least.
_SPENT: Final = 5e-6


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

            owed = 0.0

            def run(self, *args: Any, **kwargs: Any) -> Any:
                """Run, and be busy for the share of the time that this run or some runs took.

                A look at the clock takes a tenth of a microsecond: so short times are put together.
                """
                began = perf_counter()
                result = super().run(*args, **kwargs)
                ended = perf_counter()
                self.owed += (ended - began) * share
                if self.owed > _SPENT:
                    until, self.owed = ended + self.owed, 0.0
                    while perf_counter() < until:
                        pass
                return result

        self.Session = Session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._namespace, name)
