"""What a backend does not declare costs it one round trip in ten, and its record is not doubted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cut_run import plan_of

from sessrun.conformance.execution import execute
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.properties import generate
from sessrun.conformance.runner import Runner
from sessrun.reports.plan import PlanFacts
from sessrun.reports.rejudge import judge_anew
from sessrun.spec.cases.audit import audit, capabilities_needed, unasked
from sessrun.spec.cases.engine import CAPABILITIES
from sessrun.spec.cases.judge import Finding, Judgement
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.stateful import stateful_step
from sessrun.spec.inference import Offer, demand_of, is_audited
from sessrun.spec.records import RunRecord

FLOAT = {"type": "DT_FLOAT"}


def stateful_case(*steps: dict[str, Any]) -> Case:
    """A case on a graph of a variable, `read` of it, and `other`, which is fed."""
    graph = GraphWriter()
    graph.node("VarHandleOp", (), {"dtype": FLOAT, "shape": {"shape": {}}}, "variable")
    graph.node("ReadVariableOp", ("variable",), {"dtype": FLOAT}, "read")
    graph.node("Identity", ("read",), {"T": FLOAT}, "same")
    graph.placeholder("float32", None, "other")
    graph.node("Identity", ("other", "^same"), {"T": FLOAT}, "after")
    form = {
        "id": "made/state",
        "title": "Made here.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "graphs": {"g": graph.graph()},
        "steps": [{"do": "open", "session": "s", "graph": "g"}, *steps],
    }
    return Case.from_json(form, "here")


def run_of(*fetches: str, **more: Any) -> dict[str, Any]:
    return {"do": "run", "session": "s", "fetches": list(fetches), **more}


def fed(name: str) -> dict[str, Any]:
    return {"feeds": {name: {"dtype": "float32", "shape": [], "data": "AAAAAA=="}}}


@pytest.mark.parametrize(
    ("steps", "at"),
    [
        ([run_of("other:0", **fed("other:0"))], None),
        ([run_of("other:0"), run_of("same:0")], "2"),
        ([run_of("same")], "1"),
        ([run_of("after:0", **fed("other:0"))], "1"),
        ([run_of("same:0", **fed("read:0"))], None),
        ([run_of("read:0", **fed("read:0"))], None),
        ([run_of("same:0", expect={"error": {"codes": [9]}})], None),
        ([run_of("same:0", expect={"any_of": [{"error": {"codes": [9]}}]})], None),
        ([{"do": "start", "thread": "t", "step": run_of("same:0")}], "1"),
        (
            [
                {
                    "do": "callable",
                    "session": "s",
                    "handle": "h",
                    "fetches": ["same:0"],
                    "names": ["read:0"],
                }
            ],
            None,
        ),
        ([{"do": "setup", "session": "s", "handle": "h", "fetches": ["same:0"]}], "1"),
    ],
)
def test_state_is_needed_where_a_run_reaches_it(
    steps: list[dict[str, Any]], at: str | None
) -> None:
    assert stateful_step(stateful_case(*steps)) == at


def test_what_lasts_for_a_run_only_is_no_state() -> None:
    graph = GraphWriter()
    graph.node("TensorArrayV3", (), {}, "array")
    form = stateful_case(run_of("array:0")).to_json() | {"graphs": {"g": graph.graph()}}
    form.pop("hash")
    assert stateful_step(Case.from_json(form, "here")) is None


def needing(capability: str) -> list[Case]:
    cases = build_plan("core", generated=0).cases
    return [case for case in cases if capability in capabilities_needed(case)]


def test_one_in_ten_of_what_is_not_declared_is_asked_all_the_same() -> None:
    for capability in ("api", "state"):
        cases = needing(capability)
        reasons = [unasked(case, Offer(CAPABILITIES - {capability})) for case in cases]
        asked = [case for case, reason in zip(cases, reasons, strict=True) if reason is None]
        assert 0.05 < len(asked) / len(cases) < 0.15
        assert all(is_audited(case.hash) for case in asked)
        told = {reason.reason for reason in reasons if reason is not None}
        assert told == {f"unsupported: {capability} (not declared)"}


def test_what_is_declared_is_asked() -> None:
    assert not any(unasked(case, Offer(CAPABILITIES)) for case in build_plan("core", 1, 1).cases)


def test_overlapping_calls_are_the_runner_s_business() -> None:
    step = {"do": "start", "thread": "t", "step": run_of("other:0", **fed("other:0"))}
    case = stateful_case(step, {"do": "join", "thread": "t"})
    assert unasked(case, Offer({"state"})) is None


def test_state_that_is_there_and_not_declared_is_an_error() -> None:
    case = stateful_case(run_of("same:0"))
    judgement = audit(case, Judgement("pass"), [], Offer(frozenset()))
    assert judgement.result == "error"
    assert judgement.finding is not None
    assert judgement.finding.reason == "answered without declaring the capability state"
    assert audit(case, Judgement("pass"), [], Offer({"state"})).result == "pass"


def record_of(plan: Plan, path: Path, workers: int) -> RunRecord:
    runner = Runner("sessrun.adapters.fakes.conforming:backend")
    try:
        return execute(plan, runner, path, workers=workers)
    finally:
        runner.shutdown()


def some_that_need_the_api() -> Plan:
    """Three cases that are probes, and nine that are not."""
    cases = needing("api")
    probes = [case for case in cases if is_audited(case.hash)][:3]
    others = [case for case in cases if not is_audited(case.hash)][:9]
    return plan_of(*sorted([*probes, *others], key=lambda case: case.id))


def test_a_record_has_the_probes_and_says_of_the_others_that_they_were_not_asked(
    tmp_path: Path,
) -> None:
    plan = some_that_need_the_api()
    record = record_of(plan, tmp_path / "one.jsonl", 1)
    lines = list(record.results.values())
    assert {line["result"] for line in lines} == {"unsupported"}
    asked = [line["id"] for line in lines if "observations" in line]
    assert asked == [case.id for case in plan.cases if is_audited(case.hash)]
    (silent,) = {line["finding"]["reason"] for line in lines if line["id"] not in asked}
    assert silent == "unsupported: api (not declared)"
    again = record_of(plan, tmp_path / "two.jsonl", 2)
    for case in plan.cases:
        mine, other = record.results[case.id], again.results[case.id]
        assert mine | {"seconds": 0} == other | {"seconds": 0}
    cases = {case.id: case for case in plan.cases}
    assert judge_anew(record, PlanFacts.from_json(plan.to_json()), cases.__getitem__).faults == ()


@pytest.mark.parametrize(
    ("wrong_step", "fed_outcome", "result"),
    [
        ("1", "failure", "unsupported"),  # a wrong value with constants is told by other cases
        ("1", "unsupported", "unsupported"),
        ("1", "value", "error"),
        ("4", "failure", "unsupported"),
        ("4", "value", "error"),
    ],
)
def test_a_probe_of_fed_structure_looks_at_the_steps_that_feed_it(
    wrong_step: str, fed_outcome: str, result: str
) -> None:
    case = generate("inference-structure", 1, 7)
    assert [step["do"] for step in case.steps] == ["open", "run", "close"] * 2
    demand = demand_of(case)
    assert demand is not None
    seen = [{"step": str(index), "outcome": "value"} for index in range(6)]
    seen[4]["outcome"] = fed_outcome
    judged = audit(
        case,
        Judgement("fail", Finding(wrong_step, "another value")),
        seen,
        Offer(frozenset(), demand.operations),
    )
    assert judged.result == result


def test_a_stack_without_an_operation_is_drawn_again() -> None:
    assert all(generate("stacks", seed, index).clauses for seed in range(2) for index in range(150))


def test_no_drawn_graph_has_the_maximum_of_a_tensor_and_its_double() -> None:
    """TensorFlow's optimizer gives another value there, and the suite blames no engine for it."""
    graph = generate("graphs", 813274108109836670, 167).graphs["g"]
    nodes = {node["name"]: node for node in graph["node"]}
    for node in nodes.values():
        if node["op"] == "Maximum":
            x, y = node["input"]
            assert x not in nodes[y].get("input", ()), node["name"]
            assert y not in nodes[x].get("input", ()), node["name"]
