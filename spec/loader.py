"""Reads the spec's data files: clauses, operations, profiles, claims, debt, vectors.

Every reader checks against the schemas and raises SpecError naming file, place and reason.
Nothing here runs at import; the runtime uses the generated tables instead.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from sessrun.spec.cases.model import Case, stored_form
from sessrun.spec.cases.readable import exact, exact_tensor
from sessrun.spec.operations import Operation, older_form, parse_operation
from sessrun.spec.schema import SpecError, check
from sessrun.spec.statement import is_stated
from sessrun.spec.vector_files import vector_bytes, vector_files

__all__ = [
    "SPEC_DIR",
    "Clause",
    "Profile",
    "Varied",
    "load_claims",
    "load_clauses",
    "load_debt",
    "load_inference",
    "load_operations",
    "load_profiles",
    "load_rulings",
    "load_variants",
    "load_vector",
    "load_vectors",
    "load_withdrawn",
    "parse_json",
    "read_json",
    "read_toml",
    "read_vector",
    "read_volumes",
    "spec_digest",
    "subject_of",
    "vectors_of",
]

SPEC_DIR: Final = Path(__file__).parent
_VECTORS: Final = SPEC_DIR / "vectors"
_VECTOR_ID: Final = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")
#: The outer key of a stored vector: within it, keys stand further right, and no string has a line.
_CLAUSES_KEY: Final = b'\n "clauses":['


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
      layer: whose behaviour it is on the engine surface: `client` for what TensorFlow's Python
        client does before it calls its engine, else `engine`.
      profile: the profile that requires it.
      sources: where it comes from: sections of the source documents, what TensorFlow did.
      since: the version of its volume (`spec.volumes`) that added it.
      condition: the fact without which it does not apply (`gpu`), or None.
      note: what the text says and TensorFlow does not, or the other way round.
      withdrawn: the version of its volume that withdrew it, or None; it binds nobody since.
      successors: the clauses that say, since it was withdrawn, what it said.

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
    layer: Literal["engine", "client"] = "engine"
    withdrawn: str | None = None
    successors: tuple[str, ...] = ()

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
      finished: whether none of its clauses may be in debt.
      declared: whether a backend is asked for what it declares to compute (`spec.inference`).

    """

    name: str
    summary: str
    finished: bool
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Varied:
    """What of a vector does not vary.

    Attributes:
      exempt: whether it has no variants at all.
      kept: which of `names`, `order` and `values` stay as they are.
      why: the reason, one sentence.

    """

    exempt: bool
    kept: frozenset[str]
    why: str


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's table.

    Raises:
      SpecError: it cannot be read or is no TOML.

    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # a number may have too many digits
        raise SpecError(str(path), "", f"cannot be read as TOML: {error}") from error


def _checked_toml(path: Path, schema: str) -> dict[str, Any]:
    """A TOML file's table, which follows the schema."""
    table = read_toml(path)
    if not is_stated(path, path.read_bytes(), schema):
        check(table, schema, str(path))
    return table


