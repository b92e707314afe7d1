"""docs/findings/jax.md: each script prints what the page shows of it."""

from __future__ import annotations

import importlib.util
import platform
from typing import Final

import pytest
from finding_scripts import Finding, findings, printed, sections

FINDINGS: Final = findings("jax.md")
HERE = importlib.util.find_spec("jax") is not None

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(not HERE, reason="JAX is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="values are of another processor"),
]


def test_every_finding_has_a_script_and_what_it_prints() -> None:
    assert len(FINDINGS) == sections("jax.md")


@pytest.mark.parametrize("finding", FINDINGS, ids=[finding.title for finding in FINDINGS])
def test_a_script_prints_what_is_shown(finding: Finding) -> None:
    assert printed(finding.script) == finding.printed
