"""Hostile backends: none is certified, each costs its own cases only, the report says it."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cut_run import HOSTILE, CutRun, cut_plan, run_plan

from sessrun.cli.failure import UserError
from sessrun.cli.main import main
from sessrun.conformance.patience import PROBE, Losses, Patience
from sessrun.spec.records import TRIED_AGAIN

#: Patience for tests: seconds where a certification has minutes.
SHORT = Patience(cases=3, seconds=4.0, again=2.0, limit=9.0, retries=2)


@pytest.fixture(scope="module")
def conforming(tmp_path_factory: pytest.TempPathFactory) -> CutRun:
    return run_plan("reference", cut_plan(), tmp_path_factory.mktemp("conforming") / "r.jsonl")


def same_elsewhere(run: CutRun, conforming: CutRun, result: str) -> int:
    """How many cases ended so; every other one must have the conforming backend's result."""
    hit = 0
    for id_, line in run.record.results.items():
        if line["result"] == result:
            hit += 1
        else:
            assert line["result"] == conforming.record.results[id_]["result"], id_
    return hit


def test_the_cut_plan_certifies_a_conforming_backend(conforming: CutRun) -> None:
    assert conforming.summary.verdict == "CERTIFIED", conforming.terminal
    assert conforming.kinds <= {"pass", "skipped"}


@pytest.mark.parametrize("argument", ["", "#boastful"])
def test_unsupported_for_everything_is_never_certified(argument: str, tmp_path: Path) -> None:
    spec = f"sessrun.adapters.fakes.always_unsupported:backend{argument}"
    run = run_plan(spec, cut_plan(), tmp_path / "r.jsonl")
    assert run.summary.verdict == "NOT CERTIFIED"
    assert run.summary.counts["pass"] == 0
    assert "unsupported" in run.terminal
    assert run.results["summary"]["totals"]["unsupported"] > 0


@pytest.mark.parametrize("name", ["zeros", "wrong_dtypes", "one_error"])
def test_wrong_answers_are_never_certified(name: str, tmp_path: Path, conforming: CutRun) -> None:
    run = run_plan(f"hostile.{name}:backend", cut_plan(), tmp_path / "r.jsonl", patience=SHORT)
    assert run.summary.verdict == "NOT CERTIFIED"
    assert run.record.complete
    failed = [line for line in run.record.results.values() if line["result"] == "fail"]
    assert failed
    assert all(line["finding"]["reason"] for line in failed)
    assert f"{len(failed)} fail" in run.terminal
    ids = conforming.record.results.keys()
    assert run.record.results.keys() == ids, "every case is answered all the same"
    if name == "wrong_dtypes":
        assert "want dtype float32, got float64" in run.terminal


