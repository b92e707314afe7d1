"""Findings of a page of docs/findings: their scripts, what these print, and runs of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parents[2] / "docs" / "findings"


class Finding(NamedTuple):
    """A section with a script: its title, the release it is of ("" for the installed one), the
    script and the text that it prints."""

    title: str
    release: str
    script: str
    printed: str


def sections(page: str) -> int:
    """How many sections the page has, with a script or without."""
    return (FOLDER / page).read_text(encoding="utf-8").count("\n## ")


def findings(page: str) -> list[Finding]:
    """The sections of a page that begin with a script, in order."""
    rows = re.findall(
        r"^## (.*?)\n\n(?:Release: (.*?)\n\n)?```python\n(.*?)```\n\n```text\n(.*?)```",
        (FOLDER / page).read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    return [Finding(*row) for row in rows]


def printed(script: str, python: str = sys.executable) -> str:
    """What a script prints in a process of its own, with oneDNN and no other setting.

    By default TensorFlow uses oneDNN on processors with AVX-512 VNNI alone.
    """
    environment = {name: value for name, value in os.environ.items() if name[:3] != "TF_"}
    environment["TF_ENABLE_ONEDNN_OPTS"] = "1"
    done = subprocess.run(
        [python, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout
