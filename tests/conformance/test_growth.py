"""Costs at growing sizes: what is measured, the exponents that are fitted, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import planted_backend

import sessrun.reference as tf
from sessrun.cli.main import main
from sessrun.conformance.benchmarks.graph_costs import COSTS
from sessrun.reports.growth_fit import exponent_of
from sessrun.reports.growth_view import growth_html, read_growth
from sessrun.spec.schema import SpecError

SIZES = [2**exponent for exponent in range(6, 13)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("size", [1, 8, 64])
def test_every_cost_gives_what_it_should_and_can_be_made_ready_twice(name: str, size: int) -> None:
    cost = COSTS[name].prepare(tf, "", size)
    cost.ready(0)()
    for calls in (1, 3):
        assert cost.check(cost.ready(calls)()) is None
    cost.close()


def test_the_sizes_of_every_cost_can_be_fitted() -> None:
    for cost in COSTS.values():
        assert len(cost.sizes) >= 5, cost.name
        assert list(cost.sizes) == sorted(set(cost.sizes)), cost.name


def grown(folder: Path, backend: str, *more: str) -> tuple[int, dict[str, Any]]:
    command = ["growth", backend, "--processes", "1", "--output", "out", *more]
    status = main(command)
    return status, json.loads((folder / "out" / "growth.json").read_text())


def test_a_cost_that_is_squared_is_superlinear(folder: Path) -> None:
    """The planted work of a run is the square of its fetches."""
    planted = "[None for _ in range(20 * len(fetches) ** 2)]"
    backend = planted_backend(folder, planted)
    sizes = ("--cost", "fetch-list", "--sizes", "64", "128", "256", "512")
    status, form = grown(folder, backend, *sizes)
    (entry,) = form["costs"]
    known = exponent_of(entry)
    assert (status, known.verdict) == (1, "SUPERLINEAR")
    assert known.exponent == pytest.approx(2, abs=0.4)
    assert [point["size"] for point in entry["points"]] == [64, 128, 256, 512]
    assert all(len(batches) == 3 for point in entry["points"] for batches in point["wall"])
    page = (folder / "out" / "growth.html").read_text()
    assert "SUPERLINEAR" in page
    assert "processor time of a call over fetches" in page


def test_a_wrong_result_counts_for_nothing(folder: Path) -> None:
    backend = planted_backend(folder, "return 0.5")
    status, form = grown(folder, backend, "--cost", "feed-elements", "--sizes", "1", "2", "3")
    (entry,) = form["costs"]
    assert status == 1
    assert not entry["correct"]
    assert "0.5" in entry["detail"]
    assert exponent_of(entry).verdict == "UNDECIDED"


def test_what_a_backend_cannot_do_or_dies_of_is_left_out_and_the_rest_measured(
    folder: Path,
) -> None:
    planted = "isinstance(fetches, list) and (len(fetches) < 8 or __import__('os')._exit(3))"
    backend = planted_backend(folder, planted)
    more = ("--cost", "fetch-list", "--cost", "feed-elements", "--sizes", "2", "4", "8")
    _, form = grown(folder, backend, *more)
    points = {entry["cost"]: len(entry["points"]) for entry in form["costs"]}
    assert points == {"fetch-list": 2, "feed-elements": 3}
    (left_out,) = form["left_out"]
    assert left_out["case"] == "fetch-list"
    assert "size 8: " in left_out["reason"]
    assert "ended with 3" in left_out["reason"]


def test_sizes_that_would_take_too_long_are_left_out(folder: Path) -> None:
    more = ("--cost", "build", "--sizes", "1", "2", "4", "--budget", "0.000001")
    _, form = grown(folder, "reference", *more)
    assert len(form["costs"][0]["points"]) == 1
    assert "from size 2 on" in form["left_out"][0]["reason"]


def entry_of(seconds: Callable[[int], float], order: str = "linear", seed: int = 1) -> Any:
    """A cost whose times only other work adds to."""
    draw = np.random.default_rng(seed)
    points = [
        {"size": size, "processor": [list(seconds(size) * (1 + draw.exponential(0.05, 9)))]}
        for size in SIZES
    ]
    for point in points:
        point["wall"] = [[10 * value for value in row] for row in point["processor"]]
    head = {"cost": "c", "about": "a", "quantity": "operations", "backend": "one"}
    return head | {"order": order, "points": points, "correct": True, "detail": ""}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("seconds", "order", "verdict", "exponent"),
    [
        (lambda size: 1e-4 + 3e-8 * size, "linear", "LINEAR", 0.6),
        (lambda size: 3e-6 * size, "linear", "LINEAR", 1),
        (lambda size: 1e-9 * size**2, "linear", "SUPERLINEAR", 2),
        (lambda size: 1e-6 * size + 1e-9 * size**2, "linear", "SUPERLINEAR", 1.5),
        (lambda _: 2e-4, "constant", "CONSTANT", 0),
        (lambda size: 1e-7 * size, "constant", "GROWS", 1),
    ],
)
def test_exponents_are_fitted_at_the_upper_sizes(
    seconds: Callable[[int], float], order: str, verdict: str, exponent: float, seed: int
) -> None:
    known = exponent_of(entry_of(seconds, order, seed))
    assert known.verdict == verdict
    assert known.exponent == pytest.approx(exponent, abs=0.4)
    assert known.sizes == tuple(SIZES[-5:])


def test_two_sizes_have_no_exponent() -> None:
    entry = entry_of(lambda size: 1e-6 * size)
    entry["points"] = entry["points"][:2]
    assert exponent_of(entry).exponent is None


def run_of(entry: dict[str, Any]) -> dict[str, Any]:
    head = {"growth": 1, "sessrun": "0", "started": "2026-01-01", "fingerprint": {"cpus": 2}}
    return head | {"seed": 1, "processes": 1, "costs": [entry]}


def test_a_file_whose_sizes_do_not_ascend_is_refused(tmp_path: Path) -> None:
    path, entry = tmp_path / "growth.json", entry_of(lambda size: 1e-6 * size)
    path.write_text(json.dumps(run_of(entry)))
    assert read_growth(path) == run_of(entry)
    entry["points"].reverse()
    path.write_text(json.dumps(run_of(entry)))
    with pytest.raises(SpecError, match="sizes must ascend"):
        read_growth(path)


def test_the_page_escapes_names() -> None:
    evil = "[bold]\x1b[31m<script>$x$&"
    entry = entry_of(lambda size: 1e-6 * size) | dict.fromkeys(
        ("cost", "about", "quantity", "backend"), evil
    )
    left_out = [{"case": evil, "backend": evil, "reason": evil}]
    page = growth_html(run_of(entry) | {"left_out": left_out})
    assert "<script" not in page
    assert "\x1b" not in page