def test_words_without_utf_8_spoil_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.jsonl"
    (tmp_path / "package.zip").write_text("of an earlier run")
    spec = "hostile.odd:backend#half-a-pair"
    wanted = ["--only", "feeds-of-admitted-shapes:", "--generated", "2", "--record", str(record)]
    assert main(["run", spec, *wanted]) == 1
    assert "✓ CERTIFIED" not in [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "\\ud800" in (tmp_path / "report.html").read_text("utf-8")
    replays = list((tmp_path / "replays").iterdir())
    assert replays
    for replay in replays:
        got = json.loads(replay.read_text("utf-8"))["finding"]["got"]
        assert got["classes"] == ["\ud800 \x1b[31m\n✓ CERTIFIED\n"]
    assert not (tmp_path / "package.zip").exists(), "what is not of this run is gone"


def untroubled(run: CutRun) -> list[dict[str, Any]]:
    """The events of a run but for the second tries."""
    return [event for event in run.record.events if event["detail"] != TRIED_AGAIN]


def test_a_crash_costs_one_case(tmp_path: Path, conforming: CutRun) -> None:
    run = run_plan("hostile.dying:backend#40", cut_plan(), tmp_path / "r.jsonl")
    assert 1 <= same_elsewhere(run, conforming, "flaky") <= 4
    assert run.summary.verdict == "NOT CERTIFIED"
    assert "SIGSEGV" in run.terminal
    assert "SIGSEGV" in run.html
    assert any(event["event"] == "restart" for event in run.record.events)


@pytest.mark.parametrize("argument", ["", "#4"])
def test_native_prints_spoil_their_cases_and_disturb_no_other(
    argument: str, tmp_path: Path, conforming: CutRun
) -> None:
    spec, patience = f"hostile.printing:backend{argument}", Patience(retries=3)
    run = run_plan(spec, cut_plan(), tmp_path / "r.jsonl", patience=patience)
    assert same_elsewhere(run, conforming, "error") >= 10
    assert run.summary.verdict == "NOT CERTIFIED"
    assert "on standard output" in run.terminal
    assert "on standard output" in run.html
    assert untroubled(run) == untroubled(conforming), "a worker that prints goes on"


def test_nothing_that_a_backend_starts_outlives_the_run(tmp_path: Path, conforming: CutRun) -> None:
    count = tmp_path / "left"
    run = run_plan(f"hostile.leaving:backend#{count}", cut_plan(), tmp_path / "r.jsonl")
    assert same_elsewhere(run, conforming, "nothing ends so") == 0
    left = [int(pid) for pid in count.read_text().split()]
    assert left
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


def test_prints_of_a_command_break_the_protocol(tmp_path: Path) -> None:
    command = f"exec:{sys.executable} {HOSTILE / 'hostile' / 'talkative.py'}"
    patience = Patience(cases=99, retries=3)
    run = run_plan(command, cut_plan(), tmp_path / "r.jsonl", patience=patience)
    assert run.summary.verdict == "NOT CERTIFIED"
    assert {"error", "unsupported"} <= run.kinds
    assert "error" in run.terminal


def test_the_babbling_fake_is_asked_on_after_each_print(tmp_path: Path) -> None:
    plain = run_plan("sessrun.adapters.fakes.conforming:backend", cut_plan(), tmp_path / "a.jsonl")
    loud = run_plan("sessrun.adapters.fakes.babbling:backend", cut_plan(), tmp_path / "b.jsonl")
    assert same_elsewhere(loud, plain, "error") >= 1
    assert untroubled(loud) == untroubled(plain)


def test_a_hanging_backend_is_given_up(tmp_path: Path) -> None:
    started = time.monotonic()
    run = run_plan(
        "hostile.hanging:backend",
        cut_plan(),
        tmp_path / "r.jsonl",
        patience=SHORT,
        deadline_s=0.5,
    )
    assert time.monotonic() - started < 60
    assert run.summary.verdict == "NOT CERTIFIED"
    assert {"timeout", "missing"} <= run.kinds
    assert len(run.record.results) == len(cut_plan().cases), "those never asked are recorded too"
    unresponsive = [e for e in run.record.events if e["event"] == "unresponsive"]
    assert len(unresponsive) == 1
    assert "the probe failed too" in unresponsive[0]["detail"]
    missing = [line for line in run.record.results.values() if line["result"] == "missing"]
    assert {line["detail"] for line in missing} == {
        "backend unresponsive: the probe failed too: no answer to run within 0.5 s"
    }
    assert re.search(r"\d+ timeout", run.terminal)
    assert re.search(r"\d+ missing", run.terminal)
    assert "backend unresponsive" in run.html


@pytest.mark.slow
def test_one_that_answers_the_probe_alone_is_given_up_too(tmp_path: Path) -> None:
    started = time.monotonic()
    run = run_plan(
        "hostile.hanging:backend#probe",
        cut_plan(9),
        tmp_path / "r.jsonl",
        patience=SHORT,
        deadline_s=0.5,
    )
    assert time.monotonic() - started < 60
    unresponsive = [e for e in run.record.events if e["event"] == "unresponsive"]
    assert "all the time there is" in unresponsive[0]["detail"]


def test_whatever_a_backend_does_a_certification_ends_within_ten_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All requests of a certification end with `whole`; shrinking and the reports come after."""
    given: list[Patience] = []

    def stop(*_: object, patience: Patience, **__: object) -> None:
        given.append(patience)
        raise UserError("no more is needed")

    monkeypatch.setattr("sessrun.cli.running.started", stop)
    assert main(["certify", "reference", "--output", str(tmp_path)]) == 2
    shrinking, reports = 2 * 30.0, 30.0
    assert given[0].whole + shrinking + reports <= 600
    assert given[0].limit < given[0].whole
    assert Losses(given[0]).until < time.monotonic() + 600 - shrinking - reports


def test_the_breaker_opens_long_before_that() -> None:
    patience = Patience()
    losses = Losses(patience)
    losses.lost(patience.cheap + patience.limit - 1)
    assert losses.deadline(600.0) == PROBE.deadline_s
    assert patience.seconds == 300
    assert patience.cases == 20
    assert patience.seconds < patience.limit


def test_an_answer_resets_the_count_of_losses() -> None:
    losses = Losses(Patience(cases=2, cheap=0.0))
    losses.lost(1.0)
    losses.answered()
    losses.lost(1.0)
    assert not losses.probe_is_due
    losses.lost(1.0)
    assert losses.probe_is_due
    assert losses.seconds == 3.0
