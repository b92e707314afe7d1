"""Parts of profiles: names, and that what a part requires is asked in it."""

from __future__ import annotations

import functools

import pytest

from sessrun.conformance.plan import Plan, build_plan
from sessrun.spec.loader import load_clauses, load_profiles
from sessrun.spec.scopes import PARTS, ScopeError, scope_of

#: Profiles that an engine without the Python namespace can be asked about.
PROFILES = [name for name, p in load_profiles().items() if p.finished and not p.declared]


@functools.cache
def plan_of(name: str) -> Plan:
    return build_plan(name, seed=1, generated=2)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("part", PARTS)
def test_every_clause_that_a_part_requires_is_asked_in_it(part: str, profile: str) -> None:
    scope = scope_of(f"{profile}-{part}")
    asked = {id_ for case in plan_of(scope.name).cases for id_ in case.clauses}
    required = {id_ for id_, clause in load_clauses().items() if scope.requires(clause)}
    assert required <= asked, sorted(required - asked)


@pytest.mark.parametrize("profile", PROFILES)
def test_parts_are_parts(profile: str) -> None:
    whole, engine, below = (
        {case.id for case in plan_of(name).cases}
        for name in (profile, f"{profile}-engine", f"{profile}-below-client")
    )
    assert below <= engine < whole


def test_below_the_client_nothing_of_the_client_is_asked() -> None:
    clauses = load_clauses()
    for case in plan_of("core-below-client").cases:
        assert case.surface == "engine"
        assert all(clauses[id_].layer == "engine" for id_ in case.clauses), case.id


def test_a_name_of_nothing_lists_what_there_is() -> None:
    assert scope_of("core").profile == scope_of("core-engine").profile == "core"
    with pytest.raises(ScopeError, match=r"and inference$"):
        scope_of("inference-engine")
    for name in ("", "cor", "core-", "core-client", "-engine", "engine", "core-engine-engine"):
        with pytest.raises(ScopeError, match=r"there are core, .* -engine or -below-client"):
            scope_of(name)
