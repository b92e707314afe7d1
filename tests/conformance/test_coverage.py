"""What the suite covers: no MUST clause of a plan without a test and a fault, no id unknown."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from sessrun.conformance.faulty.framework import load_all
from sessrun.conformance.plan import build_plan
from sessrun.conformance.properties import PROPERTIES
from sessrun.spec.cases.facts import FACTS
from sessrun.spec.cases.model import Case, walk
from sessrun.spec.loader import (
    load_claims,
    load_clauses,
    load_debt,
    load_operations,
    load_profiles,
    load_vectors,
)
from sessrun.spec.schema import load_schema

CLAUSES = load_clauses()
VECTORS = tuple(load_vectors().values())
MUST = {id_ for id_, clause in CLAUSES.items() if clause.level == "MUST"}
#: No clause and no operation may supply more vectors than this: numbers must not be padded.
MOST_VECTORS = 10


def clauses_with_tests() -> set[str]:
    """The clauses that a vector or a generated case names."""
    in_vectors = {id_ for case in VECTORS for id_ in case.clauses}
    return in_vectors | {id_ for prop in PROPERTIES.values() for id_ in prop.clauses}


def lacking(kind: str) -> set[str]:
    return {id_ for id_, form in load_debt().items() if kind in form["lacks"]}


def listed(ids: Iterable[str]) -> str:
    return ", ".join(sorted(ids))


@pytest.mark.parametrize("profile", load_profiles())
def test_every_required_clause_has_a_test_or_is_in_debt(profile: str) -> None:
    required = {id_ for id_ in MUST if CLAUSES[id_].profile == profile}
    without = required - clauses_with_tests() - lacking("test")
    assert not without, f"without a test, and not in debt: {listed(without)}"


@pytest.mark.parametrize("profile", load_profiles())
def test_every_required_clause_has_a_fault_or_is_in_debt(profile: str) -> None:
    required = {id_ for id_ in MUST if CLAUSES[id_].profile == profile}
    broken = {fault.clause for fault in load_all().values()}
    without = required - broken - lacking("fault")
    assert not without, f"without a faulty backend, and not in debt: {listed(without)}"


def test_debt_is_owed() -> None:
    """An entry whose lack has been made good is taken off the list."""
    broken = {fault.clause for fault in load_all().values()}
    paid = (lacking("test") & clauses_with_tests()) | (lacking("fault") & broken)
    assert not paid, f"in debt.toml, but paid: {listed(paid)}"
    finished = {name for name, profile in load_profiles().items() if profile.finished}
    owing = {id_ for id_ in load_debt() if id_ in CLAUSES and CLAUSES[id_].profile in finished}
    assert not owing, f"of a finished profile, but in debt: {listed(owing)}"


def test_no_clause_id_is_unknown() -> None:
    named = {
        "vectors": {id_ for case in VECTORS for id_ in case.clauses},
        "properties": {id_ for prop in PROPERTIES.values() for id_ in prop.clauses},
        "faults": {fault.clause for fault in load_all().values()},
        "debt": set(load_debt()),
        "claims": set(_clauses_of_claims(load_claims())),
    }
    unknown = {where: listed(ids - set(CLAUSES)) for where, ids in named.items()}
    assert not any(unknown.values()), unknown
    profiles = {clause.profile for clause in CLAUSES.values()}
    assert profiles <= set(load_profiles())


def _clauses_of_claims(claims: Any) -> Iterable[str]:
    for form in claims.values():
        yield from form.get("clauses", ())
        if "clause" in form:
            yield form["clause"]


def operations_of(case: Case) -> set[str]:
    """The operations in the graphs of an engine case."""
    return {node["op"] for graph in case.graphs.values() for node in graph.get("node", ())}


def test_no_clause_supplies_too_many_vectors() -> None:
    counted = Counter(id_ for case in VECTORS for id_ in case.clauses)
    many = {id_: count for id_, count in counted.items() if count > MOST_VECTORS}
    assert not many


def test_no_operation_supplies_too_many_vectors() -> None:
    """A vector that varies one operation alone tells of that operation: they stay few."""
    counted = Counter(
        next(iter(own))
        for case in VECTORS
        if case.surface == "engine"
        and len(own := operations_of(case) - {"Const", "Placeholder", "Identity", "NoOp"}) == 1
        and all(id_.startswith("OPERATIONS-") for id_ in case.clauses)
    )
    many = {name: count for name, count in counted.items() if count > MOST_VECTORS}
    assert not many


def expects_error(case: Case) -> bool:
    for _, step in walk(case.steps):
        expect = step.get("expect", {})
        if any("error" in option for option in (expect, *expect.get("any_of", ()))):
            return True
    return False


def runs_of(case: Case) -> int:
    """How many runs the case makes: steps of the engine surface, calls of `run` on the other."""
    if case.surface == "engine":
        return sum(step["do"] in {"run", "partial", "call"} for _, step in walk(case.steps))
    text = json.dumps(list(case.steps))
    return text.count('.run"') + text.count('.eval"')


STATEFUL = ("VariableV2", "VarHandleOp", "FIFOQueue", "Stack", "Assign", "Random", "Iterator")
STATEFUL_CALLS = ("Variable", "get_variable", "Queue", "random_", "counter")


def keeps_state(case: Case) -> bool:
    """Whether it makes several runs of a graph that has state."""
    text = json.dumps([list(case.steps), dict(case.graphs)])
    names = STATEFUL if case.surface == "engine" else STATEFUL_CALLS
    return runs_of(case) > 1 and any(name in text for name in names)


def test_the_suite_is_as_large_as_it_says() -> None:
    clauses = clauses_with_tests() & set(CLAUSES)
    operations = {name for case in VECTORS for name in operations_of(case)}
    operations |= {
        name
        for case in build_plan("core", generated=10).cases
        if ":" in case.id
        for name in operations_of(case)
    }
    counted = {
        "clauses with tests": (len(clauses), 150),
        "operations": (len(operations & set(load_operations())), 60),
        "vectors": (len(VECTORS), 250),
        "vectors that expect an error": (sum(map(expects_error, VECTORS)), 80),
        "vectors that keep state over several runs": (sum(map(keeps_state, VECTORS)), 40),
    }
    short = {what: pair for what, pair in counted.items() if pair[0] < pair[1]}
    assert not short, f"(there, wanted): {short}"


def test_vectors_name_what_there_is() -> None:
    for case in VECTORS:
        assert set(case.needs) <= FACTS, case.id
        assert case.provenance.get("oracle"), f"{case.id}: no oracle agreed"
        assert len(case.clauses) == len(set(case.clauses)), case.id


def test_cases_and_clauses_may_name_the_facts_that_there_are() -> None:
    needs = load_schema("case")["properties"]["needs"]["items"]["enum"]
    condition = load_schema("clauses")["additionalProperties"]["properties"]["condition"]["enum"]
    assert set(needs) == set(condition) == FACTS


def test_every_engine_clause_is_tested_on_the_engine_surface() -> None:
    """An engine without Python must be held to each rule that can be seen without it."""
    engine = {id_ for case in VECTORS if case.surface == "engine" for id_ in case.clauses}
    generated = {
        id_
        for profile in load_profiles()
        for case in build_plan(profile, generated=3).cases
        if ":" in case.id and case.surface == "engine"
        for id_ in case.clauses
    }
    wanted = {
        id_ for id_ in MUST & clauses_with_tests() if CLAUSES[id_].surface in {"engine", "both"}
    }
    # A named check holds what is too large to be written out in a case.
    large = {
        id_
        for case in VECTORS
        if any(step["do"] == "check" for _, step in walk(case.steps))
        for id_ in case.clauses
    }
    without = wanted - engine - generated - large
    assert not without, f"only tested on the API surface: {listed(without)}"
