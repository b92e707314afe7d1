"""Reads the spec's data files: clauses, operations, profiles, claims, debt, vectors.

Every reader checks against the schemas and raises SpecError naming file, place and reason.
Nothing here runs at import; the runtime uses the generated tables instead.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from sessrun.spec.cases.model import Case
from sessrun.spec.operations import Operation, older_form, parse_operation
from sessrun.spec.schema import SpecError, check

__all__ = ["SPEC_DIR", "Clause", "Profile", "load_claims", "load_clauses", "load_debt",
           "load_operations", "load_profiles", "load_vectors", "read_json", "read_toml",
           "spec_digest", "subject_of"]  # fmt: skip

SPEC_DIR: Final = Path(__file__).parent


def subject_of(clause: str) -> str:
    """The subject of a clause's id, lower case: `fetch` of `FETCH-001`."""
    return clause.rpartition("-")[0].lower()


@dataclass(frozen=True, slots=True)
class Clause:
    """One normative sentence.

    Attributes:
      id: `SUBJECT-NNN`, never reused.
      level: MUST, SHOULD or MAY.
      statement: one sentence that a plausible engine could make false.
      surface: where it can be seen: `engine`, `api` or `both`.
      profile: the profile that requires it.
      sources: where it comes from: sections of the source documents, what TensorFlow did.
      since: the spec version that added it.
      condition: the fact without which it does not apply (`gpu`), or None.
      note: what the text says and TensorFlow does not, or the other way round.

    """

    id: str
    level: Literal["MUST", "SHOULD", "MAY"]
    statement: str
    surface: Literal["engine", "api", "both"]
    profile: str
    sources: tuple[str, ...]
    since: str
    condition: str | None = None
    note: str | None = None

    @property
    def subject(self) -> str:
        """The subject, lower case: the file it stands in."""
        return subject_of(self.id)


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of requirements.

    Attributes:
      name: its name.
      summary: one sentence.
      finished: whether no clause of it may be in debt.

    """

    name: str
    summary: str
    finished: bool


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's table.

    Raises:
      SpecError: it cannot be read or is no TOML.

    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # a number may have too many digits
        raise SpecError(str(path), "", f"cannot be read as TOML: {error}") from error


def read_json(path: Path) -> Any:
    """A JSON file's value.

    Raises:
      SpecError: it cannot be read, is no JSON, names a key twice, or has a number that is not
        finite.

    """
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(
            text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_finite
        )
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(str(path), "", f"cannot be read as JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value


@functools.cache
def load_clauses(folder: Path = SPEC_DIR / "clauses") -> Mapping[str, Clause]:
    """Every clause by id, in file and number order."""
    clauses: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.toml")):
        table = read_toml(path)
        check(table, "clauses", str(path))
        for id_, form in table.items():
            if id_ in clauses:
                raise SpecError(str(path), id_, "this id is taken")
            if not id_.startswith(path.stem.upper() + "-"):
                raise SpecError(str(path), id_, f"an id in {path.name} starts with its subject")
            body = {**form, "sources": tuple(form["sources"])}
            clauses[id_] = Clause(id=id_, **body)
    return MappingProxyType(clauses)


@functools.cache
def load_operations(folder: Path = SPEC_DIR / "ops") -> Mapping[str, Operation]:
    """Every declared operation by op type, sorted by name."""
    operations: dict[str, Operation] = {}
    for path in sorted(folder.glob("*.toml")):
        table = read_toml(path)
        check(table, "ops", str(path))
        for name, form in table.items():
            declared = [parse_operation(name, form, str(path))]
            if "older" in form:
                older = older_form(
                    declared[0], form["older"], form.get("older_until", 0),
                    vector_handle=form.get("vector_handle", False),
                )  # fmt: skip
                declared.append(older)
            for operation in declared:
                if operation.name in operations:
                    raise SpecError(
                        str(path), operation.name, "this operation is declared twice"
                    )
                operations[operation.name] = operation
    return MappingProxyType(dict(sorted(operations.items())))


@functools.cache
def load_profiles(path: Path = SPEC_DIR / "profiles.toml") -> Mapping[str, Profile]:
    """Every profile by name."""
    table = read_toml(path)
    check(table, "profiles", str(path))
    return MappingProxyType(
        {
            name: Profile(name, form["summary"], form.get("finished", False))
            for name, form in table.items()
        }
    )


@functools.cache
def load_claims(path: Path = SPEC_DIR / "claims.toml") -> Mapping[str, Any]:
    """Every claim of the source documents: what it says, what TensorFlow does, the ruling."""
    table = read_toml(path)
    check(table, "claims", str(path))
    return MappingProxyType(table)


@functools.cache
def load_debt(path: Path = SPEC_DIR / "debt.toml") -> Mapping[str, Any]:
    """Clause id to what it still lacks (`runtime`, `test`, `fault`) and which subject pays."""
    table = read_toml(path)
    check(table, "debt", str(path))
    return MappingProxyType(table)


@functools.cache
def load_vectors(folder: Path = SPEC_DIR / "vectors") -> Mapping[str, Case]:
    """Every vector by id, sorted by id, hashes checked."""
    vectors: dict[str, Case] = {}
    for path in sorted(folder.rglob("*.json")):
        case = Case.from_json(read_json(path), str(path))
        if path.relative_to(folder).with_suffix("").as_posix() != case.id:
            raise SpecError(str(path), "id", f"the id {case.id!r} is not the file's path")
        vectors[case.id] = case
    return MappingProxyType(dict(sorted(vectors.items())))


@functools.cache
def spec_digest() -> str:
    """SHA-256 over every data file of the spec: path and bytes, in path order."""
    digest = hashlib.sha256()
    for path in sorted(SPEC_DIR.rglob("*")):
        if path.suffix in {".toml", ".json", ".proto"}:
            digest.update(path.relative_to(SPEC_DIR).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
