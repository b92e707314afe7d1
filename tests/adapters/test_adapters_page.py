"""docs/adapters.md keeps its word: its adapter runs, its table is the contract's."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from sessrun.adapters.backend import Backend
from sessrun.adapters.client_layer import EngineSession, GraphEngine
from sessrun.conformance.plan import build_plan, case_of
from sessrun.conformance.runner import Runner

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
        (kind, method): re.findall(r"`(\w+)`", arguments)
        for kind, method, arguments in rows
    }
    for kind, cls in (("Engine", GraphEngine), ("Session", EngineSession)):
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_"):
                parameters = [p for p in inspect.signature(method).parameters if p != "self"]
                assert documented[kind, name] == parameters, (kind, name)


def test_the_adapter_below_the_client_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
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
