"""Failures grouped by cause, what mending each would gain, and the command that replays a case."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports.causes import cause_of
from sessrun.reports.plan import PlannedCase
from sessrun.reports.summary import FailureGroup
from sessrun.spec.records import QUIET, blamed

__all__ = ["Answer", "group_failures", "replay_command", "replay_name"]

#: Results that say nothing of the case itself: it was declined, or no answer came.
_UNANSWERED: Final = frozenset({"unsupported", "missing"})
#: The gravest first, where mending either of two groups would gain as much.
_GRAVITY: Final = (
    "infra_error",
    "crash",
    "timeout",
    "error",
    "fail",
    "flaky",
    "missing",
    "unsupported",
)
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """A planned case and its result.

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


def group_failures(answers: Sequence[Answer], blocked: Collection[str]) -> tuple[FailureGroup, ...]:
    """What went wrong by its cause, first what gains most when it is mended.

    That is: the more cases of it, then the more clauses that nothing else keeps from counting. A
    fault of the suite itself comes before all others, since it voids the run.

    Args:
      answers: what counts for each planned case.
      blocked: the clauses that stand in the way of certification.

    """
    causes: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        if answer.result not in QUIET and answer.counts:
            cause = cause_of(answer.case, answer.result, answer.reason)
            causes.setdefault((answer.result, cause), []).append(answer)
    keys_of: dict[str, set[tuple[str, str]]] = {}
    for key, members in causes.items():
        for id_ in {clause for answer in members for clause in answer.clauses}:
            keys_of.setdefault(id_, set()).add(key)
    groups = [
        _group(*key, members, [id_ for id_ in blocked if keys_of.get(id_) == {key}])
        for key, members in causes.items()
    ]
    return tuple(sorted(groups, key=_rank))


def _rank(group: FailureGroup) -> tuple[bool, int, int, int, str]:
    return (
        group.result != "infra_error",
        -len(group.cases),
        -len(group.unblocks),
        _GRAVITY.index(group.result),
        group.signature,
    )


def _group(
    result: str, cause: str, members: Sequence[Answer], unblocks: Iterable[str]
) -> FailureGroup:
    first = members[0]
    signature = hashlib.sha256(f"{result}\n{cause}".encode("utf-8", "surrogatepass"))
    return FailureGroup(
        signature=signature.hexdigest()[:8],
        result=result,
        family=first.case.family,
        cause=cause,
        reason=first.reason,
        clauses=tuple(sorted({clause for answer in members for clause in answer.clauses})),
        unblocks=tuple(sorted(unblocks)),
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
      result: the case's result.
      backend: the backend as the command line names it.
      folder: where the replay files lie.

    """
    what = case if result in _UNANSWERED else f"{folder}/{replay_name(case)}"
    return f"sessrun replay {shlex.quote(what)} --backend {shlex.quote(backend)}"
