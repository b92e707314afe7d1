"""The suite's self-examination: slices, complaints; nothing unanswered counts as caught."""

import dataclasses
import functools
from typing import Any

import pytest

from sessrun.conformance.faulty.framework import FAULTS, Fault, load_all
from sessrun.conformance.plan import build_plan
from sessrun.conformance.selfcheck import faults as selfcheck
from sessrun.conformance.selfcheck.faults import (
    Examiner,
    FaultReport,
    draw,
    examine_all,
    of_its_own,
)
from sessrun.spec.loader import load_clauses

FAULTS_BY_NAME = load_all()


def selfcheck_of(clause: str) -> list[Fault]:
    return [fault for fault in FAULTS_BY_NAME.values() if fault.clause == clause]


def backend_of(fault: Fault) -> str:
    return f"sessrun.conformance.faulty:backend#{fault.name}@reference"


def report(**changes: Any) -> FaultReport:
    fault = next(iter(FAULTS_BY_NAME.values()))
    made = FaultReport(fault, {}, "a/b", (), 1, 0.0)
    return dataclasses.replace(made, **changes)


def test_every_fault_is_imported_under_a_name_of_its_own() -> None:
    assert load_all() is FAULTS
    assert len({fault.change for fault in FAULTS.values()}) == len(FAULTS)
    assert all(name == fault.name for name, fault in FAULTS.items())
    assert all(fault.clause in load_clauses() for fault in FAULTS.values())
    assert all(fault.summary.endswith(".") for fault in FAULTS.values())


def test_a_slice_is_chosen_by_its_seed() -> None:
    faults = list(FAULTS_BY_NAME.values())
    assert draw(faults, 12, 1) == draw(faults, 12, 1)
    assert len(draw(faults, 12, 1)) == 12
    assert draw(faults, 12, 1) != draw(faults, 12, 2)
    assert draw(faults, 10**6, 1) == faults
    in_order = [faults.index(fault) for fault in draw(faults, 12, 1)]
    assert in_order == sorted(in_order)


def test_complaints() -> None:
    assert report().good
    assert report(others=("A-001", "A-002", "A-003")).good
    assert report(others=("A-001", "A-002", "A-003", "A-004")).complaint.startswith("blurs")
    assert report(caught_by=None).complaint == "not caught by its own clause"
    assert "fails A-001" in report(caught_by=None, others=("A-001",)).complaint
    assert report(caught_by=None, skipped=True).good
    assert report(trouble="it does not start").complaint == "it does not start"


@pytest.mark.parametrize("result", ["infra_error", "missing", "unsupported", "skipped", "pass"])
def test_what_shows_nothing_catches_nothing(result: str) -> None:
    case = build_plan("core", generated=0).cases[0]
    fault = Fault("made", case.clauses[0], "Made.", lambda tf: tf)
    told = {case.id: {"result": result, "clauses": list(case.clauses)}}
    assert selfcheck._pointed_at(fault, [case], told) == (None, ())
    failed = {case.id: {"result": "fail", "clauses": list(case.clauses)}}
    assert selfcheck._pointed_at(fault, [case], failed) == (case.id, ())


def test_a_fault_is_caught_where_its_own_clause_is_blamed() -> None:
    case = build_plan("core", generated=0).cases[0]
    fault = Fault("made", case.clauses[0], "Made.", lambda tf: tf)
    told = {case.id: {"result": "fail", "clauses": ["RUN-999"]}}
    assert selfcheck._pointed_at(fault, [case], told) == (None, ("RUN-999",))


def test_a_fault_that_does_not_start_is_a_complaint_of_its_own() -> None:
    missing = Fault("no-such-fault", "FETCH-001", "It is not registered.", lambda tf: tf)
    cases = [case for case in build_plan("core", generated=0).cases if "FETCH-001" in case.clauses]
    (found,) = examine_all([missing], lambda _: cases[:1])
    assert "no fault is called 'no-such-fault'" in found.complaint
    assert not found.good


def test_cases_of_operations_are_kept_for_faults_of_operations() -> None:
    cases = build_plan("core", generated=1).cases
    garbling = dataclasses.replace(next(iter(FAULTS_BY_NAME.values())), clause="FETCH-001")
    asked = selfcheck._asked_of(garbling, cases)
    assert {case.id for case in asked} < {case.id for case in cases}
    assert all(not set(case.clauses) <= {"OPERATIONS-001"} for case in asked)
    assert any("FETCH-001" in case.clauses for case in asked)
    wrong = dataclasses.replace(garbling, clause="OPERATIONS-001")
    others = {case.id for case in cases if case.clauses[0].startswith(("NUMBERS", "PROGRAMS"))}
    asked = selfcheck._asked_of(wrong, cases)
    assert [case.id for case in asked] == [case.id for case in cases if case.id not in others]


def test_a_fault_that_hangs_is_examined_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "_AT_ONCE_S", -1.0)
    fault = FAULTS_BY_NAME["executes-consumers"]
    cases = [case for case in build_plan("core", generated=0).cases if "RUN-001" in case.clauses]
    (found,) = examine_all([fault], lambda _: cases[:2])
    assert found.cases == 2
    assert not found.trouble


def test_each_fault_has_a_process_of_its_own() -> None:
    cases = [case for case in build_plan("core", generated=0).cases if "FETCH-004" in case.clauses]
    faults = [FAULTS_BY_NAME["executes-consumers"], *selfcheck_of("FETCH-004")]
    examiner = Examiner()
    try:
        first, *others = [examiner(backend_of(fault), cases, 30.0) for fault in faults]
    finally:
        examiner.shutdown()
    assert first is not None
    assert {line["result"] for line in first.values()} == {"pass"}
    for found in others:
        assert found is not None
        assert "fail" in {line["result"] for line in found.values()}


def test_every_fault_has_cases_of_its_own() -> None:
    asked_of = functools.cache(lambda profile: build_plan(profile, generated=5).cases)
    for fault in FAULTS_BY_NAME.values():
        profile = load_clauses()[fault.clause].profile
        assert of_its_own(fault, asked_of(profile)), fault.name


def test_a_fault_of_the_suite_is_caught_over_its_own_clause() -> None:
    fault = FAULTS_BY_NAME["executes-consumers"]
    cases = [case for case in build_plan("core", generated=0).cases if case.id.startswith("run/")]
    (found,) = examine_all([fault], lambda _: cases)
    assert found.good, found.complaint
    assert found.caught_by is not None
