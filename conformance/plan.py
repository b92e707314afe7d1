"""The plan of a run: which cases, in which order; a pure function of profile, seed and counts."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.conformance import properties
from sessrun.conformance.variants import VARIANT, variant, variants_of
from sessrun.spec.cases.model import Case, content_hash
from sessrun.spec.forms import Json
from sessrun.spec.inference import demand_of
from sessrun.spec.loader import load_clauses, load_vector, vectors_of
from sessrun.spec.releases import needed_release
from sessrun.spec.scopes import ScopeError, scope_of
from sessrun.spec.seeds import SEEDS, Seed

__all__ = [
    "CERTIFY_COUNT",
    "CERTIFY_SEED",
    "Plan",
    "PlanError",
    "build_plan",
    "case_of",
    "suite_digest",
]

#: Generated cases per property in a certification, and the seed where nobody says another.
CERTIFY_COUNT: Final = 60
CERTIFY_SEED: Final = 2026


#: The sources that decide what a case asks and how its answer is judged and recorded.
_DECIDES: Final = (
    "conformance/authoring",
    "conformance/checks.py",
    "conformance/definitions.py",
    "conformance/facts.py",
    "conformance/generators",
    "conformance/observe.py",
    "conformance/oracle.py",
    "conformance/patience.py",
    "conformance/plan.py",
    "conformance/properties.py",
    "conformance/property.py",
    "conformance/result_lines.py",
    "conformance/runner.py",
    "conformance/subjects",
    "conformance/variants",
    "conformance/workers.py",
    "spec/cases",
    "spec/definitions",
    "spec/dtypes.py",
    "spec/inference.py",
    "spec/model",
    "spec/node_attributes.py",
    "spec/operations.py",
    "spec/releases.py",
    "spec/rules",
    "spec/tensor_protos.py",
    "spec/tensors.py",
)
#: Folders of a subject that decide nothing: authored cases are frozen, faults are backends.
_DECIDES_NOTHING: Final = frozenset({"cases", "faults"})
_GENERATED: Final = re.compile(
    r"(?P<name>[a-z0-9_-]+):(?P<seed>0|[1-9][0-9]{0,17}):(?P<index>0|[1-9][0-9]{0,17})"
)


#: The most cases that a property generates in one plan, which is held in memory.
_MOST_GENERATED: Final = 100_000


class PlanError(ValueError):
    """What was asked for is no plan: an unknown profile, an unknown case."""


@dataclass(frozen=True)
class Plan:
    """A plan.

    Attributes:
      profile: the name of the profile, or of the part of one (`core-engine`).
      seed: the seed of the generated cases.
      generated: how many cases each property generates.
      cases: the cases in order: vectors by id, a variant of each, then properties by name and
        index; where nothing is generated there are vectors only.
      source: the seed with where it comes from; None if it was given as a number.

    """

    profile: str
    seed: int
    generated: int
    cases: tuple[Case, ...]
    source: Seed | None = None

    @property
    def drawn_by(self) -> Seed:
        """The seed, and where it comes from."""
        return self.source or Seed(self.seed)

    def to_json(self) -> dict[str, Json]:
        """What a package stores and `verify` regenerates: ids, hashes and clauses in order."""
        return {
            "profile": self.profile,
            "seed": self.seed,
            "generated": self.generated,
            "cases": [_planned(case) for case in self.cases],
        }

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the plan."""
        return content_hash(self.to_json())


def _planned(case: Case) -> dict[str, Json]:
    """What a plan says of a case, and what it needs of a backend that may not have it."""
    form: dict[str, Json] = {"id": case.id, "hash": case.hash, "clauses": list(case.clauses)}
    demand = demand_of(case)
    if demand is not None:
        form["demand"] = demand.to_json()
    release = needed_release(case).to_json()
    return form | {"release": release} if release else form


def build_plan(
    profile: str, seed: int | Seed = CERTIFY_SEED, generated: int = CERTIFY_COUNT
) -> Plan:
    """The plan of a profile, or of a part of one: every case that tests one of its clauses.

    Raises:
      PlanError: there is no such scope (`sessrun.spec.scopes`), or a number is out of range.

    """
    try:
        scope = scope_of(profile)
    except ScopeError as error:
        raise PlanError(str(error)) from None
    source = seed if isinstance(seed, Seed) else Seed(seed)
    seed = source.value
    if not 0 <= seed < SEEDS:
        raise PlanError(f"a seed is a number from 0 to 10**18 - 1, not {seed}")
    if not 0 <= generated <= _MOST_GENERATED:
        raise PlanError(
            f"a property generates from 0 to {_MOST_GENERATED:,} cases, not {generated:,}"
        )
    clauses = {id_ for id_, clause in load_clauses().items() if scope.includes_clause(clause)}
    with _without_collections():
        vectors = tuple(filter(scope.includes_case, vectors_of(clauses)))
        variants = variants_of(vectors, seed, generated / CERTIFY_COUNT)
        drawn = filter(scope.includes_case, _generated(clauses, seed, generated))
        cases = (*vectors, *variants, *drawn)
    return Plan(profile, seed, generated, cases, source)


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Without the collector of cycles: a plan has none, and each collection walks all of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _generated(clauses: set[str], seed: int, count: int) -> Iterator[Case]:
    for name, prop in sorted(properties.PROPERTIES.items()):
        if clauses & set(prop.clauses):
            for index in range(prop.planned(count)):
                yield properties.generate(name, seed, index)


def case_of(id_: str) -> Case:
    """The case of an id: a vector's, or a generated one's made anew.

    Raises:
      PlanError: no case has this id.

    """
    if ":" not in id_:
        return _vector(id_)
    parts = VARIANT.fullmatch(id_)
    if parts is not None:
        return variant(_vector(parts["vector"]), int(parts["seed"]), int(parts["index"]))
    parts = _GENERATED.fullmatch(id_)
    if parts is None or parts["name"] not in properties.PROPERTIES:
        raise PlanError(
            f"{id_!r} is no `property:seed:index` of a known property, "
            "nor `variant/VECTOR:seed:index`"
        )
    return properties.generate(parts["name"], int(parts["seed"]), int(parts["index"]))


def _vector(id_: str) -> Case:
    try:
        return load_vector(id_)
    except KeyError:
        raise PlanError(f"no vector is called {id_!r}") from None


@functools.cache
def suite_digest() -> str:
    """SHA-256 over the sources that decide what a case asks and how it is judged."""
    house = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in _deciding(house):
        digest.update(path.relative_to(house).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _deciding(house: Path) -> Iterator[Path]:
    """The files of `_DECIDES` under this folder, in its order."""
    for part in _DECIDES:
        root = house / part
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            kind = path.relative_to(root).parts[1:2] if part == "conformance/subjects" else ()
            if not _DECIDES_NOTHING.intersection(kind):
                yield path
