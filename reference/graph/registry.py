"""Registry: objects that programs register by unique names, and where they did."""

from __future__ import annotations

import threading
from collections.abc import KeysView
from typing import Any

from sessrun.reference.graph.creation import Site, frames_of_program

__all__ = ["Registry"]


class Registry:
    """Things by name; none is replaced."""

    __slots__ = ("_held", "_lock", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._held: dict[str, tuple[object, Site]] = {}
        self._lock = threading.Lock()

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Keep `candidate` under a name, by default its own.

        Raises:
          KeyError: the name is registered already.

        """
        name = name or candidate.__name__
        with self._lock:
            if name in self._held:
                raise KeyError(
                    f"Registering two {self._name} with name '{name}'! "
                    f"(Previous registration was in {_site_text(self._held[name][1])})"
                )
            self._held[name] = candidate, Site(frames_of_program())

    def list(self) -> KeysView[str]:
        """The names."""
        return self._held.keys()

    def lookup(self, name: str | bytes) -> Any:
        """The object registered under that name.

        Raises:
          LookupError: nothing has.

        """
        text = name.decode() if isinstance(name, bytes) else name
        try:
            return self._held[text][0]
        except KeyError:
            raise LookupError(f"{self._name} registry has no entry for: {text}") from None


def _site_text(where: Site) -> str:
    """A line of a program, as the error of a second registration tells it."""
    frames = where.frames()
    if not frames:
        return "sessrun"
    return f"{frames[-1].name} {frames[-1].filename}:{frames[-1].lineno}"
