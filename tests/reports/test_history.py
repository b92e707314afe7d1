"""Histories of benchmark runs: what is kept, where a level changed, what a page shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sessrun.cli.main import main
from sessrun.reports.history import Series, append, changes, entry_of, read_history, series_of
from sessrun.reports.history_html import history_html
from sessrun.spec.schema import SpecError


def series(levels: list[float], noise: float = 0.01, seed: int = 0) -> Series:
    logs = np.log(levels) + np.random.default_rng(seed).normal(0, noise, len(levels))
    commits = tuple(f"c{index:02}" for index in range(len(levels)))
    return Series("machine", "reference", "no-op", commits, commits, tuple(np.exp(logs)))


def test_a_change_is_named_by_its_commit() -> None:
    (change,) = changes(series([1e-6] * 15 + [1.1e-6] * 10))
    assert (change.index, change.commit, change.before) == (15, "c15", "c14")
    assert change.ratio == pytest.approx(1.1, rel=0.02)


def test_two_changes_are_seen() -> None:
    slower, faster = changes(series([1e-6] * 12 + [1.3e-6] * 12 + [0.9e-6] * 12))
    assert (slower.index, faster.index) == (12, 24)
    assert slower.ratio > 1 > faster.ratio


def test_levels_that_do_not_change_are_left_alone() -> None:
    wrong = sum(len(changes(series([1e-6] * 20, seed=seed))) for seed in range(40))
    assert wrong <= 2


def test_few_runs_tell_nothing() -> None:
    assert changes(series([1e-6] * 3 + [9e-6] * 3)) == []


def run(seconds: float, cpus: int = 2) -> dict:
    return {
        "bench": 1,
        "sessrun": "0",
        "started": "2026-11-30T00:00:00+00:00",
        "fingerprint": {"cpus": cpus, "backends": {"reference": str(seconds)}},
        "seed": 1,
        "rounds": 2,
        "series": [
            {"case": "a", "backend": "reference@12345678", "unit": "s", "correct": True,
             "samples": [seconds, seconds]},
            {"case": "wrong", "backend": "reference", "unit": "s", "correct": False,
             "samples": [seconds, seconds]},
        ],
    }  # fmt: skip


def test_runs_are_kept_by_commit_and_machine(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for commit, cpus in (("a1", 2), ("b2", 2), ("c3", 4)):
        append(path, entry_of(run(1e-6, cpus), commit))
    first, other = series_of(read_history(path))
    assert first.commits == ("a1", "b2")
    assert other.commits == ("c3",)
    assert (first.backend, first.case, first.seconds) == ("reference", "a", (1e-6, 1e-6))


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"history": 1', "not JSON"), ("{}\n", "history"), ("[]", "line 1"), ("\xff\n", "not JSON")],
)
def test_a_damaged_history_is_refused_and_kept(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(text)
    with pytest.raises(SpecError, match=reason):
        append(path, entry_of(run(1e-6), "a1"))
    assert path.read_text() == text


def test_the_command_adds_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.jsonl"
    for index in range(16):
        append(path, entry_of(run(1e-6 if index < 8 else 2e-6), f"c{index}"))
    bench = tmp_path / "bench.json"
    bench.write_text(json.dumps(run(2e-6)))
    arguments = ["history", str(path), "--add", str(bench), "--commit", "newest"]
    assert main([*arguments, "--output", str(tmp_path)]) == 1, "the newest level is slower"
    shown = capsys.readouterr().out
    assert re.search(r"slower\s+a\s+reference\s+c8\s+c7\s+2\.000", shown)
    page = (tmp_path / "history.html").read_text()
    assert "c8" in page
    assert "<svg" in page


def test_a_page_shows_hostile_names_as_text() -> None:
    one = Series("m", "<script>", "a&b", ("<i>",) * 9, ("t",) * 9, (1e-6,) * 9)
    page = history_html(Path("<h>.jsonl"), [(one, [])])
    assert "<script>" not in page
    assert "<i>" not in page
