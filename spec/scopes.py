"""What a run is about: a profile, or the part of it that an engine without TensorFlow's client has.

    core                the whole profile
    core-engine         what of it a case can ask with a GraphDef, names and arrays
    core-below-client   and of that, what the engine does itself, not TensorFlow's Python client

Each part is a fixed set of clauses and cases: what a backend declares has no say in it. A profile
of what is declared (`inference`) has no parts, and one that is not finished is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sessrun.spec.cases.model import Case, walk
from sessrun.spec.loader import Clause, load_clauses, load_profiles

__all__ = ["PARTS", "Scope", "ScopeError", "scope_of"]


class ScopeError(ValueError):
    """A name is that of no profile and of no part of one."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Which clauses and cases of a profile are in a part."""

    summary: str
    clause: Callable[[Clause], bool]
    case: Callable[[Case], bool]


def _asks_no_client(case: Case) -> bool:
    """Whether a case needs nothing of the client: no clause of its, no empty run, no fed fetch.

    A call of a partial run may fetch nothing: it takes in feeds.
    """
    clauses = load_clauses()
    return (
        case.surface == "engine"
        and all(clauses[id_].layer == "engine" for id_ in case.clauses)
        and all(
            (step["fetches"] or step["do"] == "partial")
            and not set(step["fetches"]) & set(step.get("feeds", ()))
            for step in (outer.get("step", outer) for _, outer in walk(case.steps))
            if step["do"] in {"run", "partial"}
        )
    )


_ALL: Final = _Part("all of it", lambda _: True, lambda _: True)
#: The parts of a profile, by what stands after its name and a hyphen.
PARTS: Final[Mapping[str, _Part]] = {
    "engine": _Part(
        "what an engine under TensorFlow's client can be asked: no Python namespace",
        lambda clause: clause.surface != "api",
        lambda case: case.surface == "engine",
    ),
    "below-client": _Part(
        "what an engine without a client can be asked",
        lambda clause: clause.surface != "api" and clause.layer == "engine",
        _asks_no_client,
    ),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """A profile or a part of one.

    Attributes:
      name: as it is asked for: `core`, `core-engine`.
      profile: the profile's name.
      part: the part of the profile.

    """

    name: str
    profile: str
    part: _Part

    def requires(self, clause: Clause) -> bool:
        """Whether a verdict of this scope rests on the clause."""
        return self.includes_clause(clause) and clause.level == "MUST"

    def includes_clause(self, clause: Clause) -> bool:
        """Whether the clause is in the scope, required or optional."""
        return clause.profile == self.profile and self.part.clause(clause)

    def includes_case(self, case: Case) -> bool:
        """Whether a case that tests clauses of the profile is asked."""
        return self.part.case(case)


def scope_of(name: str) -> Scope:
    """The scope of a name.

    Raises:
      ScopeError: there is none; the message lists the profiles and the parts.

    """
    profiles = load_profiles()
    if name in profiles:
        return Scope(name, name, _ALL)
    for part in PARTS:
        profile = name.removesuffix(f"-{part}")
        if profile != name and profile in profiles and not profiles[profile].declared:
            return Scope(name, profile, PARTS[part])
    listed = [key for key, profile in profiles.items() if profile.finished]
    divided = ", ".join(key for key in listed if not profiles[key].declared)
    undivided = ", ".join(key for key in listed if profiles[key].declared)
    parts = " or ".join(f"-{part}" for part in PARTS)
    raise ScopeError(
        f"no profile is called {name!r}; there are {divided}, "
        f"each also with {parts} after it, and {undivided}"
    )
