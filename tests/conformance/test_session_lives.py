"""Generated lives of sessions: what they contain, and that the model's expectations are kept."""

import functools

import pytest

from sessrun.conformance.properties import generate
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case


@functools.cache
def life(index: int) -> Case:
    return generate("sessions", 1, index)


def test_lives_hold_every_kind_of_step() -> None:
    lives = [life(index) for index in range(150)]
    steps = [step for case in lives for step in case.steps]
    runs = [step for step in steps if step["do"] == "run"]
    assert {step["do"] for step in steps} == {"open", "run", "close"}
    assert {step["session"] for step in steps} == {"s", "t", "u"}
    codes = {tuple(step["expect"].get("error", {}).get("codes", ())) for step in runs}
    assert codes == {(), (3,), (3, 5), (9,), (9, 5), (9, 1)}
    fetches = [fetch for run in runs for fetch in run["fetches"]]
    fetched = {fetch.partition("/")[2].partition(":")[0] for fetch in fetches}
    assert fetched >= {"init", "read", "after", "set", "add", "sub"}
    assert any(len(set(run["fetches"])) < len(run["fetches"]) for run in runs)
    ops = {node["op"] for case in lives for node in case.graphs["g"]["node"]}
    assert {"VariableV2", "VarHandleOp", "AssignSub", "AssignSubVariableOp"} <= ops


@pytest.mark.parametrize("index", range(40))
def test_the_reference_keeps_the_model(index: int) -> None:
    line = Runner("reference", in_process=True).run_once(life(index))
    assert line["result"] == "pass", line.get("finding")
