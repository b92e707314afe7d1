"""Several workers at a time: the same record as of one, and what one loses costs no other."""

import itertools
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cut_run import cut_plan, plan_of, run_plan
from test_case_results import GOOD, ODD, OPEN, TINY, TWO, engine_case, run_step
from test_lost_cases import DYING, copies

from sessrun.cli.failure import UserError
from sessrun.cli.workers import worker_count
from sessrun.conformance.execution import execute
from sessrun.conformance.patience import Patience
from sessrun.conformance.runner import Runner
from sessrun.reports.losses import event_faults
from sessrun.spec.cases.model import Case
from sessrun.spec.records import RunRecord, read_record

HANGING = "sessrun.adapters.fakes.hanging:backend"
SLOW = "sessrun.adapters.fakes.slow:backend#"


def results(record: RunRecord) -> Counter[str]:
    return Counter(line["result"] for line in record.results.values())


def told(record: RunRecord, event: str) -> list[str]:
    return [form["detail"] for form in record.events if form["event"] == event]


def test_the_record_is_that_of_one_worker(tmp_path: Path) -> None:
    plan = cut_plan(61)
    one, three = (
        run_plan("reference", plan, tmp_path / f"{workers}.jsonl", workers).record
        for workers in (1, 3)
    )
    assert list(three.results) == [case.id for case in plan.cases], "in the order of the plan"
    assert three.header["workers"] == 3
    timeless = [
        [{k: v for k, v in line.items() if k != "seconds"} for line in record.results.values()]
        for record in (one, three)
    ]
    assert timeless[0] == timeless[1]


