"""Variants of vectors: functions of their ids, of the same clauses, and asked otherwise."""

import dataclasses
import functools
import random

import numpy as np
import pytest

from sessrun.conformance.plan import PlanError, build_plan, case_of
from sessrun.conformance.runner import Runner
from sessrun.conformance.variants import VARIANT, has_variants, variant
from sessrun.conformance.variants.contracts import contract_of
from sessrun.conformance.variants.flow import Flow
from sessrun.conformance.variants.naming import Names
from sessrun.conformance.variants.numbers import Numbers
from sessrun.spec.cases.judge import oracle_steps
from sessrun.spec.cases.model import Case, asked, walk
from sessrun.spec.loader import load_variants, load_vectors

SEED = 7


@functools.cache
def pairs() -> tuple[tuple[Case, Case], ...]:
    """Each vector that has variants, with one."""
    vectors = [vector for vector in load_vectors().values() if has_variants(vector)]
    return tuple((vector, variant(vector, SEED, 0)) for vector in vectors)


def question(case: Case) -> object:
    """What a backend is sent of it."""
    if case.surface == "api":
        return asked(case).to_json()
    steps = [{k: v for k, v in step.items() if k != "expect"} for _, step in walk(case.steps)]
    return [case.graphs, steps]


def expected(case: Case) -> list[object]:
    return [step.get("expect") for _, step in walk(case.steps)]


def test_hardly_a_vector_has_no_variants() -> None:
    declared = load_variants()
    exempt = [id_ for id_, found in declared.items() if found.exempt]
    share = len(exempt) / len(load_vectors())
    print(f"{len(exempt)} of {len(load_vectors())} vectors have no variants: {share:.1%}")
    assert share < 0.05
    assert declared.keys() <= load_vectors().keys()


def test_every_variant_is_asked_otherwise_than_its_vector() -> None:
    same = [vector.id for vector, drawn in pairs() if question(vector) == question(drawn)]
    assert same == [], "declare in spec/variants.toml that they have none, and why"


def test_most_variants_have_answers_of_their_own() -> None:
    """The rest are what a table may know: refusals, structures, facts that no value touches."""
    own = [v.id for v, drawn in pairs() if oracle_steps(drawn) or expected(v) != expected(drawn)]
    share = len(own) / len(pairs())
    print(f"{len(own)} of {len(pairs())} variants have answers of their own: {share:.1%}")
    assert share > 0.6


def test_a_variant_keeps_what_it_is_about() -> None:
    for vector, drawn in pairs():
        for name in ("clauses", "surface", "needs", "isolated", "deadline_s", "files", "title"):
            assert getattr(drawn, name) == getattr(vector, name), (vector.id, name)
        ours, theirs = walk(vector.steps), walk(drawn.steps)
        assert [(path, step["do"]) for path, step in ours] == [
            (path, step["do"]) for path, step in theirs
        ]
        for _, step in walk(drawn.steps):
            assert "error" not in step.get("expect", {}) or "oracle" not in step["expect"]


def test_a_variant_is_a_well_formed_case() -> None:
    for _, drawn in pairs()[::20]:
        assert Case.from_json(drawn.to_json(), drawn.id) == dataclasses.replace(drawn)


def test_what_a_backend_is_sent_names_no_variant() -> None:
    for vector, drawn in pairs():
        if drawn.surface == "api":
            text = str(asked(drawn).to_json())
            for word in ("'expect'", drawn.id, vector.hash, drawn.hash, drawn.title):
                assert word not in text, drawn.id


def test_a_variant_is_a_function_of_its_id() -> None:
    vector, drawn = pairs()[3]
    assert case_of(drawn.id) == variant(vector, SEED, 0)
    assert case_of(f"variant/{vector.id}:8:0").hash != drawn.hash
    assert case_of(f"variant/{vector.id}:{SEED}:1").hash != drawn.hash
    assert load_vectors()[vector.id].hash == vector.hash


@pytest.mark.parametrize(
    "id_", ["variant/no/such:1:0", "variant/run:1:0", "variant/run/x:1", "variant/run/x:01:0"]
)
def test_an_id_of_nothing_is_refused(id_: str) -> None:
    with pytest.raises(PlanError):
        case_of(id_)


