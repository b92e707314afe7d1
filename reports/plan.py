"""The plan of a run as reports see it: which cases, with which content, testing which clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessrun.spec.cases.model import content_hash
from sessrun.spec.inference import Demand
from sessrun.spec.releases import Release

__all__ = ["PlanFacts", "PlannedCase"]


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One planned case.

    Attributes:
      id: its id.
      hash: the hash of its content.
      clauses: ids of the clauses that it tests.
      demand: the operations and capabilities that it needs, where a backend declares those that
        it has; else None.
      release: the release of TensorFlow that it needs.

    """

    id: str
    hash: str
    clauses: tuple[str, ...]
    demand: Demand | None = None
    release: Release = field(default_factory=Release)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> PlannedCase:
        """Read `{id, hash, clauses, demand?, release?}`."""
        demand = Demand.from_json(form["demand"]) if "demand" in form else None
        release = Release.from_json(form.get("release", {}))
        return cls(form["id"], form["hash"], tuple(form["clauses"]), demand, release)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as the suite's plan writes it."""
        form: dict[str, Any] = {
            "id": self.id,
            "hash": self.hash,
            "clauses": list(self.clauses),
        }
        if self.demand is not None:
            form["demand"] = self.demand.to_json()
        release = self.release.to_json()
        return form | {"release": release} if release else form

    @property
    def generated(self) -> bool:
        """Whether it is drawn (`property:seed:index`, `variant/VECTOR:seed:index`), no vector."""
        return ":" in self.id

    @property
    def family(self) -> str:
        """Where it comes from: the property, the folder of the vector, or of a variant's vector."""
        origin = self.id.partition(":")[0]
        return origin.rpartition("/")[0] or origin


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """A plan as data, as the suite's plan writes itself to JSON.

    Attributes:
      profile: the profile it was made for.
      seed: the seed of the generated cases.
      generated: how many cases each property generates.
      cases: the planned cases, in the order in which they run.

    """

    profile: str
    seed: int
    generated: int
    cases: tuple[PlannedCase, ...]

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> PlanFacts:
        """Read `{profile, seed, generated, cases}`."""
        cases = tuple(map(PlannedCase.from_json, form["cases"]))
        return cls(form["profile"], form["seed"], form["generated"], cases)

    def to_json(self) -> dict[str, Any]:
        """The JSON form: the one whose hash stands in the record's header."""
        return {
            "profile": self.profile,
            "seed": self.seed,
            "generated": self.generated,
            "cases": [case.to_json() for case in self.cases],
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON."""
        return content_hash(self.to_json())

    @property
    def header(self) -> dict[str, Any]:
        """The keys of a record's header that describe this plan."""
        return {
            "hash": self.hash,
            "cases": len(self.cases),
            "profile": self.profile,
            "seed": self.seed,
            "generated": self.generated,
        }
