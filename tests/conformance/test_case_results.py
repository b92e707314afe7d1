"""Each result of a case, made by the situation that it stands for."""

import dataclasses
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_run import HOSTILE, plan_of, run_plan

from sessrun.adapters.backend import Description
from sessrun.adapters.errors import AdapterError
from sessrun.conformance.facts import environment, facts
from sessrun.conformance.patience import Patience
from sessrun.conformance.runner import Runner
from sessrun.reports.losses import event_faults
from sessrun.reports.plan import PlanFacts
from sessrun.reports.rejudge import judge_anew
from sessrun.spec import tensors
from sessrun.spec.cases.facts import FACTS
from sessrun.spec.cases.model import Case
from sessrun.spec.records import RESULTS, SIMULATED

ONE = {"$array": tensors.encode(np.float32(1))}
TWO = {"$array": tensors.encode(np.float32(2))}
GRAPH = {
    "node": [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "y", "op": "Identity", "input": ["x"], "attr": {"T": {"type": "DT_FLOAT"}}},
    ]
}
OPEN = {"do": "open", "session": "s", "graph": "g"}
SCRIPTED = HOSTILE.parent / "adapters" / "scripted_worker.py"


def run_step(want: Any = ONE, **expect: Any) -> dict[str, Any]:
    return {
        "do": "run",
        "session": "s",
        "fetches": ["y:0"],
        "feeds": {"x:0": tensors.encode(np.float32(1))},
        "expect": expect or {"values": [want]},
    }


def engine_case(*steps: dict[str, Any], **fields: Any) -> Case:
    form = {
        "id": "made/here",
        "title": "Made here.",
        "surface": "engine",
        "graphs": {"g": GRAPH},
        "clauses": ["RUN-001"],
        "deadline_s": 5.0,
        "steps": list(steps),
    }
    return Case.from_json(form | fields, "here")


def api_case(*steps: dict[str, Any], **fields: Any) -> Case:
    form = {
        "id": "made/api",
        "title": "Made here.",
        "surface": "api",
        "clauses": ["RUN-001"],
        "deadline_s": 5.0,
        "steps": list(steps),
    }
    return Case.from_json(form | fields, "here")


GOOD = engine_case(OPEN, run_step())
API = api_case({"do": "eval", "expr": {"$call": "tf.Graph"}, "as": "g"})


@pytest.fixture
def runners() -> Iterator[Any]:
    made: list[Runner] = []

    def make(spec: str, **options: Any) -> Runner:
        made.append(Runner(spec, **options))
        return made[-1]

    yield make
    for runner in made:
        runner.shutdown()


TINY = "sessrun.adapters.fakes.conforming:backend"
ODD = "hostile.odd:backend#"


def test_pass_and_fail(runners: Any) -> None:
    runner = runners(TINY)
    assert runner.run(GOOD)["result"] == "pass"
    line = runner.run(engine_case(OPEN, run_step(TWO)))
    assert line["result"] == "fail"
    assert line["attempts"] == 2
    assert line["finding"]["step"] == "1"
    assert line["finding"]["want"] == {"values": [TWO]}


def test_an_answer_that_differs_on_a_second_try_is_flaky(runners: Any, tmp_path: Path) -> None:
    runner = runners(f"{ODD}flaky={tmp_path / 'count'}")
    line = runner.run(GOOD)
    assert line["result"] == "flaky"
    assert line["attempts"] == 2
    assert line["finding"], "the first answer is what the record shows"
    assert runner.run(GOOD)["result"] == "pass"


@pytest.mark.parametrize("manner", ["dies", "raises"])
def test_what_an_earlier_case_spoilt_is_flaky(manner: str, tmp_path: Path) -> None:
    """Of its worker's third run a case is not guilty: it is told so, and the package verifies."""
    plan = plan_of(*(dataclasses.replace(GOOD, id=f"made/{number}") for number in range(6)))
    record = run_plan(f"{ODD}spoilt={manner}", plan, tmp_path / "r.jsonl").record
    lines = list(record.results.values())
    assert [line["result"] for line in lines] == ["pass", "pass", "flaky", "pass", "flaky", "pass"]
    assert lines[2]["detail"].startswith("the second try: pass; the first: ")
    assert ("SIGSEGV" if manner == "dies" else "spoilt") in lines[2]["detail"]
    assert list(event_faults(record)) == []
    cases = {case.id: case for case in plan.cases}
    facts_of_plan = PlanFacts.from_json(plan.to_json())
    assert judge_anew(record, facts_of_plan, cases.__getitem__).faults == ()
    lines[2]["detail"] = "the second try: pass"
    assert "nothing says why" in " ".join(
        judge_anew(record, facts_of_plan, cases.__getitem__).faults
    )


