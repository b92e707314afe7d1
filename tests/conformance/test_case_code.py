"""Every case as plain code that parses, and the recorder's statements that stand for blocks."""

import ast
from typing import Any

import pytest

from sessrun.adapters.registry import load
from sessrun.conformance.authoring.record import ApiAuthor, obj
from sessrun.conformance.observe import observe
from sessrun.conformance.plain import python_lines
from sessrun.conformance.plan import build_plan
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.expressions import ExpressionError
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import load_profiles


@pytest.mark.parametrize("profile", ["core", "structures"])
def test_every_case_is_shown_as_code_that_parses(profile: str) -> None:
    assert profile in load_profiles()
    for case in build_plan(profile, generated=10).cases:
        text = "\n".join(python_lines(case))
        ast.parse(text)
        assert "import tensorflow.compat.v1 as tf" in text


def test_threads_partial_runs_and_callables_are_shown() -> None:
    steps = [
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "start", "thread": "t", "step": {"do": "run", "session": "s", "fetches": []}},
        {"do": "join", "thread": "t"},
        {"do": "extend", "session": "s", "graph": "g"},
        {"do": "setup", "session": "s", "handle": "h", "fetches": ["a:0"]},
        {"do": "partial", "session": "s", "handle": "h", "fetches": ["a:0"]},
        {"do": "callable", "session": "s", "handle": "c", "fetches": ["a:0"]},
        {"do": "call", "session": "s", "handle": "c"},
        {"do": "devices", "session": "s"},
        {"do": "reset"},
        {"do": "close", "session": "s"},
    ]
    form = {
        "id": "a/b",
        "title": "T.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "steps": steps,
        "graphs": {"g": {}},
    }
    text = "\n".join(python_lines(Case.from_json(form, "here")))
    ast.parse(text)
    for part in (
        "threading.Thread",
        "t.join()",
        "partial_run_setup",
        "make_callable",
        "list_devices",
        "Session.reset",
        "s.close()",
    ):
        assert part in text


@pytest.fixture(scope="module")
def reference() -> Any:
    return load("reference")


def recorded(c: ApiAuthor) -> Case:
    made = c.case("made/here", "Made here.", ["RUN-001"])
    return Case.from_json(made.to_json(), "here")


def result(case: Case, reference: Any) -> str:
    return judge(case, observe(reference, case, 30.0)).result


def test_a_context_that_is_used_again_stays_bound(reference: Any) -> None:
    c = ApiAuthor()
    session = c.tf.Session()
    with c.within(session):
        c.check(c.tf.get_default_session(), obj("Session"))
    session.close()
    c.raises("RuntimeError", lambda: session.run([]))
    case = recorded(c)
    assert case.steps[0] == {"do": "eval", "expr": {"$call": "tf.Session"}, "as": "v1"}
    assert case.steps[1]["context"] == {"$": "v1"}
    assert result(case, reference) == "pass"


def test_a_context_that_is_used_once_moves_into_its_block(reference: Any) -> None:
    c = ApiAuthor()
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        c.check_same(c.tf.get_default_graph(), graph)
    case = recorded(c)
    assert case.steps[1]["context"] == {"$call": "v1.as_default"}
    assert result(case, reference) == "pass"


def raising(error: str, raises: str | None) -> Case:
    c = ApiAuthor()
    session = c.tf.Session()
    with c.within(session, raises=raises):
        kind = getattr(c.py, error)
        c.throw(kind if error == "KeyError" else kind("out of here"))
    c.raises("RuntimeError", lambda: session.run([]))
    return recorded(c)


@pytest.mark.parametrize("error", ["ValueError", "KeyError"])
def test_a_case_can_raise_inside_a_block(error: str, reference: Any) -> None:
    case = raising(error, error)
    assert case.steps[1]["steps"][-1]["do"] == "raise"
    assert result(case, reference) == "pass"
    text = "\n".join(python_lines(case))
    ast.parse(text)
    assert f"raise {error}" in text
    assert f"# must raise {error}" in text


def test_what_a_block_raises_is_judged(reference: Any) -> None:
    assert result(raising("ValueError", "TypeError"), reference) == "fail"
    assert result(raising("ValueError", None), reference) == "fail"


def test_a_block_that_swallows_what_must_come_out_fails(reference: Any) -> None:
    c = ApiAuthor()
    with c.within(c.tf.Session(), raises="ValueError"):
        c.tf.constant(1.0)
    assert result(recorded(c), reference) == "fail"


@pytest.mark.parametrize(
    "step",
    [
        {"do": "raise", "error": {"$": "py.ValueError"}},
        {"do": "with", "context": {"$call": "tf.Session"}, "steps": [{"do": "raise", "error": 3}]},
        {
            "do": "with",
            "context": {"$call": "tf.Session"},
            "steps": [{"do": "raise", "error": {"$": "py.SystemExit"}}],
        },
        {"do": "check", "name": "sessrun.conformance.checks.run.nothing_such"},
        {"do": "check", "name": "sessrun.conformance.checks.nowhere.check"},
    ],
)
def test_steps_that_are_none(step: dict[str, Any], reference: Any) -> None:
    form = {"id": "a/b", "title": "T.", "surface": "api", "clauses": ["RUN-001"], "steps": [step]}
    case = Case.from_json(form, "here")
    try:
        seen = observe(reference, case, 30.0)
    except ExpressionError:
        return
    assert judge(case, seen).result == "fail"


def test_a_named_check_is_a_function_of_its_module() -> None:
    """What a module of checks imports is no check, whatever its name."""
    runner = Runner("reference", in_process=True)
    form = {"id": "a/b", "title": "T.", "surface": "api", "clauses": ["RUN-001"]}
    for name in ("run.importlib", "run.gc.collect", "run.np"):
        steps = [{"do": "check", "name": f"sessrun.conformance.checks.{name}"}]
        line = runner.run(Case.from_json(form | {"steps": steps}, "here"))
        assert line["result"] in {"error", "infra_error"}, name
    runner.shutdown()
