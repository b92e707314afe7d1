"""Many certificates side by side: engines and their releases, profiles, subjects of clauses."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sessrun.reports.certificate import Certificate
from sessrun.reports.diff import Diff, diff
from sessrun.reports.summary import Summary

__all__ = ["Board", "Cell", "Entry", "Step", "cells_of", "slug_of"]

_NOT_A_SLUG: Final = re.compile(r"[^a-z0-9]+")
#: Results of a clause that no case tests on this backend.
_IDLE: Final = frozenset({"not applicable here", "not declared"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A subject in one certificate.

    Attributes:
      subject: the subject.
      held: how many of its required clauses hold, of those that apply.
      required: how many apply.
      broken: how many are broken.
      passed: how many of its planned cases passed.
      planned: how many were planned.

    """

    subject: str
    held: int
    required: int
    broken: int
    passed: int
    planned: int

    @property
    def state(self) -> str:
        """`idle`: nothing applies; `good`: all holds; `bad`: a clause is broken; else `open`."""
        if not self.required:
            return "idle"
        if self.held == self.required:
            return "good"
        return "bad" if self.broken else "open"


def cells_of(summary: Summary) -> dict[str, Cell]:
    """The cells of a certificate by subject; of subjects of which the profile requires a clause."""
    cases = {subject.subject: subject for subject in summary.subjects}
    cells = {}
    required = sorted((c for c in summary.clauses if c.required), key=lambda c: c.subject)
    for subject, members in itertools.groupby(required, key=lambda clause: clause.subject):
        here = [clause for clause in members if clause.result not in _IDLE]
        counted = cases[subject]
        cells[subject] = Cell(
            subject=subject,
            held=sum(clause.result == "holds" and not clause.in_part for clause in here),
            required=len(here),
            broken=sum(clause.result == "broken" for clause in here),
            passed=counted.counts.get("pass", 0),
            planned=counted.planned,
        )
    return cells


@dataclass(frozen=True)
class Entry:
    """A certificate on the board.

    Attributes:
      certificate: the certificate.
      slug: the name of its page, without `.html`; no other entry has it.

    """

    certificate: Certificate
    slug: str

    @property
    def summary(self) -> Summary:
        """The certificate's summary."""
        return self.certificate.summary

    @property
    def engine(self) -> str:
        """The engine's name."""
        return str(self.certificate.backend["name"])

    @property
    def version(self) -> str:
        """The engine's version."""
        return str(self.certificate.backend["version"])

    @property
    def profile(self) -> str:
        """The profile."""
        return self.summary.profile

    @cached_property
    def cells(self) -> Mapping[str, Cell]:
        """Its cells by subject."""
        return cells_of(self.summary)


@dataclass(frozen=True, slots=True)
class Step:
    """Two releases of an engine that follow one another in a profile, and what changed."""

    old: Entry
    new: Entry
    diff: Diff


class Board:
    """Certificates in the order in which they are shown: by engine, the newest release first."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self.entries: tuple[Entry, ...] = tuple(_entries(certificates))

    @cached_property
    def profiles(self) -> Mapping[str, tuple[Entry, ...]]:
        """The entries of each profile."""
        names = dict.fromkeys(sorted(entry.profile for entry in self.entries))
        return {name: tuple(e for e in self.entries if e.profile == name) for name in names}

    @cached_property
    def releases(self) -> Mapping[str, tuple[Step, ...]]:
        """Of each engine with several entries in a profile, the steps from each to the next."""
        steps: dict[str, list[Step]] = {}
        for entries in self.profiles.values():
            for new, old in itertools.pairwise(entries):
                if new.engine == old.engine:
                    difference = diff(old.certificate, new.certificate)
                    steps.setdefault(new.engine, []).append(Step(old, new, difference))
        return {engine: tuple(taken) for engine, taken in steps.items()}

    @cached_property
    def engines(self) -> Mapping[str, str]:
        """The name of each engine's pages, without `.html`."""
        slugs: dict[str, str] = {}
        for engine in dict.fromkeys(entry.engine for entry in self.entries):
            slugs[engine] = _unused(slug_of(engine), engine, slugs.values())
        return slugs


def slug_of(text: str) -> str:
    """The text as the name of a file and of a page: lower case ASCII letters, digits, hyphens."""
    return _NOT_A_SLUG.sub("-", text.lower()).strip("-")[:32].strip("-") or "engine"


def _entries(certificates: Sequence[Certificate]) -> Iterator[Entry]:
    newest_first = sorted(certificates, key=_age, reverse=True)
    slugs: list[str] = []
    for certificate in sorted(newest_first, key=lambda c: str(c.backend["name"]).casefold()):
        backend = certificate.backend
        parts = (backend["name"], backend["version"], certificate.summary.profile)
        wanted = "-".join(slug_of(str(part)) for part in parts)
        manifest = certificate.package.files["manifest.json"].decode("ascii")
        slugs.append(_unused(wanted, manifest, slugs))
        yield Entry(certificate, slugs[-1])


def _unused(slug: str, content: str, taken: Collection[str]) -> str:
    """The slug; with a digest of the content behind it, where another has it."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug in taken else slug


def _age(certificate: Certificate) -> tuple[list[tuple[bool, int, str]], str]:
    """What orders releases: the numbers in the version by their size, then the day."""
    parts = re.split(r"([0-9]+)", str(certificate.backend["version"]))
    version = [(p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts if p]
    return version, str(certificate.summary.header.get("started", ""))
