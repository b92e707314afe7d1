"""Verdicts on two sides that were measured in blocks: FASTER, SLOWER, SAME, or not known yet.

A block (`sessrun.conformance.benchmarks.blocks`) is one new process for each side, so that the
logarithm of its two times' ratio is one independent observation. If both sides are the same code,
it is as likely positive as negative, whatever the machine does: Wilcoxon's signed-rank test and the
interval that belongs to it need no more than that.

Whoever looks after each block until something shows is fooled more often than the level says.
So there are few looks, after fixed numbers of blocks, and the level is shared out among looks,
clocks and jobs (Bonferroni): on the same code the chance of any FASTER or SLOWER in a run is at
most `LEVEL`, with all its jobs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import scipy

__all__ = [
    "CLOCKS",
    "LEVEL",
    "LOOKS",
    "MARGIN",
    "MOST",
    "Decision",
    "decide",
    "decide_apart",
    "decide_runs",
    "decide_series",
    "seconds_of_calls",
]

#: The chance that anything of a run is called FASTER or SLOWER although nothing differs.
LEVEL: Final = 0.01
#: Blocks after which a job is looked at, each time about 1.4 times as many.
LOOKS: Final = (12, 16, 23, 32, 45, 64, 90, 128, 181)
#: The last look, after all blocks, is at so many at most: an interval costs as many pairs.
MOST: Final = 512
#: A difference of so much is to be found; within it, code is the SAME.
MARGIN: Final = 0.03
#: A smaller difference is nobody's concern, however sure it is.
_CONCERN: Final = 0.01
#: What may be hidden in the wall clock's noise where processor time is the SAME.
_WAITING: Final = 0.10
#: How many batches of a block, the shortest ones, tell the time of a call.
_SHORTEST: Final = 2
#: Batches that took less by a clock, in seconds: the clock did not go.
_LEAST: Final = 1e-12
#: The fewest blocks of each side of two runs.
_FEWEST: Final = 6

_Array = npt.NDArray[np.float64]
Clock = Literal["processor", "wall"]
CLOCKS: Final[tuple[Clock, ...]] = ("processor", "wall")
BlockVerdict = Literal["FASTER", "SLOWER", "SAME", "UNDECIDED"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What blocks say of a job.

    Attributes:
      verdict: of the new side.
      ratio: new time over old, by the clock that decided; the median of pairwise means.
      low: the lower end of its interval; None where there are too few blocks for one.
      high: the upper end.
      clock: the clock that decided, or whose ratio this is.
      blocks: after how many blocks.
      reason: why, in words.

    """

    verdict: BlockVerdict
    ratio: float
    low: float | None
    high: float | None
    clock: Clock
    blocks: int
    reason: str


@dataclass(frozen=True, slots=True)
class _Interval:
    """The logarithm of a ratio, and its interval (infinite ends where there are too few blocks)."""

    estimate: float
    low: float
    high: float

    @property
    def slower(self) -> bool:
        return self.low > 0 and self.estimate > math.log1p(_CONCERN)

    @property
    def faster(self) -> bool:
        return self.high < 0 and self.estimate < -math.log1p(_CONCERN)

    def within(self, margin: float) -> bool:
        return self.low > -math.log1p(margin) and self.high < math.log1p(margin)


def decide_series(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    rounds: int,
    jobs: int,
    *,
    ended: bool = False,
) -> Decision:
    """Judge two series of one run that were measured in the same blocks.

    Args:
      old: a series of a benchmark file, with its batches.
      new: the other one.
      rounds: of a block.
      jobs: how many jobs the run has: all share the level.
      ended: whether no block will follow.

    """
    before, after = (seconds_of_calls(side, rounds) for side in (old, new))
    ratios = {clock: after[clock] / before[clock] for clock in before if clock in after}
    return decide(ratios, jobs, ended=ended)


