"""The Backend contract: what an adapter must offer, typed; never a bare exception.

The engine surface is `sessrun.spec.cases.engine.Engine`; a backend adds a description and,
where it has one, its Python namespace (the API surface).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sessrun.spec.cases.engine import CAPABILITIES, Engine
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.outcomes import Unsupported
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json

__all__ = ["CAPABILITIES", "Backend", "Description", "unsupported"]


@dataclass(frozen=True, slots=True)
class Description:
    """Who the backend is.

    Attributes:
      name: its name on reports.
      version: its own version.
      capabilities: a subset of `CAPABILITIES`.
      devices: full names of the devices it has.
      details: anything else worth printing (build flags, library versions).
      operations: what it computes: op types, each with the dtypes of its values (`sessrun.spec.
        inference`); None if it has all that TensorFlow has.

    """

    name: str
    version: str
    capabilities: frozenset[str]
    devices: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, Collection[str]] | None = None

    def __post_init__(self) -> None:
        """Check the form of the operations.

        Raises:
          TypeError, ValueError: they map no op types to lists of dtype names.

        """
        form = "operations map op types to lists of dtypes"
        if self.operations is None:
            return
        if not isinstance(self.operations, Mapping):
            raise TypeError(f"{form}; this is a {type(self.operations).__name__}")
        for name, dtypes in self.operations.items():
            if not isinstance(name, str) or isinstance(dtypes, str | bytes):
                raise TypeError(f"{form}; {name!r} has {dtypes!r}")
            unknown = [dtype for dtype in dtypes if dtype not in BY_NAME]
            if unknown:
                raise ValueError(f"{form}; {name} has {unknown[0]!r}, which is no dtype's name")

    def unlike(self, other: Description) -> str | None:
        """The first of name, version, capabilities and operations in which the two differ, or None.

        Every worker of one backend must agree in these; devices and details may differ.
        """
        mine, theirs = self.to_json(), other.to_json()
        parts = ("name", "version", "capabilities", "operations")
        return next((part for part in parts if mine.get(part) != theirs.get(part)), None)

    def to_json(self) -> dict[str, Json]:
        """The JSON form, with sorted capabilities and dtypes; `operations` only where declared."""
        form: dict[str, Json] = {
            "name": self.name,
            "version": self.version,
            "capabilities": sorted(self.capabilities),
            "devices": list(self.devices),
            "details": dict(self.details),
        }
        if self.operations is not None:
            form["operations"] = {
                name: sorted(dtypes) for name, dtypes in sorted(self.operations.items())
            }
        return form


class Backend(Engine, Protocol):
    """A backend: the engine surface, a description, and the API surface where there is one."""

    def describe(self) -> Description:
        """The backend's description of itself: its name, version and capabilities."""

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:
        """Interpret an API-surface case where the namespace lives; see `cases.api`.

        After each step that failed, `goes_on` says whether the case goes on.
        """

    def shutdown(self) -> None:
        """Free everything; no call follows."""


def unsupported(capability: str, message: str = "") -> Unsupported:
    """The outcome of a call that this backend does not offer."""
    return Unsupported(capability, message)
