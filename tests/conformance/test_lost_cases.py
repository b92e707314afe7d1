"""What a death, a lie or a flood costs: its own case, and the record says the true reason."""

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cut_run import plan_of, run_plan
from test_case_results import (
    API,
    GOOD,
    ODD,
    ONE,
    OPEN,
    SCRIPTED,
    api_case,
    engine_case,
    run_step,
)

from sessrun.conformance.patience import Losses, Patience
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case

DYING = "sessrun.adapters.fakes.dying:backend"


@pytest.fixture
def runners() -> Iterator[Any]:
    made: list[Runner] = []

    def make(spec: str, **options: Any) -> Runner:
        made.append(Runner(spec, **options))
        return made[-1]

    yield make
    for runner in made:
        runner.shutdown()


def copies(case: Case, count: int) -> list[Case]:
    return [dataclasses.replace(case, id=f"made/case-{number}") for number in range(count)]


def reasons(run: Any) -> set[str]:
    lines = run.record.results.values()
    return {line["detail"] for line in lines if line["result"] == "missing"}


def test_a_backend_that_dies_in_every_twentieth_run_has_every_case_judged(tmp_path: Path) -> None:
    """Though its deaths cost far more than may be lost in all, were they not cheap."""
    patience = Patience(seconds=0.3, again=0.1, limit=0.5)
    run = run_plan(
        f"{DYING}#20", plan_of(*copies(GOOD, 200)), tmp_path / "r.jsonl", patience=patience
    )
    results = Counter(line["result"] for line in run.record.results.values())
    assert results == {"pass": 190, "flaky": 10}
    assert sum(event["event"] == "restart" for event in run.record.events) == 20


def test_deaths_in_a_row_are_not_cheap(tmp_path: Path) -> None:
    patience = Patience(cases=99, seconds=0.3, again=0.1, limit=0.5)
    run = run_plan(f"{DYING}#1", plan_of(*copies(GOOD, 9)), tmp_path / "r.jsonl", patience=patience)
    results = [line["result"] for line in run.record.results.values()]
    assert results[0] == "crash"
    assert results[-1] == "missing"


def test_what_follows_an_answer_may_cost_a_little_for_free() -> None:
    losses = Losses(Patience(cheap=3.0))
    losses.lost(2.0)
    assert losses.seconds == 0.0
    losses.lost(2.0)
    assert losses.seconds == 2.0, "nothing was answered in between"
    losses.answered()
    losses.lost(30.0)
    assert losses.seconds == 29.0, "a hung call is not cheap"


def test_a_missing_case_says_what_the_probe_said(tmp_path: Path) -> None:
    run = run_plan(
        f"{DYING}#1", plan_of(*copies(GOOD, 4)), tmp_path / "r.jsonl", patience=Patience(cases=2)
    )
    assert reasons(run) == {
        "backend unresponsive: the probe failed too: the worker exited with status 3 during run"
    }


def test_a_missing_case_says_that_no_worker_starts(tmp_path: Path) -> None:
    spec = f"{ODD}starts-once={tmp_path / 'count'}"
    run = run_plan(spec, plan_of(*copies(GOOD, 3)), tmp_path / "r.jsonl")
    (reason,) = reasons(run)
    assert reason.startswith("backend unresponsive: it does not start again: ")
    assert "once is enough" in reason


def test_a_missing_case_says_that_losses_took_the_time(tmp_path: Path) -> None:
    spec = "hostile.hanging:backend#probe"
    patience = Patience(cases=2, seconds=0.1, again=0.1, limit=2.0, cheap=0.0)
    cases = copies(GOOD, 12)
    run = run_plan(spec, plan_of(*cases), tmp_path / "r.jsonl", patience=patience, deadline_s=0.5)
    assert reasons(run) == {"out of time: its timeouts and crashes have cost all the time there is"}


def scripted(manner: str) -> str:
    return f"exec:{sys.executable} {SCRIPTED} {manner}"


def test_an_engine_that_calls_a_case_ill_formed_has_broken_the_contract(runners: Any) -> None:
    line = runners(scripted("case")).run(GOOD)
    assert line["result"] == "error"
    assert "reports (case): the case is ill-formed" in line["detail"]


def test_a_worker_that_calls_an_api_case_ill_formed_is_not_taken_at_its_word(runners: Any) -> None:
    runner = runners(scripted("case"))
    line = runner.run(API)
    assert line["result"] == "error"
    assert "the oracle does not" in line["detail"]
    unbound = api_case({"do": "eval", "expr": {"$call": "nowhere.Graph"}})
    assert runner.run(unbound)["result"] == "infra_error", "the oracle says so too"
    lost = runners(scripted("case"), oracle="nobody").run(API)
    assert lost["result"] == "error", "nobody confirms it"