def decide_runs(
    old: Mapping[str, Any], new: Mapping[str, Any], rounds: tuple[int, int], jobs: int
) -> Decision:
    """Judge two series of two runs.

    Args:
      old: a series of the old run, with its batches.
      new: of the new one.
      rounds: of a block of the old run, and of the new one.
      jobs: how many jobs both runs have: all share the level.

    """
    sides = [
        seconds_of_calls(series, count) for series, count in zip((old, new), rounds, strict=True)
    ]
    return decide_apart(sides[0], sides[1], jobs)


def seconds_of_calls(series: Mapping[str, Any], rounds: int) -> dict[Clock, _Array]:
    """By clock the time of one call in each block; a clock that did not go is left out.

    It is that of the shortest batches: what else ran on the machine made all others longer, on a
    machine with other work more than half of them by a tenth and more.
    """
    by_clock = {clock: _block_seconds(series, rounds, clock) for clock in CLOCKS}
    return {clock: seconds for clock, seconds in by_clock.items() if seconds is not None}


def _block_seconds(series: Mapping[str, Any], rounds: int, clock: Clock) -> _Array | None:
    """The time of one call in each block; None if no such clock went.

    Args:
      series: a series of a benchmark file, with its batches.
      rounds: of a block.
      clock: which of the times.

    """
    batches = series["batches"]
    if f"{clock}_once" not in batches:
        return None
    once, twice = (
        np.asarray(batches[f"{clock}_{kind}"], np.float64).reshape(-1, int(rounds))
        for kind in ("once", "twice")
    )
    if min(once.min(), twice.min()) < _LEAST:
        return None
    calls = int(batches["calls"])  # and one more ends each batch
    seconds = np.concatenate([once / (calls + 1), twice / (2 * calls + 1)], axis=1)
    return np.asarray(np.sort(seconds, axis=1)[:, :_SHORTEST].mean(axis=1), np.float64)


def decide(
    ratios: Mapping[Clock, Sequence[float] | _Array], jobs: int, *, ended: bool = False
) -> Decision:
    """Judge a job by its blocks, as if they had come one by one.

    Args:
      ratios: by clock the new side's time over the old one's in each block, in their order; the
        wall clock's is always there.
      jobs: how many jobs the run has: all share the level.
      ended: whether no block will follow; then there is a last look.

    Returns:
      What the first look that shows something shows; UNDECIDED if none does.

    """
    logs = {
        clock: np.log(np.asarray(values[:MOST], np.float64)) for clock, values in ratios.items()
    }
    count = len(logs["wall"])
    looks = [look for look in LOOKS if look <= count]
    if ended and count not in looks:
        looks.append(count)
    level = LEVEL / (jobs * len(logs) * (len(LOOKS) + 1))
    decision: Decision | None = None
    for look in looks:
        decision = _look({clock: values[:look] for clock, values in logs.items()}, level)
        if decision.verdict != "UNDECIDED":
            return decision
    if decision is not None:
        return decision
    reason = f"{count} blocks are too few; the first look is after {LOOKS[0]}"
    return _decision("UNDECIDED", _paired(logs["wall"], level), "wall", count, reason)


def _look(logs: Mapping[Clock, _Array], level: float) -> Decision:
    """What so many blocks say."""
    intervals = {clock: _paired(values, level) for clock, values in logs.items()}
    return _judged(intervals, len(logs["wall"]))


def _judged(intervals: Mapping[Clock, _Interval], count: int) -> Decision:
    """The verdict of the intervals of both clocks, or of the wall's alone."""
    wall = intervals["wall"]
    processor = intervals.get("processor")
    if processor is None:
        return _by_wall(wall, count)
    if wall.slower or wall.faster:  # what a caller waits counts, whatever it is spent on
        return _by_wall(wall, count)
    if processor.slower or processor.faster:
        verdict: BlockVerdict = "SLOWER" if processor.slower else "FASTER"
        return _decision(verdict, processor, "processor", count, _differs(processor))
    if processor.within(MARGIN) and wall.within(_WAITING):
        reason = (
            f"processor time is the same within {MARGIN:.0%}, "
            f"time on the wall within {MARGIN if wall.within(MARGIN) else _WAITING:.0%}"
        )
        return _decision("SAME", processor, "processor", count, reason)
    reason = f"after {count} blocks the intervals neither exclude 1 nor lie within the margins"
    return _decision("UNDECIDED", processor, "processor", count, reason)


