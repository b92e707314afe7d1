"""Backends without an engine: what they are sent tells nothing, and no table knows a new seed."""

import dataclasses
import functools
from pathlib import Path

import pytest
from cut_run import CutRun, plan_of, run_plan
from hostile.echoing import echo

from sessrun.conformance.patience import Patience
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.variants import has_variants, variant
from sessrun.spec.cases.judge import judge, oracle_steps
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import load_vectors

#: Few failures are tried again, each on a fresh worker: they are what is expected here.
FEW_AGAIN = Patience(retries=3)


@functools.cache
def drawn_plan(seed: int) -> Plan:
    """Every forty-fifth of the drawn cases of `core`, and a few vectors."""
    plan = build_plan("core", seed, 3)
    generated = tuple(case for case in plan.cases if ":" in case.id and not case.isolated)
    vectors = tuple(case for case in plan.cases if ":" not in case.id)[::60]
    cases = tuple(case for case in (*vectors, *generated[::45]) if not _overlapping(case.steps))
    return dataclasses.replace(plan, cases=cases)


def _overlapping(steps: tuple[dict[str, str], ...]) -> bool:
    return any(step["do"] in {"start", "check"} for step in steps)


def test_an_echo_of_what_is_expected_would_pass() -> None:
    """The cheat works where it is told what is expected: that is what must not be."""
    cases = [case for case in load_vectors().values() if case.surface == "api"]
    passed = [case for case in cases if judge(case, echo(case.steps)).result == "pass"]
    assert len(passed) > len(cases) // 2


def test_a_backend_that_echoes_expectations_finds_none(tmp_path: Path) -> None:
    cases = [case for case in load_vectors().values() if case.surface == "api"]
    cases = [case for case in cases if not case.needs][::80]
    run = run_plan(
        "hostile.echoing:backend", plan_of(*cases), tmp_path / "r.jsonl", patience=FEW_AGAIN
    )
    assert run.summary.counts["pass"] == 0
    assert run.summary.counts["fail"] == len(cases), run.summary.counts
    reasons = {line["finding"]["reason"] for line in run.record.results.values()}
    assert len(reasons) == 1, "it declined each: nothing was found"


@pytest.mark.slow
def test_a_table_of_answers_passes_its_own_seed_and_no_other(tmp_path: Path) -> None:
    table = tmp_path / "table.jsonl"
    known, fresh = drawn_plan(1), drawn_plan(2)
    run_plan(
        f"hostile.table:backend#record={table}",
        known,
        tmp_path / "recorded.jsonl",
        patience=FEW_AGAIN,
    )
    again = run_plan(
        f"hostile.table:backend#{table}", known, tmp_path / "known.jsonl", patience=FEW_AGAIN
    )
    assert again.summary.counts["pass"] >= 0.9 * len(known.cases), again.terminal
    other = run_plan(
        f"hostile.table:backend#{table}", fresh, tmp_path / "fresh.jsonl", patience=FEW_AGAIN
    )
    drawn = [line for id_, line in other.record.results.items() if ":" in id_]
    passed = [line["id"] for line in drawn if line["result"] == "pass"]
    assert len(passed) <= len(drawn) // 20, passed
    assert other.summary.verdict == "NOT CERTIFIED"


@functools.cache
def varied_vectors() -> tuple[Case, ...]:
    """Some vectors of `core` that have variants, and take one call at a time."""
    cases = [case for case in build_plan("core", 1, 0).cases if not _overlapping(case.steps)]
    return tuple(case for case in cases if has_variants(case))[::35]


def share_of_passes(run: CutRun) -> float:
    return run.summary.counts["pass"] / sum(run.summary.counts.values())


@pytest.mark.slow
def test_a_table_that_sees_through_names_and_order_is_not_certified(tmp_path: Path) -> None:
    """It is certified of what it has seen, and of no variant with values of its own."""
    table, vectors = tmp_path / "table.jsonl", varied_vectors()
    seen = plan_of(*vectors, *(variant(case, seed, 0) for case in vectors for seed in (1, 2)))
    fresh = plan_of(*(variant(case, 3, 0) for case in vectors))
    run_plan(
        f"hostile.structural:backend#record={table}",
        seen,
        tmp_path / "recorded.jsonl",
        patience=FEW_AGAIN,
    )
    cheat = f"hostile.structural:backend#{table}"
    again = run_plan(cheat, plan_of(*vectors), tmp_path / "known.jsonl", patience=FEW_AGAIN)
    assert share_of_passes(again) > 0.8, again.terminal
    other = run_plan(cheat, fresh, tmp_path / "fresh.jsonl", patience=FEW_AGAIN)
    assert other.summary.verdict == "NOT CERTIFIED"
    assert share_of_passes(other) < 0.6, other.terminal
    compared = [case.id for case in fresh.cases if oracle_steps(case)]
    passed = [id_ for id_ in compared if other.record.results[id_]["result"] == "pass"]
    assert len(passed) <= len(compared) // 5, passed


@pytest.mark.slow
def test_a_record_of_several_seeds_knows_no_other(tmp_path: Path) -> None:
    """It replays every case of two runs; of a third it passes what is fixed."""
    table = tmp_path / "table.jsonl"
    for seed in (1, 2):
        plan = drawn_plan(seed)
        run_plan(
            f"hostile.table:backend#record={table}",
            plan,
            tmp_path / f"{seed}.jsonl",
            patience=FEW_AGAIN,
        )
    other = run_plan(
        f"hostile.table:backend#{table}",
        drawn_plan(3),
        tmp_path / "fresh.jsonl",
        patience=FEW_AGAIN,
    )
    drawn = [line for id_, line in other.record.results.items() if ":" in id_]
    passed = [line["id"] for line in drawn if line["result"] == "pass"]
    assert len(passed) <= len(drawn) // 20, passed
    assert other.summary.verdict == "NOT CERTIFIED"


@pytest.mark.slow
def test_an_echo_that_knows_the_vectors_passes_few_variants(tmp_path: Path) -> None:
    vectors = [case for case in varied_vectors() if case.surface == "api"]
    cheat = f"hostile.recognising:backend#{tmp_path / 'expectations.json'}"
    known = run_plan(cheat, plan_of(*vectors), tmp_path / "known.jsonl", patience=FEW_AGAIN)
    assert share_of_passes(known) > 0.6, known.terminal
    drawn = plan_of(*(variant(case, 3, 0) for case in vectors))
    other = run_plan(cheat, drawn, tmp_path / "drawn.jsonl", patience=FEW_AGAIN)
    assert other.summary.verdict == "NOT CERTIFIED"
    assert share_of_passes(other) < share_of_passes(known) - 0.15, other.terminal
    asked_of_it = [case.id for case in drawn.cases if oracle_steps(case)]
    passed = [id_ for id_ in asked_of_it if other.record.results[id_]["result"] == "pass"]
    assert len(passed) <= len(asked_of_it) // 5, passed
