"""Plots of the page of a GPU: roofline, throughput by size, clocks and power by round, launches.

All are drawn as `sessrun.reports.plots` draws: inline SVG in the page's colours. Marks differ in
shape and every line has its name beside it, so that nothing depends on the colour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sessrun.reports.device_words import quantity_text
from sessrun.reports.kernel_profile import Kernel
from sessrun.reports.plots import (
    INK,
    LINE,
    MARKERS,
    SERIES,
    SETTINGS,
    SOFT,
    bare_axes,
    markup,
)
from sessrun.reports.printable import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve", "counts_plot", "roofline_plot", "states_plot", "throughput_plot"]

#: Ceilings closer than this factor have one label.
_CLOSE: Final = 1.6
#: The ceilings of arithmetic, and what they are called.
_ROOFS: Final = {
    "flops": "float32",
    "flops_tf32": "TF32",
    "flops_bfloat16": "bfloat16",
    "flops_float64": "float64",
}


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one backend: (what one call does, what it reached in a second)."""

    name: str
    points: Sequence[tuple[float, float]]


def roofline_plot(ceilings: Mapping[str, float], kernels: Sequence[Kernel], prefix: str) -> Any:
    """The ceilings that were measured, and kernels by counted FLOP a byte and FLOP a second.

    Args:
      ceilings: `bytes` a second, and at least one of arithmetic.
      kernels: those that have an intensity, numbered in this order from 1.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    roofs = {name: ceilings[key] for key, name in _ROOFS.items() if key in ceilings}
    spots = [(kernel.intensity or 0.0, kernel.flops / kernel.seconds) for kernel in kernels]
    ridge = max(roofs.values()) / ceilings["bytes"]
    low = min([0.1, *(x / 2 for x, _ in spots)])
    high = max([ridge * 8, *(x * 2 for x, _ in spots)])
    with mpl.rc_context(SETTINGS):
        figure, axes = bare_axes(4.9, 3.7, "FLOP for each byte of memory traffic")
        axes.set_yscale("log")
        axes.grid(axis="y", which="major", color=LINE, linewidth=0.6)
        for roof in roofs.values():
            corner = roof / ceilings["bytes"]
            ends = [low * ceilings["bytes"], roof, roof]
            axes.plot([low, corner, high], ends, color=SOFT, linewidth=1)
        for height, label in _labels(roofs):
            axes.text(high, height * 1.12, label, ha="right", fontsize=8)
        for index, (x, y) in enumerate(spots):
            axes.plot([x], [y], MARKERS[0], color=SERIES[0], markersize=6)
            axes.annotate(str(index + 1), (x, y), (6, -10), textcoords="offset points", fontsize=9)
        axes.set_xlim(low, high)
        least = min([low * ceilings["bytes"], *(y / 2 for _, y in spots)])
        axes.set_ylim(least, max(roofs.values()) * 2.5)
        _decades(axes, "x", lambda value: f"{value:g}")
        _decades(axes, "y", lambda value: quantity_text(value, "FLOP/s"))
        spoken = ", ".join(
            f"{shortened(k.name, 30)} {k.intensity:.3g} FLOP by byte" for k in kernels
        )
        return markup(figure, prefix, f"Roofline: {spoken or 'ceilings alone'}")


def throughput_plot(
    curves: Sequence[Curve], roofs: Mapping[str, float], unit: str, along: str, prefix: str
) -> Any:
    """What was reached in a second, by the work of one call, a line for each curve.

    Args:
      curves: the lines.
      roofs: name to a ceiling, drawn across.
      unit: of what is reached: `FLOP/s`, `B/s`.
      along: what the axis of work says; in the unit without the second.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    with mpl.rc_context(SETTINGS):
        figure, axes = bare_axes(4.9, 3.0, along)
        axes.set_yscale("log")
        axes.grid(axis="y", which="major", color=LINE, linewidth=0.6)
        for roof in roofs.values():
            axes.axhline(roof, color=SOFT, linewidth=1, linestyle=(0, (4, 3)))
        for height, label in _labels(roofs, unit):
            axes.text(
                0.01,
                height,
                f"ceiling: {label}",
                transform=axes.get_yaxis_transform(),
                va="bottom",
                fontsize=8,
            )
        for index, curve in enumerate(curves):
            colour, mark = SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]
            points = sorted(curve.points)
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                f"{mark}-",
                color=colour,
                markersize=4.5,
                linewidth=1.2,
                label=shortened(curve.name, 40),
            )
        axes.legend(loc="best", frameon=False, fontsize=8)
        _decades(axes, "x", lambda value: quantity_text(value, unit.removesuffix("/s")))
        _decades(axes, "y", lambda value: quantity_text(value, unit))
        spoken = ", ".join(
            f"{c.name} up to {quantity_text(max(y for _, y in c.points), unit)}" for c in curves
        )
        return markup(figure, prefix, f"Throughput: {spoken}")


