"""Numbers of benchmark reports: times in words, quartiles, shares of the machine's ceilings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

__all__ = ["Measure", "measures_of", "range_text", "seconds_text", "share_text"]

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
      about: what one call does, in words; empty where the file does not say.
      detail: how it was measured, or what was wrong with the answer.

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
    about: str = ""
    detail: str = ""


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
                about=series.get("about", ""),
                detail=series.get("detail", ""),
            )
        )
    return made


def seconds_text(seconds: float, digits: int = 3) -> str:
    """A time in the unit that fits it: `1.25 ms`.

    Args:
      seconds: the time.
      digits: significant digits.

    """
    value, unit = _scaled(seconds, digits)
    return f"{value} {unit}"


def range_text(low: float, high: float) -> str:
    """A range of times, the unit once where both have the same: `1.25 to 1.5 ms`."""
    (first, unit), (last, other) = _scaled(low), _scaled(high)
    return f"{first} to {last} {unit}" if unit == other else f"{first} {unit} to {last} {other}"


def share_text(share: float) -> str:
    """A share of a ceiling: `36%`, `<1%`, `>100%`."""
    if share > 1:
        return ">100%"
    return "<1%" if share < 0.01 else f"{share:.0%}"


def _scaled(seconds: float, digits: int = 3) -> tuple[str, str]:
    scale, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{float(f'{seconds / scale:.{digits}g}'):g}", unit
