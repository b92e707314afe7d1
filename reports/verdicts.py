"""The rules that turn a run record into verdicts: pure, and the only place where they stand.

A clause *holds* if at least one of its cases ran and every case that ran passed. It is *not
applicable here* if all its cases were skipped for a fact that the host observed, *not declared* if
all need what the backend does not declare, or a later release than it is of, *not tested* if none
ran for any other reason, else *broken*. A case that failed at a step which names its clause speaks
of that one alone. A profile is CERTIFIED if every required clause (its MUST clauses) that applies
here holds and no case of one is missing, flaky, timeout, crash, unsupported or infra_error; on a
simulated GPU it is SIMULATED then, which certifies nothing. A waiver excuses what a backend was
seen to do, never a case that nobody answered; an infra_error voids the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.reports.coverage import coverage_of
from sessrun.reports.failures import Answer, group_failures
from sessrun.reports.plan import PlanFacts
from sessrun.reports.printable import number
from sessrun.reports.summary import (
    BLOCKING,
    CERTIFIED,
    ClauseResult,
    ClauseSummary,
    SubjectSummary,
    Summary,
    Verdict,
    Waiver,
)
from sessrun.spec.cases.facts import FACTS, facts_of
from sessrun.spec.inference import Offer
from sessrun.spec.loader import Clause
from sessrun.spec.records import RESULTS, RunRecord, is_simulated
from sessrun.spec.releases import Release
from sessrun.spec.scopes import Scope, scope_of

__all__ = ["absent_facts", "answers_of", "summarize"]

#: Results of a case that ran to an answer about the backend.
_RAN: Final = frozenset({"pass", "fail", "error", "timeout", "crash", "flaky"})
#: Results of a clause that no verdict rests on.
_ELSEWHERE: Final = frozenset({"not applicable here", "not declared"})
#: Results that no waiver excuses: what the backend would have done is unknown.
_UNWAIVABLE: Final = frozenset({"missing", "infra_error"})
#: How many ids a sentence names.
_SHOWN: Final = 6
_SKIP_PREFIX: Final = "not here: "
_SIMULATED: Final = (
    "The GPU was SIMULATED: what is right there may be wrong on a real one. This is no certificate."
)


def summarize(
    record: RunRecord,
    plan: PlanFacts,
    clauses: Mapping[str, Clause],
    profile: str,
    waivers: Sequence[Waiver] = (),
) -> Summary:
    """The summary of a run.

    Args:
      record: the run record.
      plan: the plan it should have followed; its cases are the denominator.
      clauses: the spec's clauses by id.
      profile: the profile to judge.
      waivers: the clauses that the certificate does without.

    """
    answers = answers_of(record, plan)
    problems = _problems(record, plan, answers)
    accepted = _accepted(waivers, record)
    judged = _judge_clauses(answers, clauses, profile, accepted, record)
    coverage = coverage_of(
        (answer.case.demand, answer.result, answer.declared)
        for answer in answers
        if any(clauses[id_].level == "MUST" for id_ in answer.clauses if id_ in clauses)
    )
    if coverage is not None and not coverage.declared_cells:
        problems = (*problems, "The backend declares no operation of the table.")
    verdict, reasons = _verdict(judged, problems, answers, profile)
    if is_simulated(record.header["backend"].get("details", {})):
        verdict, reasons = _of_simulated_gpus(verdict, reasons)
    if coverage is not None:
        reasons = (*reasons, coverage.words)
    reasons = (*reasons, *_later(answers, Offer.of_header(record.header).release))
    return Summary(
        header=record.header,
        profile=profile,
        verdict=verdict,
        reasons=(*reasons, *_waiver_notes(waivers, accepted, judged), *_undeclared(judged)),
        complete=record.complete,
        planned=len(answers),
        counts=_full_counts(answers),
        ran=_ran(answers),
        clauses=judged,
        subjects=_subjects(answers, judged),
        failures=group_failures(answers, [clause.id for clause in judged if clause.blocked]),
        waivers=tuple(waivers),
        events=tuple(record.events),
        seconds=sum(line["seconds"] for line in record.results.values()),
        coverage=coverage,
    )


def answers_of(record: RunRecord, plan: PlanFacts) -> tuple[Answer, ...]:
    """What counts for each planned case, in plan order.

    A case without a line, or whose line answers another content than was planned, is `missing`.
    """
    answers = []
    offer = Offer.of_header(record.header)
    for case in plan.cases:
        line = record.results.get(case.id)
        if line is None or line["hash"] != case.hash:
            answers.append(Answer(case, "missing", None))
        else:
            lacks = offer.release.lacks(case.release) or offer.lacks(case.demand)
            answers.append(Answer(case, line["result"], line, not lacks))
    return tuple(answers)


def absent_facts(line: Mapping[str, Any], environment: Mapping[str, Any]) -> frozenset[str]:
    """The facts for whose absence a case was skipped, as far as the environment bears it out.

    Empty if the line names none, or one that the recorded environment says is there: then the
    skip has no ground, since a backend's word never decides what applies.
    """
    detail = str(line.get("detail", ""))
    if not detail.startswith(_SKIP_PREFIX):
        return frozenset()
    named = frozenset(detail.removeprefix(_SKIP_PREFIX).split(", "))
    return named if named <= FACTS and not named & facts_of(environment) else frozenset()


def _unfounded(answer: Answer, record: RunRecord) -> bool:
    return (
        answer.result == "skipped"
        and answer.line is not None
        and not absent_facts(answer.line, record.header["environment"])
    )


def _problems(record: RunRecord, plan: PlanFacts, answers: Sequence[Answer]) -> tuple[str, ...]:
    """What about the run itself keeps it from certifying anything, in sentences."""
    header = record.header
    problems = []
    if header["plan"]["hash"] != plan.hash:
        problems.append("The record follows another plan than the one it is judged by.")
    if header["mode"] != "workers":
        problems.append("The run was made in-process, which is for debugging and cannot certify.")
    if not record.complete:
        problems.append("The record has no end: the run was cut.")
    planned = {case.id: case.hash for case in plan.cases}
    foreign = [id_ for id_ in record.results if id_ not in planned]
    if foreign:
        problems.append(f"{_listed(foreign, 'case')} answered outside the plan.")
    altered = [
        id_
        for id_, line in record.results.items()
        if id_ in planned and planned[id_] != line["hash"]
    ]
    if altered:
        problems.append(f"{_listed(altered, 'case')} answered with other content than planned.")
    unfounded = [answer.case.id for answer in answers if _unfounded(answer, record)]
    if unfounded:
        problems.append(f"{_listed(unfounded, 'case')} skipped without a fact that excludes it.")
    return tuple(problems)


def _accepted(waivers: Iterable[Waiver], record: RunRecord) -> dict[str, Waiver]:
    """The waivers that had not expired when the run started, by clause."""
    day = str(record.header.get("started", ""))[:10]
    return {
        waiver.clause: waiver
        for waiver in waivers
        if waiver.expires is None or (day and day <= waiver.expires)
    }


def _judge_clauses(
    answers: Sequence[Answer],
    clauses: Mapping[str, Clause],
    profile: str,
    waivers: Mapping[str, Waiver],
    record: RunRecord,
) -> tuple[ClauseSummary, ...]:
    scope = scope_of(profile)
    by_clause: dict[str, list[Answer]] = {
        id_: [] for id_, clause in clauses.items() if scope.includes_clause(clause)
    }
    for answer in answers:
        for id_ in answer.clauses:
            if id_ in clauses:
                by_clause.setdefault(id_, []).append(answer)
    return tuple(
        _judge_clause(clauses[id_], by_clause[id_], scope, waivers, record)
        for id_ in sorted(by_clause)
    )


def _judge_clause(
    clause: Clause,
    answers: Sequence[Answer],
    scope: Scope,
    waivers: Mapping[str, Waiver],
    record: RunRecord,
) -> ClauseSummary:
    counted = [answer for answer in answers if answer.counts]
    counts = _counts(counted)
    result = "not declared" if answers and not counted else _clause_result(counted, record)
    required = scope.requires(clause)
    blocked = (
        required
        and result not in _ELSEWHERE
        and (result != "holds" or any(counts.get(kind) for kind in BLOCKING))
    )
    excusable = result in {"holds", "broken"} or bool(counts.get("unsupported"))
    waived = (
        blocked
        and excusable
        and clause.id in waivers
        and not any(counts.get(kind) for kind in _UNWAIVABLE)
    )
    return ClauseSummary(
        id=clause.id,
        level=clause.level,
        statement=clause.statement,
        subject=clause.subject,
        surface=clause.surface,
        profile=clause.profile,
        required=required,
        result=result,
        waived=waived,
        blocked=blocked,
        vectors=tuple(a.case.id for a in counted if not a.case.generated),
        generated=sum(a.case.generated for a in counted),
        counts=counts,
    )


def _clause_result(answers: Sequence[Answer], record: RunRecord) -> ClauseResult:
    ran = [answer.result for answer in answers if answer.result in _RAN]
    if ran:
        return "holds" if all(result == "pass" for result in ran) else "broken"
    founded = [a for a in answers if a.result == "skipped" and not _unfounded(a, record)]
    return "not applicable here" if answers and len(founded) == len(answers) else "not tested"


def _verdict(
    judged: Sequence[ClauseSummary],
    problems: Sequence[str],
    answers: Sequence[Answer],
    profile: str,
) -> tuple[Verdict, tuple[str, ...]]:
    void = [answer.case.id for answer in answers if answer.result == "infra_error"]
    if void:
        cause = "ended by a fault of the suite, not of the backend: the run says nothing."
        return "VOID", (f"{_listed(void, 'case', verb=False)} {cause}", *problems)
    required = [clause for clause in judged if clause.required]
    here = [clause for clause in required if clause.result not in _ELSEWHERE]
    if problems:
        return "NOT CERTIFIED", (*problems, *_shortcomings(here), *_not_here(required))
    if not required:
        return "NOT APPLICABLE", (f"No clause is required by profile {profile}.",)
    if not here:
        return "NOT APPLICABLE", (
            f"None of the {len(required)} required clauses of profile {profile} applies here.",
        )
    verdict, reasons = _verdict_of(here, len(required), profile)
    return verdict, (*reasons, *_not_here(required))


def _verdict_of(
    here: Sequence[ClauseSummary], required: int, profile: str
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on the required clauses that apply here, of a run without problems."""
    if any(clause.blocked and not clause.waived for clause in here):
        return "NOT CERTIFIED", _shortcomings(here)
    held = sum(not clause.blocked for clause in here)
    if not held:
        return "NOT CERTIFIED", ("Every required clause that applies here is waived.",)
    verb = "holds" if held == 1 else "hold"
    sentence = f"{held} of {number(required, 'required clause')} of profile {profile} {verb}."
    waived = [clause.id for clause in here if clause.waived]
    if not waived:
        return "CERTIFIED", (sentence,)
    return "CERTIFIED WITH WAIVERS", (sentence, f"{_listed(waived, 'clause')} waived.")


