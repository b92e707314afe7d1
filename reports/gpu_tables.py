"""The tables of the page of a GPU: medians with quartiles, ceilings, counts, states by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reports.device_words import CEILINGS, ceiling_text, doubts, quantity_text
from sessrun.reports.gpu_plots import Curve, throughput_plot
from sessrun.reports.kernel_profile import Kernel
from sessrun.reports.measures import Measure, measures_of, range_text, seconds_text, share_text
from sessrun.reports.printable import number, shortened

__all__ = [
    "ceiling_rows",
    "counted_jobs",
    "families",
    "kernel_rows",
    "launches",
    "left_out",
    "rounds",
]

Runs = Mapping[str, Mapping[str, Any]]
#: The counts of a call, in the order of the table's columns.
_COUNTS: Final = (
    "launches",
    "synchronizations",
    "hidden_synchronizations",
    "uploads",
    "downloads",
)
#: What is reached in a second, its unit, and what the work of one call is called.
_RATES: Final = {
    "flops": ("FLOP/s", "floating-point operations of one call"),
    "bytes": ("B/s", "bytes of one call, read and written"),
}
#: So many sizes make a curve.
_CURVE: Final = 3


def ceiling_rows(runs: Runs) -> list[dict[str, str]]:
    """Each ceiling, as the least, the median and the most of what all runs measured.

    Each run measures them before its first round and after its last one.
    """
    rows = []
    for key, name in CEILINGS.items():
        before = [run["ceilings"][key] for run in runs.values() if key in run.get("ceilings", {})]
        after = [
            run["ceilings_after"][key]
            for run in runs.values()
            if key in run.get("ceilings_after", {})
        ]
        if before or after:
            rows.append(
                {
                    "name": name,
                    "before": _spread(key, before),
                    "after": _spread(key, after),
                    "change": _change(before, after),
                }
            )
    return rows


def _spread(key: str, values: Sequence[float]) -> str:
    if not values:
        return "not measured"
    low, middle, high = (ceiling_text(key, float(q)) for q in np.quantile(values, (0, 0.5, 1)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _change(before: Sequence[float], after: Sequence[float]) -> str:
    if not before or not after:
        return "unknown"
    return f"{float(np.median(after)) / float(np.median(before)) - 1:+.1%}"


def families(runs: Runs) -> list[dict[str, Any]]:
    """A table for each run, with a plot of throughput where there are sizes enough."""
    tables = []
    for index, (name, run) in enumerate(runs.items()):
        measures = measures_of(run)
        form = {(series["case"], series["backend"]): series for series in run["series"]}
        tables.append(
            {
                "name": shortened(name, 60),
                "rounds": number(run["rounds"], "round"),
                "doubts": doubts(run),
                "plot": _throughput(run, measures, f"family{index}"),
                "jobs": [
                    {
                        "name": shortened(case, 80),
                        "about": shortened(next((m.about for m in members if m.about), ""), 200),
                        "rows": [_row(m, members[0], form[case, m.backend]) for m in members],
                    }
                    for case, members in measures.items()
                ],
            }
        )
    return tables


def _row(measure: Measure, first: Measure, series: Mapping[str, Any]) -> dict[str, Any]:
    """One series; how many times the first backend's time it takes, by the wall clock."""
    compile_s = series.get("compile_seconds")
    times = measure.times_first
    return {
        "backend": shortened(measure.backend, 60),
        "wall": _time(measure.samples),
        "device": _time(series.get("device_samples")),
        "cold": _time(series.get("cold_samples")),
        "compile": "" if compile_s is None else seconds_text(compile_s),
        "ratio": "none" if times is None else "1" if measure is first else f"{1 / times:.3g}",
        "reached": ", ".join(
            f"{share_text(share)} of the ceiling: {CEILINGS.get(name, name)}"
            for name, share in measure.ceilings.items()
        ),
        "wrong": "" if measure.correct else f"wrong answer: {shortened(measure.detail, 200)}",
    }


def _time(samples: Sequence[float] | None) -> dict[str, str] | None:
    """Median and quartiles of samples in seconds."""
    if not samples:
        return None
    low, middle, high = (float(q) for q in np.quantile(samples, (0.25, 0.5, 0.75)))
    return {"median": seconds_text(middle), "quartiles": range_text(low, high)}


