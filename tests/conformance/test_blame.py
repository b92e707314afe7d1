"""A failing case names one clause: that of the step, or of the part of a value, that is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from cut_run import plan_of, run_plan

from sessrun.conformance import properties
from sessrun.conformance.result_lines import lost_at
from sessrun.conformance.runner import Runner
from sessrun.spec import records
from sessrun.spec.cases import engine
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.cases.outcomes import Done, Fetched, Opened
from sessrun.spec.cases.steady import finding_form
from sessrun.spec.loader import load_vectors

SEED = 2026


def case(want: Any, **step: Any) -> Case:
    expression = {"do": "eval", "expr": {"$list": {"$tuple": [1, 2]}}, "expect": {"value": want}}
    steps = ({"do": "eval", "expr": 1, "expect": {"value": 1}}, {**expression, **step})
    return Case("made/here", "Made here.", "api", ("FEED-001", "RUN-001", "RUN-002"), steps)


def blamed(made: Case, value: Any) -> str:
    seen = [{"step": "0", "outcome": "value", "value": 1}]
    if value is not None:
        seen.append({"step": "1", "outcome": "value", "value": value})
    judgement = judge(made, seen)
    assert judgement.result == "fail"
    assert judgement.finding is not None
    return judgement.finding.clause


def test_a_failing_step_names_its_clause() -> None:
    made = case([1, 3], clause="RUN-002")
    assert blamed(made, [1, 2]) == "RUN-002"
    assert blamed(made, None) == "RUN-002", "it was not answered"
    assert blamed(case([1, 3]), [1, 2]) == "", "nothing is named: all clauses of the case"


def test_the_innermost_clause_around_what_differs_counts() -> None:
    inner = {"clause": "FEED-001", "is": {"$tuple": [2]}}
    made = case({"clause": "RUN-001", "is": [1, inner]}, clause="RUN-002")
    assert blamed(made, [1, {"$tuple": [3]}]) == "FEED-001"
    assert blamed(made, [7, {"$tuple": [2]}]) == "RUN-001"
    assert clauses_of(made.steps) == ("FEED-001", "RUN-001", "RUN-002")


def test_a_failure_speaks_of_the_clause_it_names_alone(tmp_path: Path) -> None:
    run = run_plan("reference", plan_of(case([1, 3], clause="RUN-002")), tmp_path / "r.jsonl")
    (line,) = run.record.results.values()
    assert line["finding"]["clause"] == "RUN-002"
    results = {clause.id: clause.result for clause in run.summary.clauses}
    assert results == {"FEED-001": "not tested", "RUN-001": "not tested", "RUN-002": "broken"}
    assert run.summary.failures[0].clauses == ("RUN-002",)


def test_a_pass_speaks_of_every_clause_of_the_case(tmp_path: Path) -> None:
    run = run_plan("reference", plan_of(case([1, 2], clause="RUN-002")), tmp_path / "r.jsonl")
    assert {clause.result for clause in run.summary.clauses} == {"holds"}


@pytest.mark.parametrize("name", sorted(properties.PROPERTIES))
def test_generated_cases_test_the_clauses_that_their_steps_name(name: str) -> None:
    """No case names all the clauses of its property: of several, each step names its own."""
    for index in range(12):
        drawn = properties.generate(name, SEED, index)
        assert drawn.clauses, drawn.id
        if len(drawn.clauses) > 1:
            assert drawn.clauses == clauses_of(drawn.steps), drawn.id


def test_a_vector_of_several_clauses_names_them_at_its_steps() -> None:
    for id_, vector in load_vectors().items():
        if len(vector.clauses) > 1:
            assert set(vector.clauses) == set(clauses_of(vector.steps)), id_


class Hanging:
    """An engine that opens a session, and answers no run."""

    def open(self, *_: object) -> Opened:
        return Opened("s")

    def run(self, *_: object) -> Fetched:
        raise TimeoutError("no answer")

    def close(self, _: str) -> Done:
        return Done({})


def test_a_case_whose_backend_is_lost_blames_the_step_at_which_it_was() -> None:
    steps = (
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": ["x:0"], "clause": "RUN-002"},
    )
    made = Case("made/lost", "Lost.", "engine", ("RUN-001", "RUN-002"), steps, {"g": {}})
    with pytest.raises(TimeoutError) as lost:
        engine.interpret(made, Hanging())  # type: ignore[arg-type]
    assert engine.step_of(lost.value) == "1"
    finding = lost_at(made, lost.value)
    assert finding is not None
    assert (finding.step, finding.clause) == ("1", "RUN-002")
    line = {"clauses": made.clauses, "finding": finding_form(finding)}
    assert records.blamed(line) == ("RUN-002",)
    assert lost_at(made, TimeoutError("at no step")) is None


@pytest.mark.parametrize("within", [False, True])
def test_an_api_case_whose_backend_is_lost_blames_the_step_at_which_it_was(within: bool) -> None:
    """The step stands by itself, or in a `with` of which another step has ended."""
    queue = {"$call": "tf.FIFOQueue", "args": [1, [{"$": "tf.float32"}]]}
    steps: list[dict[str, Any]] = [
        {"do": "eval", "expr": queue, "as": "q"},
        {"do": "eval", "expr": {"$call": "q.dequeue"}, "as": "taken"},
        {"do": "eval", "expr": {"$call": "tf.Session"}, "as": "s", "clause": "SESSION-001"},
        {"do": "eval", "expr": {"$call": "s.run", "args": [{"$": "taken"}]}, "clause": "RUN-002"},
    ]
    if within:
        steps[2:] = [
            {"do": "with", "context": steps[2]["expr"], "as": "s", "steps": [steps[1], steps[3]]}
        ]
    made = Case("made/lost", "Lost.", "api", ("RUN-001", "RUN-002", "SESSION-001"), tuple(steps))
    runner = Runner("reference", deadline_s=1.0)
    try:
        line = runner.run_once(made)
        assert line["result"] == "timeout"
        assert records.blamed(line) == ("RUN-002",)
        assert line["finding"]["step"] == ("2.1" if within else "3")
        assert runner.run_once(dataclasses.replace(made, steps=()))["result"] == "pass"
    finally:
        runner.shutdown()
