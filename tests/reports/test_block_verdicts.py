"""Verdicts of blocks: intervals as scipy's test has them, few false alarms, slowdowns detected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sessrun.reports import block_verdicts
from sessrun.reports.block_verdicts import LOOKS, MOST, decide, decide_apart, decide_series
from sessrun.reports.verdict_rates import simulated_rates


@pytest.mark.parametrize("count", [12, 16, 40])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_the_interval_ends_where_the_signed_rank_test_does(count: int, level: float) -> None:
    logs = np.random.default_rng(count).standard_t(3, count) * 0.03
    interval = block_verdicts._paired(logs, level)
    for end, side in ((interval.low, "greater"), (interval.high, "less")):
        inside = 1e-9 if side == "greater" else -1e-9
        rejected = stats.wilcoxon(logs - end + inside, alternative=side, method="exact")
        kept = stats.wilcoxon(logs - end - inside, alternative=side, method="exact")
        assert rejected.pvalue <= level / 2 < kept.pvalue


def test_too_few_blocks_have_no_interval() -> None:
    interval = block_verdicts._paired(np.full(5, 0.3), 0.01)
    assert (interval.low, interval.high) == (-math.inf, math.inf)


def ratios(slowdown: float, count: int, noise: float = 0.01, seed: int = 1) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(math.log1p(slowdown), noise, count))


@pytest.mark.parametrize(
    ("slowdown", "verdict"), [(0.0, "SAME"), (0.1, "SLOWER"), (-0.1, "FASTER")]
)
def test_both_clocks_agree(slowdown: float, verdict: str) -> None:
    both = ratios(slowdown, 64)
    decision = decide({"processor": both, "wall": both}, 4)
    assert decision.verdict == verdict
    assert decision.blocks in LOOKS
    assert decision.low is not None
    assert decision.high is not None
    assert decision.low <= 1 + slowdown <= decision.high


def test_what_waits_is_slower_by_the_wall_alone() -> None:
    decision = decide({"processor": ratios(0, 32), "wall": ratios(0.2, 32)}, 1)
    assert (decision.verdict, decision.clock) == ("SLOWER", "wall")


def test_a_wall_clock_that_tells_nothing_does_not_make_it_the_same() -> None:
    decision = decide({"processor": ratios(0, 32), "wall": ratios(0, 32, noise=0.5)}, 1)
    assert decision.verdict == "UNDECIDED"


def test_without_processor_time_the_wall_clock_decides() -> None:
    decision = decide({"wall": ratios(0.05, 32)}, 1)
    assert (decision.verdict, decision.clock) == ("SLOWER", "wall")


def test_between_two_looks_nothing_is_decided_before_the_end() -> None:
    few = {"wall": ratios(0.1, LOOKS[0] + 2)[: LOOKS[0] - 1]}
    assert decide(few, 1).verdict == "UNDECIDED"
    more = {"wall": ratios(0.1, LOOKS[1] - 1)}
    assert decide(more, 1, ended=True).verdict == "SLOWER"


def test_two_runs_are_compared_by_their_blocks() -> None:
    old, new = ratios(0, 12) * 1e-6, ratios(0.1, 12, seed=2) * 1e-6
    assert decide_apart({"wall": old}, {"wall": new}, 3).verdict == "SLOWER"
    assert decide_apart({"wall": old}, {"wall": ratios(0, 12, seed=3) * 1e-6}, 3).verdict == "SAME"
    short = decide_apart({"wall": old[:5]}, {"wall": new[:5]}, 3)
    assert short.verdict == "UNDECIDED"
    assert "too few" in short.reason


def test_thousands_of_blocks_are_looked_at_in_part() -> None:
    decision = decide({"wall": ratios(0, 20_000, noise=2)}, 1, ended=True)
    assert (decision.verdict, decision.blocks) == ("UNDECIDED", MOST)


def test_simulated_rates_are_what_is_promised() -> None:
    """The page of performance has them from many more comparisons."""
    for rate in simulated_rates(25, seed=7):
        assert rate.wrong == 0, rate
        if rate.slowdown >= 0.03:
            assert rate.verdicts["SLOWER"] >= 24, rate


def busy_series(seconds: float, blocks: int, rounds: int, seed: int) -> dict[str, Any]:
    """Batches on a machine on which other work makes three in five longer, by up to a half."""
    draw = np.random.default_rng(seed)
    shape = (blocks * rounds,)

    def batches(calls: int) -> list[float]:
        longer = np.where(draw.random(shape) < 0.6, draw.uniform(1.05, 1.5, shape), 1.0)
        return list(seconds * (calls + 1) * longer * draw.normal(1, 0.01, shape))

    kept = {f"{clock}_once": batches(100) for clock in ("processor", "wall")}
    kept |= {f"{clock}_twice": batches(200) for clock in ("processor", "wall")}
    return {"batches": {"calls": 100, **kept}}


@pytest.mark.parametrize(("slowdown", "verdict"), [(0.0, "SAME"), (0.03, "SLOWER")])
def test_other_work_in_most_batches_hides_no_slowdown(slowdown: float, verdict: str) -> None:
    old, new = (
        busy_series(1e-5 * (1 + share), 32, 50, seed) for share, seed in ((0, 1), (slowdown, 2))
    )
    decision = decide_series(old, new, 50, 10)
    assert decision.verdict == verdict


def test_a_clock_that_stood_still_is_left_out() -> None:
    old, new = (busy_series(1e-5, 32, 50, seed) for seed in (1, 2))
    old["batches"]["processor_once"][7] = 0.0
    assert decide_series(old, new, 50, 10).clock == "wall"