def test_cases_run_at_the_same_time(tmp_path: Path) -> None:
    """Sixteen runs of half a second, in four workers."""
    record = run_plan(f"{SLOW}0.5", plan_of(*copies(GOOD, 16)), tmp_path / "r.jsonl", 4).record
    assert results(record) == {"pass": 16}
    footer = (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert float(footer.rpartition(":")[2].rstrip("}")) < 0.9 * 16 * 0.5


def test_each_death_costs_its_case(tmp_path: Path) -> None:
    record = run_plan(f"{DYING}#20", plan_of(*copies(GOOD, 120)), tmp_path / "r.jsonl", 3).record
    assert set(results(record)) == {"pass", "flaky"}, "a fresh worker answers what another died of"
    assert results(record)["flaky"] >= 4
    assert len(told(record, "restart")) == 2 * results(record)["flaky"]
    assert list(event_faults(record)) == []


def test_a_backend_that_hangs_is_given_up_by_all(tmp_path: Path) -> None:
    record = run_plan(
        HANGING,
        plan_of(*copies(GOOD, 40)),
        tmp_path / "r.jsonl",
        3,
        patience=Patience(cases=6),
        deadline_s=0.2,
    ).record
    lines = results(record)
    assert set(lines) == {"timeout", "missing"}
    assert 6 <= lines["timeout"] <= 8, "those that the others had in hand may be lost as well"
    assert list(event_faults(record)) == []


def test_time_that_is_up_ends_all(tmp_path: Path) -> None:
    cases = copies(GOOD, 60)
    cases[3] = engine_case(OPEN, *[run_step()] * 40, id="made/long", deadline_s=60.0)
    record = run_plan(
        f"{SLOW}0.2", plan_of(*cases), tmp_path / "r.jsonl", 2, patience=Patience(whole=4.0)
    ).record
    lines = list(record.results.values())
    assert lines[3]["result"] == "missing", "it had no time to end"
    assert lines[4]["result"] == "pass", "while others went on"
    assert lines[-1]["result"] == "missing"
    assert list(event_faults(record)) == []


def test_cases_that_another_worker_passed_later_do_not_hide_a_missing_one(tmp_path: Path) -> None:
    """`verify` allows what two workers had in hand, and no more."""
    record = run_plan(
        f"{SLOW}0.2",
        plan_of(*copies(GOOD, 60)),
        tmp_path / "r.jsonl",
        2,
        patience=Patience(whole=4.0),
    ).record
    assert list(event_faults(record)) == []
    for line in list(record.results.values())[-2:]:
        line["result"] = "pass"
    assert "after it was given up" in " ".join(event_faults(record))


def test_a_second_worker_that_does_not_start_is_done_without(tmp_path: Path) -> None:
    spec = f"{ODD}alone={tmp_path / 'count'}"
    record = run_plan(spec, plan_of(*copies(GOOD, 20)), tmp_path / "r.jsonl", 3).record
    assert results(record) == {"pass": 20}
    events = told(record, "fewer workers")
    assert len(events) == 2
    assert "once is enough" in events[0]


def test_a_refused_worker_holds_no_case_back(tmp_path: Path) -> None:
    spec = f"{ODD}alone={tmp_path / 'count'}"
    written: list[float] = []
    runner = Runner(spec)
    try:
        execute(
            plan_of(*copies(GOOD, 40)),
            runner,
            tmp_path / "r.jsonl",
            workers=2,
            progress=lambda *_: written.append(time.monotonic()),
        )
    finally:
        runner.shutdown()
    waits = [later - sooner for sooner, later in itertools.pairwise(written)]
    assert max(waits) < sum(waits) / 3, "a case takes a fortieth of the time"


def test_no_more_workers_start_than_there_are_cases(tmp_path: Path) -> None:
    count = tmp_path / "count"
    run_plan(f"{ODD}alone={count}", plan_of(GOOD), tmp_path / "r.jsonl", 4)
    assert count.read_text() == "1"


def test_a_run_waits_for_no_worker_that_starts_slowly(tmp_path: Path) -> None:
    count = tmp_path / "count"
    began = time.monotonic()
    record = run_plan(
        f"{ODD}starts-slowly={count}", plan_of(*copies(GOOD, 3)), tmp_path / "r.jsonl", 3
    ).record
    assert time.monotonic() - began < 30, "the second one takes a minute"
    assert results(record) == {"pass": 3}
    assert record.events == [], "it was ended by us"


def test_deaths_at_the_end_of_the_time_are_told_apart_from_forgery(tmp_path: Path) -> None:
    """Each worker is lost and started anew when the time is up."""
    record = run_plan(
        f"{DYING}#1",
        plan_of(*copies(GOOD, 60)),
        tmp_path / "r.jsonl",
        3,
        patience=Patience(cases=999, seconds=1e9, limit=1e9, whole=5.0),
    ).record
    assert set(results(record)) == {"crash", "missing"}
    assert list(event_faults(record)) == []


def test_second_tries_at_the_end_of_the_time_are_told_apart_from_forgery(tmp_path: Path) -> None:
    record = run_plan(
        f"{SLOW}0.4",
        plan_of(*(_wrong(case) for case in copies(GOOD, 60))),
        tmp_path / "r.jsonl",
        3,
        patience=Patience(retries=99, retry_seconds=1e9, whole=5.0),
    ).record
    assert set(results(record)) == {"fail", "missing"}
    assert list(event_faults(record)) == []


def _wrong(case: Case) -> Case:
    """The case with an expectation that no engine meets."""
    return engine_case(OPEN, run_step(TWO), id=case.id)


def test_an_interrupted_run_waits_for_no_case(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    runner = Runner(f"{SLOW}60")
    fast = engine_case(OPEN, id="made/fast", clauses=["RUN-001"])
    began = time.monotonic()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            execute(plan_of(fast, *copies(GOOD, 4)), runner, path, workers=3, progress=stop)
    finally:
        runner.shutdown()
    assert time.monotonic() - began < 30, "the others' runs take a minute"
    record = read_record(path)
    assert list(record.results) == ["made/fast"]
    assert record.events == [], "nothing is told of what was interrupted"


@pytest.mark.parametrize(
    ("spec", "asked", "cases", "workers"),
    [
        (TINY, None, 1000, min(len(os.sched_getaffinity(0)), 4)),
        (TINY, None, 50, min(len(os.sched_getaffinity(0)), 2)),
        (TINY, None, 49, 1),
        (TINY, None, 0, 1),
        (TINY, 7, 1, 7),
        (f"{ODD}gpu", None, 1000, 1),
        (f"{ODD}gpu", 2, 1000, 2),
    ],
)
def test_backends_of_processors_only_have_several_workers(
    spec: str, asked: int | None, cases: int, workers: int
) -> None:
    runner = Runner(spec)
    try:
        assert worker_count(asked, runner, cases) == workers
    finally:
        runner.shutdown()


def test_a_count_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UserError, match="--workers is from 1 to 64"):
        worker_count(0, Runner(TINY), 1)
    with pytest.raises(UserError, match="--workers is from 1 to 64"):
        worker_count(65, Runner(TINY), 1)
    with pytest.raises(UserError, match="--in-process"):
        worker_count(2, Runner(TINY, in_process=True), 1)
    assert worker_count(None, Runner(TINY, in_process=True), 1000) == 1
