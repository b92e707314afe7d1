"""The summary of a run: frozen data that every view shows and that a package stores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessrun.reports.coverage import Coverage

__all__ = [
    "BLOCKING",
    "CERTIFIED",
    "CLAUSE_RESULTS",
    "VERDICTS",
    "ClauseResult",
    "ClauseSummary",
    "FailureGroup",
    "SubjectSummary",
    "Summary",
    "Verdict",
    "Waiver",
]

Verdict = Literal[
    "CERTIFIED",
    "CERTIFIED WITH WAIVERS",
    "SIMULATED",
    "NOT CERTIFIED",
    "NOT APPLICABLE",
    "VOID",
]
ClauseResult = Literal["holds", "broken", "not applicable here", "not declared", "not tested"]

#: Every verdict, best first.
VERDICTS: Final[tuple[Verdict, ...]] = (
    "CERTIFIED",
    "CERTIFIED WITH WAIVERS",
    "SIMULATED",
    "NOT CERTIFIED",
    "NOT APPLICABLE",
    "VOID",
)
#: The verdicts that certify.
CERTIFIED: Final = VERDICTS[:2]
#: Every result of a clause.
CLAUSE_RESULTS: Final[tuple[ClauseResult, ...]] = (
    "holds",
    "broken",
    "not applicable here",
    "not declared",
    "not tested",
)
#: Results that keep a required clause from counting even where its other cases passed.
BLOCKING: Final = ("missing", "flaky", "timeout", "crash", "unsupported", "infra_error")


#: How a cause begins that is of one operation and its dtypes.
_ASKED: Final = re.compile(r"([A-Z]\w*) of [a-z0-9]+(?: and [a-z0-9]+)*: ")


@dataclass(frozen=True, slots=True)
class Waiver:
    """A clause that the certificate does without: which, why, the bug, until when (ISO date)."""

    clause: str
    why: str
    bug: str | None = None
    expires: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON form, without what is not given."""
        form = {"clause": self.clause, "why": self.why, "bug": self.bug, "expires": self.expires}
        return {key: value for key, value in form.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ClauseSummary:
    """The result of a run for one clause.

    Attributes:
      id: the clause's id.
      level: MUST, SHOULD or MAY.
      statement: its sentence.
      subject: its subject, lower case.
      surface: engine, api or both.
      profile: the profile it belongs to.
      required: whether the verdict rests on it: a MUST of the run's profile.
      result: holds, broken, not applicable here, not declared (all its cases need what the
        backend does not declare, in a profile of what is declared), not tested.
      waived: whether it stands in the way of certification and a waiver excuses that.
      blocked: whether it stands in the way of certification.
      vectors: ids of the planned vectors that test it, in plan order.
      generated: how many planned generated cases test it.
      counts: result of a case to how many planned cases of the clause had it; no zeros.

    """

    id: str
    level: str
    statement: str
    subject: str
    surface: str
    profile: str
    required: bool
    result: ClauseResult
    waived: bool
    blocked: bool
    vectors: tuple[str, ...]
    generated: int
    counts: Mapping[str, int]

    @property
    def tests(self) -> int:
        """How many planned cases test it."""
        return len(self.vectors) + self.generated

    @property
    def in_part(self) -> bool:
        """Whether it holds in what ran, and does not count for what was declined or lost."""
        return self.result == "holds" and self.blocked

    @property
    def words(self) -> str:
        """The result in words, with `holds in part` as a result of its own."""
        return "holds in part" if self.in_part else self.result

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "id": self.id,
            "level": self.level,
            "statement": self.statement,
            "subject": self.subject,
            "surface": self.surface,
            "profile": self.profile,
            "required": self.required,
            "result": self.result,
            "waived": self.waived,
            "blocked": self.blocked,
            "tests": self.tests,
            "vectors": list(self.vectors),
            "generated": self.generated,
            "counts": dict(self.counts),
        }


