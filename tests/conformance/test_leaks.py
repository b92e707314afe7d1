"""Loops whose memory is followed: what leaks GROWS, what does not is FLAT, a jump is neither."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from planted import planted_backend

import sessrun.reference as tf
from sessrun.cli.main import main
from sessrun.conformance.benchmarks.leaks import follow
from sessrun.conformance.benchmarks.loops import LOOPS
from sessrun.conformance.benchmarks.processes import Side
from sessrun.reports.leak_verdicts import trend, trend_of
from sessrun.reports.leaks_view import leaks_html, read_leaks
from sessrun.spec.schema import SpecError

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
STEPS = list(range(0, 10_050, 50))
PAGE = 4096


def test_a_step_of_every_loop_gives_what_it_should() -> None:
    for loop in LOOPS.values():
        prepared = loop.prepare(tf, "")
        for _ in range(7):
            prepared.call()
        assert prepared.check((prepared.checked or prepared.call)()) is None, loop.name
        prepared.close()


@needs_linux
@pytest.mark.parametrize(
    ("planted", "verdict", "status"),
    [("KEPT.append(bytes(67))", "GROWS", 1), ("bytes(67)", "FLAT", 0)],
)
def test_a_leak_of_a_hundred_bytes_a_run_grows_and_none_is_flat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str, verdict: str, status: int
) -> None:
    """`structures` has two runs a step, and an object of 67 bytes takes 112 and its place 8."""
    monkeypatch.chdir(tmp_path)
    backend = planted_backend(tmp_path, planted)
    command = f"leaks {backend} --loop structures --steps 3000 --output out"
    assert main(command.split()) == status
    (course,) = json.loads((tmp_path / "out" / "leaks.json").read_text())["courses"]
    known = trend_of(course)
    assert known.verdict == verdict
    if verdict == "GROWS":
        assert known.slope == pytest.approx(240, rel=0.4)
    page = (tmp_path / "out" / "leaks.html").read_text()
    assert verdict in page
    assert "resident memory over steps" in page


def course_of(bytes_a_step: float, jump: int = 0, seed: int = 1) -> list[int]:
    """Pages that a leak, the noise of an allocator and a jump in the middle add up to."""
    noise = np.random.default_rng(seed).integers(0, 3, len(STEPS)) * PAGE
    grown = np.array(STEPS) * bytes_a_step // PAGE * PAGE
    jumped = np.where(np.array(STEPS) > 6000, jump, 0)
    return [int(value) for value in 50 * 2**20 + noise + grown + jumped]


@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_told_from_noise(seed: int) -> None:
    assert trend(STEPS, course_of(0, seed=seed)).verdict == "FLAT"
    leak = trend(STEPS, course_of(100, seed=seed))
    assert leak.verdict == "GROWS"
    assert leak.low < 100 < leak.high


def test_a_single_jump_is_no_leak_and_not_flat_either() -> None:
    assert trend(STEPS, course_of(0, jump=2**20)).verdict == "UNDECIDED"


def test_what_grows_only_at_the_beginning_is_flat() -> None:
    resident = [50 * 2**20 + min(step, 2000) * 500 for step in STEPS]
    assert trend(STEPS, resident).verdict == "FLAT"


def test_few_readings_and_wrong_answers_are_undecided() -> None:
    assert trend(STEPS[:9], course_of(100)[:9]).verdict == "UNDECIDED"
    course = {"steps": STEPS, "resident": course_of(100), "correct": False}
    assert trend_of(course).verdict == "UNDECIDED"


@needs_linux
def test_steps_go_on_until_a_verdict_is_known_or_there_are_enough() -> None:
    side = Side("reference", "reference")
    course = follow(side, "structures", lambda *_: False, steps=200, most=500)
    assert course.steps[0] == 0
    assert course.steps[-1] == 500
    assert len(course.steps) == len(course.resident)
    assert course.wrong is None
    course = follow(side, "structures", lambda *_: True, steps=200, most=500)
    assert course.steps[-1] == 200


def run_of(**changes: object) -> dict[str, object]:
    course = {
        "loop": "training",
        "about": "steps",
        "backend": "one",
        "version": "1",
        "steps": STEPS,
        "resident": course_of(0),
        "correct": True,
        "detail": "",
    }
    head = {"leaks": 1, "sessrun": "0", "started": "2026-01-01", "fingerprint": {"cpus": 2}}
    return head | {"courses": [course | changes]}


def test_a_file_that_is_no_course_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "leaks.json"
    for changes in ({"steps": STEPS[::-1]}, {"steps": STEPS[1:]}, {"resident": [1, -1]}):
        path.write_text(json.dumps(run_of(**changes)))
        with pytest.raises(SpecError):
            read_leaks(path)
    path.write_text(json.dumps(run_of()))
    assert read_leaks(path) == run_of()


def test_the_page_escapes_names() -> None:
    evil = "[bold]\x1b[31m<script>$x$&"
    page = leaks_html(run_of(backend=evil, loop=evil, about=evil, version=evil))
    assert "<script" not in page
    assert "\x1b" not in page
