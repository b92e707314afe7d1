"""Tables, pages and plots of measurements that are curves: memory over steps, cost over sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessrun.reports.bench_html import fact_label
from sessrun.reports.html import content_policy, flat, template, template_text
from sessrun.reports.plots import MARKERS, SERIES, SETTINGS, SOFT, curve_axes, markup
from sessrun.reports.printable import printable, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MARKS",
    "Card",
    "Curve",
    "VerdictRow",
    "curve_plot",
    "curves_html",
    "print_verdicts",
    "run_facts",
]

#: Style class and mark of a verdict, so that nothing depends on the colour.
MARKS: Final = {
    "FLAT": ("holds", "✓"),
    "GROWS": ("broken", "✗"),
    "CONSTANT": ("holds", "✓"),
    "LINEAR": ("holds", "✓"),
    "SUPERLINEAR": ("broken", "✗"),
    "UNDECIDED": ("open", "?"),
}

#: The style of a verdict on the terminal, by its style class.
_STYLES: Final = {"holds": "", "broken": "bold red", "open": "yellow"}


@dataclass(frozen=True, slots=True)
class Curve:
    """A backend's measurements.

    Attributes:
      name: the backend.
      x: steps or sizes.
      y: what was measured at each.
      fit: ends of the line fitted to it, as (x, y) pairs; empty without one.

    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    fit: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A row of the table of verdicts: the verdict, and the other cells."""

    verdict: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A plot with its heading and a sentence."""

    name: str
    about: str
    plot: Any


def run_facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """When, with what and on which machine a run was measured, as label and text."""
    date = shortened(run["started"], 40).replace("T", " ").replace("+00:00", " UTC")
    facts = [("Date", date), ("sessrun", shortened(run["sessrun"], 40))]
    for name, value in sorted(run["fingerprint"].items()):
        facts.append((shortened(fact_label(name), 40), shortened(flat(value), 300)))
    return facts


def print_verdicts(
    columns: Sequence[str],
    rows: Sequence[VerdictRow],
    reasons: Sequence[str],
    console: Console | None = None,
) -> None:
    """Print a table of verdicts, and below it lines of reasons.

    Args:
      columns: the headings beside that of the verdict; the first two are of words.
      rows: the verdicts.
      reasons: the lines below the table: why a verdict is open, or what was left out.
      console: where to; standard output if None.

    """
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column("verdict")
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index < 2 else "right")
    for row in rows:
        style = _STYLES[MARKS[row.verdict][0]]
        table.add_row(Text(row.verdict, style), *map(Text, row.cells))
    out = console or Console()
    out.print(table)
    for reason in reasons:
        out.print(Text(reason, "yellow"))


def curves_html(
    title: str,
    facts: Sequence[tuple[str, str]],
    note: str,
    columns: Sequence[str],
    rows: Sequence[VerdictRow],
    cards: Sequence[Card],
    left_out: Sequence[str] = (),
) -> str:
    """A self-contained page.

    Args:
      title: its title.
      facts: labels and texts at its head.
      note: what the verdicts mean, in sentences.
      columns: the names of the cells of `rows`, the first two of which are texts.
      rows: the verdicts.
      cards: the plots.
      left_out: what was not measured, in sentences.

    """
    style = template_text("style.css") + template_text("bench.css")
    page: str = template("curves.html.j2").render(
        title=shortened(title, 160),
        style=style,
        policy=content_policy(style),
        facts=facts,
        note=note,
        columns=columns,
        rows=[
            {"style": MARKS[row.verdict][0], "mark": MARKS[row.verdict][1]}
            | {"verdict": row.verdict, "cells": [shortened(cell, 200) for cell in row.cells]}
            for row in rows
        ],
        cards=[
            {"name": shortened(card.name, 120), "about": printable(card.about), "plot": card.plot}
            for card in cards
        ],
        left_out=[shortened(entry, 300) for entry in left_out],
    )
    return page


def curve_plot(
    curves: Sequence[Curve],
    prefix: str,
    labels: tuple[str, str],
    texts: tuple[Callable[[float], str], Callable[[float], str]],
    *,
    logarithmic: bool,
) -> Any:
    """Curves over common axes, as safe markup.

    Args:
      curves: what to draw.
      prefix: what the ids of this plot start with; unique on its page.
      labels: of the axes; together they say to readers what the plot shows.
      texts: a tick's value in words, for each axis.
      logarithmic: whether both axes are, by powers of two and of ten; else the second begins at 0.

    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    with mpl.rc_context(SETTINGS):
        figure, axes = curve_axes(5.2, 2.9)
        if logarithmic:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
        styles = itertools.cycle(zip(SERIES, MARKERS, strict=True))
        for curve, (colour, marker) in zip(curves, styles, strict=False):
            _draw(axes, curve, colour, marker if logarithmic else "")
        _label(axes, curves, labels, texts, logarithmic=logarithmic)
        if len(curves) > 1:
            axes.legend(frameon=False, fontsize=8)
        names = ", ".join(curve.name for curve in curves)
        return markup(figure, prefix, f"{labels[1]} over {labels[0]}: {names}")


def _draw(axes: Axes, curve: Curve, colour: str, marker: str) -> None:
    name = shortened(curve.name, 40).lstrip("_")  # a legend leaves out what begins with it
    style: dict[str, Any] = {"color": colour, "label": name}
    if marker:
        axes.plot(curve.x, curve.y, marker, markersize=4, markeredgewidth=0, **style)
    else:
        axes.plot(curve.x, curve.y, linewidth=1.2, **style)
    if curve.fit:
        x, y = zip(*curve.fit, strict=True)
        axes.plot(x, y, color=colour, linewidth=1, alpha=0.8)


def _label(
    axes: Axes,
    curves: Sequence[Curve],
    labels: tuple[str, str],
    texts: tuple[Callable[[float], str], Callable[[float], str]],
    *,
    logarithmic: bool,
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator  # noqa: PLC0415 - slow

    axes.set_xlabel(shortened(labels[0], 40), color=SOFT, fontsize=8)
    axes.set_ylabel(shortened(labels[1], 40), color=SOFT, fontsize=8)
    if logarithmic:
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        values = sorted({x for curve in curves for x in curve.x})
        axes.set_xticks(values[:: max(1, len(values) // 6)])
        _tick_times(axes, [y for curve in curves for y in curve.y])
    else:
        axes.set_ylim(0, 1.1 * max(y for curve in curves for y in curve.y))
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.yaxis.set_major_locator(MaxNLocator(5))
    for axis, text in zip((axes.xaxis, axes.yaxis), texts, strict=True):
        axis.set_major_formatter(FuncFormatter(lambda value, _, text=text: text(value)))


def _tick_times(axes: Axes, values: Sequence[float]) -> None:
    """Ticks of a logarithmic axis: powers of ten, with their thirds where there are few."""
    low, high = min(values) / 1.3, max(values) * 1.3
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    subs = (1, 3) if high / low < 1000 else (1,)
    ticks = [sub * 10.0**power for power in powers for sub in subs]
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
