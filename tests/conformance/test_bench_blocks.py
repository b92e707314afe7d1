"""Benchmarks in processes of their own: what they time and refuse, two trees of a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sessrun.adapters.errors import AdapterError
from sessrun.cli.main import main
from sessrun.conformance.benchmarks.blocks import Blocks
from sessrun.conformance.benchmarks.deciding import until_decided
from sessrun.conformance.benchmarks.processes import BenchProcess, Side, runs
from sessrun.conformance.benchmarks.trees import check_imports
from sessrun.reports import block_verdicts

#: A backend that a test writes: the reference, with something planted.
BACKEND = """
import sessrun.reference as tf
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.conformance.faulty.framework import override

def answers():
    import gc, io
    files = [object for object in gc.get_objects() if isinstance(object, io.TextIOWrapper)]
    return [file.fileno() for file in files if file.writable() and file.fileno() > 2]

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
        ("import os; os.write(2, b'x' * 10**6 + b'end'); os._exit(3)", "ended with 3: x{597}end$"),
        ("import os, time; os.fork() or time.sleep(60); os._exit(3)", "ended with 3$"),
        ("import os; [os.write(fd, b'[]\\n') for fd in answers()]", r"not an answer: b'\[\]'"),
        ("import os; [os.write(fd, b'{}\\n') for fd in answers()]", "not an answer: b'{}'"),
        ("raise ValueError('x' * 10**6)", "ValueError: x{588}$"),
    ],
)
def test_what_ends_a_side_is_told(folder: Path, planted: str, reason: str) -> None:
    backend = written(folder, planted)
    with BenchProcess(Side("one", backend)) as process:
        process.loaded()
        with pytest.raises(AdapterError, match=f"^one: .*{reason}"):
            process.prepare("scalar-add", "")


def test_what_the_backend_prints_and_reads_is_of_no_request(folder: Path) -> None:
    printing = "print('{}'); import os, sys; os.write(1, b'{}'); sys.stdin.read(); os.close(0)"
    backend = written(folder, f"if not hasattr(self, 'said'): self.said = 1; {printing}")
    assert measured(backend, ["scalar-add"]).batches["scalar-add", "one"].wrong is None


def test_an_answer_without_a_request_ends_the_run(folder: Path) -> None:
    """The time of the next batch would end with it."""
    line = r"os.write(fd, b'\n') for fd in answers()"
    early = f"import os, threading; threading.Timer(1.5, lambda: [{line}]).start()"
    backend = written(folder, f"if not hasattr(self, 'said'): self.said = 1; {early}")
    with BenchProcess(Side("one", backend)) as process:
        process.loaded()
        process.prepare("scalar-add", "")
        time.sleep(2)
        with pytest.raises(AdapterError, match=r"^one: answers unasked: b'\\n'"):
            process.batch("scalar-add", 1)


@pytest.mark.parametrize(
    ("planted", "reason"),
    [("os._exit(3)", "ended with 3"), ("raise ValueError('enough')", "ValueError: enough")],
)
def test_a_job_that_fails_in_a_batch_is_left_out_and_others_are_measured(
    folder: Path, planted: str, reason: str
) -> None:
    fed = "import os; self.fed = getattr(self, 'fed', 0) + len(args[1:])"
    backend = written(folder, f"{fed}\n        if self.fed > 50: {planted}")
    blocks = measured(backend, ["no-op", "scalar-add"])
    assert blocks.jobs() == ["no-op"]
    assert [entry["case"] for entry in blocks.left_out] == ["scalar-add"]
    assert reason in blocks.left_out[0]["reason"]
    assert blocks.batches["no-op", "one"].blocks == 1
    assert len(blocks.batches["no-op", "one"].once) == 2


def test_what_a_backend_starts_ends_with_its_process(folder: Path) -> None:
    start = "import subprocess; self.child = subprocess.Popen(['sleep', '60'])"
    keep = "open('child', 'w').write(str(self.child.pid))"
    backend = written(folder, f"if not hasattr(self, 'child'): {start}; {keep}")
    measured(backend, ["no-op"])
    status = Path("/proc", (folder / "child").read_text(), "stat")
    ends = time.monotonic() + 10
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < ends
        time.sleep(0.05)


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


