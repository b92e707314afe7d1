"""A killed run goes on where it was cut: nothing answered is lost or asked again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cut_run import PATHS, plan_of
from test_case_results import GOOD, OPEN, TINY, engine_case, run_step

from sessrun.conformance.execution import ResumeError, execute
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case
from sessrun.spec.records import RecordWriter, RunRecord, read_record
from sessrun.spec.schema import SpecError

CASES = tuple(
    engine_case(OPEN, run_step(), id=f"made/case-{number}", title=f"Case {number}.")
    for number in range(6)
)
PLAN = plan_of(*CASES)


class Counting(Runner):
    """A runner that remembers what it was asked."""

    asked: tuple[str, ...] = ()

    def run(self, case: Case) -> dict[str, Any]:
        self.asked = (*self.asked, case.id)
        return super().run(case)


def go(path: Path, plan: Plan = PLAN, spec: str = TINY, resume: bool = True) -> Counting:
    runner = Counting(spec, in_process=True)
    try:
        execute(plan, runner, path, resume=resume)
    finally:
        runner.shutdown()
    return runner


def whole(path: Path) -> list[str]:
    go(path, resume=False)
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def ids(record: RunRecord) -> list[str]:
    return list(record.results)


@pytest.mark.parametrize("kept", range(8))
@pytest.mark.parametrize("cut", [0, 1, 40])
def test_a_record_cut_anywhere_is_completed(kept: int, cut: int, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    path.write_text("".join(lines[:kept]) + lines[kept][:cut], encoding="utf-8")
    runner = go(path)
    record = read_record(path)
    answered = max(0, kept - 1)
    assert list(runner.asked) == [case.id for case in CASES[answered:]]
    assert ids(record) == [case.id for case in CASES]
    assert record.complete
    assert [line["kind"] for line in map(json.loads, path.read_text().splitlines())].count(
        "header"
    ) == 1


def test_two_resumes(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    path.write_text("".join(lines[:3]), encoding="utf-8")
    go(path, resume=True)
    again = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(again[:6]), encoding="utf-8")
    runner = go(path)
    assert list(runner.asked) == [case.id for case in CASES[4:]]
    record = read_record(path)
    assert ids(record) == [case.id for case in CASES]
    assert [event["event"] for event in record.events] == ["resumed", "resumed"]


def test_a_complete_record_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    assert go(path).asked == ()
    assert path.read_text(encoding="utf-8") == "".join(lines)


def changed(path: Path, change: Any) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    change(header)
    path.write_text(json.dumps(header) + "\n" + "".join(lines[1:3]), encoding="utf-8")


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("spec.digest differs", lambda h: h["spec"].update(digest="0" * 64)),
        ("suite differs", lambda h: h.update(suite="0" * 64)),
        ("plan.hash differs", lambda h: h["plan"].update(hash="0" * 64)),
        ("plan.seed differs", lambda h: h["plan"].update(seed=99)),
        ("backend.version differs", lambda h: h["backend"].update(version="99")),
        ("backend.spec differs", lambda h: h["backend"].update(spec="other")),
        ("backend.capabilities differs", lambda h: h["backend"].update(capabilities=[])),
        (
            "environment.packages.numpy differs",
            lambda h: h["environment"]["packages"].update(numpy="0.1"),
        ),
        ("sessrun differs", lambda h: h.update(sessrun="99")),
        ("mode differs", lambda h: h.update(mode="workers")),
    ],
)
def test_another_run_is_not_continued(sentence: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    whole(path)
    changed(path, change)
    before = path.read_bytes()
    with pytest.raises(ResumeError, match=sentence) as caught:
        go(path)
    assert "start anew without --resume" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_another_plan_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    path.write_text("".join(lines[:3]), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"plan\.cases differs"):
        go(path, plan_of(*CASES, GOOD))


def test_an_answer_to_other_content_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    forged = json.loads(lines[1]) | {"hash": "0" * 64}
    path.write_text(lines[0] + json.dumps(forged) + "\n", encoding="utf-8")
    with pytest.raises(ResumeError, match="other content than planned"):
        go(path)


def test_a_damaged_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = whole(path)
    path.write_text(lines[0] + lines[1][:40] + "\n" + lines[2], encoding="utf-8")
    with pytest.raises(SpecError, match="line 2: not JSON"):
        go(path)


@pytest.mark.parametrize("resume", [True, False])
def test_a_record_that_another_run_is_writing_is_left_alone(resume: bool, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    before = "".join(whole(path)[:3])
    path.write_text(before, encoding="utf-8")
    with RecordWriter(path, len(before.encode())), pytest.raises(SpecError, match="another run"):
        go(path, resume=resume)
    assert path.read_text(encoding="utf-8") == before
    go(path)
    assert read_record(path).complete


def test_second_tries_are_counted_over_a_resume(tmp_path: Path) -> None:
    runner = Runner(TINY)
    runner.resume_after([{"result": "fail", "attempts": 2}] * 20)
    line = runner.run(engine_case(OPEN, run_step(1)))
    runner.shutdown()
    assert line["result"] == "fail"
    assert "attempts" not in line


#: What the names of some 200 cases of core have in common.
SOME = "graph"


def certify(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "sessrun.cli.main",
        "run",
        "reference",
        "--generated",
        "2",
        "--only",
        SOME,
        "--record",
        str(folder / "record.jsonl"),
        *more,
    ]
    return subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": PATHS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.slow
def test_kill_nine_in_the_middle_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    answered: list[str] = []
    for more in ([], ["--resume"]):
        process = certify(tmp_path, *more)
        until = time.monotonic() + 60
        wanted = path.read_bytes().count(b"\n") + 40 if path.exists() else 40
        while time.monotonic() < until and process.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.communicate()
        record = read_record(path)
        assert not record.complete
        assert ids(record)[: len(answered)] == answered
        answered = ids(record)
        assert answered
    process = certify(tmp_path, "--resume")
    _, told = process.communicate(timeout=120)
    assert process.returncode in {0, 1}, told.decode()
    record = read_record(path)
    assert record.complete
    assert ids(record)[: len(answered)] == answered
    assert len(ids(record)) == len(set(ids(record)))
    planned = build_plan("core", seed=1, generated=2).cases
    assert ids(record) == [case.id for case in planned if SOME in case.id]
