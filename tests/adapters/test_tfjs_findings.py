"""docs/findings/tfjs.md: each script prints what the page shows of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from test_tfjs import FOLDER, unavailable

from sessrun.adapters.javascript import node

PAGE = (Path(__file__).parents[2] / "docs" / "findings" / "tfjs.md").read_text(encoding="utf-8")
START: Final = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)[0]
FINDINGS: Final = re.findall(
    r"^## (.*?)\n\n.*?```javascript\n(.*?)```\n\n```text\nTensorFlow:\n(.*?)```",
    PAGE,
    re.DOTALL | re.MULTILINE,
)
#: What stands in memory that is not the tensor's own differs from run to run.
ARBITRARY: Final = ("write past", "uninitialised", "not its own", "garbage", "negative axis")
WHY = unavailable("cpu") or unavailable("wasm")

pytestmark = [pytest.mark.tfjs, pytest.mark.skipif(WHY is not None, reason=str(WHY))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("findings")
    (made / "node_modules").symlink_to(FOLDER / "node_modules")
    (made / "start.cjs").write_text(START, encoding="utf-8")
    return made


def test_every_finding_has_a_script_and_what_it_prints() -> None:
    assert len(FINDINGS) == PAGE.count("\n## ")


@pytest.mark.parametrize(
    ("title", "script", "shown"), FINDINGS, ids=[finding[0] for finding in FINDINGS]
)
def test_a_script_prints_what_is_shown(title: str, script: str, shown: str, folder: Path) -> None:
    program = node() or shutil.which("node")
    (folder / "finding.cjs").write_text(script, encoding="utf-8")
    want, *blocks = re.split(r"^(cpu|wasm):\n", shown, flags=re.MULTILINE)
    assert blocks
    for backend, block in zip(blocks[::2], blocks[1::2], strict=True):
        done = subprocess.run(
            [str(program), "finding.cjs", backend],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        printed = [brief(line) for line in done.stdout.splitlines()]
        lines = [line for line in block.splitlines() if line.strip()]
        assert lines != want.splitlines()
        if backend == "cpu" or not any(word in title for word in ARBITRARY):
            assert printed[-len(lines) :] == lines
        else:
            assert printed[-len(lines) :] != want.splitlines()


def brief(line: str) -> str:
    """A line as the page has it."""
    text = re.sub(r"\s+", " ", line)[:160]
    return "  " + (text if len(text) < 110 else f"{text[:100]} …")
