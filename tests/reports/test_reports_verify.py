"""The verifier: honest packages pass; each way to tamper is refused with its own sentence."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from synthetic_package import certify
from synthetic_run import header, observations, on_a_simulated_gpu

from sessrun.reports.archive import pack
from sessrun.reports.package import derived_files, json_bytes, manifest_of
from sessrun.reports.plan import PlanFacts
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.cases.values import describe
from sessrun.spec.records import RunRecord

VECTOR = "fetch/fetch-001-plain"


def rehashed(certified, **changed):
    """A package with changed files (named by their stem) and a manifest that names them."""
    package = certified.open()
    names = {name.partition(".")[0]: name for name in package.files}
    files = {**package.files, **{names[stem]: raw for stem, raw in changed.items()}}
    manifest = json.loads(files.pop("manifest.json"))
    fresh = manifest_of(files, summarize(package.record, package.plan, {}, package.profile))
    manifest["files"] = fresh["files"]
    return pack({**files, "manifest.json": json_bytes(manifest)})


def record_lines(certified):
    return [json.loads(line) for line in certified.open().files["record.jsonl"].splitlines()]


def record_bytes(lines):
    text = (json.dumps(x, sort_keys=True, separators=(",", ":")) + "\n" for x in lines)
    return "".join(text).encode()


def forged(certified, lines, plan=None):
    """A package written anew from a forged record: consistent in all that is derived from it."""
    run = certified.run
    plan = plan or run.plan
    record = RunRecord(lines[0], complete=True)
    record.results = {line["id"]: line for line in lines if line["kind"] == "result"}
    record.events = [line for line in lines if line["kind"] == "event"]
    summary = summarize(record, plan, run.clauses, plan.profile)
    files = {
        "record.jsonl": record_bytes(lines),
        "plan.json": json_bytes({"kind": "plan", **plan.to_json()}),
        **derived_files(summary, answers_of(record, plan)),
    }
    files["manifest.json"] = json_bytes(manifest_of(files, summary))
    return pack(files)


def refusal(certified, raw):
    verification = certified.verify(raw)
    assert verification.status == "REFUSED"
    return " ".join(verification.faults)


def test_an_honest_package_is_verified_whatever_its_verdict(good, failing):
    for certified, verdict in ((good, "CERTIFIED"), (failing, "NOT CERTIFIED")):
        verification = certified.verify()
        assert verification.faults == ()
        assert (verification.status, verification.verdict) == ("VERIFIED", verdict)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    return certify(tmp_path_factory.mktemp("gpu"), lambda _: "pass", change=on_a_simulated_gpu)


def test_a_simulated_gpu_is_verified_and_is_no_certificate_of_one(simulated):
    verification = simulated.verify()
    assert verification.faults == ()
    assert (verification.status, verification.verdict) == ("VERIFIED", "SIMULATED")
    assert verification.limits[0].startswith("REFUSED as a certificate of a GPU")


@pytest.mark.parametrize("part", ["backend", "environment"])
def test_a_record_that_hides_half_of_its_simulation_is_refused(simulated, part):
    lines = record_lines(simulated)
    lines[0][part] |= {"details": {}} if part == "backend" else {"gpus": ["NVIDIA H200"]}
    text = refusal(simulated, forged(simulated, lines))
    assert "Backend and machine disagree on whether the GPU was simulated." in text


def test_it_says_what_it_cannot_know(good):
    form = good.verify().to_json()
    assert form["signed"] is False
    assert "UNSIGNED" in form["limits"][1]
    assert json.loads(json.dumps(form)) == form


@pytest.mark.parametrize("name", ["record.jsonl", "report.html", "badge.svg", "junit.xml"])
def test_a_changed_file_is_named(good, name):
    files = dict(good.open().files)
    old = b"MUST" if name == "report.html" else b"2026-11-21" if name != "badge.svg" else b"core"
    new = b"2027-11-21" if old.startswith(b"2") else old.swapcase()
    files[name] = files[name].replace(old, new, 1)
    assert f"{name} was changed: its SHA-256 is not the manifest's." in refusal(good, pack(files))


def test_a_file_that_the_manifest_does_not_name_is_told(failing):
    files = dict(failing.open().files)
    name = next(name for name in files if name.startswith("replays/"))
    files["replays/other.json"] = files[name]
    assert "replays/other.json is in the package, but not" in refusal(failing, pack(files))
    del files["replays/other.json"], files[name]
    assert f"{name} is in the manifest, but not in the package." in refusal(failing, pack(files))


def test_another_spec_suite_or_version_is_refused_by_name(good):
    for change, words in (
        ({"spec_digest": "7" * 64}, "The spec digest differs"),
        ({"spec_version": "0.2"}, "The spec version differs"),
        ({"suite": "7" * 64}, "The suite digest differs"),
        ({"sessrun": "0.2.0"}, "The sessrun version differs"),
    ):
        certified = dataclasses.replace(
            good, installed=dataclasses.replace(good.installed, **change)
        )
        assert words in refusal(certified, good.raw)


def test_a_changed_result_without_a_new_summary_names_the_number(failing):
    lines = record_lines(failing)
    line = next(line for line in lines if line.get("result") == "fail")
    line["result"] = "pass"
    text = refusal(failing, rehashed(failing, record=record_bytes(lines)))
    assert "summary.json: totals.fail is" in text
    assert "report.html is not what the record gives." in text


def test_a_changed_result_with_everything_made_anew_is_judged_anew(failing):
    lines = record_lines(failing)
    line = next(line for line in lines if line.get("result") == "fail")
    line["result"] = "pass"
    text = refusal(failing, forged(failing, lines))
    assert f"Case {line['id']} is recorded as pass; its recorded observations" in text
    assert "give fail" in text


def test_a_failure_made_up_is_judged_anew_too(good):
    lines = record_lines(good)
    line = next(line for line in lines if "observations" in line)
    line["result"] = "fail"
    assert f"Case {line['id']} is recorded as fail" in refusal(good, forged(good, lines))


def test_observations_that_cannot_be_judged_are_refused(good):
    for nonsense in ([], [[]], [{}], [7], [{"step": "1", "outcome": "values", "values": 7}]):
        lines = record_lines(good)
        next(line for line in lines if "observations" in line)["observations"] = nonsense
        assert "judged anew, give" in refusal(good, forged(good, lines))


def test_a_case_dropped_from_the_record_is_named(good):
    lines = [line for line in record_lines(good) if line.get("id") != VECTOR]
    assert f"Case {VECTOR} was planned, and has no line" in refusal(good, forged(good, lines))


def test_an_end_that_counts_other_cases_is_refused(good):
    lines = record_lines(good)
    lines[-1]["cases"] = 1
    assert "The record ends by counting 1 cases answered" in refusal(good, forged(good, lines))


def test_a_case_dropped_from_plan_and_record_is_named(good):
    lines = [line for line in record_lines(good) if line.get("id") != VECTOR]
    plan = good.run.plan
    short = dataclasses.replace(plan, cases=tuple(c for c in plan.cases if c.id != VECTOR))
    lines[0] = header(short)
    text = refusal(good, forged(good, lines, short))
    assert f"Case {VECTOR} was dropped from the plan." in text
    assert "The record was made with another plan" in text


def test_a_case_added_to_the_plan_is_named(good):
    plan = good.run.plan
    extra = dataclasses.replace(plan.cases[0], id="fetch/easy")
    longer = dataclasses.replace(plan, cases=(*plan.cases, extra))
    lines = record_lines(good)
    lines[0] = header(longer)
    assert "Case fetch/easy was added to the plan." in refusal(good, forged(good, lines, longer))


def test_a_case_added_to_the_record_is_named(good):
    lines = record_lines(good)
    lines.insert(-1, {**lines[1], "id": "fetch/easy"})
    text = refusal(good, forged(good, lines))
    assert "Case fetch/easy is in the record, but was never planned." in text


def test_an_easier_plan_is_refused(good):
    plan = PlanFacts("core", 7, 1, good.run.plan.cases)
    lines = record_lines(good)
    lines[0] = header(plan)
    text = refusal(good, forged(good, lines, plan))
    assert "The plan's generated is 1; a certification has 4." in text


def test_a_swapped_plan_is_refused_even_if_the_record_s_header_is_left(good):
    plan = good.run.plan
    swapped = dataclasses.replace(plan, cases=plan.cases[::-1])
    raw = rehashed(good, plan=json_bytes({"kind": "plan", **swapped.to_json()}))
    assert "The plan's cases are in another order" in refusal(good, raw)


def test_another_plan_hash_in_the_header_is_refused(good):
    lines = record_lines(good)
    lines[0]["plan"]["hash"] = "0" * 64
    text = refusal(good, forged(good, lines))
    assert "The record was made with another plan: its hash is 000" in text


def test_another_content_of_a_case_is_refused_wherever_it_stands(good):
    lines = record_lines(good)
    next(line for line in lines if line.get("id") == VECTOR)["hash"] = "0" * 64
    assert f"Case {VECTOR} has another content in the record" in refusal(good, forged(good, lines))
    cases = tuple(
        dataclasses.replace(case, hash="0" * 64) if case.id == VECTOR else case
        for case in good.run.plan.cases
    )
    plan = dataclasses.replace(good.run.plan, cases=cases)
    raw = rehashed(good, plan=json_bytes({"kind": "plan", **plan.to_json()}))
    assert f"Case {VECTOR} has another content in the plan" in refusal(good, raw)


def test_other_clauses_of_a_case_are_refused_wherever_they_stand(good):
    lines = record_lines(good)
    next(line for line in lines if line.get("id") == VECTOR)["clauses"] = ["FETCH-005"]
    assert f"Case {VECTOR} names other clauses in the record" in refusal(good, forged(good, lines))
    cases = tuple(
        dataclasses.replace(case, clauses=("FETCH-005",)) if case.id == VECTOR else case
        for case in good.run.plan.cases
    )
    plan = dataclasses.replace(good.run.plan, cases=cases)
    raw = rehashed(good, plan=json_bytes({"kind": "plan", **plan.to_json()}))
    assert f"Case {VECTOR} tests other clauses in the plan" in refusal(good, raw)


def test_cases_in_another_order_are_refused(good):
    lines = record_lines(good)
    lines[1], lines[2] = lines[2], lines[1]
    assert "another order than the plan's" in refusal(good, forged(good, lines))


def test_a_failure_turned_into_a_skip_is_refused(failing):
    lines = record_lines(failing)
    line = next(line for line in lines if line.get("result") == "fail")
    for detail in ("not here: gpu", "not here: two-cpus", "", "not here: patience"):
        line |= {"result": "skipped", "detail": detail}
        assert f"Case {line['id']} is recorded as skipped" in refusal(
            failing, forged(failing, lines)
        )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("totals", "pass"), 99999),
        (("required", "holds"), 18),
        (("seconds",), 1.0),
        (("clauses", 0, "counts", "pass"), 1),
        (("clauses", 0, "result"), "not tested"),
        (("failures", 0, "cases", 0), "feed/other"),
        (("complete",), False),
        (("backend", "name"), "Somebody"),
        (("subjects", 0, "planned"), 1),
        (("events",), 0),
    ],
)
def test_every_number_of_the_summary_is_computed_anew(failing, place, value):
    summary = json.loads(failing.open().files["summary.json"])
    target = summary
    for key in place[:-1]:
        target = target[key]
    assert target[place[-1]] != value
    target[place[-1]] = value
    text = refusal(failing, rehashed(failing, summary=json_bytes(summary)))
    assert f"summary.json: {place[0]}" in text


def test_another_verdict_is_refused_by_name(failing):
    summary = json.loads(failing.open().files["summary.json"])
    summary["verdict"] = "CERTIFIED"
    text = refusal(failing, rehashed(failing, summary=json_bytes(summary)))
    assert "summary.json says CERTIFIED; the verdict that the record gives is NOT CERT" in text


def test_another_verdict_in_the_manifest_is_refused(failing):
    files = dict(failing.open().files)
    manifest = json.loads(files["manifest.json"]) | {"verdict": "CERTIFIED"}
    files["manifest.json"] = json_bytes(manifest)
    assert "The manifest says CERTIFIED" in refusal(failing, pack(files))


@pytest.mark.parametrize("stem", ["report", "badge", "junit", "environment", "capabilities"])
def test_a_view_that_shows_something_else_is_named(failing, stem):
    package = failing.open()
    name = next(name for name in package.files if name.partition(".")[0] == stem)
    changes = {
        "report": (b"NOT CERTIFIED", b"CERTIFIED"),
        "badge": (b"not certified", b"certified"),
        "junit": (b"<failure", b"<skipped"),
        "environment": (b"EPYC", b"EPIC"),
        "capabilities": (b'"api",\n', b""),
    }
    raw = package.files[name].replace(*changes[stem])
    if stem == "capabilities":
        raw = json_bytes(json.loads(raw.replace(b"  \n", b"\n")))
    assert raw != package.files[name]
    assert f"{name} is not what the record gives." in refusal(
        failing, rehashed(failing, **{stem: raw})
    )


def test_a_waiver_added_later_shows_in_every_number(failing):
    waivers = {"kind": "waivers", "waivers": [{"clause": "FEED-001", "why": "because"}]}
    text = refusal(failing, rehashed(failing, waivers=json_bytes(waivers)))
    assert "summary.json: waivers is []" in text


def test_a_replay_that_runs_something_else_is_named(failing):
    files = dict(failing.open().files)
    name = next(name for name in files if name.startswith("replays/"))
    form = json.loads(files[name]) | {"python": ["import os", "os.remove('x')"]}
    files[name] = json_bytes(form)
    manifest = json.loads(files.pop("manifest.json"))
    summary = summarize(failing.open().record, failing.run.plan, {}, "core")
    manifest["files"] = manifest_of(files, summary)["files"]
    raw = pack({**files, "manifest.json": json_bytes(manifest)})
    assert f"{name} is not the replay of its case." in refusal(failing, raw)


def test_a_rerun_that_disagrees_is_told(good):
    ids = [case.id for case in good.run.plan.cases[:3]]
    assert good.verify(rerun=dict.fromkeys(ids, "pass")).verified
    verification = good.verify(rerun={ids[0]: "fail", ids[1]: "pass"})
    assert verification.faults == (f"Run again, case {ids[0]} gives fail; the record says pass.",)
    assert not good.verify(rerun={"fetch/other": "pass"}).verified


def test_without_observations_nothing_is_judged_and_it_says_so(good):
    lines = record_lines(good)
    for line in lines:
        line.pop("observations", None)
    verification = good.verify(forged(good, lines))
    assert verification.verified
    sentences = [s for check in verification.checks for s in check.sentences]
    assert any(s.startswith("The observations of 0 of") for s in sentences)


def judged_by(good, oracle):
    """The check of the observations, every case being one that expects what the oracle does."""
    step = {"do": "run", "session": "s", "fetches": ["c:0"], "expect": {"oracle": {}}}
    case = dataclasses.replace(good.run.cases[VECTOR], steps=(step,))
    lines = record_lines(good)
    for line in lines[1:-1]:
        if line["result"] == "pass":
            line["observations"] = [value_at_0(1.0)]
    installed = dataclasses.replace(good.installed, case_of=lambda _: case, oracle=oracle)
    checks = dataclasses.replace(good, installed=installed).verify(forged(good, lines)).checks
    return next(check for check in checks if check.name == "observations")


def value_at_0(value):
    return {"step": "0", "outcome": "values", "values": [describe(np.float32(value))]}


def test_cases_that_need_an_oracle_are_left_out_without_one(good):
    found = judged_by(good, None)
    assert found.fine.startswith("The observations of 0 of")
    assert found.fine.endswith("need an oracle.")


def test_with_an_oracle_they_are_judged_too(good):
    assert judged_by(good, lambda _: [value_at_0(1.0)]).passed
    assert "judged anew, give fail" in judged_by(good, lambda _: [value_at_0(2.0)]).faults[0]


def test_many_faults_are_told_shortly(good):
    lines = record_lines(good)
    for line in lines[1:-1]:
        line |= {"hash": "0" * 64, "observations": observations(good.run.cases[VECTOR])}
    verification = good.verify(forged(good, lines))
    record = next(check for check in verification.checks if check.name == "record")
    assert len(record.faults) == 11
    assert record.faults[-1].startswith("And ")
