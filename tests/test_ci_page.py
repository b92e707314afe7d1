"""docs/ci.md keeps its word: its scripts run on the repository of a small engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ADAPTERS = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
#: The scope with the fewest cases.
PROFILE = "tracing-engine"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def without_installing(script: str) -> str:
    """The script with the environment of this test in place of one of its own."""
    kept = [
        line
        for line in script.splitlines()
        if not line.startswith(("python3 -m venv", ". .conformance", "python -m pip install"))
    ]
    assert len(script.splitlines()) - len(kept) == 3
    return "\n".join(kept)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine's repository, with the scripts of the page."""
    folder = tmp_path_factory.mktemp("engine")
    (folder / "conformance").mkdir()
    for name, script in zip(("ci.sh", "fresh.sh"), blocks("bash"), strict=True):
        (folder / "conformance" / name).write_text(without_installing(script))
    blocks_of_python = re.findall(r"```python\n(.*?)```", ADAPTERS, re.DOTALL)
    (engine,) = [block for block in blocks_of_python if "class Tiny" in block]
    (folder / "my_engine_backend.py").write_text(engine)
    return folder


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    bin_ = str(Path(sys.executable).parent)
    environment = {
        "PATH": bin_ + os.pathsep + os.environ["PATH"],
        "SESSRUN": "installed",
        "PROFILE": PROFILE,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(folder))),
    }
    return subprocess.run(
        ["/usr/bin/env", "bash", "-c", command],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
def test_an_engine_s_repository_is_set_up_as_the_page_says(repository: Path) -> None:
    out = repository / "out" / "conformance"
    first, last = (block.replace("inference", PROFILE) for block in blocks("console")[:2])
    for line in (first + last).splitlines():
        done = shell(line.removeprefix("$ "), repository)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert (repository / "conformance" / "expectations.toml").read_text().count("lacks = ") >= 1

    again = shell("bash conformance/ci.sh", repository)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "no regression" in again.stdout
    assert json.loads((out / "diff.json").read_text())["regressions"] == 0
    for name in ("report.html", "junit.xml", "badge.svg", f"{PROFILE}.xz"):
        assert (out / name).exists()
    fresh = shell("bash conformance/fresh.sh", repository)
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr

    (repository / "conformance" / "expectations.toml").write_text("")
    assert shell("bash conformance/ci.sh", repository).returncode == 1


def test_the_workflow_runs_the_scripts_of_the_page() -> None:
    (workflow,) = blocks("yaml")
    assert set(re.findall(r"conformance/(\w+\.sh)", workflow)) == {"ci.sh", "fresh.sh"}
    named = re.findall(r"^`conformance/(\w+\.sh)`|`conformance/(\w+\.sh)`:$", TEXT, re.MULTILINE)
    assert {a or b for a, b in named} == {"ci.sh", "fresh.sh"}