def states_plot(states: Sequence[Mapping[str, Any]], prefix: str) -> Any:
    """The clock of the multiprocessors and the power, round by round; held down rounds marked.

    Args:
      states: of every round in order, as `bench.schema.json` has them.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    shown = [("sm_clock_mhz", "SM clock, MHz"), ("power_w", "power, W"), ("temperature_c", "°C")]
    with mpl.rc_context(SETTINGS):
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above

        figure = Figure(figsize=(4.9, 3.6), layout="constrained")
        figure.patch.set_visible(False)
        for index, ((key, label), axes) in enumerate(
            zip(shown, figure.subplots(len(shown), sharex=True), strict=True)
        ):
            axes.patch.set_visible(False)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            points = [(i, s[key]) for i, s in enumerate(states) if key in s]
            axes.plot(*zip(*points, strict=True) if points else ([], []), "-", color=SERIES[index])
            held = [(i, s[key]) for i, s in enumerate(states) if key in s and s.get("throttle")]
            axes.plot(*zip(*held, strict=True) if held else ([], []), "x", color=INK, markersize=4)
            axes.set_ylabel(label, color=SOFT, fontsize=8)
            axes.grid(axis="y", color=LINE, linewidth=0.6)
        axes.set_xlabel(
            "round, over all runs in their order; crossed where clocks were held down",
            color=SOFT,
            fontsize=8,
        )
        return markup(figure, prefix, f"Clock, power and temperature over {len(states)} rounds")


def counts_plot(counts: Mapping[str, int], prefix: str) -> Any:
    """Kernel launches of one warm call of each job, over a logarithmic axis.

    Args:
      counts: job to launches.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    with mpl.rc_context(SETTINGS):
        figure, axes = bare_axes(4.9, 0.8 + 0.27 * len(counts), "launches of one call")
        for row, launches in enumerate(counts.values()):
            axes.plot([0.8, max(launches, 0.8)], [row, row], color=LINE, linewidth=1.5)
            if launches:
                axes.plot([launches], [row], MARKERS[0], color=SERIES[0], markersize=5)
            axes.text(max(launches, 0.8) * 1.18, row, f"{launches:,}", va="center", fontsize=8)
        axes.set_yticks(range(len(counts)), [shortened(name, 30) for name in counts])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlim(0.8, max([10, *counts.values()]) * 2.2)
        _decades(axes, "x", lambda value: f"{value:,.0f}")
        spoken = ", ".join(f"{name} {launches:,}" for name, launches in counts.items())
        return markup(figure, prefix, f"Launches: {spoken}")


def _labels(roofs: Mapping[str, float], unit: str = "FLOP/s") -> list[tuple[float, str]]:
    """Where each label of a ceiling stands; ceilings that lie close share one."""
    groups: list[list[tuple[float, str]]] = []
    for name, roof in sorted(roofs.items(), key=lambda pair: pair[1]):
        if not groups or roof > groups[-1][0][0] * _CLOSE:
            groups.append([])
        groups[-1].append((roof, f"{name} {quantity_text(roof, unit)}"))
    return [(group[-1][0], ", ".join(label for _, label in group)) for group in groups]


def _decades(axes: Axes, which: str, text: Callable[[float], str]) -> None:
    """Ticks at powers of ten, seven at most, in words of the unit."""
    from matplotlib.ticker import NullLocator  # noqa: PLC0415 - as above

    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    ticks = [10.0**power for power in powers][:: max(1, math.ceil(len(powers) / 7))]
    if len(ticks) < 2:
        ticks = [float(f"{low:.2g}"), float(f"{high:.2g}")]
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(ticks, [text(tick) for tick in ticks])
    if which == "x":
        axes.set_xlim(low, high)
    else:
        axes.set_ylim(low, high)
