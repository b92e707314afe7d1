"""Exponents of costs that were measured at growing sizes: LINEAR, CONSTANT, SUPERLINEAR, UNDECIDED.

The cost of a size is the least of all batches of all processes: other work only adds. A line is
fitted through the logarithms of the upper sizes, since at the lower ones the fixed part of a call
hides what depends on the size. Its slope is the exponent; the interval is Student's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from sessrun.reports.printable import number

__all__ = ["CONFIDENCE", "LIMITS", "UPPER", "Exponent", "exponent_of", "least_seconds"]

GrowthVerdict = Literal["CONSTANT", "LINEAR", "SUPERLINEAR", "GROWS", "UNDECIDED"]
#: The exponent above which a cost grows faster than it should, by how it should.
LIMITS: Final = {"linear": 1.05, "constant": 0.2}
#: The chance that the interval holds the exponent.
CONFIDENCE: Final = 0.95
#: How many sizes are fitted at most, from above, and at least.
UPPER: Final = 5
_FEWEST: Final = 3
#: How far above the limit the interval may reach where the exponent is below it.
_DOUBT: Final = 0.2
_ABOVE: Final[dict[str, GrowthVerdict]] = {"linear": "SUPERLINEAR", "constant": "GROWS"}
_WITHIN: Final[dict[str, GrowthVerdict]] = {"linear": "LINEAR", "constant": "CONSTANT"}


@dataclass(frozen=True, slots=True)
class Exponent:
    """How a cost grows with its size.

    Attributes:
      verdict: LINEAR or CONSTANT where it grows as it should, SUPERLINEAR or GROWS where it
        grows faster, UNDECIDED where that is not known.
      exponent: the slope; None where it means nothing.
      low: lower end of its interval.
      high: upper end.
      sizes: the sizes that were fitted, ascending.
      intercept: the natural logarithm of the fitted seconds at size 1.
      reason: why the verdict, in words.

    """

    verdict: GrowthVerdict
    exponent: float | None
    low: float | None
    high: float | None
    sizes: tuple[int, ...]
    intercept: float
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The exponent as a JSON object."""
        return asdict(self)

    def seconds(self, size: float) -> float:
        """The fitted cost of a size."""
        return float(np.exp(self.intercept) * size ** (self.exponent or 0.0))


def least_seconds(entry: Mapping[str, Any]) -> dict[int, float]:
    """The least cost of each size: of processors where the kernel tells at all sizes, else wall.

    Args:
      entry: a cost as `growth.schema.json` has it.

    """
    clock = "processor" if all("processor" in point for point in entry["points"]) else "wall"
    return {point["size"]: min(map(min, point[clock])) for point in entry["points"]}


def exponent_of(entry: Mapping[str, Any]) -> Exponent:
    """The exponent of a cost, and whether it is as it should be.

    Args:
      entry: a cost as `growth.schema.json` has it.

    """
    from scipy import stats  # noqa: PLC0415 - slow to import

    costs = least_seconds(entry)
    sizes = tuple(sorted(costs)[-UPPER:])
    if not entry["correct"]:
        return _unknown(sizes, "the answers were wrong: nothing counts")
    if len(sizes) < _FEWEST:
        return _unknown(sizes, f"{number(len(sizes), 'size')} are too few")
    fit = stats.linregress(np.log(sizes), np.log([costs[size] for size in sizes]))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(sizes) - 2) * fit.stderr)
    exponent, low, high = float(fit.slope), float(fit.slope - reach), float(fit.slope + reach)
    limit = LIMITS[entry["order"]]
    verdict: GrowthVerdict = "UNDECIDED"
    if low > limit:
        verdict, reason = _ABOVE[entry["order"]], f"the whole interval is above {limit:g}"
    elif exponent > limit:
        reason = f"the exponent is above {limit:g}, and the interval holds it"
    elif high > limit + _DOUBT:
        reason = f"the interval reaches more than {_DOUBT:g} above {limit:g}"
    else:
        verdict, reason = _WITHIN[entry["order"]], f"at most {limit:g}"
    return Exponent(verdict, exponent, low, high, sizes, float(fit.intercept), reason)


def _unknown(sizes: tuple[int, ...], reason: str) -> Exponent:
    return Exponent("UNDECIDED", None, None, None, sizes, 0.0, reason)
