"""What a definition gives is wanted of every engine, of the reference as of any other."""

import dataclasses

import numpy as np
import pytest

from sessrun.adapters.registry import load
from sessrun.conformance.definitions import defined_observations, rests_on_definitions
from sessrun.conformance.observe import observe
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.properties import generate
from sessrun.conformance.runner import Runner
from sessrun.conformance.subjects.operations.properties.single_operations import drawable
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.definitions import DEFINITIONS

#: The reference with one kernel changed: angles come in degrees.
WRONG = "sessrun.conformance.faulty:backend#angles-come-in-degrees"


def case_of(operation: str) -> Case:
    """A case that asks the operation for its value."""
    index = [one.name for one in drawable()].index(operation)
    return generate("operations", 3, index)


def without_definition(case: Case) -> Case:
    """The case as it was before: the oracle's backend gives the value."""
    opened, run, closed = case.steps
    wanted = {"contract": run["expect"]["oracle"]["contract"]}
    return dataclasses.replace(case, steps=(opened, {**run, "expect": {"oracle": wanted}}, closed))


def result(case: Case, backend: str) -> str:
    """The result of a case where the oracle's backend is the one that is asked."""
    runner = Runner(backend, in_process=True, oracle=backend)
    try:
        return str(runner.run_once(case)["result"])
    finally:
        runner.shutdown()


def test_a_wrong_reference_is_caught_though_it_is_the_oracle_itself() -> None:
    case = case_of("Angle")
    assert result(case, WRONG) == "fail"
    assert result(without_definition(case), WRONG) == "pass", "nobody else knows better"
    assert result(case, "reference") == "pass"


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_the_reference_gives_what_a_plan_wants_by_definition(name: str) -> None:
    if name not in {one.name for one in drawable()}:
        pytest.skip("drawn by no plan")
    case = case_of(name)
    assert rests_on_definitions(case)
    wanted = defined_observations(case)
    assert wanted is not None
    judgement = judge(case, observe(load("reference"), case, 30.0), wanted)
    assert judgement.result == "pass", judgement.finding


def test_a_case_of_an_operation_without_a_definition_rests_on_the_oracle() -> None:
    name = next(one.name for one in drawable() if one.name not in DEFINITIONS)
    case = case_of(name)
    assert not rests_on_definitions(case)
    assert defined_observations(case) is None


def test_arguments_that_are_not_valid_are_left_to_the_oracle() -> None:
    case = case_of("GatherNd")
    opened, run, closed = case.steps
    (graph,) = case.graphs.values()
    nodes = [node for node in graph["node"] if node["name"] != "result"]
    broken = [{**node, "op": "NoOp"} if node["op"] == "Const" else node for node in nodes]
    result_node = next(node for node in graph["node"] if node["name"] == "result")
    feeds = {name: {"dtype": "float32", "shape": [], "data": "AAAAAA=="} for name in run["feeds"]}
    wrong = dataclasses.replace(
        case,
        graphs={"g": {**graph, "node": [*broken, result_node]}},
        steps=(opened, {**run, "feeds": feeds}, closed),
    )
    assert defined_observations(wrong) is None


def test_the_oracle_answers_by_definition_without_a_backend() -> None:
    with Oracle("no.such.module:backend", in_process=True) as oracle:
        opened, values, _ = oracle(case_of("Angle"))
    assert opened["outcome"] == "opened"
    assert values["outcome"] == "values"
    assert isinstance(values["values"][0]["$array"]["dtype"], str)
    assert np.dtype(values["values"][0]["$array"]["dtype"]).kind == "f"
