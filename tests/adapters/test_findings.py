"""Findings in LiteRT, OpenVINO and XLA: each script prints what its page shows of it."""

from __future__ import annotations

import importlib.util
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).parents[2] / "docs" / "findings"
SCRIPT: Final = r"```python\n(.*?)```\n"


def page(name: str, *modules: str, marker: pytest.MarkDecorator) -> object:
    here = all(importlib.util.find_spec(module) is not None for module in modules)
    missing = pytest.mark.skipif(not here, reason=f"the page {name} needs {', '.join(modules)}")
    return pytest.param(name, id=name, marks=[marker, missing])


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="values are of another processor")
@pytest.mark.parametrize(
    "name",
    [
        page("litert", "ai_edge_litert", "tensorflow", marker=pytest.mark.litert),
        page("openvino", "openvino", "tensorflow", marker=pytest.mark.openvino),
        page("tensorflow-xla", "tensorflow", marker=pytest.mark.tensorflow),
    ],
)
def test_the_scripts_print_what_is_shown(name: str) -> None:
    head, *findings = (FOLDER / f"{name}.md").read_text(encoding="utf-8").split("\n## ")
    (prelude,) = re.findall(SCRIPT, head, re.DOTALL)
    rows = [re.findall(rf"{SCRIPT}\n```text\n(.*?)```", part, re.DOTALL) for part in findings]
    assert all(len(row) == 1 for row in rows)
    program = prelude + "".join(
        f"print('## {number}', flush=True)\n{script}" for number, ((script, _),) in enumerate(rows)
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    shown = "".join(f"## {number}\n{text}" for number, ((_, text),) in enumerate(rows))
    assert done.stdout == shown
