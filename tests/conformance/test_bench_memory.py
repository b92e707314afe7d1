"""The memory of jobs: what the kernel counts of a process, of one job each, read by the host."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from planted import planted_backend

from sessrun.cli.main import main
from sessrun.conformance.benchmarks import memory
from sessrun.conformance.benchmarks.memory import resident, set_peak_back

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
MIB = 2**20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_linux
def test_what_is_resident_and_its_peak_are_told_and_the_peak_is_set_back() -> None:
    pid = os.getpid()
    before = resident(pid)
    block = bytearray(os.urandom(64)) * MIB
    during = resident(pid)
    del block
    assert set_peak_back(pid)
    after = resident(pid)
    assert before is not None
    assert during is not None
    assert after is not None
    assert during.now > before.now + 60 * MIB
    assert during.peak >= during.now
    assert after.now <= after.peak < during.peak - 32 * MIB


@pytest.mark.parametrize(
    "text", ["", "Name:\tx\n", "VmRSS:\t12 kB\n", "VmRSS:\tx kB\nVmHWM:\t1 MB\n"]
)
def test_a_kernel_that_does_not_tell_is_not_known(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_PROCESSES", tmp_path)
    assert resident(7) is None, "no such process"
    assert not set_peak_back(7)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "status").write_text(text)
    assert resident(7) is None


@needs_linux
def test_a_job_s_peak_is_of_that_job_and_not_of_another(folder: Path) -> None:
    """The planted memory is taken where something is fed, and given back."""
    backend = planted_backend(folder, "feed_dict and len(bytearray(64 * 2**20) + b'x')")
    command = f"bench {backend} --job scalar-add --job no-op --rounds 1 --processes 1 --output out"
    assert main(command.split()) == 0
    series = json.loads((folder / "out" / "bench.json").read_text())["series"]
    large, small = (entry["memory"] for entry in series)
    assert large["is_of_job"]
    assert small["is_of_job"]
    assert large["peak"] - large["before"] > 64 * MIB
    assert large["after"] - large["before"] < 64 * MIB
    assert small["peak"] - small["before"] < 32 * MIB
    page = (folder / "out" / "bench.html").read_text()
    assert "Memory" in page
    assert "Of the job" in page


def test_memory_is_not_known_where_the_kernel_is_silent(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "_PROCESSES", folder)
    command = "bench reference --job no-op --rounds 1 --processes 1 --output out"
    assert main(command.split()) == 0
    (series,) = json.loads((folder / "out" / "bench.json").read_text())["series"]
    assert series["memory"] is None
    assert "not known" in capsys.readouterr().out
    assert "not known" in (folder / "out" / "bench.html").read_text()


def test_memory_is_left_out_where_it_is_not_wanted(folder: Path) -> None:
    command = "bench reference --job no-op --rounds 1 --processes 1 --no-memory --output out"
    assert main(command.split()) == 0
    (series,) = json.loads((folder / "out" / "bench.json").read_text())["series"]
    assert "memory" not in series


def test_a_job_that_fails_when_its_memory_is_measured_is_told(folder: Path) -> None:
    """The planted backend raises from the second process on."""
    planted = "import os; os.path.exists('began') or open('began', 'w').write(str(os.getpid()));"
    planted += " 1 / (open('began').read() == str(os.getpid()))"
    backend = planted_backend(folder, planted)
    assert main(f"bench {backend} --job no-op --rounds 1 --processes 1 --output out".split()) == 0
    form = json.loads((folder / "out" / "bench.json").read_text())
    assert "memory" not in form["series"][0]
    (left_out,) = form["left_out"]
    assert left_out["case"] == "memory of no-op"
    assert "ZeroDivisionError" in left_out["reason"]
