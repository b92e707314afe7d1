"""Expectations against a record: what is unexpected, what passes now, what has expired; drafts."""

import datetime
import platform
from pathlib import Path
from typing import Any

import pytest

from sessrun.conformance.expectations import Expectation, draft, load_expectations, review
from sessrun.spec.records import RunRecord
from sessrun.spec.schema import SpecError

TODAY = datetime.date(2026, 6, 1)


def record(**results: str) -> RunRecord:
    lines: dict[str, Any] = {}
    for name, result in results.items():
        id_ = name.replace("__", "/")
        clauses = ["RUN-001"] if id_.startswith("run/") else ["FETCH-001"]
        finding = {"step": "1", "reason": f'{id_} said "no"\\ \x00 \U000e0001 \ud800 — ü'}
        lines[id_] = {"id": id_, "clauses": clauses, "result": result, "finding": finding}
    return RunRecord({}, lines)


RUN = record(
    run__a="fail", run__b="pass", fetch__c="unsupported", fetch__d="pass", fetch__e="skipped"
)


def reread(text: str, tmp_path: Path) -> tuple[Expectation, ...]:
    path = tmp_path / "e.toml"
    path.write_text(text, encoding="utf-8")
    return load_expectations(path)


def test_without_entries_all_that_did_not_pass_is_unexpected() -> None:
    seen = review(RUN, (), TODAY)
    assert seen.unexpected == ("run/a", "fetch/c")
    assert not seen.clean


def test_entries_cover_by_clause_and_by_pattern() -> None:
    entries = (
        Expectation("fail", "known", clause="RUN-001"),
        Expectation("unsupported", "known", vector="fetch/*"),
    )
    assert review(RUN, entries, TODAY).clean


def test_another_result_is_unexpected() -> None:
    entries = (
        Expectation("crash", "known", vector="run/a"),
        Expectation("unsupported", "known", vector="fetch/c"),
    )
    assert review(RUN, entries, TODAY).unexpected == ("run/a",)


def test_an_entry_of_which_all_passes_is_told() -> None:
    entry = Expectation("fail", "known", vector="run/b")
    assert review(RUN, (entry,), TODAY).passed == (entry,)


def test_an_entry_expires_after_its_day() -> None:
    entry = Expectation("fail", "known", vector="run/a", expires=TODAY)
    assert not review(RUN, (entry,), TODAY).expired
    assert review(RUN, (entry,), TODAY + datetime.timedelta(days=1)).expired == (entry,)


def test_an_entry_of_another_platform_says_nothing_here() -> None:
    other = "Darwin" if platform.system() != "Darwin" else "Linux"
    entries = (Expectation("fail", "known", vector="run/a", platform=other),)
    assert "run/a" in review(RUN, entries, TODAY).unexpected
    here = (Expectation("fail", "known", vector="run/a", platform=platform.system()),)
    assert "run/a" not in review(RUN, here, TODAY).unexpected


def test_a_draft_makes_the_run_expected(tmp_path: Path) -> None:
    drafted = reread(draft(RUN), tmp_path)
    told = {entry.vector: entry.expected for entry in drafted}
    assert told == {"run/a": "fail", "fetch/c": "unsupported"}
    assert review(RUN, drafted, TODAY).clean
    assert 'said "no"\\' in drafted[0].why
    assert "ü" in drafted[0].why


def test_a_refreshed_file_keeps_what_still_holds(tmp_path: Path) -> None:
    old = (
        Expectation(
            "fail",
            "our reason",
            clause="RUN-001",
            bug="https://example.org/1",
            expires=datetime.date(2027, 1, 1),
            waiver=True,
        ),
        Expectation("fail", "passes by now", vector="fetch/d"),
        Expectation("fail", "elsewhere", vector="fetch/d", platform="Plan 9"),
    )
    fresh = reread(draft(RUN, old), tmp_path)
    assert fresh[0] == old[0]
    assert fresh[1] == old[2]
    assert [entry.vector for entry in fresh[2:]] == ["fetch/c"]
    assert reread(draft(RUN, fresh), tmp_path) == fresh


def test_our_own_faults_and_empty_reasons_are_no_expectations(tmp_path: Path) -> None:
    run = record(run__a="infra_error", run__b="missing")
    run.results["run/b"] |= {"finding": {"step": "0", "reason": ""}, "detail": ""}
    drafted = reread(draft(run), tmp_path)
    assert [(entry.vector, entry.why) for entry in drafted] == [("run/b", "missing")]
    assert draft(record(run__a="pass")) == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[[expect]]\nvector = "a"\nexpected = "fail"\n', "expect.0"),
        ('[[expect]]\nexpected = "fail"\nwhy = "b"\n', "expect.0"),
        ('[[expect]]\nvector = "a"\nclause = "b"\nexpected = "fail"\nwhy = "b"\n', "expect.0"),
        ('[[expect]]\nvector = "a"\nexpected = "pass"\nwhy = "b"\n', "expect.0.expected"),
        ('[[expect]]\nvector = "a"\nexpected = "infra_error"\nwhy = "b"\n', "expect.0.expected"),
        ('[[expect]]\nclause = "RUN-999"\nexpected = "fail"\nwhy = "b"\n', "expect.0.clause"),
        ('[[expected]]\nvector = "a"\n', "the top"),
        ("expect = 3\n", "expect"),
        ("[[expect]", "the top"),
    ],
)
def test_what_is_no_expectations_file(text: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        reread(text, tmp_path)
    assert f"at {place}" in str(caught.value)


def refused(*reasons: str) -> RunRecord:
    ids = [f"run/{number}" for number in range(len(reasons))]
    return RunRecord(
        {},
        {
            id_: {
                "id": id_,
                "clauses": ["RUN-001"],
                "result": "unsupported",
                "finding": {"step": "0", "reason": f"unsupported: {reason}"},
            }
            for id_, reason in zip(ids, reasons, strict=True)
        },
    )


def test_a_draft_has_one_entry_for_all_that_lack_one_thing(tmp_path: Path) -> None:
    run = refused("op Betainc: no", "op Betainc", "dtype int8", "state v0", "state v1")
    entries = reread(draft(run), tmp_path)
    assert [entry.lacks for entry in entries] == ["op Betainc", "dtype int8", "state"]
    assert review(run, entries, TODAY).clean
    assert draft(run, entries) == draft(run)
    other = refused("op Betainc", "op Igamma")
    assert review(other, entries, TODAY).unexpected == ("run/1",)
    failed = record(run__0="fail")
    assert review(failed, entries, TODAY).unexpected == ("run/0",)


def test_what_a_backend_declares_not_to_do_needs_no_entry() -> None:
    run = refused("operation Add of int8 (not declared)", "capability fed_structure (not declared)")
    assert review(run, (), TODAY).clean
    assert draft(run) == ""
    assert not review(refused("concurrent (not declared)"), (), TODAY).clean
