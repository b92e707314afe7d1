"""Failures grouped by signature, and the command that replays one of them."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports.plan import PlannedCase
from sessrun.reports.summary import FailureGroup
from sessrun.spec.records import QUIET, blamed

__all__ = ["Answer", "group_failures", "replay_command", "replay_name"]

#: Results that say nothing of the case itself: what was declined, that nobody answered.
_UNANSWERED: Final = frozenset({"unsupported", "missing"})
#: The gravest first: the order in which groups are shown.
_GRAVITY: Final = (
    "infra_error", "crash", "timeout", "error", "fail", "flaky", "missing", "unsupported",
)  # fmt: skip
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBER: Final = re.compile(
    r"[-+]?(?:0x[0-9a-f]+|\d[\d_.]*(?:e[-+]?\d+)?|\b(?:nan|inf)\b)", re.IGNORECASE
)
_LIST: Final = re.compile(r"\[[#,\s.()\[\]]*\]")
#: How much of a reason is looked at; a record keeps no more of it.
_WORDS: Final = 2000
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """A planned case and what became of it.

    Attributes:
      case: the case.
      result: the result that counts for it.
      line: its line of the record, if any.
      declared: whether the backend declares what it needs.

    """

    case: PlannedCase
    result: str
    line: Mapping[str, Any] | None
    declared: bool = True

    @property
    def counts(self) -> bool:
        """Whether a verdict rests on it: not on what is not declared, and refused."""
        return self.declared or self.result != "unsupported"

    @property
    def finding(self) -> Mapping[str, Any]:
        """Step, reason, want and got; empty where there is none."""
        return (self.line or {}).get("finding") or {}

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that the result speaks of: the one a failing step names, else the case's."""
        return blamed({"clauses": self.case.clauses, "finding": self.finding})

    @property
    def replayable(self) -> bool:
        """Whether it was answered wrongly: then it has a replay file."""
        return self.line is not None and self.result not in QUIET | _UNANSWERED

    @property
    def reason(self) -> str:
        """Why it went wrong, in words for people."""
        if self.line is None:
            return "the case was planned, but not answered"
        words: str = self.finding.get("reason") or self.line.get("detail") or self.result
        return words


def group_failures(answers: Iterable[Answer]) -> tuple[FailureGroup, ...]:
    """Group what went wrong: the gravest result first, then the larger group."""
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.result not in QUIET and answer.counts:
            groups.setdefault(_signature(answer), []).append(answer)
    found = [_group(signature, members) for signature, members in groups.items()]
    return tuple(
        sorted(
            found,
            key=lambda group: (_GRAVITY.index(group.result), -len(group.cases), group.signature),
        )
    )


def _signature(answer: Answer) -> str:
    # Cases alike in all but the values they were given fail alike: numbers and quoted names go.
    reason = answer.reason[:_WORDS]
    words = _LIST.sub("[…]", _NUMBER.sub("#", _QUOTED.sub("'…'", reason)))[:200]
    family = "" if answer.result in _UNANSWERED else answer.case.family
    text = f"{answer.result}\n{family}\n{words}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _group(signature: str, members: list[Answer]) -> FailureGroup:
    first = members[0]
    return FailureGroup(
        signature=signature,
        result=first.result,
        family=first.case.family,
        reason=first.reason,
        clauses=tuple(sorted({clause for answer in members for clause in answer.clauses})),
        cases=tuple(answer.case.id for answer in members),
        step=first.finding.get("step"),
        want=first.finding.get("want"),
        got=first.finding.get("got"),
    )


def replay_name(case: str) -> str:
    """The file name of a case's replay: readable, safe on every file system, unambiguous."""
    digest = hashlib.sha256(case.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_UNSAFE.sub('_', case)[:80].strip('._') or 'case'}-{digest}.json"


def replay_command(case: str, result: str, backend: str, folder: str = "replays") -> str:
    """The command line that runs one case again: from its replay file, or by its id without one.

    Args:
      case: the case's id.
      result: what became of it.
      backend: the backend as the command line names it.
      folder: where the replay files lie.

    """
    what = case if result in _UNANSWERED else f"{folder}/{replay_name(case)}"
    return f"sessrun replay {shlex.quote(what)} --backend {shlex.quote(backend)}"
