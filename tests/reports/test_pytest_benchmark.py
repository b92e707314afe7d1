"""pytest-benchmark's JSON, there and back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessrun.reports.comparison import compare, read_bench
from sessrun.reports.pytest_benchmark import to_pytest_benchmark
from sessrun.spec.schema import SpecError

PROGRAM = """
def test_sum(benchmark):
    benchmark.pedantic(sum, args=(range(1000),), rounds=8, iterations=20)
"""


def test_what_pytest_benchmark_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    (tmp_path / "test_bench.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:sessrun", "-p", "no:xdist"]
    alone = {name: value for name, value in os.environ.items() if "XDIST" not in name}
    subprocess.run([*command, f"--benchmark-json={path}"], cwd=tmp_path, env=alone, check=True)
    run = read_bench(path)
    (series,) = run["series"]
    assert series["case"] == "test_bench.py::test_sum"
    assert len(series["samples"]) == 8
    (row,) = compare(run, run).rows
    assert row.ratio == 1.0


def test_what_is_written_has_pytest_benchmarks_form(tmp_path: Path) -> None:
    run = {
        "bench": 1,
        "sessrun": "0",
        "started": "2026-11-30T00:00:00+00:00",
        "fingerprint": {"cpus": 2, "processor": "p", "python": "3.11.7"},
        "seed": 1,
        "rounds": 3,
        "series": [
            {
                "case": "no-op",
                "backend": "reference",
                "unit": "s",
                "samples": [3e-6, 1e-6, 2e-6],
                "correct": True,
            }
        ],
    }
    path = tmp_path / "written.json"
    path.write_text(json.dumps(to_pytest_benchmark(run)))
    assert read_bench(path)["series"][0]["samples"] == [3e-6, 1e-6, 2e-6]
    (benchmark,) = json.loads(path.read_text())["benchmarks"]
    assert benchmark["name"] == "no-op[reference]"
    assert (benchmark["stats"]["min"], benchmark["stats"]["median"]) == (1e-6, 2e-6)


@pytest.mark.parametrize(
    "benchmarks",
    [
        None,
        3,
        [3],
        [{}],
        [{"stats": {"data": ["x"]}}],
        [{"fullname": "a", "stats": {"data": [10**400]}}],
        [{"fullname": "a", "stats": {"data": [1]}}] * 2,
        [{"fullname": [], "stats": {"data": [1]}}],
    ],
)
def test_another_form_is_refused(tmp_path: Path, benchmarks: object) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"machine_info": {}, "benchmarks": benchmarks}))
    with pytest.raises(SpecError):
        read_bench(path)
