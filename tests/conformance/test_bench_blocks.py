"""Benchmarks in processes of their own: what they time and refuse, two trees of a project."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from sessrun.adapters.errors import AdapterError
from sessrun.cli.main import main
from sessrun.conformance.benchmarks.blocks import Blocks
from sessrun.conformance.benchmarks.deciding import until_decided
from sessrun.conformance.benchmarks.processes import BenchProcess, Side
from sessrun.reports import block_verdicts

#: A backend that a test writes: the reference, with something planted.
BACKEND = """
import sessrun.reference as tf
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.conformance.faulty.framework import override

class Session(tf.Session):
    def run(self, *args, **kwargs):
        {planted}
        return super().run(*args, **kwargs)

def backend():
    return NamespaceBackend(override(tf, Session=Session), "planted", "1")
"""
BUSY = "[number * number for number in range(3000)]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, planted: str) -> str:
    (folder / "planted_engine.py").write_text(BACKEND.format(planted=planted))
    return "planted_engine:backend"


def measured(backend: str, jobs: list[str]) -> Blocks:
    blocks = Blocks([Side("one", backend)], jobs, rounds=2, seed=1, device="")
    blocks.measure(jobs)
    return blocks


def test_a_block_times_every_job_of_every_side() -> None:
    sides = [Side("old", "reference"), Side("new", "reference#tier-1")]
    blocks = Blocks(sides, ["no-op", "variable-update"], rounds=3, seed=1, device="")
    blocks.measure(blocks.jobs())
    for batches in blocks.batches.values():
        assert (batches.blocks, batches.wrong) == (1, None)
        assert len(batches.once) == len(batches.twice) == 3
        assert all(batch.wall > 0 for batch in batches.once)
    old, new = (blocks.batches["no-op", side.name] for side in sides)
    assert old.calls == new.calls > 1, "both sides make as many calls"


def test_runs_that_are_not_made_are_noticed(folder: Path) -> None:
    """The count of the updates is in a variable: a backend that leaves some out is wrong."""
    backend = written(folder, "self.count = getattr(self, 'count', 0) + 1")
    source = (folder / "planted_engine.py").read_text()
    lazy = "if self.count % 100 != 99: self.last = super().run(*args, **kwargs)"
    lazy += "\n        return self.last"
    (folder / "planted_engine.py").write_text(
        source.replace("return super().run(*args, **kwargs)", lazy)
    )
    wrong = measured(backend, ["variable-update"]).batches["variable-update", "one"].wrong
    assert wrong is not None
    assert "updates it is" in wrong


def test_a_clock_that_the_backend_stops_changes_nothing(folder: Path) -> None:
    """The host's clock is in another process."""
    backend = written(folder, "import time; time.perf_counter = time.time = lambda: 0.0")
    (batch, *_) = measured(backend, ["scalar-add"]).batches["scalar-add", "one"].once
    assert batch.wall > 1e-5


@pytest.mark.parametrize(
    ("planted", "reason"),
    [
        ("import os; os.write(2, b'last words'); os._exit(3)", "ended with 3: last words"),
        ("raise ValueError('no run')", "ValueError: no run"),
    ],
)
def test_what_ends_a_side_is_told(folder: Path, planted: str, reason: str) -> None:
    backend = written(folder, planted)
    with BenchProcess(Side("one", backend)) as process:
        process.loaded()
        with pytest.raises(AdapterError, match=f"^one: .*{reason}"):
            process.prepare("scalar-add", "")


def test_what_the_backend_prints_is_no_answer(folder: Path) -> None:
    backend = written(folder, "print('{}'); import os; os.write(1, b'{}')")
    assert measured(backend, ["scalar-add"]).batches["scalar-add", "one"].wrong is None


def test_a_job_that_no_side_does_is_left_out() -> None:
    blocks = measured("reference", ["no-op", "matmul-float32-2"])
    assert blocks.jobs() == ["no-op", "matmul-float32-2"]
    blocks = Blocks([Side("a", "os:getcwd")], ["no-op"], rounds=1, seed=1, device="")
    with pytest.raises(AdapterError, match="no backend, but a str"):
        until_decided(blocks, lambda *_: True, budget=1)


def git(folder: Path, *arguments: str) -> None:
    names = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_CONFIG_GLOBAL": "/dev/null"}
    names |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in names.items()}
    subprocess.run(["git", *arguments], cwd=folder, env=os.environ | names, check=True)  # noqa: S607


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose engine is fast at HEAD; a look after three blocks is enough."""
    backend = written(folder, "pass")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", f"{backend} is fast")
    monkeypatch.setattr(block_verdicts, "LOOKS", (3,))
    monkeypatch.setattr(block_verdicts, "LEVEL", 1.0)
    return folder


def test_a_tree_is_compared_with_another_revision(repository: Path) -> None:
    backend = written(repository, BUSY)
    command = f"bench {backend} --against HEAD --job scalar-add --budget 60 --output out"
    assert main(command.split()) == 1, "it is slower"
    (row,) = json.loads((repository / "out" / "comparison.json").read_text())["rows"]
    assert row["verdict"] == "SLOWER"
    assert row["ratio"] > 2
    shown = subprocess.run(
        ["git", "worktree", "list"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(shown.stdout.splitlines()) == 1, "the other tree is gone"


def test_what_a_build_puts_into_its_site_is_imported_first(repository: Path) -> None:
    (repository / "planted_engine.py").rename(repository / "source.txt")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "to be built")
    build = 'cp source.txt "$SITE/planted_engine.py"'
    command = ["bench", "planted_engine:backend", "--against", "HEAD", "--job", "no-op"]
    arguments = [*command, "--budget", "0.1", "--output", "out", "--build", build]
    assert main(arguments) == 0
    assert {s["backend"] for s in json.loads(Path("out/bench.json").read_text())["series"]}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("planted_engine:backend --against nothing", "git rev-parse: fatal: Needed a single"),
        ("planted_engine:backend --against --help", "expected one argument"),
        ("planted_engine:backend --against HEAD --build false", "its build ended with 1"),
        ("planted_engine:backend --build true", "--build is for --against"),
        ("planted_engine:backend reference --against HEAD", "one backend with itself"),
        ("reference --decide", "OLD NEW"),
        ("torch reference --decide", "on a CPU"),
        ("reference --processes 0", "--processes must be at least 1"),
        ("reference --budget 0", "--budget"),
    ],
)
def test_what_does_not_go_together_is_refused(
    repository: Path, arguments: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", *arguments.split(), "--job", "no-op", "--output", str(repository / "out")]
    try:
        assert main(command) == 2
    except SystemExit as ended:
        assert ended.code == 2
    assert reason in capsys.readouterr().err