def _by_wall(wall: _Interval, count: int) -> Decision:
    if wall.slower or wall.faster:
        return _decision("SLOWER" if wall.slower else "FASTER", wall, "wall", count, _differs(wall))
    if wall.within(MARGIN):
        reason = f"the interval lies within {MARGIN:.0%}"
        return _decision("SAME", wall, "wall", count, reason)
    reason = f"after {count} blocks the interval neither excludes 1 nor lies within {MARGIN:.0%}"
    return _decision("UNDECIDED", wall, "wall", count, reason)


def _differs(interval: _Interval) -> str:
    ratio = math.exp(interval.estimate)
    return (
        f"{ratio:.3f} times as long; the interval excludes 1"
        if ratio > 1
        else f"{1 / ratio:.3f} times as fast; the interval excludes 1"
    )


def _decision(
    verdict: BlockVerdict, interval: _Interval, clock: Clock, count: int, reason: str
) -> Decision:
    known = math.isfinite(interval.low) and math.isfinite(interval.high)
    low, high = (math.exp(interval.low), math.exp(interval.high)) if known else (None, None)
    return Decision(verdict, math.exp(interval.estimate), low, high, clock, count, reason)


def _paired(logs: _Array, level: float) -> _Interval:
    """The interval of the signed-rank test: it ends at means of pairs that the level counts off."""
    first, second = np.triu_indices(len(logs))
    means = np.sort((logs[first] + logs[second]) / 2)
    outside = _counted_off(len(logs), level / 2)
    low, high = (
        (float(means[outside]), float(means[-1 - outside]))
        if outside is not None
        else (-math.inf, math.inf)
    )
    return _Interval(float(np.median(means)), low, high)


@functools.cache
def _counted_off(count: int, tail: float) -> int | None:
    """How many means of pairs lie below the interval; None if no sample of this size is so rare.

    The sum of the positive ranks is the number of means of pairs above 0. Each rank is in the sum
    or not with the same chance, so that the ways to each sum are counted rank by rank.
    """
    ways = np.ones(1)
    for rank in range(1, count + 1):
        ways = (np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))) / 2
    below = int(np.searchsorted(np.cumsum(ways), tail, side="right"))
    return below - 1 if below else None


def decide_apart(old: Mapping[Clock, _Array], new: Mapping[Clock, _Array], jobs: int) -> Decision:
    """Judge a job by the blocks of two runs, which shared no process's lifetime: Welch's test.

    Args:
      old: by clock the seconds of each block of the old run.
      new: of the new one.
      jobs: how many jobs both runs have: all share the level.

    """
    intervals: dict[Clock, _Interval] = {}
    clocks = [clock for clock in CLOCKS if clock in old and clock in new]
    count = min(len(old["wall"]), len(new["wall"]))
    for clock in clocks:
        before, after = np.log(old[clock]), np.log(new[clock])
        low, high = -math.inf, math.inf
        estimate = float(after.mean() - before.mean())
        if count >= _FEWEST:
            half = _half_width(before, after, LEVEL / (jobs * len(clocks)))
            low, high = estimate - half, estimate + half
        intervals[clock] = _Interval(estimate, low, high)
    if count < _FEWEST:
        reason = f"{count} blocks are too few; {_FEWEST} of each side are the least"
        return _decision("UNDECIDED", intervals["wall"], "wall", count, reason)
    return _judged(intervals, count)


def _half_width(before: _Array, after: _Array, level: float) -> float:
    """Half the width of Welch's interval of the difference of two means."""
    ours, theirs = (float(np.var(logs, ddof=1)) / len(logs) for logs in (after, before))
    if not ours + theirs:
        return 0.0
    freedom = (ours + theirs) ** 2 / (ours**2 / (len(after) - 1) + theirs**2 / (len(before) - 1))
    return float(scipy.stats.t.ppf(1 - level / 2, freedom)) * math.sqrt(ours + theirs)