def test_what_ends_every_worker_has_crashed(tmp_path: Path) -> None:
    plan = plan_of(*(dataclasses.replace(GOOD, id=f"made/{number}") for number in range(2)))
    run = run_plan("sessrun.adapters.fakes.crashing:backend", plan, tmp_path / "r.jsonl")
    lines = list(run.record.results.values())
    assert [(line["result"], line["attempts"]) for line in lines] == [("crash", 2)] * 2
    assert list(event_faults(run.record)) == []


def test_without_a_second_answer_the_first_failure_stands(runners: Any, tmp_path: Path) -> None:
    runner = runners(f"{ODD}starts-once={tmp_path / 'count'}")
    assert runner.run(GOOD)["result"] == "fail"
    assert runner.run(GOOD)["result"] == "missing"


def test_second_tries_are_limited(runners: Any) -> None:
    runner = runners(TINY, patience=Patience(retries=1))
    bad = engine_case(OPEN, run_step(TWO))
    assert [runner.run(bad).get("attempts") for _ in range(2)] == [2, None]


def test_timeout_crash_and_what_comes_after(runners: Any) -> None:
    hanging = runners("sessrun.adapters.fakes.hanging:backend", deadline_s=0.5)
    line = hanging.run(GOOD)
    assert line["result"] == "timeout"
    assert line["detail"] == "no answer to run within 0.5 s"
    assert hanging.run(engine_case(OPEN))["result"] == "pass", "the next case has a new worker"
    line = runners("sessrun.adapters.fakes.crashing:backend").run(GOOD)
    assert line["result"] == "crash"
    assert "SIGSEGV" in line["detail"]


def test_a_worker_that_dies_of_its_answers_has_crashed(runners: Any) -> None:
    """Each answer is there before the end: it is the case's, or where it comes late the next's."""
    runner = runners(f"exec:{sys.executable} {SCRIPTED} last-words")
    zero = {"$array": tensors.encode(np.float32(0))}
    lines = [runner.run(engine_case(OPEN, run_step(zero))) for _ in range(3)]
    lost = [line for line in lines if line["result"] in {"crash", "flaky"}]
    assert lost, "a second worker may be seen to die too late"
    assert all("died of SIGSEGV" in line["detail"] for line in lost)


def test_when_the_time_of_the_run_is_up_the_rest_is_missing(tmp_path: Path) -> None:
    cases = (dataclasses.replace(GOOD, id=f"made/case-{number}") for number in range(20))
    run = run_plan(
        f"{ODD}slow=0.3", plan_of(*cases), tmp_path / "r.jsonl", patience=Patience(whole=3.0)
    )
    lines = list(run.record.results.values())
    results = [line["result"] for line in lines]
    assert results == sorted(results, key=["pass", "missing"].index)
    assert 0 < results.count("missing") < 20
    assert {line["detail"] for line in lines if line["result"] == "missing"} == {
        "the time of the run is up"
    }
    assert sum(line["seconds"] for line in lines) < 4
    unresponsive = [e["detail"] for e in run.record.events if e["event"] == "unresponsive"]
    assert unresponsive == ["the run has taken all the time that it may"]
    assert "the time of the run is up" in run.terminal
    assert "the time of the run is up" in run.html


def test_a_call_cut_by_the_end_of_the_run_is_no_timeout(runners: Any) -> None:
    runner = runners("sessrun.adapters.fakes.hanging:backend")
    backend = runner.backend()
    runner._losses.until = backend.until = time.monotonic() + 0.5
    line = runner.run(GOOD)
    assert (line["result"], line["detail"]) == ("missing", "the time of the run is up")
    assert 0 < line["seconds"] < 5


def test_a_finding_repeats_no_more_of_an_answer_than_it_must(runners: Any) -> None:
    line = runners(f"{ODD}large").run(engine_case(OPEN, run_step()))
    assert line["result"] == "fail"
    assert line["finding"]["got"].endswith("bytes of JSON, left out here")
    assert "observations" not in line
    assert len(str(line)) < 5000


