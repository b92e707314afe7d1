"""sessrun init-adapter: what it writes works, by its own test and by the commands that it names."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sessrun.cli.init_adapter import KINDS
from sessrun.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
LAYER = ROOT / "adapters" / "javascript" / "index.mjs"
#: What a kind needs that may not be here, and whether it is.
HERE = {
    "c-api": importlib.util.find_spec("tensorflow") is not None,
    "javascript": shutil.which("node") is not None and LAYER.exists(),
}
#: A case that every skeleton passes.
ONLY = "feed-keys/a-fetched-placeholder-must-be-fed"


@pytest.fixture(params=KINDS)
def skeleton(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a new skeleton whose engine is called `tiny`."""
    if not HERE.get(request.param, True):
        pytest.skip(f"what {request.param} needs is not here")
    folder = tmp_path / "engine"
    assert main(["init-adapter", request.param, str(folder), "--name", "tiny"]) == 0
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_skeleton_passes_its_own_test_the_doctor_and_a_case(
    skeleton: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tested = run(skeleton, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout
    doctor, case, *_ = commands(skeleton)
    monkeypatch.chdir(skeleton)
    capsys.readouterr()
    assert main(doctor) == 0, capsys.readouterr().out
    chosen = [*case[: case.index("--profile")], "--profile", "core-engine", "--only", ONLY]
    capsys.readouterr()
    assert main([*chosen, "--generated", "0"]) == 0
    assert "1 of 1 planned case" in capsys.readouterr().out


def commands(folder: Path) -> list[list[str]]:
    """The commands of a skeleton's README, for what is here."""
    lines = (folder / "README.md").read_text("utf-8").splitlines()
    told = [shlex.split(line.strip()) for line in lines if line.startswith("    sessrun ")]
    instead = {
        "tiny:backend#FOLDER": "tiny:backend",
        "exec:python tiny.py": f"exec:{sys.executable} tiny.py",
    }
    return [[instead.get(word, word) for word in command[1:]] for command in told]


def test_the_name_is_put_in_everywhere(skeleton: Path) -> None:
    texts = {path.name: path.read_text("utf-8") for path in skeleton.iterdir() if path.is_file()}
    assert not [name for name, text in texts.items() if "my_engine" in f"{name}{text}".lower()]
    assert {"README.md", "test_tiny.py"} < texts.keys()


def test_a_second_skeleton_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init-adapter", "converter", "--name", "mine"]) == 0
    printed = capsys.readouterr().out
    assert "mine/mine.py" in printed
    assert "    sessrun doctor mine:backend" in printed
    (tmp_path / "mine" / "mine.py").write_text("edited")
    assert main(["init-adapter", "python", "--name", "mine"]) == 2
    assert "is there already: name another folder" in capsys.readouterr().err
    assert (tmp_path / "mine" / "mine.py").read_text() == "edited"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my-engine", "no module's name"),
        ("Engine", "no module's name"),
        ("json", "there is a module 'json' already"),
        ("numpy", "there is a module 'numpy' already"),
        ("sessrun", "there is a module 'sessrun' already"),
    ],
)
def test_a_name_that_cannot_be_a_module_is_refused(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init-adapter", "python", str(tmp_path / "new"), "--name", name]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_process_needs_nothing_of_sessrun() -> None:
    folder = ROOT / "src" / "sessrun" / "cli" / "skeletons" / "process"
    engine = [path for path in folder.glob("*.py") if not path.name.startswith("test_")]
    assert len(engine) == 3
    assert not [
        path
        for path in engine
        if "import sessrun" in path.read_text("utf-8") or "from sessrun" in path.read_text("utf-8")
    ]
