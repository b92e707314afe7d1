"""The README, and the pages it has its commands and programs from, keep their word.

Every command and every line of Python in them is executed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/commands.md", "docs/reference.md")
#: Commands that set up an environment of their own: `.ci/run` executes these very lines.
BY_CI = ("make certify", "make test", "make certify BACKEND=tensorflow")
#: What is added to a command here: a fixed seed, so that what fails is of the change, not of a
#: draw, and less of the same. The later of two options counts.
ADDED = {
    "sessrun certify reference": "--seed 2026",
    "sessrun certify exec:node": "--seed 2026 --profile concurrency-engine",
    "pytest": "--sessrun-generated 1",
    "sessrun bench": "--job no-op --job scalar-add",
}


def blocks(language: str) -> list[str]:
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    return re.findall(rf"```{language}\n(.*?)```", "\n".join(texts), re.DOTALL)


def commands() -> list[str]:
    """The commands of all pages in their order; one that several pages have stands at the first."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return list(dict.fromkeys(line.removeprefix("$ ") for line in lines if line.startswith("$ ")))


def run(arguments: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess:
    bin_ = str(Path(sys.executable).parent)
    return subprocess.run(
        arguments,
        cwd=folder,
        env=os.environ | {"PATH": bin_ + os.pathsep + os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_ci_runs_the_commands_that_set_up_an_environment() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in BY_CI:
        assert command in commands()
        assert re.search(rf"^{re.escape(command)}(?: BACKEND=\w+)?$", script, re.MULTILINE), command


@pytest.mark.slow
def test_every_other_command_does_what_it_says(tmp_path: Path) -> None:
    """One after the other, as a reader would: later ones use what earlier ones wrote."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    used: set[str] = set()
    for command in commands():
        if command in BY_CI:
            continue
        may_fail = command.endswith(" || true")
        arguments = shlex.split(command.removesuffix(" || true"))
        begins = [
            begin for begin in ADDED if shlex.join(arguments).replace("'", "").startswith(begin)
        ]
        arguments += [word for begin in begins for word in ADDED[begin].split()]
        used.update(begins)
        done = run(arguments, tmp_path)
        allowed = {0, 1} if may_fail else {0}
        said = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert done.returncode in allowed, f"{command}\n{said}"
    assert used == ADDED.keys()


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_every_python_block_runs(number: int, tmp_path: Path) -> None:
    done = run([sys.executable, "-W", "error", "-c", blocks("python")[number]], tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_readme_is_read_in_some_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
