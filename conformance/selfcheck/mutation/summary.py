"""What became of a campaign's mutants, counted: all of them, by area, and by profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sessrun.conformance.selfcheck.coverage import area_of
from sessrun.conformance.selfcheck.mutation.campaign import Outcome
from sessrun.spec.forms import Json

__all__ = ["summary"]


def summary(outcomes: Sequence[Outcome]) -> dict[str, Json]:
    """The counts, and each survivor as it is published.

    A percentage is of the mutants that are not equivalent. Of a profile those count in whose
    function one of its cases comes: killed by any case, and by one of the profile's own.
    """
    names = sorted({area_of(o.mutant.function.module) for o in outcomes})
    profiles = sorted({name for outcome in outcomes for name in outcome.entered_by})
    return {
        "all": _share(outcomes),
        "areas": {
            name: _share([o for o in outcomes if area_of(o.mutant.function.module) == name])
            for name in names
        },
        "in_the_code_that_a_profile_enters": {
            name: _of_profile(name, [o for o in outcomes if name in o.entered_by])
            for name in profiles
        },
        "survivors": [_survivor(o) for o in outcomes if not o.killed and not o.equivalent],
    }


def _share(outcomes: Sequence[Outcome]) -> dict[str, Json]:
    return {
        "mutants": len(outcomes),
        "killed": sum(o.killed for o in outcomes),
        "equivalent": sum(bool(o.equivalent) for o in outcomes),
        "percent": _percent(outcomes, lambda o: o.killed),
        "entered_by_no_case": sum(not o.entered_by for o in outcomes),
    }


def _of_profile(name: str, outcomes: Sequence[Outcome]) -> dict[str, Json]:
    return {
        "mutants": len(outcomes),
        "percent": _percent(outcomes, lambda o: o.killed),
        "percent_by_its_own_cases": _percent(outcomes, lambda o: name in o.killed_by),
    }


def _percent(outcomes: Iterable[Outcome], is_killed: Callable[[Outcome], bool]) -> float:
    counted = [is_killed(outcome) for outcome in outcomes if not outcome.equivalent]
    return round(100 * sum(counted) / max(1, len(counted)), 1)


def _survivor(outcome: Outcome) -> dict[str, Json]:
    form = outcome.to_json()
    return {name: form[name] for name in ("function", "operator", "diff", "key", "entered_by")}
