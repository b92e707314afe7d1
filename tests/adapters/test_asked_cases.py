"""What a backend is sent of an API case: nothing that is expected, nothing that names the case."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sessrun.adapters.process.host import spawn
from sessrun.conformance.observe import observe
from sessrun.spec.cases.model import AskedCase, Case, asked, walk
from sessrun.spec.loader import load_vectors
from sessrun.spec.schema import load_schema


def api_vectors() -> list[Case]:
    return [case for case in load_vectors().values() if case.surface == "api"]


def kinds(schema: str, definition: str) -> dict[str, set[str]]:
    """The fields of each kind of step."""
    step = load_schema(schema)["$defs"][definition]
    parts = (part["then"]["properties"] for part in step["allOf"])
    return {part["do"]["const"]: set(part) for part in parts}


@pytest.fixture(scope="module")
def worker() -> Iterator[Any]:
    backend = spawn("reference")
    yield backend
    backend.shutdown()


def test_a_step_that_is_asked_has_the_fields_of_a_case_but_for_what_is_expected() -> None:
    ours, theirs = kinds("case", "api_step"), kinds("asked", "step")
    assert theirs.keys() == ours.keys()
    for do, fields in ours.items():
        assert theirs[do] - {"observe"} == fields - {"expect", "why", "clause"}, do


def test_no_vector_tells_what_it_is_or_expects() -> None:
    for case in api_vectors():
        form = asked(case).to_json()
        assert form.keys() <= {"steps", "files"}
        for (path, step), (_, whole) in zip(walk(form["steps"]), walk(case.steps), strict=True):
            assert not step.keys() & {"expect", "why", "clause"}, (case.id, path)
            assert step.keys() - {"observe"} <= whole.keys()
        assert case.id not in json.dumps(form)


def test_a_vector_as_it_is_asked_follows_its_schema() -> None:
    for case in api_vectors()[::40]:
        form = json.loads(json.dumps(asked(case).to_json()))
        assert AskedCase.from_json(form, case.id).to_json() == form


def test_an_expected_error_looks_like_an_expected_value() -> None:
    expectations = [
        {},
        {"expect": {"value": 3}},
        {"expect": {"error": {"classes": ["ValueError"]}}},
        {"expect": {"any_of": [{"value": 3}, {"error": {"codes": [3]}}]}, "why": "it must"},
    ]
    forms = [asked(_api({"do": "eval", "expr": 3, **more})).to_json() for more in expectations]
    assert all(form == forms[0] for form in forms)


def _api(*steps: dict[str, Any]) -> Case:
    return Case("asked/case", "T.", "api", ("RUN-001",), steps, deadline_s=20.0)


FAILS = {"do": "eval", "expr": {"$call": "tf.constant", "kwargs": {"no": 1}}}


def test_a_worker_stops_at_a_failure_that_was_not_expected(worker: Any) -> None:
    """What follows may block, since the step before it failed: it is never begun."""
    queue = {
        "do": "eval",
        "expr": {"$call": "tf.FIFOQueue", "args": [1, {"$": "tf.int32"}]},
        "as": "q",
    }
    session = {"do": "eval", "expr": {"$call": "tf.Session"}, "as": "s"}
    blocks = {"do": "eval", "expr": {"$call": "s.run", "args": [{"$call": "q.dequeue"}]}}
    started = time.monotonic()
    seen = observe(worker, _api(queue, session, FAILS, blocks), 20.0)
    assert time.monotonic() - started < 10
    assert [entry["step"] for entry in seen] == ["2"]
    assert worker.alive


def test_a_worker_goes_on_after_a_failure_that_was_expected(worker: Any) -> None:
    expected = {**FAILS, "expect": {"error": {"classes": ["TypeError"]}}}
    within = {
        "do": "with",
        "context": {"$call": "tf.name_scope", "args": ["a"]},
        "steps": [expected],
    }
    case = _api(expected, {"do": "thread", "steps": [within]}, {"do": "eval", "expr": 4})
    seen = observe(worker, case, 20.0)
    assert [(entry["step"], entry["outcome"]) for entry in seen] == [
        ("0", "failure"),
        ("1.0.0", "failure"),
        ("2", "value"),
    ]
