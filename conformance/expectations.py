"""Expectations: what a backend is known to fail; they change an exit status, never a verdict.

[[expect]]
clause = "PLACEMENT-004"      # or vector = "…"; platform and device narrow it
expected = "fail"
why = "no second CPU device"
bug = "https://…"
expires = 2027-01-01
waiver = true                 # the certificate then reads CERTIFIED WITH WAIVERS
"""

from __future__ import annotations

import datetime
import fnmatch
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessrun.spec.loader import read_toml
from sessrun.spec.records import RunRecord
from sessrun.spec.schema import check

__all__ = ["Expectation", "Review", "draft", "load_expectations", "review"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry: which cases (by clause or vector pattern), what result, why, until when."""

    expected: str
    why: str
    clause: str | None = None
    vector: str | None = None
    platform: str | None = None
    bug: str | None = None
    expires: datetime.date | None = None
    waiver: bool = False

    def covers(self, line: Mapping[str, Any]) -> bool:
        """Whether it speaks of the case of this result line, on this platform."""
        if self.platform is not None and self.platform != platform.system():
            return False
        if self.clause is not None:
            return self.clause in line["clauses"]
        return fnmatch.fnmatchcase(line["id"], self.vector or "")


@dataclass(frozen=True, slots=True)
class Review:
    """A run against its expectations; the exit status is 0 if all three are empty.

    Attributes:
      unexpected: ids that did not pass and that no entry covers with that result.
      passed: entries of which every case passed: to be removed.
      expired: entries past their date.

    """

    unexpected: tuple[str, ...]
    passed: tuple[Expectation, ...]
    expired: tuple[Expectation, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing was unexpected."""
        return not (self.unexpected or self.passed or self.expired)


def load_expectations(path: Path) -> tuple[Expectation, ...]:
    """Read `expectations/<backend>.toml`.

    Raises:
      SpecError: it is not one.

    """
    table = read_toml(path)
    check(table, "expectations", str(path))
    return tuple(Expectation(**entry) for entry in table.get("expect", ()))


def review(
    record: RunRecord, expectations: Iterable[Expectation], today: datetime.date
) -> Review:
    """Hold a run against its expectations."""
    entries = tuple(expectations)
    unexpected = []
    covered: dict[Expectation, list[str]] = {entry: [] for entry in entries}
    for id_, line in record.results.items():
        fitting = [entry for entry in entries if entry.covers(line)]
        for entry in fitting:
            covered[entry].append(line["result"])
        expected = {entry.expected for entry in fitting}
        if line["result"] not in {"pass", "skipped"} | expected:
            unexpected.append(id_)
    passed = [e for e, results in covered.items() if results and set(results) == {"pass"}]
    expired = [e for e in entries if e.expires is not None and e.expires < today]
    return Review(tuple(unexpected), tuple(passed), tuple(expired))


def draft(record: RunRecord, old: Iterable[Expectation] = ()) -> str:
    """The TOML of an expectations file for what this run shows, old reasons kept."""
    kept = list(old)
    blocks = []
    for line in record.results.values():
        if line["result"] in {"pass", "skipped"}:
            continue
        known = next((e for e in kept if e.covers(line) and e.expected == line["result"]), None)
        why = known.why if known else (line.get("finding") or {}).get("reason", line["result"])
        blocks.append(
            "[[expect]]\n"
            f"vector = {_quoted(line['id'])}\n"
            f"expected = {_quoted(line['result'])}\n"
            f"why = {_quoted(why[:200])}\n"
        )
    return "\n".join(blocks)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'
