"""A case: identity, surface, clauses, graphs, steps; read, checked, hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sessrun.spec.cases.forms import Observation, Step, members
from sessrun.spec.cases.readable import readable
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.layout import laid_out
from sessrun.spec.schema import SpecError, check

__all__ = [
    "AskedCase",
    "Case",
    "GoesOn",
    "Observation",
    "asked",
    "canonical_json",
    "clauses_of",
    "content_hash",
    "stored_form",
    "walk",
]

#: Called after a step of an API case failed, with all that was observed so far: whether the case
#: goes on. Only the host knows which failures are expected.
GoesOn = Callable[[list[Observation]], bool]

#: Steps that leave an observation only if they fail.
_SILENT: Final = frozenset({"with", "thread", "raise"})


@dataclass(frozen=True, slots=True)
class Case:
    """One case, immutable.

    Attributes:
      id: `subject/slug` of a vector, `property:seed:index` of a generated case.
      title: the rule it shows, in one sentence.
      surface: `engine` (GraphDef, names, arrays) or `api` (calls on a namespace).
      clauses: ids of the clauses it tests.
      steps: the steps, as `docs/cases.md` describes them.
      graphs: engine surface: name to GraphDef in protobuf's JSON mapping.
      files: name to base64 of what is in the case's folder at first, None for a folder; a case
        without a folder has no `files` at all.
      needs: facts of the machine without which it does not apply (`sessrun.spec.cases.facts`).
      release: the `producer` and the major version of `numpy` that it needs where its graphs do
        not tell (`sessrun.spec.releases`).
      isolated: whether it disturbs other sessions of its process (a reset).
      deadline_s: seconds that one step may take.
      provenance: generator, seed, oracle.

    """

    id: str
    title: str
    surface: Literal["engine", "api"]
    clauses: tuple[str, ...]
    steps: tuple[Step, ...]
    graphs: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str | None] | None = None
    needs: tuple[str, ...] = ()
    release: Mapping[str, int] = field(default_factory=dict)
    isolated: bool = False
    deadline_s: float = 30.0
    provenance: JsonObject = field(default_factory=dict)
    _hash: str | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def from_json(cls, form: Json, source: str) -> Case:
        """Read a case.

        Raises:
          SpecError: it does not follow `case.schema.json`, or its hash is not its content's;
            the message names `source`, the place and the reason.

        """
        check(form, "case", source)
        assert isinstance(form, dict)  # the schema says so
        case = cls._of(form)
        try:
            actual = case.hash
        except (ValueError, RecursionError) as error:  # a number may not be finite
            raise SpecError(source, "", f"has no canonical JSON: {error}") from error
        if form.get("hash", actual) != actual:
            raise SpecError(source, "hash", f"content has hash {actual}, not {form['hash']}")
        return case

    @classmethod
    def from_checked(cls, form: Mapping[str, Any]) -> Case:
        """A case whose form has been checked before, its hash too."""
        case = cls._of(form)
        object.__setattr__(case, "_hash", form["hash"])
        return case

    @classmethod
    def _of(cls, form: Mapping[str, Any]) -> Case:
        body = {key: value for key, value in form.items() if key != "hash"}
        for key in ("clauses", "steps", "needs"):
            body[key] = tuple(body.get(key, ()))
        return cls(**body)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, without the fields that hold their defaults, with the hash."""
        form = self.content()
        if self.provenance:
            form["provenance"] = dict(self.provenance)
        return form | {"hash": self.hash}

    def content(self) -> dict[str, Any]:
        """What the hash covers: everything but the provenance."""
        form: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "surface": self.surface,
            "clauses": list(self.clauses),
            "steps": list(self.steps),
        }
        if self.graphs:
            form["graphs"] = dict(self.graphs)
        if self.files is not None:
            form["files"] = dict(self.files)
        if self.needs:
            form["needs"] = list(self.needs)
        if self.release:
            form["release"] = dict(self.release)
        if self.isolated:
            form["isolated"] = True
        if self.deadline_s != 30.0:
            form["deadline_s"] = self.deadline_s
        return form

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the content, computed when first asked for."""
        if self._hash is None:
            object.__setattr__(self, "_hash", content_hash(self.content()))
        assert self._hash is not None
        return self._hash


def stored_form(case: Case) -> bytes:
    """The bytes of a vector's file."""
    return (laid_out(readable(case.to_json())) + "\n").encode()


@dataclass(frozen=True, slots=True)
class AskedCase:
    """What a backend is sent of an API case: what to do, and nothing of what is expected.

    Attributes:
      steps: the steps without expectations, reasons and clauses; `observe` marks those whose
        value is observed, whatever is expected of it.
      files: as in `Case`.

    """

    steps: tuple[Step, ...]
    files: Mapping[str, str | None] | None = None

    @property
    def id(self) -> str:
        """The same for every case."""
        return "case"

    @classmethod
    def from_json(cls, form: Json, source: str) -> AskedCase:
        """Read an asked case.

        Raises:
          SpecError: it does not follow `asked.schema.json`.

        """
        check(form, "asked", source)
        assert isinstance(form, dict)  # the schema says so
        return cls(tuple(form["steps"]), form.get("files"))

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        form: dict[str, Any] = {"steps": list(self.steps)}
        return form if self.files is None else form | {"files": dict(self.files)}


def asked(case: Case) -> AskedCase:
    """What a backend is sent of a case: nothing in it tells which case it is, or what is right."""
    return AskedCase(tuple(map(_asked_step, case.steps)), case.files)


def _asked_step(step: Step) -> Step:
    form = step.copy()
    form.pop("expect", None)  # what only the host needs
    form.pop("why", None)
    form.pop("clause", None)
    if "steps" in step:
        form["steps"] = [_asked_step(inner) for inner in step["steps"]]
    bound_only = step["do"] == "eval" and "as" in step and "expect" not in step
    if step["do"] not in _SILENT and not bound_only:
        form["observe"] = True
    return form


def canonical_json(form: Json) -> bytes:
    """RFC 8785 for the JSON that the spec writes: sorted keys, no spaces, UTF-8, no NaN.

    Floats never need RFC 8785's number rules: cases carry them as `$float` or inside tensors,
    and the few plain ones (deadlines) print alike.
    """
    text = json.dumps(
        form, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def content_hash(form: Json) -> str:
    """SHA-256, in hex, of the canonical JSON."""
    return hashlib.sha256(canonical_json(form)).hexdigest()


def clauses_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """The clauses that steps name, and the matchers of what they expect; sorted."""
    named: set[str] = set()
    for _, step in walk(steps):
        if "clause" in step:
            named.add(step["clause"])
        named.update(_clauses_within(members(step.get("expect", {}))))
    return tuple(sorted(named))


def _clauses_within(matcher: Json) -> Iterator[str]:
    if isinstance(matcher, dict):
        if matcher.keys() == {"clause", "is"}:
            yield str(matcher["clause"])
        oracle = matcher.get("oracle")
        if isinstance(oracle, dict):
            yield from oracle.get("clauses", ())
        for part in matcher.values():
            yield from _clauses_within(part)
    elif isinstance(matcher, list):
        for part in matcher:
            yield from _clauses_within(part)


def walk(steps: Sequence[Step], prefix: str = "") -> Iterator[tuple[str, Step]]:
    """Every step with its path (`0`, `3.1`), outer before inner."""
    for index, step in enumerate(steps):
        path = f"{prefix}{index}"
        yield path, step
        yield from walk(step.get("steps", ()), f"{path}.")