def test_no_answer_however_odd_is_taken_for_a_fault_of_ours(runners: Any) -> None:
    line = runners(f"{ODD}deep-strings").run(engine_case(OPEN, run_step()))
    assert line["result"] == "fail", line.get("detail")
    assert "dtype float32, got string" in line["finding"]["reason"]


def test_error_is_a_broken_contract(runners: Any) -> None:
    raising = runners(f"{ODD}raising").run(GOOD)
    assert raising["result"] == "error"
    assert "LookupError" in raising["detail"]
    babbling = runners(f"exec:{sys.executable} {SCRIPTED} babble").run(GOOD)
    assert babbling["result"] == "error"
    counted = runners("sessrun.adapters.fakes.lying:backend#count").run(GOOD)
    assert counted["result"] == "error"
    assert "2 values for 1 fetches" in counted["detail"]


@pytest.mark.parametrize("manner", ["nothing", "steps", "bare", "deep"])
def test_observations_that_make_no_sense_never_pass(manner: str, runners: Any) -> None:
    case = api_case(
        {
            "do": "eval",
            "expr": {"$call": "tf.Graph"},
            "expect": {"value": {"$namedtuple": {"type": "T", "fields": [], "values": []}}},
        }
    )
    line = runners(f"{ODD}liar={manner}").run(case)
    assert line["result"] in {"fail", "error"}


def test_unsupported_needs_an_undeclared_capability(runners: Any) -> None:
    assert runners(TINY).run(API)["result"] == "unsupported"
    partial = {"do": "setup", "session": "s", "handle": "h", "fetches": ["y:0"], "names": ["x:0"]}
    assert runners(TINY).run(engine_case(OPEN, partial))["result"] == "unsupported"


def test_a_capability_declared_but_refused_is_a_fail(runners: Any) -> None:
    setup = {"do": "setup", "session": "s", "handle": "h", "fetches": ["y:0"]}
    line = runners(f"{ODD}boastful").run(engine_case(OPEN, setup))
    assert line["result"] == "fail"
    assert "declares partial_runs, but refused" in line["finding"]["reason"]
    renamed = runners(f"{ODD}boastful").run(engine_case(OPEN, setup | {"do": "callable"}))
    assert renamed["result"] == "fail", "whatever name the refusal gives it"
    api = runners(f"{ODD}liar=unsupported").run(API)
    assert api["result"] == "fail"


def test_a_capability_used_but_not_declared_is_an_error(runners: Any) -> None:
    case = engine_case(OPEN, {"do": "devices", "session": "s"})
    runner = runners(f"{ODD}sequential")
    assert runner.run(case)["result"] == "unsupported", "nine in ten are not asked"
    runner.leaves_out = False
    line = runner.run(case)
    assert line["result"] == "error"
    assert "without declaring the capability devices" in line["finding"]["reason"]


def test_skipped_is_decided_by_facts_of_the_host(runners: Any) -> None:
    absent = sorted(FACTS - facts())
    for need in absent:
        line = runners(TINY).run(engine_case(OPEN, run_step(TWO), needs=[need]))
        assert (line["result"], line["detail"]) == ("skipped", f"not here: {need}")
    held = sorted(FACTS & facts())
    assert runners(TINY).run(engine_case(OPEN, run_step(TWO), needs=held))["result"] == "fail"


def test_a_backend_of_simulated_gpus_is_asked_what_a_machine_with_gpus_is() -> None:
    devices = tuple(f"/job:localhost/replica:0/task:0/device:{it}" for it in ("CPU:0", "GPU:0"))
    simulated = Description("x", "1", frozenset(), devices, {"gpu": SIMULATED})
    assert {"gpu"} == facts(simulated) & {"gpu", "no-gpu"}
    assert environment(simulated)["gpus"] == [SIMULATED]
    word = Description("x", "1", frozenset(), devices)
    assert facts(word) == facts(), "a backend's word is not enough"


def test_missing_once_the_backend_is_given_up(tmp_path: Path) -> None:
    cases = [engine_case(OPEN, run_step(), id=f"made/{n}") for n in range(4)]
    patience = Patience(cases=2)
    hang = "sessrun.adapters.fakes.hanging:backend"
    probed = run_plan(
        hang, plan_of(*cases), tmp_path / "r.jsonl", patience=patience, deadline_s=0.3
    )
    # The fake answers the probe by hanging: nothing more is asked.
    results = [line["result"] for line in probed.record.results.values()]
    assert results == ["timeout", "timeout", "missing", "missing"]


