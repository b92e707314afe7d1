"""Every generated case of the plan, one test each."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.expectations import Expectation
from sessrun.conformance.runner import Runner
from sessrun.conformance.suites.verdict import settle
from sessrun.spec.cases.model import Case


def test_generated(
    sessrun_case: Case,
    sessrun_runner: Runner,
    sessrun_expectations: tuple[Expectation, ...],
    record_property: Callable[[str, object], None],
) -> None:
    """The backend does what the property says."""
    settle(sessrun_case, sessrun_runner, sessrun_expectations, record_property)
