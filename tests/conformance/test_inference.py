"""The profile `inference`: what is asked of an engine that declares a few operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import ClientLayer, Endpoint, EngineSession, NotOfferedError
from sessrun.adapters.client_layer.graph import Graph, constant_of, inputs_of
from sessrun.conformance import runner as runners
from sessrun.conformance.declaring import Measured, declaration, declaration_toml
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.runner import Runner
from sessrun.reports.plan import PlanFacts
from sessrun.reports.summary import Summary
from sessrun.reports.verdicts import summarize
from sessrun.spec.inference import DECLARATION, demand_of, is_audited
from sessrun.spec.loader import load_clauses
from sessrun.spec.records import RunRecord
from sessrun.spec.tables.ops import OPERATIONS

KNOWN = {"AddV2": np.add, "Neg": np.negative, "Sub": np.subtract}


class Session(EngineSession):
    """Computes what is known; what is not it declines, but for operations that it `lets_pass`."""

    def __init__(self, graph: Any, lets_pass: frozenset[str], known: Any) -> None:
        self.graph, self.lets_pass, self.known = Graph(graph), lets_pass, known

    def has_operation(self, name: str) -> bool:
        return name in self.graph.nodes

    def facts(self, tensor: Endpoint) -> Any:
        return self.graph.facts(tensor)

    def run(self, fetches: Any, feeds: Any, targets: Any, options: Any) -> Any:  # noqa: ARG002
        part = self.graph.part(fetches, feeds, targets)
        if part.effects:
            raise NotOfferedError("control_inputs", min(part.effects))
        values = dict(feeds)
        for node in part.nodes:
            if node.op in self.lets_pass:
                values[Endpoint(node.name, 0)] = values[inputs_of(node)[0]]
                continue
            if node.op not in {"Const", *self.known} or set(part.dtypes.values()) != {"float32"}:
                raise NotOfferedError("op", node.op)
            inputs = (values[tensor] for tensor in inputs_of(node))
            with np.errstate(all="ignore"):
                value = constant_of(node) if node.op == "Const" else self.known[node.op](*inputs)
            values[Endpoint(node.name, 0)] = value
        return [values[tensor] for tensor in fetches]

    def close(self) -> None:
        pass


class Engine:
    """Declares some operations of float32."""

    def __init__(self, declared: Any = tuple(KNOWN), lets_pass: Any = (), known: Any = KNOWN):
        self.declared, self.lets_pass, self.known = declared, frozenset(lets_pass), known

    def describe(self) -> Description:
        operations = dict.fromkeys(self.declared, ("float32",))
        return Description("little", "1", frozenset(), operations=operations)

    def open(self, graph: Any, config: Any) -> Session:  # noqa: ARG002
        return Session(graph, frozenset(("Identity", *self.lets_pass)), self.known)

    def reset(self, containers: Any) -> None:
        raise NotOfferedError("reset", str(containers))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return build_plan("inference", seed=11, generated=30)


def judged(engine: Engine, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Summary:
    """The summary of a run on a backend that lives here, as if it had had a worker."""
    load = runners.load
    monkeypatch.setattr(
        runners, "load", lambda spec: ClientLayer(engine) if spec == "little" else load(spec)
    )
    runner = Runner("little", in_process=True)
    results = {line["id"]: line for line in map(runner.run_once, plan.cases)}
    header = dict(_header(plan, runner.describe()))
    runner.shutdown()
    record = RunRecord(header, results, complete=True, answered=len(results))
    return summarize(record, PlanFacts.from_json(plan.to_json()), load_clauses(), "inference")


def _header(plan: Plan, description: Description) -> Iterator[tuple[str, Any]]:
    yield "backend", {"spec": "little"} | description.to_json()
    yield "plan", PlanFacts.from_json(plan.to_json()).header
    yield "environment", {}
    yield "mode", "workers"
    yield "started", "2026-11-29T00:00:00+00:00"


def test_an_engine_of_three_operations_is_certified_in_them(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = judged(Engine(), plan, monkeypatch)
    assert summary.verdict == "CERTIFIED", summary.reasons
    assert summary.coverage is not None
    assert summary.coverage.declared_operations == 3
    assert summary.coverage.declared_cells == summary.coverage.count("right") == 3
    results = {clause.id: clause.result for clause in summary.clauses}
    assert results["INFERENCE-001"] == results[DECLARATION] == "holds"
    assert results["INFERENCE-005"] == results["INFERENCE-017"] == "not declared"
    assert not summary.failures
    assert summary.coverage.words in summary.reasons


def test_a_wrong_operation_breaks_the_clause_of_values(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = KNOWN | {"Sub": lambda x, y: y - x}
    summary = judged(Engine(known=wrong), plan, monkeypatch)
    assert summary.verdict == "NOT CERTIFIED"
    assert summary.coverage is not None
    assert summary.coverage.rows["Sub"]["float32"] == "wrong"
    assert summary.coverage.rows["Neg"]["float32"] == "right"


def test_what_a_backend_only_should_do_makes_no_cell_wrong(plan: Plan) -> None:
    """Integers divided by zero need not fail: who gives a value has no wrong table for it."""
    levels = {id_: clause.level for id_, clause in load_clauses().items()}
    results, optional = {}, 0
    for case in plan.cases:
        line: dict[str, Any] = {"id": case.id, "hash": case.hash, "clauses": list(case.clauses)}
        line |= {"result": "pass", "seconds": 0.0}
        should = next((id_ for id_ in case.clauses if levels[id_] == "SHOULD"), None)
        if should is not None:
            finding = {"step": "1", "reason": "it succeeded", "clause": should}
            line |= {"result": "fail", "finding": finding}
            optional += 1
        results[case.id] = line
    header = dict(_header(plan, Description("all", "1", frozenset())))
    record = RunRecord(header, results, complete=True, answered=len(results))
    facts = PlanFacts.from_json(plan.to_json())
    summary = summarize(record, facts, load_clauses(), "inference")
    assert optional
    assert summary.coverage is not None
    assert summary.coverage.count("wrong") == 0


def test_what_is_declared_and_refused_breaks_the_declaration(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = judged(Engine(declared=(*KNOWN, "Abs")), plan, monkeypatch)
    broken = {clause.id for clause in summary.clauses if clause.result == "broken"}
    assert broken == {DECLARATION}
    assert any("declares all that it needs" in group.reason for group in summary.failures)


def test_what_is_answered_and_not_declared_breaks_the_declaration(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited = {
        name
        for case in plan.cases
        if is_audited(case.hash)
        for name in (demand_of(case) or pytest.fail("no demand")).operations
        if len(OPERATIONS[name].outputs) == 1 and name not in {"Unpack", "Split", "SplitV"}
    }
    summary = judged(Engine(lets_pass=audited - KNOWN.keys()), plan, monkeypatch)
    broken = {clause.id for clause in summary.clauses if clause.result == "broken"}
    assert broken == {DECLARATION}
    assert summary.coverage is not None
    assert summary.coverage.count("not refused")
    assert summary.coverage.declared_operations == 3


def test_an_engine_that_declares_nothing_is_not_certified(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = judged(Engine(declared=()), plan, monkeypatch)
    assert summary.verdict == "NOT CERTIFIED"
    assert "The backend declares no operation of the table." in summary.reasons


def test_a_declaration_has_what_is_answered_rightly_or_not() -> None:
    measured = (
        Measured("Abs", ("float32",), answered=3, wrong=1, asked=3),
        Measured("Abs", ("int32",), answered=1, wrong=0, asked=3),
        Measured("Cast", ("float32",), answered=3, wrong=0, asked=3),
        Measured("Cast", ("float32", "int32"), answered=3, wrong=0, asked=3),
        Measured("Cast", ("int32",), answered=3, wrong=0, asked=3),
        Measured("Cast", ("bool",), answered=3, wrong=0, asked=3),
        Measured("Complex", ("complex64", "float32"), answered=3, wrong=0, asked=3),
    )
    assert declaration(measured) == {
        "Abs": ["float32"],
        "Cast": ["float32", "int32"],
        "Complex": ["float32", "complex64"],
    }
    text = declaration_toml(measured, "What it computes.")
    assert 'Abs = ["float32"]  # wrong: float32 1 of 3' in text
