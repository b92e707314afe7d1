"""docs/contributing.md keeps its word: its example operation is added as the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what an operation needs."""
    for part in ("spec", "reference", "src", "docs", "adapters"):
        ignored = shutil.ignore_patterns("__pycache__", "vectors", "*.egg-info", "node_modules")
        shutil.copytree(ROOT / part, tmp_path / part, symlinks=True, ignore=ignored)
    return tmp_path


def test_an_operation_is_added_in_three_steps(checkout: Path) -> None:
    with (checkout / "spec" / "ops" / "array.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + block("toml"))
    with (checkout / "reference/kernels/arrays.py").open("a", encoding="utf-8") as file:
        file.write("\n\n" + block("python"))
    printed = ""
    for line in block("console").splitlines():
        arguments = shlex.split(line.removeprefix("$ "))
        assert arguments[0] == "python"
        done = subprocess.run(
            [sys.executable, *arguments[1:]],
            env=os.environ | {"PYTHONPATH": str(checkout / "src")},
            capture_output=True,
            text=True,
            check=False,
            cwd=checkout,
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    assert "[0 1 2]" in printed
