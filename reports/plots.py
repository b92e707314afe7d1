"""Plots of benchmark reports: matplotlib's SVG, made fit to stand inside a page.

matplotlib is imported when the first plot is drawn. Its colours become the page's variables, so
that a plot follows light and dark; its style attributes become plain ones, so that the page's
content policy need not admit styles that it does not know.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from sessrun.reports.comparison import Comparison, Row
from sessrun.reports.measures import Measure, seconds_text
from sessrun.reports.printable import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BAD",
    "GOOD",
    "INK",
    "LINE",
    "MARKERS",
    "SERIES",
    "SETTINGS",
    "SOFT",
    "bare_axes",
    "curve_axes",
    "markup",
    "ratio_plot",
    "times_plot",
]

#: Colours that matplotlib is given, and what the page makes of them.
INK, SOFT, LINE, _WASH = "#000001", "#000002", "#000003", "#000004"
_GROUND: Final = "#000005"
SERIES: Final = ("#000011", "#000012", "#000013", "#000014")
GOOD, BAD, _OPEN = "#000021", "#000022", "#000023"
_PAGE: Final = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    _WASH: "var(--wash)",
    _GROUND: "var(--page)",
    GOOD: "var(--good)",
    BAD: "var(--bad)",
    _OPEN: "var(--open)",
    **{colour: f"var(--series-{index})" for index, colour in enumerate(SERIES)},
}
MARKERS: Final = ("o", "s", "^", "D")
_RATIO_STYLE: Final = {
    "FASTER": (GOOD, "<"),
    "SLOWER": (BAD, ">"),
    "SAME": (SOFT, "o"),
    "UNDECIDED": (_OPEN, "D"),
}
SETTINGS: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sessrun",
    "text.parse_math": False,
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "xtick.color": SOFT,
    "ytick.color": INK,
}
#: Ticks between two powers of ten, by how many times the least the greatest is.
_TICKS: Final = ((100.0, (1.0,)), (10.0, (1.0, 3.0)), (3.0, (1.0, 2.0, 5.0)))
_SVG: Final = "{http://www.w3.org/2000/svg}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_REFERENCE: Final = re.compile(r"url\(#([^)]*)\)")


def times_plot(measures: Sequence[Measure], prefix: str) -> Any:
    """Box and dots of each backend's samples over a logarithmic axis of time, as safe markup.

    Args:
      measures: the series of one case.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    with mpl.rc_context(SETTINGS):
        figure, axes = bare_axes(4.4, 0.75 + 0.5 * len(measures), "time of one call")
        for row, measure in enumerate(measures):
            _draw_series(axes, measure, row)
        axes.set_yticks(
            range(len(measures)), [shortened(measure.backend, 18) for measure in measures]
        )
        axes.set_ylim(len(measures) - 0.4, -0.6)
        samples = [sample for measure in measures for sample in measure.samples]
        _time_axis(axes, min(samples) / 1.06, max(samples) * 1.06)
        spoken = ", ".join(f"{m.backend} {seconds_text(m.median)}" for m in measures)
        return markup(figure, prefix, f"Times of {measures[0].case}: medians {spoken}")


def ratio_plot(comparison: Comparison, prefix: str) -> Any:
    """Ratio and interval of each decided or undecided row, 1 in the middle, as safe markup.

    Args:
      comparison: the comparison; rows without an interval are left out.
      prefix: what the ids of this plot start with; unique on its page.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    rows = [
        (row, (row.low, row.high))
        for row in comparison.rows
        if row.low is not None and row.high is not None
    ]
    with mpl.rc_context(SETTINGS):
        figure, axes = bare_axes(4.9, 0.8 + 0.42 * max(1, len(rows)), "new time / old time")
        margin = 1 + comparison.margin
        axes.axvspan(1 / margin, margin, color=_WASH, linewidth=0)
        axes.axvline(1, color=SOFT, linewidth=0.8)
        for index, (row, ends) in enumerate(rows):
            _draw_ratio(axes, row, ends, index)
        axes.set_yticks([])
        axes.set_ylim(len(rows) - 0.3, -0.8)
        reach = max([1.1, *(max(high, 1 / low) for _, (low, high) in rows)]) * 1.03
        _ratio_axis(axes, reach)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in comparison.counts.items())
        return markup(figure, prefix, f"Ratios of new to old times: {counts}")


def bare_axes(width: float, height: float, along: str) -> tuple[Figure, Axes]:
    """A figure of inches, and its axes: a logarithmic one, labelled `along`, and rows."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.patch.set_visible(False)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", which="major", color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(along, color=SOFT, fontsize=8)
    return figure, axes


