"""docs/adapters.md keeps its word: its adapter runs, its table is the contract's."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from sessrun.adapters.backend import Backend
from sessrun.adapters.client_layer import EngineSession, GraphEngine
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.plan import build_plan, case_of
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case
from sessrun.spec.inference import demand_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")


def test_the_table_has_every_method_with_its_arguments() -> None:
    rows = re.findall(r"^\| `(\w+)(?:\(\))?` \| (.*?) \|", PAGE, re.MULTILINE)
    documented = {method: re.findall(r"`(\w+)`", arguments) for method, arguments in rows}
    for name, method in inspect.getmembers(Backend, inspect.isfunction):
        if name.startswith("_") or name == "interpret_api":
            continue
        parameters = [p for p in inspect.signature(method).parameters if p != "self"]
        assert documented[name] == parameters, name


def test_the_table_of_the_layer_has_every_method_with_its_arguments() -> None:
    rows = re.findall(r"^\| `(\w+)\.(\w+)` \|(.*?)\|", PAGE, re.MULTILINE)
    documented = {
        (kind, method): re.findall(r"`(\w+)`", arguments) for kind, method, arguments in rows
    }
    for kind, cls in (("Engine", GraphEngine), ("Session", EngineSession)):
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_"):
                parameters = [p for p in inspect.signature(method).parameters if p != "self"]
                assert documented[kind, name] == parameters, (kind, name)


def test_the_adapter_below_the_client_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, block, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "four.py").write_text(block, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    runner = Runner("four:backend")
    try:
        clauses = {"FEED-021", "FEED-022", "FEED-024", "FETCH-012", "SESSION-026"}
        plan = build_plan("core-engine", generated=0)
        cases = [case for case in plan.cases if clauses & set(case.clauses)]
        results = {case.id: runner.run(case)["result"] for case in cases}
        ran = case_of("feed-shapes/a-higher-rank-is-refused")
        assert results[ran.id] == "pass", runner.run(ran)
    finally:
        runner.shutdown()
    assert set(results.values()) <= {"pass", "unsupported"}, results
    assert list(results.values()).count("pass") > 3


@pytest.mark.parametrize("measured", [True, False])
def test_the_adapter_with_a_table_runs(
    measured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its table it answers what that declares; without, what it can."""
    _, _, block = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (table,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_table.py").write_text(block, encoding="utf-8")
    if measured:
        (tmp_path / "my_table.toml").write_text(table, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    runner = Runner("my_table:backend", ask_oracle=Oracle(in_process=True))
    try:
        assert (runner.describe().operations is None) != measured
        plan = build_plan("inference", seed=1)
        chosen = [case for case in plan.cases if _only_of(case, {"AddV2", "Neg"}, {"float32"})]
        results = {case.id: runner.run(case)["result"] for case in chosen}
        strange = next(case for case in plan.cases if _only_of(case, {"Sin"}, {"float32"}))
        assert runner.run(strange)["result"] == ("unsupported" if measured else "fail")
    finally:
        runner.shutdown()
    assert list(results.values()).count("pass") > 20
    assert set(results.values()) == {"pass"}, results


def _only_of(case: Case, operations: set[str], dtypes: set[str]) -> bool:
    demand = demand_of(case)
    return (
        demand is not None
        and not demand.capabilities
        and demand.operations.keys() <= operations
        and all(dtypes.issuperset(those) for those in demand.operations.values())
    )


CLAUSES_WITH_NEEDS = ("009", "010", "011", "012", "013", "014", "015", "016", "017", "018")


@pytest.mark.parametrize("number", CLAUSES_WITH_NEEDS)
def test_the_page_names_every_operation_that_a_clause_needs(number: str) -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| `INFERENCE-")]
    (row,) = (line for line in lines if f"-{number}`" in line.split("|")[1])
    named = set(re.findall(r"\w+", row.split("|")[3]))
    clause = f"INFERENCE-{number}"
    cases = [case for case in build_plan("inference", seed=3).cases if clause in case.clauses]
    needed = {name for case in cases if (d := demand_of(case)) for name in d.operations}
    assert needed <= named