def _throughput(
    run: Mapping[str, Any], measures: Mapping[str, Sequence[Measure]], prefix: str
) -> Any:
    """Throughput over the work of a call, in what comes closer to its ceiling."""
    shares = {
        key: max(
            (
                share
                for members in measures.values()
                for measure in members
                for name, share in measure.ceilings.items()
                if name.startswith(key)
            ),
            default=0.0,
        )
        for key in _RATES
    }
    for key in sorted(_RATES, key=lambda key: -shares[key]):
        unit, along = _RATES[key]
        points: dict[str, list[tuple[float, float]]] = {}
        for series in run["series"]:
            if key in series and "dtype" in series and series["correct"]:
                name = f"{series['backend']}, {series['dtype']}"
                samples = series.get("device_samples") or series["samples"]
                rate = series[key] / float(np.median(samples))
                points.setdefault(name, []).append((series[key], rate))
        curves = [Curve(name, at) for name, at in points.items() if len(at) >= _CURVE]
        if curves:
            dtypes = {series.get("dtype", "float32") for series in run["series"]}
            roofs = {
                name: value
                for ceiling, value in run.get("ceilings", {}).items()
                if (name := _roof(ceiling, key)) and (key == "bytes" or name in dtypes)
            }
            return throughput_plot(curves, roofs, unit, along, prefix)
    return None


def _roof(ceiling: str, key: str) -> str:
    """What a ceiling of this quantity is called beside a plot; empty for one of another."""
    quantity, _, dtype = ceiling.partition("_")
    if quantity != key:
        return ""
    return dtype or ("float32" if key == "flops" else "a copy")


def left_out(runs: Runs) -> list[tuple[str, str, str]]:
    """What was asked and not measured, of which backend, and why; each once."""
    entries = [
        (entry["case"], entry.get("backend", ""), entry["reason"])
        for run in runs.values()
        for entry in run.get("left_out", ())
    ]
    return [
        (shortened(case, 80), shortened(backend, 40), shortened(why, 300))
        for case, backend, why in dict.fromkeys(entries)
    ]


def launches(runs: Runs) -> dict[str, int]:
    """Job to the kernel launches of one warm call."""
    return {
        series["case"]: series["counts"]["launches"]
        for run in runs.values()
        for series in run["series"]
        if "launches" in series.get("counts", {})
    }


def counted_jobs(runs: Runs) -> list[dict[str, str]]:
    """Launches, waits and copies of one warm call of each job, and where they were counted."""
    rows = []
    for run in runs.values():
        for series in run["series"]:
            counts = series.get("counts")
            if counts is not None:
                shown = {key: f"{counts[key]:,}" if key in counts else "" for key in _COUNTS}
                sizes = {
                    key: quantity_text(counts[key], "B") if counts.get(key) else ""
                    for key in ("upload_bytes", "download_bytes", "pool_bytes")
                }
                rows.append(
                    {
                        "job": shortened(series["case"], 80),
                        "on": shortened(counts["counted_on"], 40),
                        **shown,
                        **sizes,
                    }
                )
    return list({row["job"]: row for row in rows}.values())


def rounds(runs: Runs) -> list[dict[str, str]]:
    """By run: the least and the most of clocks, power and temperature, and rounds held down."""
    columns = (
        ("sm", "sm_clock_mhz", "MHz"),
        ("memory", "memory_clock_mhz", "MHz"),
        ("power", "power_w", "W"),
        ("temperature", "temperature_c", "°C"),
    )
    rows = []
    for name, run in runs.items():
        states = run.get("states", ())
        row = {"name": shortened(name, 60), "rounds": str(len(states))}
        for label, key, unit in columns:
            values = [state[key] for state in states if key in state]
            row[label] = f"{min(values):g} to {max(values):g} {unit}" if values else "not told"
        held = sum(bool(state.get("throttle")) for state in states)
        row["held"] = f"{held} of {len(states)}" if states else "not told"
        rows.append(row)
    return rows


def kernel_rows(
    kernels: Sequence[Kernel],
    spots: Sequence[Kernel],
    everything: Sequence[Kernel],
    ceilings: Mapping[str, float],
) -> list[dict[str, str]]:
    """The heaviest kernels; the number is that of the roofline's mark."""
    total = sum(kernel.seconds for kernel in everything)
    return [
        {
            "number": str(spots.index(kernel) + 1) if kernel in spots else "",
            "name": shortened(kernel.name, 160),
            "launches": f"{kernel.launches:,}",
            "share": share_text(kernel.seconds / total) if total else "",
            "seconds": seconds_text(kernel.seconds) if kernel.seconds else "",
            "bytes": quantity_text(kernel.nbytes, "B"),
            "flops": quantity_text(kernel.flops, "FLOP"),
            "units": kernel.units,
            "bandwidth": share_text(kernel.nbytes / kernel.seconds / ceilings["bytes"])
            if kernel.seconds and "bytes" in ceilings
            else "",
        }
        for kernel in kernels
    ]
