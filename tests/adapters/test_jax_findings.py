"""docs/findings/jax.md: each script prints what the page shows of it."""

from __future__ import annotations

import importlib.util
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "findings" / "jax.md"
FINDINGS: Final = re.findall(
    r"^## (.*?)\n\n```python\n(.*?)```\n\n```text\n(.*?)```",
    PAGE.read_text(),
    re.DOTALL | re.MULTILINE,
)
HERE = importlib.util.find_spec("jax") is not None

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(not HERE, reason="JAX is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="values are of another processor"),
]


def test_every_finding_has_a_script_and_what_it_prints() -> None:
    assert len(FINDINGS) == PAGE.read_text().count("\n## ")


@pytest.mark.parametrize(("script", "shown"), [row[1:] for row in FINDINGS],
                         ids=[row[0] for row in FINDINGS])  # fmt: skip
def test_a_script_prints_what_is_shown(script: str, shown: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == shown
