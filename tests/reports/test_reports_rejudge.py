"""The verifier's judge: what a forger may do to one line of a record, and what is said of it."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from synthetic_run import engine_case, header, observations, plan_of
from test_reports_verify import forged, record_lines

from sessrun.reports.package import PackageError
from sessrun.reports.rejudge import judge_anew
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.steady import KEEP_BYTES, finding_form
from sessrun.spec.cases.values import describe
from sessrun.spec.records import RunRecord

CASE = engine_case("fetch/plain", ("FETCH-001",), 7)
WRONG = observations(CASE, -1)
DEVICES = dataclasses.replace(
    CASE, id="fetch/devices", steps=(*CASE.steps, {"do": "devices", "session": "s"})
)
LISTED = {"step": "2", "outcome": "done", "facts": {"devices": ["CPU:0"]}}
REFUSED = {"step": "2", "outcome": "unsupported", "capability": "devices", "message": ""}


def line(case=CASE, result="pass", seen=None, **more):
    if seen is not None:
        more["observations"] = seen
    return {
        "kind": "result",
        "id": case.id,
        "hash": case.hash,
        "clauses": list(case.clauses),
        "result": result,
        "seconds": 0.01,
        **more,
    }


def failed(result="fail", **changes):
    finding = finding_form(judge(CASE, WRONG).finding)
    return line(result=result, seen=WRONG, finding=finding | changes)


def faults(told, case=CASE, oracle=None, change=lambda _: None):
    plan = plan_of({case.id: case})
    head = copy.deepcopy(header(plan))
    change(head)
    record = RunRecord(head, results={case.id: told})
    return " ".join(judge_anew(record, plan, lambda _: case, oracle).faults)


def test_honest_lines_have_no_fault():
    assert faults(line(seen=observations(CASE))) == ""
    assert faults(failed()) == ""
    assert faults(failed("flaky", attempts=2)) == ""
    assert faults(line(DEVICES, seen=[*observations(DEVICES), LISTED]), DEVICES) == ""
    assert faults(line(result="crash", detail="died of SIGSEGV")) == ""


@pytest.mark.parametrize("result", ["crash", "timeout", "missing", "skipped", "infra_error"])
def test_a_result_that_nothing_decided_comes_without_an_answer(result):
    told = faults(line(result=result, seen=observations(CASE)))
    assert f"Case fetch/plain is recorded as {result}, and yet with what it answered." in told


@pytest.mark.parametrize("part", ["finding", "detail", "attempts"])
def test_a_pass_has_nothing_to_explain(part):
    told = faults(line(seen=observations(CASE), **{part: {"finding": {}}.get(part, 2)}))
    assert told == f"Case fetch/plain is recorded as pass, and yet with a {part}."


@pytest.mark.parametrize("result", ["fail", "flaky", "unsupported"])
def test_a_judgement_against_the_backend_says_why(result):
    assert faults(line(result=result)) == (
        f"Case fetch/plain is recorded as {result}, and nothing says why."
    )


def test_a_flaky_case_failed_at_first():
    flaky = failed("flaky", attempts=2) | {"observations": observations(CASE)}
    assert "judged anew, give pass" in faults(flaky)


@pytest.mark.parametrize("change", [{"step": "0"}, {"got": 1}, {"want": None}])
def test_a_finding_is_what_the_observations_give(change):
    assert "the recorded finding is not what" in faults(failed(**change))


def test_the_words_of_a_finding_are_not_compared():
    assert faults(failed(reason="in numpy's other words")) == ""


def test_what_a_small_pass_answered_must_be_there():
    """A conforming backend says how much that is."""
    told = faults(line(), oracle=observations)
    assert told == "Case fetch/plain is recorded as pass, but what it answered was left out."
    large = describe(np.zeros(KEEP_BYTES))
    values = [{"step": "1", "outcome": "values", "values": [large]}]
    assert faults(line(), oracle=lambda _: values) == ""
    assert faults(line()) == "", "without an oracle nobody knows"


def undeclared(head):
    head["backend"]["capabilities"].remove("devices")


def test_an_answer_needs_its_capability():
    seen = [*observations(DEVICES), LISTED]
    told = faults(line(DEVICES, seen=seen), DEVICES, change=undeclared)
    assert "judged anew, give error" in told


def test_a_declared_capability_is_not_refused():
    seen = [*observations(DEVICES), REFUSED]
    finding = finding_form(judge(DEVICES, seen).finding)
    refused = line(DEVICES, "unsupported", seen, finding=finding)
    assert "judged anew, give fail" in faults(refused, DEVICES)
    assert faults(refused, DEVICES, change=undeclared) == ""


def of_2_17(head):
    head["backend"]["details"] = {"producer": "1882", "numpy": "1.26.4"}


def test_a_case_of_a_later_release_is_not_asked():
    later = dataclasses.replace(CASE, release={"producer": 1994})
    why = {"finding": {"step": "0", "reason": "unsupported: TensorFlow 2.18 (a later release)"}}
    assert faults(line(later, "unsupported", **why), later, change=of_2_17) == ""
    told = faults(line(later, seen=observations(later)), later, change=of_2_17)
    assert told == (
        "Case fetch/plain is recorded as pass, but needs TensorFlow 2.18, a later release."
    )
    assert faults(line(later, seen=observations(later)), later) == ""


def test_a_case_that_does_not_apply_on_the_machine_has_no_result_there():
    case = dataclasses.replace(CASE, needs=("no-gpu",))
    gpus = {"gpus": ["NVIDIA H100"]}
    told = faults(
        line(case, seen=observations(case)),
        case,
        change=lambda head: head["environment"].update(gpus),
    )
    assert told == "Case fetch/plain is recorded as pass, but does not apply on that machine."


def test_a_capability_that_there_is_not_is_no_record(good):
    lines = record_lines(good)
    lines[0]["backend"]["capabilities"].append("telepathy")
    with pytest.raises(PackageError, match="there is no telepathy"):
        good.open(forged(good, lines))
