"""docs/findings/tfjs.md: each script prints what the page shows of it."""

from __future__ import annotations

import json
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


def blocks(shown: str) -> tuple[list[str], dict[str, list[str]]]:
    """The lines of a section's output: TensorFlow's, and those of each backend."""
    want, *rest = re.split(r"^(cpu|wasm|webgl):\n", shown, flags=re.MULTILINE)
    lines = [[line for line in block.splitlines() if line.strip()] for block in rest[1::2]]
    return want.splitlines(), dict(zip(rest[::2], lines, strict=True))


@pytest.mark.parametrize(
    ("title", "script", "shown"), FINDINGS, ids=[finding[0] for finding in FINDINGS]
)
def test_a_script_prints_what_is_shown(title: str, script: str, shown: str, folder: Path) -> None:
    program = node() or shutil.which("node")
    (folder / "finding.cjs").write_text(script, encoding="utf-8")
    want, printed_by = blocks(shown)
    assert printed_by
    for backend in printed_by.keys() & {"cpu", "wasm"}:
        done = subprocess.run(
            [str(program), "finding.cjs", backend],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        printed = [brief(line) for line in done.stdout.splitlines()]
        lines = printed_by[backend]
        assert lines != want
        if backend == "cpu" or not any(word in title for word in ARBITRARY):
            assert printed[-len(lines) :] == lines
        else:
            assert printed[-len(lines) :] != want


ON_WEBGL: Final = [finding for finding in FINDINGS if "webgl" in blocks(finding[2])[1]]


@pytest.fixture(scope="module")
def webgl(folder: Path) -> dict[str, list[str]]:
    """What the scripts print on webgl, all in one page, by title."""
    why = unavailable("webgl")
    if why is not None:
        pytest.skip(why)
    files = [folder / f"webgl-{number}.cjs" for number in range(len(ON_WEBGL))]
    for path, (_, script, _) in zip(files, ON_WEBGL, strict=True):
        path.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [
            str(node()),
            Path(__file__).parent / "webgl_findings.mjs",
            folder,
            folder / "start.cjs",
            *files,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    return {title: lines for (title, *_), lines in zip(ON_WEBGL, printed, strict=True)}


@pytest.mark.parametrize(
    ("title", "shown"),
    [(title, shown) for title, _, shown in ON_WEBGL],
    ids=[finding[0] for finding in ON_WEBGL],
)
def test_a_script_prints_on_webgl_what_is_shown(
    title: str, shown: str, webgl: dict[str, list[str]]
) -> None:
    want, printed_by = blocks(shown)
    assert printed_by["webgl"] != want
    assert [brief(line) for line in webgl[title]] == printed_by["webgl"]


def brief(line: str) -> str:
    """A line as the page has it."""
    text = re.sub(r"\s+", " ", line)[:160]
    return "  " + (text if len(text) < 110 else f"{text[:100]} …")