def test_two_trees_of_one_commit_are_two_sides(repository: Path) -> None:
    (repository / "inner").mkdir()
    os.chdir(repository / "inner")
    command = "bench planted_engine:backend --against HEAD --job no-op --budget 0.1 --output out"
    assert main(command.split()) == 0
    old, new = json.loads(Path("out/bench.json").read_text())["series"]
    assert new["backend"] == old["backend"] + "+"


def test_an_interrupted_run_keeps_its_blocks_and_no_tree(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("sessrun.cli.bench.known", interrupted)
    command = "bench planted_engine:backend --against HEAD --job no-op --output out"
    assert main(command.split()) == 130
    assert "what was measured is kept" in capsys.readouterr().err
    assert json.loads((repository / "out" / "bench.json").read_text())["series"][0]["blocks"] == 1
    assert not list((repository / ".git").glob("worktrees/*"))


def test_what_a_tree_lacks_is_not_taken_from_elsewhere(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An installed project is found by its path, whichever tree is measured."""
    (repository / "lib").mkdir()
    (repository / "lib" / "new_engine.py").write_text(BACKEND.format(planted="pass"))
    monkeypatch.setenv("PYTHONPATH", str(repository / "lib"))
    command = ["bench", "new_engine:backend", "--against", "HEAD", "--job", "no-op"]
    assert main([*command, "--output", "out"]) == 2
    assert "nothing that it imports is of its tree" in capsys.readouterr().err


def test_a_shallow_clone_says_that_it_is(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    git(repository, "clone", "-q", "--depth", "1", repository.as_uri(), "a clone")
    os.chdir(repository / "a clone")
    assert main(["bench", "planted_engine:backend", "--against", "HEAD~1", "--job", "no-op"]) == 2
    assert "has no revision 'HEAD~1'; the clone is shallow" in capsys.readouterr().err


def test_only_installed_packages_may_lie_in_the_other_tree(folder: Path) -> None:
    old, new = (Side(name, "b", (folder / name,)) for name in ("old", "new"))
    own, other = str(folder / "old" / "a.py"), str(folder / "new" / "b.py")
    installed = str(folder / "new" / ".venv" / "site-packages" / "c.py")
    check_imports(old, (old, new), [own, installed])
    check_imports(Side("old", "b"), (old, new), [other])
    with pytest.raises(AdapterError, match=r"its tree lacks what is imported from .*b\.py"):
        check_imports(old, (old, new), [own, other])


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
        ("planted_engine:backend --against nothing", "has no revision 'nothing'"),
        ("planted_engine:backend --against --help", "expected one argument"),
        ("planted_engine:backend --against HEAD --build false", "its build ended with 1"),
        ("planted_engine:backend --build true", "--build is for --against"),
        ("planted_engine:backend reference --against HEAD", "one backend with itself"),
        ("reference --decide", "OLD NEW"),
        ("torch reference --decide", "on a CPU"),
        ("reference --processes 0", "--processes must be at least 1"),
        ("reference --budget 0", "--budget"),
        ("reference --budget nan", "--budget"),
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


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's count is Linux's")
def test_the_processor_time_of_a_batch_is_no_less_than_the_process_itself_counts(
    folder: Path,
) -> None:
    """To others the kernel tells the time of a running thread as of the last tick."""
    planted = "import time; open('spent', 'a').write(f'{time.process_time()}\\n'); " + BUSY
    backend = written(folder, planted)
    with BenchProcess(Side("one", backend)) as process:
        process.loaded()
        process.prepare("no-op", "")
        for _ in range(20):
            (folder / "spent").write_text("")
            time_of_batch, _ = process.batch("no-op", 5)
            spent = [float(line) for line in (folder / "spent").read_text().split()]
            assert len(spent) == 6
            assert time_of_batch.processor is not None
            assert time_of_batch.processor > spent[-1] - spent[0]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's list of threads is Linux's")
def test_a_process_that_runs_is_told_from_one_that_sleeps() -> None:
    """What the kernel has counted of one that runs is as old as the last tick."""
    for code, running in (("while True: pass", True), ("input()", False)):
        with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as process:
            ends = time.monotonic() + 60
            while time.monotonic() < ends:  # it sleeps, and runs, while it starts
                seen = [runs(process.pid) for _ in range(20) if not time.sleep(0.02)]
                if all(known is running for known in seen):
                    break
            process.kill()
        assert all(known is running for known in seen)
    assert not runs(process.pid), "it has ended"
