"""The page of a history: each series with its runs, levels, and the commits where they changed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reports.history import Change, Series
from sessrun.reports.html import content_policy, template, template_text
from sessrun.reports.measures import seconds_text
from sessrun.reports.plots import BAD, GOOD, INK, SERIES, SETTINGS, SOFT, curve_axes, markup
from sessrun.reports.printable import number, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["history_html"]

#: How many commits stand under the axis at most.
_LABELS: Final = 8


def history_html(path: Path, series: Sequence[tuple[Series, Sequence[Change]]]) -> str:
    """A history as an HTML page, series with changes first.

    Args:
      path: the history's file, for its title.
      series: each series with its changes, as `sessrun.reports.history.changes` gives them.

    """
    style = template_text("style.css") + template_text("bench.css")
    runs = {(one.commits[i], one.times[i]) for one, _ in series for i in range(len(one.commits))}
    ordered = sorted(series, key=lambda pair: (not pair[1], pair[0].case, pair[0].backend))
    page: str = template("history.html.j2").render(
        title=f"Benchmarks over time: {shortened(path.name, 80)}",
        style=style,
        policy=content_policy(style),
        facts=[
            ("Runs", f"{len(runs):,}"),
            ("Machines", f"{len({one.machine for one, _ in series}):,}"),
            ("Series", f"{len(series):,}"),
            ("Changes", f"{sum(len(changed) for _, changed in series):,}"),
        ],
        series=[_series(one, changed, f"s{i}") for i, (one, changed) in enumerate(ordered)],
    )
    return page


def _series(series: Series, changed: Sequence[Change], prefix: str) -> dict[str, Any]:
    return {
        "name": shortened(f"{series.case}, {series.backend}", 120),
        "about": f"{number(len(series.commits), 'run')} on machine {shortened(series.machine, 16)}",
        "plot": _plot(series, changed, prefix),
        "changes": [
            {
                "style": "broken" if change.ratio > 1 else "holds",
                "word": "▼ slower" if change.ratio > 1 else "▲ faster",
                "ratio": f"{change.ratio:.3f}",
                "commit": shortened(change.commit, 40),
                "before": shortened(change.before, 40),
                "pvalue": f"{change.pvalue:.2g}",
            }
            for change in changed
        ],
    }


def _plot(series: Series, changed: Sequence[Change], prefix: str) -> Any:
    """A plot as safe markup: a dot for each run, a line for each level, a mark at each change."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - as above

    with mpl.rc_context(SETTINGS):
        figure, axes = curve_axes(6.4, 2.4)
        axes.plot(series.seconds, "o", color=SERIES[0], markersize=3.4, markeredgewidth=0)
        _draw_levels(axes, series, changed)
        top = max(series.seconds) * 1.08
        axes.set_ylim(0, top)
        ticks = [tick for tick in MaxNLocator(4).tick_values(0, top) if tick < top]
        axes.set_yticks(ticks, ["0", *(seconds_text(tick, 2) for tick in ticks[1:])])
        count = len(series.commits)
        shown = np.unique(np.linspace(0, count - 1, min(count, _LABELS)).astype(int))
        axes.set_xticks(shown, [shortened(series.commits[i], 8) for i in shown])
        changes = ", ".join(f"{change.ratio:.3f} at {change.commit}" for change in changed)
        alternative = f"{series.case}, {series.backend}, over runs: {changes or 'no change'}"
        return markup(figure, prefix, alternative)


def _draw_levels(axes: Axes, series: Series, changed: Sequence[Change]) -> None:
    ends = [0, *(change.index for change in changed), len(series.seconds)]
    for start, end in itertools.pairwise(ends):
        level = float(np.median(series.seconds[start:end]))
        axes.plot([start - 0.4, end - 0.6], [level, level], color=INK, linewidth=1.2)
    for change in changed:
        colour = BAD if change.ratio > 1 else GOOD
        axes.axvline(change.index - 0.5, color=colour, linewidth=1)
        axes.text(
            change.index - 0.4,
            0.04,
            f"{change.ratio:.2f} times at {shortened(change.commit, 8)}",
            transform=axes.get_xaxis_transform(),
            color=SOFT,
            fontsize=8,
        )
