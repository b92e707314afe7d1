"""What the plans enter of the reference: the reports of several processes as one."""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.conformance.selfcheck import coverage


def report(entered: bool, taken: list[list[int]], untaken: list[list[int]]) -> Any:
    form = {"line": 3, "entered": entered, "branches": taken, "missing": untaken}
    return {"kernels/sums.py": {"add": form}}


def test_shares_of_all_plans_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def covered(*arguments: str) -> Any:
        asked.append(arguments)
        if arguments[3] == "0":
            return report(True, [[4, 5]], [[4, 6], [6, 7]])
        return report(False, [[4, 6]], [[4, 5], [6, 7]])

    monkeypatch.setattr(coverage, "_covered", covered)
    (function,) = coverage.measure_together(["core", "state"], seed=1, count=5, jobs=2)
    assert sorted(asked) == [("core,state", "1", "5", number, "2") for number in "01"]
    assert function.id == "kernels/sums.py:add"
    assert function.untaken == {(6, 7)}
    share = coverage.share([function])
    assert (share.of_functions, share.taken, share.branches) == (100.0, 2, 3)


def test_each_profile_has_its_own_share(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, untaken = report(True, [[4, 5]], [[4, 6]]), report(False, [], [[4, 5], [4, 6]])
    by_profile = {"core": taken, "state": untaken}
    monkeypatch.setattr(coverage, "_covered", lambda profile, *_: by_profile[profile])
    (function,) = coverage.measure(list(by_profile), seed=1, count=5)
    assert function.entered == {"core"}
    assert coverage.share([function], "core").of_branches == 50.0
    assert coverage.share([function], "state").of_branches == 0.0


def test_a_plan_that_cannot_be_run_is_named() -> None:
    with pytest.raises(coverage.CoverageError, match="the plan of 'nowhere'"):
        coverage.measure(["nowhere"], seed=1, count=0)
