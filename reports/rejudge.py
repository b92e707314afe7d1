"""The verifier's judge: each line of a record compared with the case and its own observations.

A result that observations decide must be the one that they give; any other must come without
them. What was left out as too large must have been large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports.plan import PlanFacts
from sessrun.reports.printable import shortened
from sessrun.spec.cases.audit import audit
from sessrun.spec.cases.facts import facts_of
from sessrun.spec.cases.forms import members
from sessrun.spec.cases.judge import Finding, Judgement, clause_of, judge, oracle_steps
from sessrun.spec.cases.model import Case, Observation, canonical_json, walk
from sessrun.spec.cases.steady import KEEP_BYTES, finding_form, is_kept
from sessrun.spec.inference import DECLARATION, Offer, demand_of, is_probe
from sessrun.spec.records import FIRST_TRY, RunRecord
from sessrun.spec.releases import needed_release

__all__ = ["Rejudged", "judge_anew"]

#: Results that observations decide, and what they must be judged to be. A flaky case keeps the
#: first of its two answers, a failure; it has none if the worker was lost.
_DECIDED: Final[Mapping[str, str]] = {
    "pass": "pass",
    "fail": "fail",
    "unsupported": "unsupported",
    "error": "error",
    "flaky": "fail",
}
#: Results of a judgement that has something to say.
_EXPLAINED: Final = frozenset({"fail", "flaky", "unsupported"})
#: Results of a case whose backend was lost at a step.
_LOST: Final = frozenset({"timeout", "crash"})
#: What a case was recorded to be that could not be put to the backend here.
_NOT_ASKED: Final = frozenset({"skipped", "missing"})

Oracle = Callable[[Case], Sequence[Observation]]


@dataclass(frozen=True, slots=True)
class Rejudged:
    """How many cases were judged again, and what contradicts the record."""

    judged: int
    faults: tuple[str, ...]


def judge_anew(
    record: RunRecord,
    plan: PlanFacts,
    case_of: Callable[[str], Case],
    oracle: Oracle | None = None,
) -> Rejudged:
    """Judge the recorded observations again.

    Args:
      record: the record.
      plan: the plan that it should have followed.
      case_of: makes the case of a planned id.
      oracle: what a conforming backend answers; without one the cases that need its answer are
        left out, and what was left out of the record is not asked for.

    """
    judge_of = _Judge(record.header, oracle)
    faults: list[str] = []
    for planned in plan.cases:
        line = record.results.get(planned.id)
        if line is not None:
            faults += judge_of.faults(case_of(planned.id), line)
    return Rejudged(judge_of.judged, tuple(faults))


class _Judge:
    """Holds lines of one record against cases."""

    def __init__(self, header: Mapping[str, Any], oracle: Oracle | None) -> None:
        self.offer = Offer.of_header(header)
        self.facts = facts_of(header["environment"])
        self.in_process = header["mode"] == "in-process"
        self.oracle = oracle
        self.judged = 0

    def faults(self, case: Case, line: Mapping[str, Any]) -> Iterator[str]:
        """What speaks against a line, in sentences."""
        result = line["result"]
        yield from self._not_applicable(case, result)
        if result == "pass":
            extra = sorted({"finding", "detail", "attempts"} & line.keys())
            if extra:
                yield f"Case {case.id} is recorded as pass, and yet with a {extra[0]}."
        elif result in _EXPLAINED and not _explained(line):
            yield f"Case {case.id} is recorded as {result}, and nothing says why."
        if result in _LOST:
            yield from self._misplaced(case, line.get("finding"))
        seen = line.get("observations")
        if seen is None:
            yield from self._not_asked(case, result)
            yield from self._left_out(case, result)
        elif result not in _DECIDED:
            yield f"Case {case.id} is recorded as {result}, and yet with what it answered."
        elif self.oracle is not None or not oracle_steps(case):
            yield from self._differing(case, line, seen)

    def _not_applicable(self, case: Case, result: str) -> Iterator[str]:
        """A case that does not apply on that machine, or to that release, was not asked."""
        if not self.facts.issuperset(case.needs) and result not in _NOT_ASKED:
            yield f"Case {case.id} is recorded as {result}, but does not apply on that machine."
        older = self.offer.release.lacks(needed_release(case))
        if older and result not in {"unsupported", *_NOT_ASKED}:
            yield f"Case {case.id} is recorded as {result}, but needs {older}, a later release."

    def _misplaced(self, case: Case, finding: Mapping[str, Any] | None) -> Iterator[str]:
        """A case in which the backend was lost blames what the step names at which it was."""
        if finding is None:
            return
        step = dict(walk(case.steps)).get(finding["step"])
        lacks = self.offer.lacks(demand_of(case))
        if step is None or (DECLARATION if lacks else clause_of(step)) != finding.get("clause", ""):
            yield f"Case {case.id}: the recorded finding blames another clause than its step's."

    def _not_asked(self, case: Case, result: str) -> Iterator[str]:
        """Of what is not declared a part is asked all the same, to see that it is refused."""
        if self.offer.release.lacks(needed_release(case)):
            return
        lacks = self.offer.lacks(demand_of(case))
        if result == "unsupported" and lacks and is_probe(case, lacks):
            yield f"Case {case.id} was to be asked though the {lacks} is not declared, and was not."

    def _left_out(self, case: Case, result: str) -> Iterator[str]:
        """A pass answers what any conforming backend does: that tells how much it must be."""
        if result != "pass" or self.oracle is None:
            return
        seen = list(self.oracle(case))
        if (
            is_kept(seen)
            and len(canonical_json([members(entry) for entry in seen])) <= KEEP_BYTES // 2
        ):
            yield f"Case {case.id} is recorded as pass, but what it answered was left out."

    def _differing(self, case: Case, line: Mapping[str, Any], seen: Any) -> Iterator[str]:
        self.judged += 1
        judgement = self._judgement(case, seen)
        result = line["result"]
        if judgement.result != _DECIDED[result]:
            yield (
                f"Case {case.id} is recorded as {result}; its recorded observations, "
                f"judged anew, give {judgement.result}."
            )
        elif judgement.finding is not None and _differs(judgement.finding, line):
            yield f"Case {case.id}: the recorded finding is not what its observations give."

    def _judgement(self, case: Case, seen: Any) -> Judgement:
        try:
            expected = self.oracle(case) if self.oracle and oracle_steps(case) else None
            judgement = judge(case, seen, expected)
            if judgement.result == "pass" and self.in_process:
                return judgement
            return audit(case, judgement, seen, self.offer)
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            # Recorded observations are foreign data: the judge expects what interpreters yield.
            return Judgement(f"no result ({shortened(error, 120)})", Finding("", ""))


def _explained(line: Mapping[str, Any]) -> bool:
    """Whether a finding says why, or what became of the first of two workers."""
    lost = line["result"] == "flaky" and FIRST_TRY in line.get("detail", "")
    return bool(line.get("finding")) or lost


def _differs(finding: Finding, line: Mapping[str, Any]) -> bool:
    """Whether a line tells another finding; its words aside, which may hold numpy's."""
    ours, theirs = finding_form(finding), line.get("finding") or {}
    return any(
        canonical_json(ours.get(part)) != canonical_json(theirs.get(part))
        for part in ("step", "want", "got", "clause")
    )
