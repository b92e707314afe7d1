"""The terminal views of benchmark runs and comparisons, for eighty columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessrun.reports.comparison import Comparison, Row
from sessrun.reports.measures import Measure, measures_of, range_text, seconds_text, share_text
from sessrun.reports.printable import number, shortened

__all__ = ["print_bench", "print_comparison"]

_STYLE: Final = {"FASTER": "green", "SLOWER": "bold red", "SAME": "", "UNDECIDED": "yellow"}


def print_bench(run: Mapping[str, Any], console: Console | None = None) -> None:
    """Print each case's median, quartiles, speed against the first backend, nearest ceiling.

    Args:
      run: the run (`sessrun.reports.comparison.read_bench`).
      console: where to; standard output if None.

    """
    table = _table("case", "backend", "median", "quartiles", "x first", "reaches")
    cases = measures_of(run)
    for case, measures in cases.items():
        for index, measure in enumerate(measures):
            table.add_row(Text("" if index else shortened(case, 48)), *_measure_cells(measure))
    out = console or Console()
    out.print(table)
    for measure in (m for measures in cases.values() for m in measures if not m.correct):
        who = f"{shortened(measure.case, 48)}, {shortened(measure.backend, 32)}"
        out.print(Text(f"{who}: {shortened(measure.detail, 200)}", "red"))
    out.print(Text(f"{number(run['rounds'], 'interleaved round')}, seed {run['seed']}", "dim"))


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print each row's verdict, ratio and interval, and why what is undecided is so.

    Args:
      comparison: the comparison.
      console: where to; standard output if None.

    """
    several = len({row.backend for row in comparison.rows}) > 1
    names = ["verdict", "case", "backend", "ratio", "95 % interval", "old", "new"]
    shown = [name for name in names if several or name != "backend"]
    table = _table(*shown, gap=1 if several else 2)
    for row in comparison.rows:
        cells = _row_cells(row)
        table.add_row(*(cells if several else (*cells[:2], *cells[3:])))
    out = console or Console()
    for note in comparison.notes:
        out.print(Text(note, "yellow"))
    out.print(table)
    for reason, cases in _undecided(comparison).items():
        out.print(Text(f"UNDECIDED {', '.join(cases)}: {reason}", "yellow"))
    counts = ", ".join(f"{count} {name}" for name, count in comparison.counts.items() if count)
    old, new = shortened(comparison.old, 60), shortened(comparison.new, 60)
    out.print(Text(f"{new} against {old}: {counts or 'nothing to compare'}"))


def _table(*names: str, gap: int = 2) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    right = {"median", "x first", "ratio", "old", "new"}
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def _measure_cells(measure: Measure) -> tuple[Text, ...]:
    speed = "" if measure.times_first is None else f"{measure.times_first:.3g}"
    nearest = max(measure.ceilings.items(), key=lambda pair: pair[1], default=None)
    reaches = "" if nearest is None else f"{share_text(nearest[1])} of {nearest[0]}"
    quartiles = range_text(measure.low, measure.high)
    cells = (shortened(measure.backend, 32), seconds_text(measure.median), quartiles, speed)
    last = Text(reaches) if measure.correct else Text("WRONG ANSWER", "bold red")
    return (*map(Text, cells), last)


def _undecided(comparison: Comparison) -> dict[str, list[str]]:
    """Each reason why a row is undecided, with the cases for which it is."""
    found: dict[str, list[str]] = {}
    for row in comparison.rows:
        if row.verdict == "UNDECIDED":
            found.setdefault(row.reason, []).append(shortened(row.case, 40))
    return {reason: list(dict.fromkeys(cases)) for reason, cases in found.items()}


def _row_cells(row: Row) -> tuple[Text, ...]:
    interval = "" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
    cells = (
        shortened(row.case, 40), shortened(row.backend, 32),
        "" if row.ratio is None else f"{row.ratio:.3f}", interval,
        seconds_text(row.old_median), seconds_text(row.new_median),
    )  # fmt: skip
    return (Text(row.verdict, _STYLE[row.verdict]), *map(Text, cells))
