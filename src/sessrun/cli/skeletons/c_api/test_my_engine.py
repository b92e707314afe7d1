"""The adapter of my_engine: the doctor has no complaint, and some cases of the suite pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessrun.adapters.registry import AdapterError, load
from sessrun.conformance.doctor import examine
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner

BACKEND = "my_engine:backend"
#: Cases of `sessrun run … --only`: put those here that pass, and they stay so.
CASES = (
    "feed-keys/a-constant-can-be-fed",
    "fetch/strings-come-back-byte-for-byte",
    "run/only-the-needed-fragment-runs",
    "session/closed-session-refuses-a-run",
)


@pytest.fixture(autouse=True)
def in_this_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    try:
        load(BACKEND)
    except AdapterError as error:
        pytest.skip(str(error))


def test_the_doctor_has_no_complaint() -> None:
    assert examine(BACKEND, deadline_s=20).wrong == ()


def test_cases_of_the_suite_pass() -> None:
    runner = Runner(BACKEND)
    try:
        results = {id_: runner.run(case_of(id_))["result"] for id_ in CASES}
    finally:
        runner.shutdown()
    assert set(results.values()) == {"pass"}, results