def test_a_plan_has_a_variant_of_each_of_its_vectors() -> None:
    plan = build_plan("tracing", SEED)
    vectors = {case.id for case in plan.cases if ":" not in case.id}
    found = [VARIANT.fullmatch(case.id) for case in plan.cases if case.id.startswith("variant/")]
    assert all(match is not None and match["seed"] == str(SEED) for match in found)
    exempt = {id_ for id_, declared in load_variants().items() if declared.exempt}
    assert [m["vector"] for m in found if m] == sorted(vectors - exempt)
    assert not any(":" in case.id for case in build_plan("tracing", SEED, 0).cases)
    slice_ = {case.id for case in build_plan("tracing", SEED, 6).cases}
    assert 0 < len(slice_ & {m[0] for m in found if m}) < len(found) / 4, "a tenth of them"


def test_the_reference_passes_variants_of_a_new_seed() -> None:
    seed = 20261127
    runner = Runner("reference")
    for vector, _ in pairs()[seed % 60 :: 60]:
        if any(step["do"] == "start" for step in vector.steps):
            continue
        drawn = variant(vector, seed, 0)
        line = runner.run(drawn)
        assert line["result"] in {"pass", "skipped"}, line
    runner.shutdown()


def test_names_are_renamed_wherever_they_stand() -> None:
    names = Names(random.Random(1), {"x", "Y"}, counted=True)
    x, y = names.path("x"), names.path("Y")
    assert x != "x"
    assert y.isupper()
    assert y[0] == "Y"
    assert names.path("^x") == f"^{x}"
    assert names.path("Y/x_1:0") == f"{y}/{x}_1:0"
    assert names.path("other/x") == f"other/{x}"
    assert names.text("x = AddV2(Y, Y:1)") == f"{x} = AddV2({y}, {y}:1)"
    assert names.path("no name") == "no name"
    assert names.anywhere({"x:0": ["Y", 1]}) == {f"{x}:0": [y, 1]}


def test_values_keep_sign_ties_and_what_is_no_number() -> None:
    numbers = Numbers(random.Random(1))
    given = np.array([1.5, -1.5, 0.0, np.inf, np.nan, 2.0], dtype=np.float32)
    varied = numbers.array(given)
    assert varied.dtype == given.dtype
    assert varied[0] == -varied[1] != given[0]
    assert varied[2] == 0
    assert np.isinf(varied[3])
    assert np.isnan(varied[4])
    integers = numbers.array(np.array([3, -3, 0, 127, -128], dtype=np.int8))
    assert integers[0] == -integers[1]
    assert integers[2] == 0
    assert integers[4] == -128
    words = numbers.array(np.array([b"ab1", b"ab1", b"-"], dtype=object))
    assert words[0] == words[1]
    assert len(words[0]) == 3
    assert words[2] == b"-"


def node(name: str, op: str, *inputs: str, **attrs: object) -> dict[str, object]:
    return {"name": name, "op": op, "input": list(inputs), "attr": attrs}


def test_values_flow_over_state_and_stop_at_sizes() -> None:
    graph = {
        "node": [
            node("c", "Const"),
            node("v", "VarHandleOp"),
            node("set", "AssignVariableOp", "v", "c"),
            node("read", "ReadVariableOp", "v"),
            node("axis", "Const"),
            node("sum", "Sum", "read", "axis"),
        ]
    }
    flow = Flow([graph])
    assert flow.reached("c") == ({"set", "v", "read", "sum"}, True)
    assert not flow.reached("axis")[1]


def test_a_contract_is_as_loose_as_dtype_and_vector_say() -> None:
    half = {"$array": {"dtype": "float16", "shape": [], "data": ""}}
    assert contract_of(half, exact=True) == "exact"
    assert contract_of(half, exact=False) == "close(0.01, 0.001)"
    near = {"near": half, "contract": "close(0.5, 0.0)"}
    assert contract_of(near, exact=True) == "close(0.5, 0.001)"
    assert contract_of({"near": half, "contract": "free"}, exact=False) == "free"
