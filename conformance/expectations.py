"""Expectations: what a backend is known to fail; they change an exit status, never a verdict.

[[expect]]
clause = "PLACEMENT-004"      # or vector = "placement/*", a pattern of case ids; or lacks =
                              # "op Betainc", "dtype int8", "state": what cases are refused for
expected = "fail"
why = "no second CPU device"
platform = "Darwin"           # only there, as Python's platform.system() names it
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
from typing import Any, Final

from sessrun.spec.cases.lacks import is_undeclared, lack_of
from sessrun.spec.forms import JsonObject
from sessrun.spec.loader import load_clauses, read_toml
from sessrun.spec.records import QUIET, RunRecord, blamed
from sessrun.spec.schema import SpecError, check
from sessrun.spec.volumes import no_clause

__all__ = ["Expectation", "Review", "draft", "load_expectations", "review", "review_lines"]

#: The result that no expectation can excuse: the suite's own fault.
_OURS: Final = "infra_error"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry: which cases (by clause, pattern or lack), what result, why, until when."""

    expected: str
    why: str
    clause: str | None = None
    vector: str | None = None
    lacks: str | None = None
    platform: str | None = None
    bug: str | None = None
    expires: datetime.date | None = None
    waiver: bool = False

    @property
    def about(self) -> str:
        """The clause, the pattern or the lack that the entry is about."""
        return self.clause or self.vector or self.lacks or ""

    @property
    def here(self) -> bool:
        """Whether the entry holds on this platform."""
        return self.platform is None or self.platform == platform.system()

    def expired(self, today: datetime.date) -> bool:
        """Whether its date has passed."""
        return self.expires is not None and self.expires < today

    def covers(self, line: Mapping[str, Any]) -> bool:
        """Whether the entry is about the case of a result line (`id`, `clauses`, `finding`), here.

        An entry of a clause covers only the lines that blame this clause.
        """
        if not self.here:
            return False
        if self.clause is not None:
            return self.clause in blamed(line)
        if self.lacks is not None:
            return self.lacks == _lack(line)
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

    @property
    def complaints(self) -> tuple[str, ...]:
        """The faults of the entries, in sentences."""
        expired = (f"the expectation of {e.about} expired on {e.expires}" for e in self.expired)
        passed = (
            f"all that the expectation of {e.about} speaks of passes: remove the entry"
            for e in self.passed
        )
        return (*expired, *passed)


def load_expectations(path: Path) -> tuple[Expectation, ...]:
    """Read `expectations/<backend>.toml`.

    Raises:
      SpecError: it is not one: no TOML, against the schema, an unknown clause, no date.

    """
    table = read_toml(path)
    check(table, "expectations", str(path))
    entries = []
    for index, form in enumerate(table.get("expect", ())):
        entry = f"expect.{index}"
        expires = form.get("expires")
        if expires is not None and type(expires) is not datetime.date:
            raise SpecError(str(path), f"{entry}.expires", "a date such as 2027-01-01 is needed")
        clause = form.get("clause")
        if clause is not None and clause not in load_clauses():
            raise SpecError(str(path), f"{entry}.clause", no_clause(clause))
        entries.append(Expectation(**form))
    return tuple(entries)


def review(record: RunRecord, expectations: Iterable[Expectation], today: datetime.date) -> Review:
    """Hold a run against its expectations."""
    return review_lines(record.results.values(), expectations, today)


def review_lines(
    lines: Iterable[Mapping[str, Any]], expectations: Iterable[Expectation], today: datetime.date
) -> Review:
    """As `review`, from lines with `id`, `clauses` and `result`; a case not run has no result."""
    entries = tuple(expectations)
    unexpected = []
    covered: dict[Expectation, list[str]] = {entry: [] for entry in entries}
    for line in lines:
        fitting = [entry for entry in entries if entry.covers(line)]
        for entry in fitting:
            covered[entry].append(line["result"])
        fine = line["result"] in QUIET | {entry.expected for entry in fitting}
        if not fine and not _is_undeclared(line):
            unexpected.append(line["id"])
    passed = [e for e, results in covered.items() if results and set(results) == {"pass"}]
    expired = [e for e in entries if e.expired(today)]
    return Review(tuple(unexpected), tuple(passed), tuple(expired))


def draft(record: RunRecord, old: Iterable[Expectation] = ()) -> str:
    """The TOML of an expectations file for what this run shows.

    Old entries that still hold for a case, or speak of another platform, are kept as they are;
    those that hold for none are dropped; what no entry covers gets a new one: for a refusal that
    says what is lacking one for all that lack it, for anything else one for the case. What the
    backend declares not to do needs none.
    """
    bad = [
        line
        for line in record.results.values()
        if line["result"] not in {*QUIET, _OURS} and not _is_undeclared(line)
    ]
    kept = [entry for entry in old if not entry.here or any(_holds(entry, line) for line in bad)]
    new = [_entry(line) for line in bad if not any(_holds(entry, line) for entry in kept)]
    return "\n".join(_block(entry) for entry in dict.fromkeys((*kept, *new)))


def _entry(line: Mapping[str, Any]) -> Expectation:
    lack = _lack(line)
    if lack is not None:
        return Expectation(line["result"], f"it does not offer {lack}", lacks=lack)
    return Expectation(line["result"], _why(line), vector=line["id"])


def _lack(line: JsonObject) -> str | None:
    """The capability that a refused case lacked; None for any other case."""
    return lack_of(_reason(line)) if line["result"] == "unsupported" else None


def _is_undeclared(line: JsonObject) -> bool:
    return line["result"] == "unsupported" and is_undeclared(_reason(line))


def _reason(line: Mapping[str, Any]) -> str:
    return str((line.get("finding") or {}).get("reason", ""))


def _holds(entry: Expectation, line: JsonObject) -> bool:
    return entry.covers(line) and entry.expected == line["result"]


def _why(line: Mapping[str, Any]) -> str:
    finding = line.get("finding") or {}
    reason = finding.get("reason") or line.get("detail") or line["result"]
    return str(reason)[:200]


def _block(entry: Expectation) -> str:
    lines = ["[[expect]]"]
    for key in ("clause", "vector", "lacks", "platform", "expected", "why", "bug"):
        value = getattr(entry, key)
        if value is not None:
            lines.append(f"{key} = {_quoted(value)}")
    if entry.expires is not None:
        lines.append(f"expires = {entry.expires.isoformat()}")
    if entry.waiver:
        lines.append("waiver = true")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string; what TOML cannot hold (half a surrogate pair) becomes U+FFFD."""
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    escaped = clean.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