def curve_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of inches, and its axes for curves: lines at the heights that are labelled."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color=LINE, linewidth=0.6)
    return figure, axes


def _draw_series(axes: Axes, measure: Measure, position: int) -> None:
    colour = SERIES[position % len(SERIES)]
    line = {"color": colour, "linewidth": 1.1}
    axes.boxplot(
        [list(measure.samples)],
        positions=[position - 0.16],
        orientation="horizontal",
        widths=0.24,
        showfliers=False,
        manage_ticks=False,
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={"color": INK, "linewidth": 2},
    )
    rows = [position + 0.1 + 0.05 * (index % 5) for index in range(len(measure.samples))]
    axes.plot(
        measure.samples,
        rows,
        MARKERS[position % len(MARKERS)],
        color=colour,
        markersize=2.6,
        markeredgewidth=0,
        alpha=0.75,
    )


def _draw_ratio(axes: Axes, row: Row, ends: tuple[float, float], position: int) -> None:
    colour, marker = _RATIO_STYLE[row.verdict]
    assert row.ratio is not None
    axes.plot(ends, [position, position], color=colour, linewidth=1.8)
    axes.plot([row.ratio], [position], marker, color=colour, markersize=6)
    label = shortened(f"{row.case}, {row.backend}", 60)
    axes.text(
        0.01,
        position - 0.3,
        f"{label}: {row.verdict}",
        va="center",
        transform=axes.get_yaxis_transform(),
        fontsize=8.5,
        bbox={"facecolor": _GROUND, "linewidth": 0, "pad": 0.6},
    )


def _time_axis(axes: Axes, low: float, high: float) -> None:
    axes.set_xlim(low, high)
    _ticks(axes, _places(low, high), seconds_text)


def _ratio_axis(axes: Axes, reach: float) -> None:
    axes.set_xlim(1 / reach, reach)
    above, below = _places(1, reach), _places(1 / reach, 1)
    _ticks(axes, sorted({1.0, *above, *below}), lambda value: f"{value:.3g}")


def _places(low: float, high: float) -> list[float]:
    """Where the ticks of a logarithmic axis stand: round numbers, three to seven of them."""
    subs = next((subs for least, subs in _TICKS if high / low >= least), None)
    if subs is None:
        step = 10.0 ** math.floor(math.log10((high - low) / 3))
        step *= next(k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 5)
        first = math.ceil(low / step)
        return [step * index for index in range(first, math.floor(high / step) + 1)]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    positions = [sub * 10.0**power for power in powers for sub in subs]
    inside = [position for position in positions if low <= position <= high]
    return inside[:: max(1, math.ceil(len(inside) / 7))]


def _ticks(axes: Axes, positions: Iterable[float], text: Any) -> None:
    from matplotlib.ticker import NullLocator  # noqa: PLC0415 - as above

    chosen = list(positions)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(chosen, [text(position) for position in chosen])


def markup(figure: Figure, prefix: str, label: str) -> Any:
    """The figure as inline SVG: our colours, no style, ids of its own, a label for readers."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    drawn = ET.fromstring(buffer.getvalue())  # noqa: S314 - matplotlib's own output
    root = _plain(drawn, f"{prefix}-")
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    root.set("role", "img")
    root.set("aria-label", shortened(label, 400))
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - escaped by ElementTree


def _plain(element: ET.Element, prefix: str) -> ET.Element:
    """A copy without namespaces and styles, every id and reference with the prefix."""
    copy = ET.Element(element.tag.removeprefix(_SVG))
    copy.text = element.text
    copy.tail = element.tail
    for name, value in element.attrib.items():
        if name == "style":
            _spread(copy, value)
        elif name == "id":
            copy.set("id", prefix + value)
        elif name == _LINK:
            copy.set("href", f"#{prefix}{value.removeprefix('#')}")
        elif not name.startswith("{"):
            copy.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    for child in element:
        if child.tag.removeprefix(_SVG) not in {"metadata", "style"}:
            copy.append(_plain(child, prefix))
    return copy


def _spread(element: ET.Element, style: str) -> None:
    """Set the attributes that a style says, with the page's colours for ours."""
    for part in style.split(";"):
        name, _, value = part.partition(":")
        name, value = name.strip(), value.strip()
        if name and name not in {"font-family", "font"}:
            element.set(name, _PAGE.get(value, value))
