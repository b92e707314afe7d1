"""Numbers of benchmark reports: times in words, quartiles, shares of the machine's ceilings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

__all__ = ["Measure", "measures_of", "seconds_text"]

_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class Measure:
    """A series in numbers.

    Attributes:
      case: the benchmark.
      backend: the backend.
      samples: every sample in seconds, in the order of the rounds.
      correct: whether what was timed gave the right answer.
      low: the lower quartile in seconds.
      median: in seconds.
      high: the upper quartile in seconds.
      times_first: the first backend's median over this one's; None where either was wrong.
      ceilings: quantity (`flops`, `bytes`) to the share of the machine's ceiling it reached.

    """

    case: str
    backend: str
    samples: tuple[float, ...]
    correct: bool
    low: float
    median: float
    high: float
    times_first: float | None
    ceilings: Mapping[str, float]


def measures_of(run: Mapping[str, Any]) -> dict[str, list[Measure]]:
    """Case to its series in numbers, in file order; the first backend of a case is the measure."""
    cases: dict[str, list[Mapping[str, Any]]] = {}
    for series in run["series"]:
        cases.setdefault(series["case"], []).append(series)
    ceilings = run.get("ceilings", {})
    return {case: _measures(members, ceilings) for case, members in cases.items()}


def _measures(members: Sequence[Mapping[str, Any]], ceilings: Mapping[str, float]) -> list[Measure]:
    first = members[0]
    first_median = float(np.median(first["samples"]))
    made = []
    for series in members:
        low, median, high = (float(q) for q in np.quantile(series["samples"], (0.25, 0.5, 0.75)))
        comparable = first["correct"] and series["correct"]
        made.append(
            Measure(
                case=series["case"],
                backend=series["backend"],
                samples=tuple(series["samples"]),
                correct=series["correct"],
                low=low,
                median=median,
                high=high,
                times_first=first_median / median if comparable else None,
                ceilings={
                    name: series[name] / median / ceilings[name]
                    for name in ("flops", "bytes")
                    if name in series and name in ceilings
                },
            )
        )
    return made


def seconds_text(seconds: float, digits: int = 3) -> str:
    """A time in the unit that fits it: `1.25 ms`.

    Args:
      seconds: the time.
      digits: significant digits.

    """
    scale, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{float(f'{seconds / scale:.{digits}g}'):g} {unit}"