def read_json(path: Path) -> Any:
    """A JSON file's value.

    Raises:
      SpecError: it cannot be read, is no JSON, names a key twice, or has a number that is not
        finite.

    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SpecError(str(path), "", f"cannot be read as JSON: {error}") from error
    return _parsed(raw, str(path))


def _parsed(raw: bytes, source: str) -> Any:
    """The value of JSON in UTF-8, as `read_json` reads it."""
    try:
        text = raw.decode("utf-8")
    except ValueError as error:
        raise SpecError(source, "", f"cannot be read as JSON: {error}") from error
    return parse_json(text, source)


def parse_json(text: str, source: str) -> Any:
    """The value of JSON.

    Args:
      text: the JSON.
      source: what an error calls it.

    Raises:
      SpecError: it is no JSON, names a key twice, or has a number that is not finite.

    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise SpecError(source, "", f"cannot be read as JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return result


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value


@functools.cache
def load_clauses(folder: Path = SPEC_DIR / "clauses") -> Mapping[str, Clause]:
    """Every clause in force by id, in file and number order."""
    return _clauses(folder, withdrawn=False)


@functools.cache
def load_withdrawn(folder: Path = SPEC_DIR / "clauses") -> Mapping[str, Clause]:
    """Every withdrawn clause by id, for the history: records that name it stay readable."""
    return _clauses(folder, withdrawn=True)


def _clauses(folder: Path, *, withdrawn: bool) -> Mapping[str, Clause]:
    clauses: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.toml")):
        for id_, form in _checked_toml(path, "clauses").items():
            if id_ in clauses:
                raise SpecError(str(path), id_, "this id is taken")
            if not id_.startswith(path.stem.upper() + "-"):
                raise SpecError(str(path), id_, f"an id in {path.name} starts with its subject")
            if ("withdrawn" in form) == withdrawn:
                lists = {key: tuple(form.get(key, ())) for key in ("sources", "successors")}
                clauses[id_] = Clause(id=id_, **(form | lists))
    return MappingProxyType(clauses)


@functools.cache
def load_operations(folder: Path = SPEC_DIR / "ops") -> Mapping[str, Operation]:
    """Every declared operation by op type, sorted by name."""
    operations: dict[str, Operation] = {}
    for path in sorted(folder.glob("*.toml")):
        table = _checked_toml(path, "ops")
        for name, form in table.items():
            declared = [parse_operation(name, form, str(path))]
            if "older" in form:
                older = older_form(
                    declared[0],
                    form["older"],
                    form.get("older_until", 0),
                    shape=form.get("older_shape"),
                )
                declared.append(older)
            for operation in declared:
                if operation.name in operations:
                    raise SpecError(str(path), operation.name, "this operation is declared twice")
                operations[operation.name] = operation
    return MappingProxyType(dict(sorted(operations.items())))


@functools.cache
def load_definitions(folder: Path = SPEC_DIR / "ops") -> Mapping[str, str]:
    """What fixes the value of an operation, in words, by op type; an older form has its newer's."""
    definitions: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        for name, form in _checked_toml(path, "ops").items():
            if "definition" in form:
                text = " ".join(form["definition"].split())
                definitions |= dict.fromkeys((name, form.get("older", name)), text)
    return MappingProxyType(definitions)


@functools.cache
def load_profiles(path: Path = SPEC_DIR / "profiles.toml") -> Mapping[str, Profile]:
    """Every profile by name."""
    table = _checked_toml(path, "profiles")
    return MappingProxyType(
        {
            name: Profile(
                name, form["summary"], form.get("finished", False), form.get("declared", False)
            )
            for name, form in table.items()
        }
    )


@functools.cache
def load_inference(path: Path = SPEC_DIR / "inference.toml") -> Mapping[str, Any]:
    """The table of the profile `inference`: dtypes, and constant inputs by group and op type."""
    return MappingProxyType(_checked_toml(path, "inference"))


@functools.cache
def load_claims(path: Path = SPEC_DIR / "claims.toml") -> Mapping[str, Any]:
    """Every claim of the source documents: what it says, what TensorFlow does, the ruling."""
    table = _checked_toml(path, "claims")
    return MappingProxyType(table)


@functools.cache
def load_rulings(path: Path = SPEC_DIR / "rulings.toml") -> Mapping[str, Any]:
    """Every ruling on more than one claim by name: the question, the ruling, the clauses."""
    return MappingProxyType(_checked_toml(path, "rulings"))


def read_volumes(path: Path = SPEC_DIR / "volumes.toml") -> Mapping[str, Any]:
    """The table of volumes as the file has it; `spec.volumes` gives it meaning."""
    return _checked_toml(path, "volumes")


@functools.cache
def load_debt(path: Path = SPEC_DIR / "debt.toml") -> Mapping[str, Any]:
    """Clause id to what it still lacks (`runtime`, `test`, `fault`) and which subject pays."""
    table = _checked_toml(path, "debt")
    return MappingProxyType(table)


@functools.cache
def load_variants(path: Path = SPEC_DIR / "variants.toml") -> Mapping[str, Varied]:
    """Vector id to what of it does not vary; of the others everything may."""
    table = _checked_toml(path, "variants")
    return MappingProxyType(
        {
            id_: Varied(form.get("exempt", False), frozenset(form.get("keeps", ())), form["why"])
            for id_, form in table.items()
        }
    )


@functools.cache
def load_vectors() -> Mapping[str, Case]:
    """Every vector by id, sorted by id; each is what was checked, or is checked now."""
    vectors = (_vector(path, raw) for path, raw in vector_files(_VECTORS))
    return MappingProxyType({case.id: case for case in sorted(vectors, key=lambda case: case.id)})


def load_vector(id_: str) -> Case:
    """The vector `subject/slug`.

    Raises:
      KeyError: there is none.
      SpecError: its file is not what it should be.

    """
    file = vector_bytes(_VECTORS, id_) if _VECTOR_ID.fullmatch(id_) else None
    if file is None:
        raise KeyError(id_)
    return _vector(*file)


def vectors_of(clauses: Collection[str]) -> Iterator[Case]:
    """The vectors that test one of these clauses, sorted by id.

    Of a file that is as it was checked, the list of clauses is read first, and the rest only if
    one of them is asked for. Any other file is checked in full, whatever it tests.
    """
    wanted = frozenset(clauses)
    for path, raw in vector_files(_VECTORS):
        if not is_stated(path, raw, "case"):
            case = read_vector(path, raw)
        elif wanted.isdisjoint(_stored_clauses(raw)):
            continue
        else:
            case = Case.from_checked(json.loads(raw, object_hook=exact_tensor))
        if not wanted.isdisjoint(case.clauses):
            yield case


def _vector(path: Path, raw: bytes) -> Case:
    if is_stated(path, raw, "case"):
        return Case.from_checked(json.loads(raw, object_hook=exact_tensor))
    return read_vector(path, raw)


def _stored_clauses(raw: bytes) -> list[str]:
    """The clauses of a vector in the form that is stored, which puts the outer keys first."""
    start = raw.index(_CLAUSES_KEY) + len(_CLAUSES_KEY) - 1
    clauses: list[str] = json.loads(raw[start : raw.index(b"]", start) + 1])
    return clauses


def read_vector(path: Path, raw: bytes) -> Case:
    """A vector's case, checked in full.

    Args:
      path: the file `subject/slug.json`.
      raw: its content.

    Raises:
      SpecError: it does not follow the schema, its hash is not its content's, its id not its
        path, or it is not written as vectors are stored.

    """
    case = Case.from_json(exact(_parsed(raw, str(path))), str(path))
    if f"{path.parent.name}/{path.stem}" != case.id:
        raise SpecError(str(path), "id", f"the id {case.id!r} is not the file's path")
    if raw != stored_form(case):
        raise SpecError(str(path), "", "it is not written as `sessrun freeze` writes a vector")
    return case


@functools.cache
def spec_digest() -> str:
    """SHA-256 over every data file of the spec: path and bytes, in path order."""
    kinds = {".toml", ".json", ".proto"}
    files = {path: path.read_bytes() for path in SPEC_DIR.rglob("*") if path.suffix in kinds}
    files |= vector_files(_VECTORS)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(SPEC_DIR).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(files[path]).digest())
    return digest.hexdigest()