def _of_simulated_gpus(
    verdict: Verdict, reasons: tuple[str, ...]
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on a run on simulated GPUs, which is never certified."""
    if verdict in CERTIFIED:
        return "SIMULATED", (_SIMULATED, *reasons)
    return verdict, (*reasons, _SIMULATED)


def _not_here(required: Sequence[ClauseSummary]) -> tuple[str, ...]:
    ids = [clause.id for clause in required if clause.result == "not applicable here"]
    return (f"{_listed(ids, 'required clause')} not applicable on this machine.",) if ids else ()


def _undeclared(judged: Sequence[ClauseSummary]) -> tuple[str, ...]:
    """A remark, no reason: the clauses that are required of backends that declare more."""
    ids = [clause.id for clause in judged if clause.required and clause.result == "not declared"]
    if not ids:
        return ()
    listed = _listed(ids, "clause", verb=False)
    return (f"Not asked: {listed} of what the backend does not declare, or of later releases.",)


def _later(answers: Sequence[Answer], release: Release) -> Iterator[str]:
    """What was not asked since the backend's release is too old for it, in a sentence."""
    later = Counter(lacks for a in answers if (lacks := release.lacks(a.case.release)))
    if later:
        parts = ", ".join(f"{later[name]:,} of {name}" for name in sorted(later))
        cases = number(later.total(), "case")
        be = "is" if later.total() == 1 else "are"
        yield f"It is of {release.words}: {cases} of later releases {be} not asked ({parts})."


def _shortcomings(here: Sequence[ClauseSummary]) -> tuple[str, ...]:
    """What keeps required clauses from holding, a sentence for each kind."""
    open_ = [clause for clause in here if clause.blocked and not clause.waived]
    sentences = []
    for result, words in (("broken", "broken"), ("not tested", "not tested")):
        ids = [clause.id for clause in open_ if clause.result == result]
        if ids:
            sentences.append(f"{_listed(ids, 'required clause')} {words}.")
    for kind in BLOCKING:
        ids = [clause.id for clause in open_ if clause.counts.get(kind)]
        if ids:
            have = "has" if len(ids) == 1 else "have"
            listed = _listed(ids, "required clause", verb=False)
            sentences.append(f"{listed} {have} {kind} cases.")
    return tuple(sentences)


def _waiver_notes(
    waivers: Sequence[Waiver], accepted: Mapping[str, Waiver], judged: Sequence[ClauseSummary]
) -> tuple[str, ...]:
    used = {clause.id for clause in judged if clause.waived}
    notes = []
    for waiver in waivers:
        if waiver.clause not in accepted:
            notes.append(f"The waiver of {waiver.clause} expired on {waiver.expires}.")
        elif waiver.clause not in used:
            notes.append(f"The waiver of {waiver.clause} changes nothing.")
    return tuple(notes)


def _subjects(
    answers: Sequence[Answer], judged: Sequence[ClauseSummary]
) -> tuple[SubjectSummary, ...]:
    """Each subject of the listed clauses, those that no case tests too."""
    subject_of = {clause.id: clause.subject for clause in judged}
    by_subject: dict[str, list[Answer]] = {subject: [] for subject in subject_of.values()}
    for answer in answers:
        for subject in {subject_of[id_] for id_ in answer.clauses if id_ in subject_of}:
            by_subject[subject].append(answer)
    return tuple(
        SubjectSummary(subject, len(members), _counts(members))
        for subject, members in sorted(by_subject.items())
    )


def _counts(answers: Iterable[Answer]) -> dict[str, int]:
    counted = Counter(answer.result for answer in answers)
    return {result: counted[result] for result in RESULTS if counted[result]}


def _full_counts(answers: Iterable[Answer]) -> dict[str, int]:
    counted = Counter(answer.result for answer in answers)
    return {result: counted[result] for result in RESULTS}


def _ran(answers: Iterable[Answer]) -> dict[str, int]:
    """How many cases ran that are fixed, and how many that the seed drew."""
    counted = Counter(answer.case.generated for answer in answers if answer.result in _RAN)
    return {"fixed": counted[False], "drawn": counted[True]}


def _listed(ids: Sequence[str], noun: str, verb: bool = True) -> str:
    """`3 clauses (A, B, C) are`, the list cut where it grows long."""
    shown = ", ".join(ids[:_SHOWN]) + (
        f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    )
    be = (" is" if len(ids) == 1 else " are") if verb else ""
    return f"{number(len(ids), noun)} ({shown}){be}"
