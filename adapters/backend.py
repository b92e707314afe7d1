"""The Backend contract: what an adapter must offer, typed; never a bare exception.

The engine surface is `sessrun.spec.cases.engine.Engine`; a backend adds a description and,
where it has one, its Python namespace (the API surface).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from sessrun.spec.cases.audit import CAPABILITIES
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.outcomes import Unsupported

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

    """

    name: str
    version: str
    capabilities: frozenset[str]
    devices: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)

    def unlike(self, other: Description) -> str | None:
        """The first of name, version and capabilities in which the two differ, or None.

        Every worker of one backend must agree in these; devices and details may differ.
        """
        parts = ("name", "version", "capabilities")
        return next((p for p in parts if getattr(self, p) != getattr(other, p)), None)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, with sorted capabilities."""
        form = asdict(self)
        return form | {
            "capabilities": sorted(self.capabilities),
            "devices": list(self.devices),
            "details": dict(self.details),
        }


class Backend(Engine, Protocol):
    """A backend: the engine surface, a description, and the API surface where there is one."""

    def describe(self) -> Description:
        """Who this is and what it offers."""

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:
        """Interpret an API-surface case where the namespace lives; see `cases.api`.

        After each step that failed, `goes_on` says whether the case goes on.
        """

    def shutdown(self) -> None:
        """Free everything; no call follows."""


def unsupported(capability: str, message: str = "") -> Unsupported:
    """The outcome of a call that this backend does not offer."""
    return Unsupported(capability, message)
