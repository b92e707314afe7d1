"""Backends without an engine: what they are sent tells nothing, and no table knows a new seed."""

import dataclasses
import functools
from pathlib import Path

from cut_run import plan_of, run_plan
from hostile.echoing import echo

from sessrun.conformance.plan import Plan, build_plan
from sessrun.spec.cases.judge import judge
from sessrun.spec.loader import load_vectors


@functools.cache
def drawn_plan(seed: int) -> Plan:
    """Every third of the generated cases of `core`, and a few vectors."""
    plan = build_plan("core", seed, 3)
    generated = tuple(case for case in plan.cases if ":" in case.id and not case.isolated)
    vectors = tuple(case for case in plan.cases if ":" not in case.id)[::60]
    cases = tuple(case for case in (*vectors, *generated[::3]) if not _overlapping(case.steps))
    return dataclasses.replace(plan, cases=cases)


def _overlapping(steps: tuple[dict[str, str], ...]) -> bool:
    return any(step["do"] in {"start", "check"} for step in steps)


def test_an_echo_of_what_is_expected_would_pass() -> None:
    """The cheat works where it is told what is expected: that is what must not be."""
    cases = [case for case in load_vectors().values() if case.surface == "api"]
    passed = [case for case in cases if judge(case, echo(case.steps)).result == "pass"]
    assert len(passed) > len(cases) // 2


def test_a_backend_that_echoes_expectations_finds_none(tmp_path: Path) -> None:
    cases = [case for case in load_vectors().values() if case.surface == "api"][::25]
    run = run_plan("hostile.echoing:backend", plan_of(*cases), tmp_path / "r.jsonl")
    assert run.summary.counts["pass"] == 0
    assert run.summary.counts["fail"] == len(cases), run.summary.counts
    reasons = {line["finding"]["reason"] for line in run.record.results.values()}
    assert len(reasons) == 1, "it declined each: nothing was found"


def test_a_table_of_answers_passes_its_own_seed_and_no_other(tmp_path: Path) -> None:
    table = tmp_path / "table.jsonl"
    known, fresh = drawn_plan(1), drawn_plan(2)
    run_plan(f"hostile.table:backend#record={table}", known, tmp_path / "recorded.jsonl")
    again = run_plan(f"hostile.table:backend#{table}", known, tmp_path / "known.jsonl")
    assert again.summary.counts["pass"] >= 0.9 * len(known.cases), again.terminal
    other = run_plan(f"hostile.table:backend#{table}", fresh, tmp_path / "fresh.jsonl")
    drawn = [line for id_, line in other.record.results.items() if ":" in id_]
    passed = [line["id"] for line in drawn if line["result"] == "pass"]
    assert len(passed) <= len(drawn) // 20, passed
    assert other.summary.verdict == "NOT CERTIFIED"
