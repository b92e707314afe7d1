"""Histories of benchmark runs: what is kept, where a level changed, what a page shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from synthetic_bench import in_blocks

from sessrun.cli.main import main
from sessrun.reports import history
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


def test_a_change_is_seen_among_hundreds_of_series() -> None:
    (change,) = changes(series([1e-6] * 30 + [1.2e-6] * 30), compared=1000)
    assert change.index == 30
    assert change.pvalue < 0.01 / 1000


def test_ten_thousand_runs_take_no_time() -> None:
    (change,) = changes(series([1e-6] * 6000 + [1.02e-6] * 4000))
    assert abs(change.index - 6000) <= 5


@pytest.mark.parametrize("count", [8, 12, 40, 300])
def test_the_bound_of_rare_changes_is_above_what_is_drawn(count: int) -> None:
    drawn = history._drawn(count)
    for share in (0.9, 0.99, 0.999):
        apart = float(np.quantile(drawn, share))
        if apart > 2.5:
            assert history._bound(count, apart) >= 1 - share


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
            {
                "case": "a",
                "backend": "reference@12345678",
                "unit": "s",
                "correct": True,
                "samples": [seconds, seconds],
            },
            {
                "case": "wrong",
                "backend": "reference",
                "unit": "s",
                "correct": False,
                "samples": [seconds, seconds],
            },
        ],
    }


def test_runs_are_kept_by_commit_and_machine(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for commit, cpus in (("a1", 2), ("b2", 2), ("c3", 4)):
        append(path, entry_of(run(1e-6, cpus), commit))
    first, other = series_of(read_history(path))
    assert first.commits == ("a1", "b2")
    assert other.commits == ("c3",)
    assert (first.backend, first.case, first.seconds) == ("reference", "a", (1e-6, 1e-6))


def test_of_two_trees_the_one_that_is_there_is_kept(tmp_path: Path) -> None:
    both = run(1e-6)
    both["series"].append({**both["series"][0], "backend": "reference@abcdef01+"})
    both["series"][2]["samples"] = [2e-6, 2e-6]
    (kept,) = entry_of(both, "c")["series"]
    assert kept == {"case": "a", "backend": "reference", "clock": "wall", "seconds": 2e-6}
    both["series"][2]["correct"] = False
    assert entry_of(both, "c")["series"] == []


@pytest.mark.parametrize("calls", [1, 2, 1000])
def test_a_call_takes_as_long_however_many_are_in_a_batch(calls: int) -> None:
    assert entry_of(in_blocks(calls=calls), "c")["series"][0] == {
        "case": "no-op",
        "backend": "old",
        "clock": "processor",
        "seconds": pytest.approx(1e-6, rel=0.01),
    }


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, entry_of(run(1e-6), "a1"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    append(path, entry_of(run(1e-6), "a1"))
    assert series_of(read_history(path))[0].commits == ("a1", "a1")


def line(seconds: str) -> str:
    """A line of a history, whose time is this text."""
    return json.dumps(entry_of(run(1e-6), "a1")).replace("1e-06", seconds) + "\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"history": 1', "line 1: .*JSON"),
        ("{}\n", "history"),
        ("[]", "line 1"),
        ("\xff\n", "JSON"),
        (line("NaN"), "NaN"),
        (line("1e400"), "1e400"),
        (line("1" + "0" * 400), "maximum"),
        (line('1, "seconds": 2'), "twice"),
        ("[" * 100_000 + "\n", "JSON"),
    ],
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


def test_a_page_shows_no_control_characters_of_commits() -> None:
    commits = tuple(f"\x1b[31m$x_{{$&<b>\ud800{number}" for number in range(16))
    one = Series("\x1b[0m", "\x07", "a", commits, commits, (1e-6,) * 8 + (2e-6,) * 8)
    changed = changes(one)
    assert changed
    page = history_html(Path("h.jsonl"), [(one, changed)])
    page.encode()
    assert not re.search(r"[\x00-\x08\x0e-\x1f]|<b>", page)
