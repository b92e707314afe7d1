"""Numbers of benchmark reports: times in words, quartiles, shares of the machine's ceilings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

__all__ = [
    "Measure",
    "is_of_stand_in",
    "is_on_gpu",
    "measures_of",
    "range_text",
    "seconds_text",
    "share_text",
]

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
      ceilings: quantity (`flops`, `flops_bfloat16`, `bytes`) to the share of the device's
        ceiling it reached, by the device's own clock where there is one; the greatest is its share
        of the roofline.
      about: what one call does, in words; empty where the file does not say.
      detail: how it was measured, or what was wrong with the answer.
      device: median between the device's events in seconds; None where it has none.
      cold: median with inputs that are not in the device's cache; None where there is none.
      compiling: seconds by which the first call was longer; None where the file does not say.
      counts: what one call asks of the device; empty where nothing was counted.

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
    device: float | None = None
    cold: float | None = None
    compiling: float | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)


def is_on_gpu(run: Mapping[str, Any]) -> bool:
    """Whether a run was of a GPU, or of what stands in for one."""
    return bool(run.get("device", {}).get("kind") == "gpu")


def is_of_stand_in(run: Mapping[str, Any]) -> bool:
    """Whether a run's device was simulated: then its times mean nothing."""
    return bool(run.get("device", {}).get("simulated"))


def measures_of(run: Mapping[str, Any]) -> dict[str, list[Measure]]:
    """Case to its series in numbers, in file order; the first backend of a case is the measure."""
    cases: dict[str, list[Mapping[str, Any]]] = {}
    for series in run["series"]:
        cases.setdefault(series["case"], []).append(series)
    ceilings = run.get("ceilings", {})
    on_gpu = is_on_gpu(run)
    return {case: _measures(members, ceilings, on_gpu) for case, members in cases.items()}


def _measures(
    members: Sequence[Mapping[str, Any]], ceilings: Mapping[str, float], on_gpu: bool
) -> list[Measure]:
    first = members[0]
    first_median = float(np.median(first["samples"]))
    measures = []
    for series in members:
        low, median, high = (float(q) for q in np.quantile(series["samples"], (0.25, 0.5, 0.75)))
        device = _median(series, "device_samples")
        comparable = first["correct"] and series["correct"]
        measures.append(
            Measure(
                case=series["case"],
                backend=series["backend"],
                samples=tuple(series["samples"]),
                correct=series["correct"],
                low=low,
                median=median,
                high=high,
                times_first=first_median / median if comparable else None,
                ceilings=_shares(series, device or median, ceilings, on_gpu),
                about=series.get("about", ""),
                detail=series.get("detail", ""),
                device=device,
                cold=_median(series, "cold_samples"),
                compiling=series.get("compile_seconds"),
                counts=series.get("counts", {}),
            )
        )
    return measures


def _median(series: Mapping[str, Any], name: str) -> float | None:
    return float(np.median(series[name])) if name in series else None


def _shares(
    series: Mapping[str, Any], seconds: float, ceilings: Mapping[str, float], on_gpu: bool
) -> dict[str, float]:
    """The shares of ceilings that one call reaches in this many seconds.

    On a GPU only of jobs that say in what they compute: the others' bytes go over the bus.
    """
    if on_gpu and "dtype" not in series:
        return {}
    dtype = series.get("dtype", "float32")
    products = "flops" if dtype == "float32" else f"flops_{dtype}"
    return {
        ceiling: series[name] / seconds / ceilings[ceiling]
        for name, ceiling in (("flops", products), ("bytes", "bytes"))
        if name in series and ceiling in ceilings
    }


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
