"""What changed between two certificates of a profile: by clause, by operation and dtype, by case.

A regression is what passed in the old one and does not in the new one: a verdict, a clause that
held, a cell of the table of operations that was right, a case. What does not apply to the new
machine is none. Cases are compared where both plans have the same case: fixed ones always, drawn
ones if the seed is the same. A clause that was withdrawn is followed to its successors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessrun.reports.causes import named_lacks
from sessrun.reports.certificate import Certificate
from sessrun.reports.failures import Answer
from sessrun.reports.summary import CERTIFIED, ClauseSummary
from sessrun.spec.volumes import successors

__all__ = ["Change", "Diff", "DiffError", "Kind", "diff"]

Kind = Literal["regression", "progress", "other"]

#: What a clause's result is worth; what is not in it is worth nothing.
_WORTH: Final[Mapping[str, int]] = {"holds": 2, "holds in part": 1}
#: Facts of a certificate that are listed where they differ: name, and where the header has it.
_FACTS: Final = (
    ("backend", ("backend", "name")),
    ("version", ("backend", "version")),
    ("sessrun", ("sessrun",)),
    ("spec", ("spec", "version")),
    ("spec digest", ("spec", "digest")),
    ("suite", ("suite",)),
    ("seed", ("seed", "value")),
    ("system", ("environment", "system")),
    ("processor", ("environment", "processor")),
    ("python", ("environment", "python")),
)


class DiffError(ValueError):
    """Two certificates have nothing to compare."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that both certificates speak of, and differently.

    Attributes:
      about: a clause's id, `operation dtype`, or a case's id.
      before: what the old certificate states.
      after: what the new certificate states.
      kind: regression, progress, or neither.
      reason: why the new one says so, or empty.

    """

    about: str
    before: str
    after: str
    kind: Kind
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """The JSON form."""
        form = {
            "about": self.about,
            "before": self.before,
            "after": self.after,
            "kind": self.kind,
        }
        return form | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference of two certificates.

    Attributes:
      old: name and version of the old backend.
      new: name and version of the new one.
      profile: the profile of both.
      facts: what differs about the runs themselves.
      verdict: the two verdicts.
      held: how many required clauses hold, and of how many, in the old one and in the new one.
      clauses: clauses with another result.
      cells: cells of operation and dtype that came out otherwise.
      lacks: `op NAME` and `dtype NAME` that only the old one, or only the new one declines.
      cases: cases with another result.
      changed: cases whose content is another one, by id.
      added: cases that only the new one has, of those that can be compared.
      removed: cases that only the old one has, of those that can be compared.
      incomparable: how many drawn cases the new one has that other seeds drew.

    """

    old: str
    new: str
    profile: str
    facts: tuple[Change, ...]
    verdict: Change
    held: tuple[tuple[int, int], tuple[int, int]]
    clauses: tuple[Change, ...]
    cells: tuple[Change, ...]
    lacks: tuple[Change, ...]
    cases: tuple[Change, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    incomparable: int

    @property
    def regressions(self) -> tuple[Change, ...]:
        """Everything that passed and does not now."""
        changes = (self.verdict, *self.clauses, *self.cells, *self.cases)
        return tuple(change for change in changes if change.kind == "regression")

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        changes = ("facts", "clauses", "cells", "lacks", "cases")
        return {
            "diff": 1,
            "old": self.old,
            "new": self.new,
            "profile": self.profile,
            "verdict": self.verdict.to_json(),
            "held": [{"holds": holds, "required": required} for holds, required in self.held],
            "regressions": len(self.regressions),
            **{name: [change.to_json() for change in getattr(self, name)] for name in changes},
            **{name: list(getattr(self, name)) for name in ("changed", "added", "removed")},
            "incomparable": self.incomparable,
        }


def diff(old: Certificate, new: Certificate) -> Diff:
    """What changed from one certificate to another.

    Raises:
      DiffError: they are of two profiles.

    """
    if old.summary.profile != new.summary.profile:
        raise DiffError(
            f"the old package is of the profile {old.summary.profile!r}, the new one of "
            f"{new.summary.profile!r}: only packages of one profile can be compared"
        )
    seeds = {side.package.plan.seed for side in (old, new)}
    before, after = (_comparable(side, len(seeds) == 1) for side in (old, new))
    changed = [id_ for id_ in before if id_ in after and _hash(before, id_) != _hash(after, id_)]
    same = [id_ for id_ in before if id_ in after and _hash(before, id_) == _hash(after, id_)]
    return Diff(
        old=old.name,
        new=new.name,
        profile=new.summary.profile,
        facts=tuple(_facts(old, new)),
        verdict=_verdict(old, new),
        held=(_held(old), _held(new)),
        clauses=tuple(_clauses(old.summary.clauses, new.summary.clauses)),
        cells=tuple(_cells(old, new)),
        lacks=tuple(_lacks(old, new)),
        cases=tuple(_cases((before[id_], after[id_]) for id_ in same)),
        changed=tuple(changed),
        added=tuple(id_ for id_ in after if id_ not in before),
        removed=tuple(id_ for id_ in before if id_ not in after),
        incomparable=len(new.answers) - len(after),
    )


def _comparable(side: Certificate, same_seed: bool) -> dict[str, Answer]:
    return {a.case.id: a for a in side.answers if same_seed or not a.case.generated}


def _hash(answers: Mapping[str, Answer], id_: str) -> str:
    return answers[id_].case.hash


def _facts(old: Certificate, new: Certificate) -> Iterator[Change]:
    for name, path in _FACTS:
        before, after = (_at(side.summary.header, path) for side in (old, new))
        if before != after:
            yield Change(name, before, after, "other")


def _at(header: Mapping[str, Any], path: Sequence[str]) -> str:
    value: Any = header
    for key in path:
        value = value.get(key, "not recorded") if isinstance(value, Mapping) else value
    return str(value)


def _verdict(old: Certificate, new: Certificate) -> Change:
    before, after = old.summary.verdict, new.summary.verdict
    return Change("verdict", before, after, _kind(_verdict_worth(before), _verdict_worth(after)))


def _verdict_worth(verdict: str) -> int:
    """What a verdict is worth; all that neither certify nor would, without a GPU, nothing."""
    return 2 if verdict in CERTIFIED else int(verdict == "SIMULATED")


def _held(side: Certificate) -> tuple[int, int]:
    required = side.summary.required
    return required["holds"] - required["in part"], required["total"]


def _clauses(old: Sequence[ClauseSummary], new: Sequence[ClauseSummary]) -> Iterator[Change]:
    by_worth = sorted(old, key=lambda clause: _WORTH.get(clause.words, 0), reverse=True)
    before = {id_: clause.words for clause in by_worth for id_ in successors(clause.id)}
    before |= {clause.id: clause.words for clause in old}
    for clause in new:
        was = before.get(clause.id)
        if was is not None and was != clause.words:
            idle = "not applicable here" in {was, clause.words}
            kind = "other" if idle else _kind(_WORTH.get(was, 0), _WORTH.get(clause.words, 0))
            rest = ", ".join(f"{n:,} {result}" for result, n in clause.counts.items())
            yield Change(clause.id, was, clause.words, kind, f"{rest}: {clause.statement}")


def _cells(old: Certificate, new: Certificate) -> Iterator[Change]:
    if old.summary.coverage is None or new.summary.coverage is None:
        return
    after = new.summary.coverage.rows
    for operation, row in old.summary.coverage.rows.items():
        for dtype, was in row.items():
            state = after.get(operation, {}).get(dtype)
            if state is not None and state != was:
                kind = _kind(was == "right", state == "right")
                yield Change(f"{operation} {dtype}", was, state, kind)


def _lacks(old: Certificate, new: Certificate) -> Iterator[Change]:
    before, after = (
        {" ".join(named) for g in side.summary.failures if (named := named_lacks(g.cause))}
        for side in (old, new)
    )
    for name in sorted(before ^ after):
        offered = name in before
        words = ("declined", "not declined") if offered else ("not declined", "declined")
        yield Change(name, *words, "progress" if offered else "other")


def _cases(pairs: Iterable[tuple[Answer, Answer]]) -> Iterator[Change]:
    for old, new in pairs:
        if old.result != new.result:
            skipped = "skipped" in {old.result, new.result}
            kind = "other" if skipped else _kind(old.result == "pass", new.result == "pass")
            reason = "" if new.result == "pass" else new.reason
            yield Change(new.case.id, old.result, new.result, kind, reason)


def _kind(before: int, after: int) -> Kind:
    if before == after:
        return "other"
    return "regression" if before > after else "progress"
