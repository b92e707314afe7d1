"""Whether resident memory grows with the number of steps: FLAT, GROWS or UNDECIDED.

The first steps fill caches and pools; they are left out. The rest is cut into windows of equal
length, and the bytes that each window adds, over its steps, are samples of the slope: of a leak
they are alike, of a single jump one differs from all others, and then the interval is wide. GROWS
means that the whole interval is above the limit, FLAT that it is below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from sessrun.reports.printable import number

__all__ = ["CONFIDENCE", "LIMIT", "Trend", "is_decided", "trend", "trend_of"]

LeakVerdict = Literal["FLAT", "GROWS", "UNDECIDED"]
#: Bytes a step above which memory grows: a page in 256 steps.
LIMIT: Final = 16.0
#: The chance that the interval holds the slope.
CONFIDENCE: Final = 0.99
#: The share of the steps that is left out.
_WARM_UP: Final = 0.2
_WINDOWS: Final = 16


@dataclass(frozen=True, slots=True)
class Trend:
    """How resident memory goes with the number of steps.

    Attributes:
      verdict: FLAT, GROWS or UNDECIDED.
      slope: bytes a step.
      low: lower end of its interval.
      high: upper end.
      first_step: the steps before this one were left out.
      reason: why the verdict, in words.

    """

    verdict: LeakVerdict
    slope: float
    low: float
    high: float
    first_step: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The trend as a JSON object."""
        return asdict(self)


def trend(steps: Sequence[int], resident: Sequence[int]) -> Trend:
    """The slope of resident memory along steps, with its interval.

    Args:
      steps: how many steps were done at each reading, ascending.
      resident: bytes at each.

    """
    from scipy import stats  # noqa: PLC0415 - slow to import

    first = steps[0] + (steps[-1] - steps[0]) * _WARM_UP
    ends = np.linspace(first, steps[-1], _WINDOWS + 1)
    indices = np.unique(np.searchsorted(steps, ends))
    if len(indices) < _WINDOWS + 1:
        reason = f"{number(len(steps), 'reading')} are too few"
        return Trend("UNDECIDED", 0.0, -np.inf, np.inf, int(first), reason)
    slopes = np.diff(np.asarray(resident)[indices]) / np.diff(np.asarray(steps)[indices])
    slope = low = high = float(np.mean(slopes))
    if np.ptp(slopes) > 0:  # the interval of equal numbers is their value
        interval = stats.ttest_1samp(slopes, 0.0).confidence_interval(CONFIDENCE)
        low, high = float(interval.low), float(interval.high)
    verdict: LeakVerdict = "UNDECIDED"
    if low > LIMIT:
        verdict, reason = "GROWS", f"more than {LIMIT:g} bytes a step"
    elif high < LIMIT:
        verdict, reason = "FLAT", f"less than {LIMIT:g} bytes a step"
    else:
        reason = f"the interval holds the limit of {LIMIT:g} bytes a step"
    return Trend(verdict, slope, low, high, int(steps[indices[0]]), reason)


def trend_of(course: Mapping[str, Any]) -> Trend:
    """The trend of a course as `leaks.schema.json` has it; wrong answers are UNDECIDED."""
    known = trend(course["steps"], course["resident"])
    if course["correct"]:
        return known
    reason = "the answers were wrong: nothing counts"
    return Trend("UNDECIDED", known.slope, known.low, known.high, known.first_step, reason)


def is_decided(steps: Sequence[int], resident: Sequence[int]) -> bool:
    """Whether a verdict is known."""
    return trend(steps, resident).verdict != "UNDECIDED"
