"""The difference of two certificates: what became worse, what better, what cannot be told."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest
from rich.console import Console
from synthetic_package import certify
from synthetic_run import on_a_simulated_gpu, passing

from sessrun.cli.main import main
from sessrun.reports.archive import PackageError, pack
from sessrun.reports.certificate import read_certificate, summary_of
from sessrun.reports.compact import fold
from sessrun.reports.coverage import Coverage
from sessrun.reports.diff import DiffError, diff
from sessrun.reports.diff_terminal import print_diff
from sessrun.reports.json_forms import json_bytes
from sessrun.reports.plan import PlanFacts, PlannedCase


def chosen(**results):
    names = {name.replace("__", "/").replace("_", "-"): result for name, result in results.items()}
    return lambda case: names.get(case.id) or passing(case)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    choose = chosen(fetch__fetch_002_plain="fail", feed__feed_001_plain="unsupported")
    return certify(tmp_path_factory.mktemp("old"), choose, generated=2)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    choose = chosen(
        fetch__fetch_001_plain="crash", feed__feed_001_plain="fail", errors__errors_004_plain="fail"
    )
    return certify(tmp_path_factory.mktemp("new"), choose, generated=2)


@pytest.fixture(scope="module")
def sides(old, new):
    return read_certificate(old.path), read_certificate(new.path)


def steps(changes):
    return {change.about: (change.before, change.after, change.kind) for change in changes}


def test_cases_and_clauses_are_told_apart_by_what_became_of_them(sides):
    found = diff(*sides)
    assert steps(found.cases) == {
        "feed/feed-001-plain": ("unsupported", "fail", "other"),
        "fetch/fetch-001-plain": ("pass", "crash", "regression"),
        "fetch/fetch-002-plain": ("fail", "pass", "progress"),
        "errors/errors-004-plain": ("pass", "fail", "regression"),
    }
    clauses = steps(found.clauses)
    assert clauses["FETCH-001"] == ("holds", "broken", "regression")
    assert clauses["FETCH-002"] == ("broken", "holds", "progress")
    assert clauses["FEED-001"] == ("holds in part", "broken", "regression")
    assert clauses["ERRORS-004"] == ("holds", "broken", "regression"), "a SHOULD counts too"
    assert len(found.regressions) == 5
    assert found.verdict.kind == "other", "neither is certified"


def test_a_verdict_that_is_lost_is_a_regression(good, old):
    lost = diff(read_certificate(good.path), read_certificate(old.path))
    assert (lost.verdict.before, lost.verdict.after) == ("CERTIFIED", "NOT CERTIFIED")
    assert lost.verdict in lost.regressions
    gained = diff(read_certificate(old.path), read_certificate(good.path))
    assert gained.verdict.kind == "progress"
    assert not gained.regressions


def test_a_simulated_verdict_is_worth_less_than_a_certificate_and_more_than_none(
    good, old, tmp_path
):
    simulated = certify(tmp_path, lambda _: "pass", change=on_a_simulated_gpu)
    for before, after in ((good, simulated), (simulated, old)):
        found = diff(read_certificate(before.path), read_certificate(after.path))
        assert found.verdict.kind == "regression"


def test_cases_that_only_one_plan_has_are_listed(good, old):
    found = diff(read_certificate(old.path), read_certificate(good.path))
    assert len(found.added) == 12
    assert all(id_.endswith((":2", ":3")) for id_ in found.added)
    assert not found.removed


def with_plan(side, change, **facts):
    """The certificate with each planned case, and facts of the plan, as `change` makes them."""
    answers = tuple(dataclasses.replace(a, case=change(a.case)) for a in side.answers)
    plan = dataclasses.replace(side.package.plan, **facts)
    return dataclasses.replace(
        side, answers=answers, package=dataclasses.replace(side.package, plan=plan)
    )


def test_drawn_cases_of_another_seed_are_not_compared(sides):
    old, new = sides

    def drawn_anew(case: PlannedCase):
        return dataclasses.replace(case, id=case.id.replace(":7:", ":8:"))

    found = diff(old, with_plan(new, drawn_anew, seed=8))
    assert found.incomparable == 12
    assert not found.added
    assert not found.removed
    assert len(found.cases) == 4


def test_a_case_of_another_content_is_not_compared(sides):
    old, new = sides

    def altered(case: PlannedCase):
        return dataclasses.replace(case, hash="0" * 64) if "001" in case.id else case

    found = diff(old, with_plan(new, altered))
    assert "fetch/fetch-001-plain" in found.changed
    assert "fetch/fetch-001-plain" not in steps(found.cases)


def with_coverage(side, rows):
    return dataclasses.replace(
        side, summary=dataclasses.replace(side.summary, coverage=Coverage(rows))
    )


def test_cells_of_operation_and_dtype_are_compared(sides):
    old, new = sides
    before = {"Add": {"float32": "right", "int8": "wrong"}, "Mul": {"int8": "right"}}
    after = {"Add": {"float32": "not declared", "int8": "right"}, "Sub": {"int8": "right"}}
    found = diff(with_coverage(old, before), with_coverage(new, after))
    assert steps(found.cells) == {
        "Add float32": ("right", "not declared", "regression"),
        "Add int8": ("wrong", "right", "progress"),
    }


def test_operations_that_are_declined_no_more_are_told(sides):
    old, new = sides
    group = dataclasses.replace(old.summary.failures[0], cause="op Betainc")
    old = dataclasses.replace(old, summary=dataclasses.replace(old.summary, failures=(group,)))
    assert steps(diff(old, new).lacks) == {"op Betainc": ("declined", "not declined", "progress")}
    assert steps(diff(new, old).lacks) == {"op Betainc": ("not declined", "declined", "other")}


def test_two_profiles_have_nothing_to_compare(sides):
    old, new = sides
    state = dataclasses.replace(new, summary=dataclasses.replace(new.summary, profile="state"))
    with pytest.raises(DiffError, match="only packages of one profile"):
        diff(old, state)


def test_the_terminal_has_regressions_first_and_a_command(sides):
    found = diff(*sides)
    with open("/dev/null", "w") as nowhere:  # noqa: PTH123 - discarded
        console = Console(width=100, record=True, file=nowhere)
        print_diff(found, console, rows=1, backend="my engine")
    text = console.export_text()
    assert "Cases: 2 regressions, 1 improvement, 1 otherwise" in text
    assert "and 3 more: see --json" in text
    assert "$ sessrun replay fetch/fetch-001-plain --backend 'my engine'" in text
    assert text.rstrip().endswith("5 regressions")


def test_the_command_reads_every_form_and_its_status_tells(old, new, tmp_path, capsys):
    small = tmp_path / "new.xz"
    small.write_bytes(fold(new.open().files))
    found = tmp_path / "diff.json"
    assert main(["diff", str(old.path.parent), str(small), "--json", str(found)]) == 1
    form = json.loads(found.read_text())
    assert form["regressions"] == 5
    assert form["verdict"]["after"] == "NOT CERTIFIED"
    assert {"about", "before", "after", "kind", "reason"} == form["cases"][0].keys()
    assert main(["diff", str(old.path), str(old.path)]) == 0
    assert "no regression" in capsys.readouterr().out
    assert main(["diff", str(old.path), str(tmp_path / "gone.zip")]) == 2


def test_a_package_that_contradicts_itself_is_refused(old, tmp_path):
    path = tmp_path / "package.zip"
    files = dict(old.open().files)
    path.write_bytes(pack({**files, "badge.svg": b"<svg/>"}))
    with pytest.raises(PackageError, match=r"badge\.svg was changed"):
        read_certificate(path)


def test_a_package_of_a_profile_that_is_not_installed_is_refused(tmp_path, old):
    package = tmp_path / "package.zip"
    files = {
        name: raw.replace(b'"profile": "core"', b'"profile": "elsewhere"')
        for name, raw in old.open().files.items()
    }
    plan = PlanFacts.from_json(json.loads(files["plan.json"]))
    files["record.jsonl"] = (
        files["record.jsonl"]
        .replace(b'"profile":"core"', b'"profile":"elsewhere"')
        .replace(old.run.plan.hash.encode(), plan.hash.encode())
    )
    manifest = json.loads(files["manifest.json"])
    for name, facts in manifest["files"].items():
        facts |= {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
    package.write_bytes(pack({**files, "manifest.json": json_bytes(manifest)}))
    with pytest.raises(PackageError, match="no profile is called 'elsewhere'"):
        read_certificate(package)


def test_a_summary_comes_back_from_its_json_form(failing):
    package = failing.open()
    summary = summary_of(package.summary, package.record)
    assert summary.to_json() == package.summary
    older = json.loads(json.dumps(package.summary))
    for group in older["failures"]:
        del group["cause"], group["unblocks"]
    del older["coverage"], older["required"]["not declared"]
    assert summary_of(older, package.record).clauses == summary.clauses
