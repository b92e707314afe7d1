"""Every frozen vector of the profile, one test each."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.runner import Runner
from sessrun.conformance.suites.verdict import settle
from sessrun.spec.cases.model import Case


def test_vector(sessrun_case: Case, sessrun_runner: Runner, sessrun_expectations: Any) -> None:
    """The backend does what the vector says."""
    line = sessrun_runner.run(sessrun_case)
    settle(sessrun_case, line, sessrun_expectations, sessrun_runner.spec)