@dataclass(frozen=True, slots=True)
class SubjectSummary:
    """The planned cases that test a subject's clauses, each once: how many had which result."""

    subject: str
    planned: int
    counts: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {"subject": self.subject, "planned": self.planned, "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Cases that went wrong for one cause.

    Attributes:
      signature: eight hex digits, stable between runs.
      result: the result they share.
      family: the property, or the vectors' folder, that the first of them comes from.
      cause: the reason without what differs from case to case.
      reason: the reason of the first of them.
      clauses: the clauses they test, sorted.
      unblocks: the required clauses that nothing else keeps from counting, sorted.
      cases: their ids in plan order.
      step: the step of the first that failed, or None.
      want: what it should have answered, as JSON, or None.
      got: what it answered, as JSON, or None.

    """

    signature: str
    result: str
    family: str
    cause: str
    reason: str
    clauses: tuple[str, ...]
    unblocks: tuple[str, ...]
    cases: tuple[str, ...]
    step: str | None = None
    want: Any = None
    got: Any = None

    @property
    def answered(self) -> bool:
        """Whether the backend answered, or was lost; else it declined, or was not asked."""
        return self.result not in {"unsupported", "missing"}

    @property
    def operation(self) -> str:
        """The operation that its cases ask, each alone; empty if they ask more or none."""
        asked = _ASKED.match(self.cause)
        return asked[1] if asked is not None else ""

    @property
    def title(self) -> str:
        """What it is about, in a line: an example of what was wrong, or what is not offered."""
        if not self.answered:
            return self.cause
        asked = _ASKED.match(self.cause)
        return self.reason if asked is None else f"{asked[0]}{self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "signature": self.signature,
            "result": self.result,
            "family": self.family,
            "cause": self.cause,
            "reason": self.reason,
            "clauses": list(self.clauses),
            "unblocks": list(self.unblocks),
            "cases": list(self.cases),
            "step": self.step,
            "want": self.want,
            "got": self.got,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """All that reports say of a run.

    Attributes:
      header: the record's header, from which versions, backend and environment come.
      profile: the profile that is judged.
      verdict: the verdict on it.
      reasons: why, in sentences, the gravest first.
      complete: whether the record has its end.
      planned: how many cases were planned: the denominator of every share.
      counts: result to number of planned cases, every result of the record's set, zeros too.
      ran: how many `fixed` cases (vectors) ran, and how many `drawn` by the seed.
      clauses: the clauses of the profile, and those its planned cases test besides, by id.
      subjects: the subjects of those clauses.
      failures: cases that went wrong, by cause, first what gains most when it is mended.
      waivers: the waivers handed in.
      events: restarts and the like, as recorded.
      seconds: the sum of the times of all cases.
      coverage: what of the table of operations is declared, in a profile of what is declared.

    """

    header: Mapping[str, Any]
    profile: str
    verdict: Verdict
    reasons: tuple[str, ...]
    complete: bool
    planned: int
    counts: Mapping[str, int]
    ran: Mapping[str, int]
    clauses: tuple[ClauseSummary, ...]
    subjects: tuple[SubjectSummary, ...]
    failures: tuple[FailureGroup, ...]
    waivers: tuple[Waiver, ...]
    events: tuple[Mapping[str, Any], ...]
    seconds: float
    coverage: Coverage | None = None

    @property
    def required(self) -> dict[str, int]:
        """How many clauses the profile requires, how they came out, which hold only in part."""
        required = [clause for clause in self.clauses if clause.required]
        counts: dict[str, int] = {"total": len(required)}
        for result in CLAUSE_RESULTS:
            counts[result] = sum(clause.result == result for clause in required)
        counts["in part"] = sum(clause.in_part for clause in required)
        counts["waived"] = sum(clause.waived for clause in required)
        return counts

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as `summary.schema.json` describes it."""
        header = self.header
        return {
            "summary": 1,
            "sessrun": header["sessrun"],
            "spec": header["spec"],
            "suite": header["suite"],
            "plan": header["plan"],
            "seed": header["seed"],
            "backend": {key: header["backend"][key] for key in ("spec", "name", "version")},
            "started": header.get("started"),
            "mode": header["mode"],
            "complete": self.complete,
            "profile": self.profile,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "totals": {"planned": self.planned, **self.counts},
            "ran": dict(self.ran),
            "required": self.required,
            "clauses": [clause.to_json() for clause in self.clauses],
            "subjects": [subject.to_json() for subject in self.subjects],
            "failures": [group.to_json() for group in self.failures],
            "waivers": [waiver.to_json() for waiver in self.waivers],
            "events": len(self.events),
            "seconds": round(self.seconds, 3),
            "coverage": None if self.coverage is None else self.coverage.to_json(),
        }
