"""Shrinking: a failing generated case becomes the smallest that fails alike, and stays a case."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from sessrun.cli.main import main
from sessrun.cli.shrinking import shrink_failures
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.plan import build_plan
from sessrun.conformance.properties import generate
from sessrun.conformance.replay import read_replay
from sessrun.conformance.shrink import Shrinker, needed, node_count, shrinkable
from sessrun.spec.cases.model import Case, Observation


def ops(case: Case) -> list[str]:
    """The types of the operations that a run of the case reaches."""
    reached = set().union(*(needed(case.graphs["g"], s) for s in case.steps if s["do"] == "run"))
    return [node["op"] for node in case.graphs["g"]["node"] if node["name"] in reached]


#: Of `graphs:1:*`: two runs, more than ten nodes, a Sigmoid among them that the fetches need.
CASE = next(
    case
    for case in (generate("graphs", 1, index) for index in range(400))
    if node_count(case) > 10
    and sum(step["do"] == "run" for step in case.steps) > 1
    and "Sigmoid" in ops(case)
)


def no_answers(_: Case) -> Sequence[Observation]:
    return []


def test_what_the_failure_does_not_need_goes() -> None:
    seen: list[Case] = []

    def fails(case: Case) -> bool:
        seen.append(case)
        return "Sigmoid" in ops(case)

    with Oracle() as oracle:
        small = Shrinker(fails, oracle).shrink(CASE)
    assert ops(small).count("Sigmoid") == 1
    assert node_count(small) < node_count(CASE) / 2
    assert sum(step["do"] == "run" for step in small.steps) == 1
    assert small.clauses == CASE.clauses
    assert Case.from_json(json.loads(json.dumps(small.to_json())), "shrunk") == small
    assert len({case.hash for case in seen}) == len(seen), "nothing is tried twice"


def test_every_shrunk_case_can_be_run() -> None:
    with Oracle() as oracle:
        small = Shrinker(lambda case: "Sigmoid" in ops(case), oracle).shrink(CASE)
        outcomes = [entry["outcome"] for entry in oracle(small)]
    assert "values" in outcomes
    assert "failure" not in outcomes


def test_what_nothing_makes_smaller_is_left_alone() -> None:
    assert Shrinker(lambda _: False, no_answers).shrink(CASE) is CASE


def test_tries_are_bounded() -> None:
    tried = []
    Shrinker(lambda case: tried.append(case) or False, no_answers, tries=7).shrink(CASE)
    assert len(tried) == 7


def test_only_cases_that_follow_the_oracle_may_be_changed() -> None:
    plan = build_plan("core", generated=2).cases
    changeable = [case for case in plan if shrinkable(case)]
    drawn = {case.id.partition(":")[0] for case in changeable if ":" in case.id}
    assert {name for name in drawn if not name.startswith("variant/")} == {
        "graphs",
        "number-corners",
        "operations",
    }
    assert all(case.surface == "engine" for case in changeable)
    fixed = dataclasses.replace(
        CASE, steps=({"do": "run", "fetches": [], "expect": {"error": {"codes": [3]}}},)
    )
    assert not shrinkable(fixed)


def test_run_shrinks_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backend = "hostile.zeros:backend"
    record = tmp_path / "record.jsonl"
    chosen = ["--only", "graphs:1:3", "--generated", "4"]
    assert main(["run", backend, *chosen, "--record", str(record)]) == 1
    assert "shrunk from" in capsys.readouterr().out
    (replay,) = (tmp_path / "shrunk").glob("*.json")
    assert node_count(read_replay(replay)) <= 4, "zeros are wrong of any constant"
    assert main(["replay", str(replay), "--backend", backend]) == 1
    assert main(["replay", str(replay), "--backend", "reference"]) == 0


def test_a_backend_that_starts_no_more_costs_the_shrinking_only(tmp_path: Path) -> None:
    group = SimpleNamespace(result="fail", cases=(CASE.id,))
    told = shrink_failures(
        tmp_path, SimpleNamespace(cases=(CASE,)), SimpleNamespace(failures=[group]), "exec:false"
    )
    assert len(told) == 1
    assert told[0].startswith("no further failures were shrunk: 'exec:false' does not start")