def test_a_case_that_goes_on_without_what_was_not_opened_is_judged(runners: Any) -> None:
    """What a backend refuses to open never makes the case ours to answer for."""
    asks = engine_case(OPEN | {"expect": {"oracle": {}}}, run_step())
    line = runners(f"{ODD}half-a-pair").run(asks)
    assert line["result"] == "fail", line.get("detail")
    either = engine_case(OPEN | {"expect": {"any_of": [{}, {"error": {"codes": [3]}}]}}, run_step())
    line = runners(f"{ODD}half-a-pair").run(either)
    assert (line["result"], line["finding"]["step"]) == ("fail", "1")
    assert line["finding"]["reason"] == "the step was not answered"


@pytest.mark.parametrize("manner", ["exit", "interrupt", "base"])
def test_an_answer_that_raises_while_it_is_packed_is_an_error_at_once(
    runners: Any, manner: str
) -> None:
    runner = runners(f"{ODD}unpackable={manner}")
    began = time.monotonic()
    line = runner.run(GOOD)
    assert line["result"] == "error"
    assert "its answer has no form on the wire" in line["detail"]
    assert time.monotonic() - began < GOOD.deadline_s


UNASKED = {key: value for key, value in run_step().items() if key != "expect"}
KEPT = run_step(values=[{"keep": "a"}])
SAME = run_step(values=[{"same_as": "a"}])


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        ((OPEN, run_step()), "fail"),
        ((OPEN, UNASKED), "pass"),
        ((OPEN, KEPT, SAME), "pass"),
        ((OPEN, KEPT, run_step(values=[{"differs_from": "a"}])), "fail"),
        ((OPEN, run_step(values=[{"one_of": [ONE, {"object": "Tensor"}]}])), "fail"),
        ((OPEN, run_step(values=[{"like": {"dtype": "float32", "shape": []}}])), "fail"),
        ((OPEN, run_step(values=[{"$float": "1.0"}])), "fail"),
    ],
)
def test_a_large_answer_is_compared_before_it_is_described(
    runners: Any, steps: tuple[Any, ...], result: str
) -> None:
    runner = runners(f"{ODD}large={2**24}")
    runner.backend()
    line = runner.run_once(engine_case(*steps, deadline_s=20.0))
    assert line["result"] == result, line
    assert len(str(line)) < 5000
    began = time.process_time()  # the host's own: the worker needs time to make and write it
    runner.run_once(engine_case(*steps, deadline_s=20.0))
    assert time.process_time() - began < 1.0 * (len(steps) - 1)


def test_a_large_answer_of_the_right_size_is_compared_element_by_element(runners: Any) -> None:
    large = f"{ODD}large=100000"
    asks = engine_case(OPEN, run_step(oracle={"contract": "exact"}))
    assert runners(large, oracle=large).run(asks)["result"] == "pass"
    line = runners(large, oracle=f"{large}:2").run(asks)
    assert line["result"] == "fail"
    assert "want np.float32(2.0), got np.float32(1.0) at index [0]" in line["finding"]["reason"]


def test_more_strings_than_an_answer_may_hold_cost_their_case_at_once(runners: Any) -> None:
    runner = runners(scripted("many-strings"))
    runner.backend()
    began = time.monotonic()
    line = runner.run(GOOD)
    assert line["result"] == "error"
    assert "1,048,576 strings" in line["detail"]
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("manner", "result", "reason"),
    [
        ("many-observations", "error", "observations of more than 4,194,304 bytes"),
        ("long-words", "fail", "it failed with ValueError"),
    ],
)
def test_observations_are_bounded(runners: Any, manner: str, result: str, reason: str) -> None:
    runner = runners(scripted(manner))
    runner.backend()
    began = time.monotonic()
    line = runner.run_once(api_case({"do": "eval", "expr": 1, "expect": {"value": 1}}))
    assert line["result"] == result
    assert reason in str(line)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("manner", ["words", "endless"])
def test_a_queue_that_gives_what_it_cannot_have_ends_its_check(runners: Any, manner: str) -> None:
    name = "sessrun.conformance.checks.queue_histories."
    whole = {"kind": "fifo", "histories": 1, "calls": 12, "seed": 1}
    parts = {"kind": "fifo", "threads": 2, "elements": 20, "seed": 1}
    for check, args in (("linearizable", whole), ("conserved", parts)):
        nothing = {"broken": []} if check == "linearizable" else {"invented": 0}
        step = {"do": "check", "name": name + check, "args": args, "expect": {"facts": nothing}}
        began = time.monotonic()
        line = runners(f"{ODD}queue={manner}").run_once(engine_case(step))
        assert line["result"] == "fail", line.get("detail")
        assert time.monotonic() - began < 20
