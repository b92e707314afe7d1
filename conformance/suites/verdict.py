"""How a case becomes a pytest test: run, reported to the plug-in, its result an outcome."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Callable, Iterable

import pytest

from sessrun.conformance.expectations import Expectation
from sessrun.conformance.replay import python_lines
from sessrun.conformance.result_lines import ResultLine
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case
from sessrun.spec.records import blamed

__all__ = ["settle"]


def settle(
    case: Case,
    runner: Runner,
    expectations: Iterable[Expectation],
    record_property: Callable[[str, object], None],
) -> None:
    """Run the case, and pass, skip, xfail or fail the running test as it comes out."""
    line = runner.run(case)
    record_property("sessrun_case", case.id)
    record_property("sessrun_result", line["result"])
    record_property("sessrun_clauses", ", ".join(blamed(line)))
    _settle(case, line, expectations, runner.spec)


def _settle(
    case: Case, line: ResultLine, expectations: Iterable[Expectation], backend: str
) -> None:
    """Pass, skip, xfail or fail the running test as the line says.

    An entry for this very case makes a pass a failure; one for a clause or a pattern may cover
    cases that pass beside those that do not, so the plug-in judges it when the run is over.
    """
    result = line["result"]
    if result == "skipped":
        pytest.skip(line.get("detail", ""))
    entries = [entry for entry in expectations if entry.covers(line)]
    if result == "pass":
        for entry in entries:
            if entry.vector == case.id:
                pytest.fail(f"passes, but is expected to end {entry.expected}: remove the entry")
        return
    today = datetime.datetime.now(datetime.UTC).date()
    fitting = [entry for entry in entries if entry.expected == result]
    for entry in fitting:
        if not entry.expired(today):
            pytest.xfail(f"{entry.why} {entry.bug or ''}".strip())
    for entry in fitting:
        pytest.fail(f"{result}; its expectation expired on {entry.expires}: {entry.why}")
    pytest.fail(_explanation(case, line, backend), pytrace=False)


def _explanation(case: Case, line: ResultLine, backend: str) -> str:
    finding = line.get("finding") or {}
    reason = finding.get("reason") or line.get("detail", "")
    step = f" at step {finding['step']}" if "step" in finding else ""
    clauses = blamed(line)
    return "\n".join(
        [
            f"{case.id}: {line['result']}{step}: {reason}",
            f"the rule: {case.title}",
            f"clauses: {', '.join(clauses)} (sessrun explain {clauses[0]})",
            f"again: sessrun replay {shlex.quote(case.id)} --backend {shlex.quote(backend)}",
            "in plain TensorFlow:",
            *(f"    {text}" for text in python_lines(case)),
        ]
    )
