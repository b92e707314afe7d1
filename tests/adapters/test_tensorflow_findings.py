"""docs/findings/tensorflow.md: each script prints what the page shows of it, in its release."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path
from typing import Final

import pytest
from finding_scripts import FOLDER, Finding, findings, printed

FINDINGS: Final = findings("tensorflow.md")
ENVIRONMENTS: Final = Path(__file__).parents[2] / "out" / "environments"
HERE = importlib.util.find_spec("tensorflow") is not None

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="values are of another processor"),
]


def python_of(finding: Finding) -> Path | None:
    """The interpreter that has the release of a finding; None where there is none."""
    if not finding.release:
        return Path(sys.executable) if HERE else None
    minor = finding.release.rpartition(".")[0]
    python = ENVIRONMENTS / f"tensorflow-{minor}" / "bin" / "python"
    return python if python.exists() else None


def test_every_script_stands_under_its_title_and_above_what_it_prints() -> None:
    page = (FOLDER / "tensorflow.md").read_text(encoding="utf-8")
    assert len(FINDINGS) == page.count("```python") == page.count("```text")


@pytest.mark.parametrize("finding", FINDINGS, ids=[finding.title for finding in FINDINGS])
def test_a_script_prints_what_is_shown(finding: Finding) -> None:
    python = python_of(finding)
    if python is None:
        pytest.skip(f"TensorFlow {finding.release} is not installed; make engines installs it")
    assert printed(finding.script, str(python)) == finding.printed
