"""A benchmark whose clock is not to be trusted is refused: another process has one, too."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks import measure, series
from sessrun.conformance.benchmarks.clock import Moment, OtherClock, Seen
from sessrun.conformance.benchmarks.selection import select

JOBS = select(["scalar-add"])


def altered(rate: float) -> Callable[[], float]:
    """A clock that goes by another rate from now on."""
    began = time.monotonic()
    return lambda: began + (time.monotonic() - began) * rate


@pytest.mark.parametrize("rate", [0.5, 0.9, 1.1, 4.0])
def test_a_clock_that_goes_wrong_is_found(monkeypatch: pytest.MonkeyPatch, rate: float) -> None:
    clock = altered(rate)
    monkeypatch.setattr(measure, "perf_counter", clock)
    monkeypatch.setattr(series, "perf_counter", clock)
    with pytest.raises(AdapterError, match="no time counts: "):
        measure.measure(["reference"], JOBS, rounds=9, seed=1)


def test_a_clock_that_goes_right_is_believed() -> None:
    form = measure.measure(["reference"], JOBS, rounds=9, seed=1)
    assert len(form["series"][0]["samples"]) == 9


def test_another_name_of_the_clock_alters_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that replaces `time.perf_counter` when it is imported is measured all the same."""
    monkeypatch.setattr(time, "perf_counter", altered(0.1))
    form = measure.measure(["reference"], JOBS, rounds=3, seed=1)
    assert form["series"][0]["correct"]


def test_the_other_clock_goes() -> None:
    with OtherClock() as clock:
        first = clock.now()
        time.sleep(0.02)
        assert 0.02 <= clock.now() - first < 10


def seen_by(measured: list[float], seen: list[float]) -> str | None:
    return Seen(measured=measured, seen=seen).disagreement()


def test_what_asking_takes_is_no_disagreement() -> None:
    assert seen_by([0.004] * 8, [0.0065] * 8) is None
    assert seen_by([0.004] * 8, [0.0041] * 4 + [0.5] * 4) is None
    assert seen_by([0.004] * 8, [0.02] * 7 + [0.0041]) is None
    assert seen_by([0.004] * 8, [0.02] * 8)
    assert seen_by([0.006] * 8, [0.004] * 8)
    assert seen_by([0.006] * 4 + [0.004] * 4, [0.0041] * 8) is None


def test_moments_tell_how_far_the_clocks_may_be_apart() -> None:
    first = Moment(10.0, 0.0, 10.5)
    assert first.disagreement(Moment(20.0, 10.0, 20.5)) is None
    assert first.disagreement(Moment(20.0, 9.5, 20.5)) is None, "asking took half a second"
    assert first.disagreement(Moment(20.0, 9.0, 20.5))
    assert first.disagreement(Moment(20.0, 11.0, 20.5))
