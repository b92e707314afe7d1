"""Which release a case needs, and what is not asked of a backend of an older one."""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.adapters.backend import Description
from sessrun.conformance.plan import build_plan, case_of
from sessrun.conformance.subjects.programs import registry
from sessrun.spec.cases.audit import unasked
from sessrun.spec.cases.model import Case, canonical_json
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.inference import Offer
from sessrun.spec.loader import load_clauses
from sessrun.spec.releases import Release, needed_release, newest_release
from sessrun.spec.since import is_newer, load_since
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.tables.since import Registered, since

TF_217 = Release.of_details({"producer": "1882", "numpy": "1.26.4"})


def engine_case(op: str, **attr: Any) -> Case:
    node = {"name": "x", "op": op, "attr": attr}
    return Case("a:1:1", "a case", "engine", ("RUN-001",), (), {"g": {"node": [node]}})


def api_case(*steps: Any, **options: Any) -> Case:
    return Case("a:1:1", "a case", "api", ("RUN-001",), steps, **options)


def test_a_backend_is_of_the_newest_release_unless_it_says_another() -> None:
    assert Release.of_details({}) == newest_release()
    assert Release.of_details({"producer": "soon", "numpy": ""}) == newest_release()
    assert Release(1882, 1) == TF_217
    assert TF_217.words == "TensorFlow 2.17 with numpy 1"


@pytest.mark.parametrize(
    ("case", "producer"),
    [
        (engine_case("Range", Tidx={"type": BY_NAME["float16"].enum}), 1994),
        (engine_case("Range", Tidx={"type": "DT_HALF"}), 1994),
        (engine_case("Range", Tidx={"type": "DT_FLOAT"}), 0),
        (engine_case("Placeholder", dtype={"type": BY_NAME["int2"].enum}), 2288),
        (engine_case("Const", value={"tensor": {"dtype": "DT_UINT2"}}), 2288),
        (engine_case("IdentityN", T={"list": {"type": ["DT_FLOAT", "DT_INT2"]}}), 2288),
        (engine_case("TensorListGetItem", Tshape={"type": "DT_INT64"}), 2474),
        (engine_case("TensorListGetItem", Tshape={"type": "DT_INT32"}), 0),  # its default
        (engine_case("GatherNd", bad_indices_policy={"s": ""}), 0),
        (engine_case("GatherNd", bad_indices_policy={"s": "RVJST1I="}), 1882),
        (api_case({"do": "eval", "expr": {"$": "tf.dtypes.experimental.float4_e2m1fn"}}), 2474),
        (api_case({"do": "eval", "expr": {"$call": "f", "args": ["int2"]}}), 2288),
        (api_case({"do": "eval", "expr": "print2"}), 0),
        (api_case(release={"producer": 2129}), 2129),
    ],
)
def test_a_case_needs_the_release_of_what_it_asks(case: Case, producer: int) -> None:
    assert needed_release(case).producer == producer


def test_a_function_body_counts_too() -> None:
    node = {"name": "x", "op": "Range", "attr": {"Tidx": {"type": "DT_HALF"}}}
    graph = {"library": {"function": [{"nodeDef": [node]}]}}
    case = Case("a:1:1", "a case", "engine", ("RUN-001",), (), {"g": graph})
    assert needed_release(case).producer == 1994


def test_an_older_release_lacks_what_a_newer_one_added() -> None:
    assert TF_217.lacks(Release(1994)) == "TensorFlow 2.18"
    assert TF_217.lacks(Release(0, 2)) == "numpy 2"
    assert not TF_217.lacks(Release(1882, 1))
    assert not newest_release().lacks(newest_release())


@pytest.mark.parametrize("capabilities", [frozenset(), frozenset({"api"})])
def test_what_only_a_later_release_has_is_never_asked(capabilities: frozenset[str]) -> None:
    finding = unasked(case_of("filling/ranges-of-float16"), Offer(capabilities, None, TF_217))
    assert finding is not None
    assert finding.reason == "unsupported: TensorFlow 2.18 (a later release)"
    assert unasked(case_of("filling/ranges-of-float16"), Offer(capabilities)) is None


def test_the_facts_are_of_declared_operations_and_dtypes() -> None:
    releases = load_since()["releases"]
    producers = [release["producer"] for release in releases]
    assert producers == sorted(set(producers))
    for release in releases:
        assert set(release.get("dtypes", ())) <= BY_NAME.keys()
        for key in (*release.get("attributes", ()), *release.get("values", ())):
            op, _, attr = key.partition(".")
            assert attr in {decl.name for decl in OPERATIONS[op].attrs}
    assert is_newer("TensorListGetItem", "Tshape")
    assert not is_newer("Range", "Tidx")


def test_every_release_is_asked_nearly_all() -> None:
    """What the oldest release is not asked is little, and every clause but few is asked."""
    oldest = Release(load_since()["releases"][0]["producer"], 1)
    plan = build_plan("core", generated=5)
    later = [case for case in plan.cases if oldest.lacks(needed_release(case))]
    assert 0 < len(later) < len(plan.cases) / 100
    asked = {id_ for case in plan.cases if case not in later for id_ in case.clauses}
    required = {id_ for id_, clause in load_clauses().items() if clause.profile == "core"}
    assert required & {id_ for case in later for id_ in case.clauses} <= asked


def test_a_plan_says_what_its_cases_need() -> None:
    plan = build_plan("core", generated=0)
    forms = {form["id"]: form.get("release") for form in plan.to_json()["cases"]}
    assert forms["filling/ranges-of-float16"] == {"producer": 1994}
    assert forms["filling/ranges-leave-their-limit-out"] is None


def test_a_release_is_compared_with_the_one_before() -> None:
    older = Registered("1.0", 1, frozenset({"float32"}), {"Range.Tidx": frozenset({"float32"})})
    newer = Registered(
        "1.1",
        2,
        frozenset({"float32", "int2"}),
        {"Range.Tidx": frozenset({"float32", "int2"}), "GatherNd.bad_indices_policy": None},
    )
    text = since([older, newer])
    assert 'dtypes = ["int2"]' in text
    assert 'attributes = ["GatherNd.bad_indices_policy"]' in text
    assert "values" not in text  # the dtype itself is new


def test_programs_of_later_releases_are_there_and_say_so() -> None:
    names = {name for area in registry.CLAUSES for name in registry.programs_of(area)}
    assert registry.RELEASES.keys() <= names
    case = next(
        case
        for case in build_plan("core", generated=60).cases
        if "graphs/graph/dtypes" in case.title
    )
    assert needed_release(case) == Release(0, 2)


def test_a_case_of_feed_conversion_is_of_one_dtype() -> None:
    for index in range(12):
        case = case_of(f"feed-conversion:3:{index}")
        text = canonical_json(list(case.steps))
        assert text.count(b'"tf.placeholder"') == 1
    needed = {needed_release(case_of(f"feed-conversion:3:{n}")).numpy for n in range(40)}
    assert needed == {0, 2}


def test_a_backend_tells_its_release_in_its_details() -> None:
    description = Description("a", "1", frozenset(), (), {"producer": "1882", "numpy": "1.26.4"})
    assert Release.of_details(description.details) == TF_217
    assert case_of("filling/ranges-of-float16").surface == "engine"
