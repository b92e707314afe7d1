"""How a case's result line becomes the outcome of a pytest test."""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.conformance.replay import python_lines
from sessrun.spec.cases.model import Case

__all__ = ["settle"]


def settle(case: Case, line: dict[str, Any], expectations: Any, backend: str) -> None:
    """Pass, skip, xfail or fail the running test as the line says."""
    result = line["result"]
    if result == "skipped":
        pytest.skip(line.get("detail", ""))
    expected = [entry for entry in expectations if entry.covers(line)]
    if result == "pass":
        if expected:
            pytest.fail(f"passes, but is expected to end {expected[0].expected}: remove the entry")
        return
    for entry in expected:
        if entry.expected == result:
            pytest.xfail(f"{entry.why} {entry.bug or ''}".strip())
    pytest.fail(_explanation(case, line, backend), pytrace=False)


def _explanation(case: Case, line: dict[str, Any], backend: str) -> str:
    finding = line.get("finding") or {}
    reason = finding.get("reason") or line.get("detail", "")
    step = f" at step {finding['step']}" if "step" in finding else ""
    return "\n".join(
        [
            f"{case.id}: {line['result']}{step}: {reason}",
            f"the rule: {case.title}",
            f"clauses: {', '.join(case.clauses)} (sessrun explain {case.clauses[0]})",
            f"again: sessrun replay '{case.id}' --backend '{backend}'",
            "in plain TensorFlow:",
            *(f"    {text}" for text in python_lines(case)),
        ]
    )