def test_an_ill_formed_case_is_our_fault(runners: Any) -> None:
    unbound = api_case({"do": "eval", "expr": {"$call": "nowhere.Graph"}})
    assert runners("reference").run(unbound)["result"] == "infra_error"
    no_session = engine_case(OPEN, run_step() | {"session": "other"})
    assert runners(TINY).run(no_session)["result"] == "infra_error"
    bad_tensor = engine_case(
        OPEN, run_step() | {"feeds": {"x:0": {"dtype": "float32", "shape": [2], "data": ""}}}
    )
    assert runners(TINY).run(bad_tensor)["result"] == "infra_error"


def test_an_oracle_that_fails_is_our_fault(runners: Any) -> None:
    asks = engine_case(OPEN, run_step(oracle={"contract": "exact"}))
    for oracle in (
        "sessrun.adapters.fakes.crashing:backend",
        "sessrun.adapters.fakes.always_unsupported:backend",
        f"{ODD}incomplete",
        "nobody",
    ):
        line = runners(TINY, oracle=oracle).run(asks)
        assert line["result"] == "infra_error", oracle
        assert line["detail"].startswith("the oracle: ")
    assert runners(TINY, oracle=TINY).run(asks)["result"] == "pass"
    assert (
        runners("sessrun.adapters.fakes.lying:backend", oracle=TINY).run(asks)["result"] == "fail"
    )


def test_a_run_with_an_infra_error_is_void(tmp_path: Path) -> None:
    run = run_plan(TINY, plan_of(engine_case(OPEN, run_step() | {"session": "o"})), tmp_path / "r")
    assert run.summary.verdict == "VOID"


def test_every_result_is_in_the_closed_set() -> None:
    assert set(RESULTS) == {
        "pass",
        "fail",
        "error",
        "timeout",
        "crash",
        "unsupported",
        "skipped",
        "flaky",
        "missing",
        "infra_error",
    }


def start(step: dict[str, Any], thread: str = "t") -> dict[str, Any]:
    return {
        "do": "start",
        "thread": thread,
        "step": {k: v for k, v in step.items() if k != "expect"},
    }


JOIN = {"do": "join", "thread": "t", "expect": {"values": [ONE]}}


def test_a_call_in_a_thread_is_judged_where_it_is_joined(runners: Any) -> None:
    runner = runners(TINY)
    assert runner.run(engine_case(OPEN, start(run_step()), JOIN))["result"] == "pass"
    wrong = engine_case(OPEN, start(run_step()), JOIN | {"expect": {"values": [TWO]}})
    line = runner.run(wrong)
    assert (line["result"], line["finding"]["step"]) == ("fail", "2")


def test_a_call_that_hangs_in_a_thread_is_a_timeout_never_a_failure(runners: Any) -> None:
    deadline_exceeded = JOIN | {"expect": {"error": {"codes": [4]}}}
    case = engine_case(OPEN, start(run_step()), deadline_exceeded, deadline_s=1.0)
    assert runners("sessrun.adapters.fakes.hanging:backend").run(case)["result"] == "timeout"
    in_process = runners("sessrun.adapters.fakes.hanging:backend", in_process=True)
    assert in_process.run(case)["result"] == "timeout"


def test_calls_that_overlap_need_the_capability(runners: Any) -> None:
    line = runners(f"{ODD}sequential").run(engine_case(OPEN, start(run_step()), JOIN))
    assert line["result"] == "unsupported"
    assert "concurrent" in line["finding"]["reason"]


def test_a_call_left_blocked_is_no_burden_to_the_next_case(runners: Any) -> None:
    runner = runners("sessrun.adapters.fakes.hanging:backend", deadline_s=2.0)
    assert runner.run(engine_case(OPEN, start(run_step())))["result"] in {"pass", "timeout"}
    assert runner.run(engine_case(OPEN))["result"] == "pass"


def test_in_process_an_exception_is_an_error(runners: Any) -> None:
    line = runners(f"{ODD}raising", in_process=True).run(GOOD)
    assert line["result"] == "error"
    assert runners(TINY, in_process=True).run(GOOD)["result"] == "pass"


def test_a_backend_that_does_not_start_ends_the_run(runners: Any) -> None:
    with pytest.raises(AdapterError, match="no adapter is called 'nobody'"):
        runners("nobody").run(GOOD)
