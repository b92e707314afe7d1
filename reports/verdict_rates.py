"""How often benchmark verdicts are right: on simulated blocks, and on an engine slowed on purpose.

Simulated noise has heavy tails: it is Student's t with 3 degrees of freedom, three times as wide in
wall time as in processor time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from sessrun.reports.block_verdicts import LOOKS, decide
from sessrun.reports.comparison import Comparison

__all__ = ["NOISES", "SLOWDOWNS", "Rate", "planted_rates", "simulated_rates"]

#: The simulated scales of the noise in the logarithm of a block's ratio, and slowdowns.
NOISES: Final = (0.01, 0.02, 0.03)
SLOWDOWNS: Final = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
#: How many jobs the simulated runs have, which share the level.
_JOBS: Final = 10
_DEGREES_OF_FREEDOM: Final = 3
#: How many times the noise of processor time that of wall time is.
_WALL: Final = 3.0


@dataclass(slots=True)
class Rate:
    """Verdicts on comparisons whose right verdict is known.

    Attributes:
      slowdown: of the new side, as a share; 0 where both sides are the same code.
      noise: the scale of simulated noise; None where times were measured.
      verdicts: how many comparisons had which verdict.
      blocks: after how many blocks each was decided.

    """

    slowdown: float
    noise: float | None
    verdicts: Counter[str] = field(default_factory=Counter)
    blocks: list[int] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """The wrong verdicts: FASTER or SLOWER on equal code, FASTER on code that was slowed."""
        kinds = ("FASTER", "SLOWER") if not self.slowdown else ("FASTER",)
        return sum(self.verdicts[kind] for kind in kinds)

    def at_most(self, count: int) -> float:
        """The upper end of the exact 95 % interval for the share of `count` in all comparisons."""
        test = scipy.stats.binomtest(count, sum(self.verdicts.values()))
        return float(test.proportion_ci(0.95).high)

    def to_json(self) -> dict[str, Any]:
        """The numbers, for a file."""
        return {
            "slowdown": self.slowdown,
            "noise": self.noise,
            "verdicts": dict(sorted(self.verdicts.items())),
            "median_blocks": float(np.median(self.blocks)) if self.blocks else None,
            "wrong": self.wrong,
            "wrong_at_most": self.at_most(self.wrong) if self.blocks else None,
        }


def simulated_rates(comparisons: int, seed: int) -> Iterable[Rate]:
    """Verdicts on simulated blocks, for each noise and each slowdown.

    Args:
      comparisons: how many are simulated for each noise and slowdown.
      seed: the seed of the noise.

    """
    generator = np.random.default_rng(seed)
    for noise in NOISES:
        for slowdown in SLOWDOWNS:
            rate = Rate(slowdown, noise)
            for _ in range(comparisons):
                processor = _ratios(generator, noise, slowdown)
                wall = _ratios(generator, noise * _WALL, slowdown)
                decision = decide({"processor": processor, "wall": wall}, _JOBS, ended=True)
                rate.verdicts[decision.verdict] += 1
                rate.blocks.append(decision.blocks)
            yield rate


def _ratios(
    generator: np.random.Generator, noise: float, slowdown: float
) -> npt.NDArray[np.float64]:
    logs = generator.standard_t(_DEGREES_OF_FREEDOM, LOOKS[-1]) * noise + np.log1p(slowdown)
    return np.asarray(np.exp(logs), np.float64)


def planted_rates(comparisons: Mapping[float, Sequence[Comparison]]) -> list[Rate]:
    """Verdicts on runs of an engine that was slowed down on purpose.

    Args:
      comparisons: the runs with each slowdown; each row of a run has one verdict.

    """
    rates = []
    for slowdown, runs in sorted(comparisons.items()):
        rate = Rate(slowdown, None)
        for row in (row for run in runs for row in run.rows):
            rate.verdicts[row.verdict] += 1
            rate.blocks.append(row.blocks or 0)
        rates.append(rate)
    return rates
