"""docs/findings/onnxruntime.md: each script prints what the page shows of it."""

from __future__ import annotations

import importlib.util
import platform
from typing import Final

import pytest
from finding_scripts import Finding, findings, printed, sections

FINDINGS: Final = findings("onnxruntime.md")
HERE = all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))

pytestmark = [
    pytest.mark.onnxruntime,
    pytest.mark.skipif(not HERE, reason="ONNX Runtime is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="values are of another processor"),
]


def test_every_finding_has_a_script_and_what_it_prints() -> None:
    assert len(FINDINGS) == sections("onnxruntime.md")


@pytest.mark.parametrize("finding", FINDINGS, ids=[finding.title for finding in FINDINGS])
def test_a_script_prints_what_is_shown(finding: Finding) -> None:
    assert printed(finding.script) == finding.printed
