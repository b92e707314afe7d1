"""The terminal views of benchmark runs and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessrun.reports.comparison import Comparison, Row
from sessrun.reports.measures import Measure, measures_of, seconds_text
from sessrun.reports.printable import number, shortened

__all__ = ["print_bench", "print_comparison"]

_STYLE: Final = {"FASTER": "green", "SLOWER": "bold red", "SAME": "", "UNDECIDED": "yellow"}


def print_bench(run: Mapping[str, Any], console: Console | None = None) -> None:
    """Print each case's median, quartiles, speed against the first backend, share of ceilings.

    Args:
      run: the run (`sessrun.reports.comparison.read_bench`).
      console: where to; standard output if None.

    """
    table = _table("case", "backend", "median", "quartiles", "x first", "of ceiling", "")
    for case, measures in measures_of(run).items():
        for index, measure in enumerate(measures):
            table.add_row(Text("" if index else shortened(case, 48)), *_measure_cells(measure))
    out = console or Console()
    out.print(table)
    out.print(Text(f"{number(run['rounds'], 'interleaved round')}, seed {run['seed']}", "dim"))


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print each row's verdict, ratio and interval, and what must be known beside them.

    Args:
      comparison: the comparison.
      console: where to; standard output if None.

    """
    table = _table("verdict", "case", "backend", "ratio", "95 % interval", "old", "new", "why")
    for row in comparison.rows:
        table.add_row(*_row_cells(row))
    out = console or Console()
    for note in comparison.notes:
        out.print(Text(note, "yellow"))
    out.print(table)
    counts = ", ".join(f"{count} {name}" for name, count in comparison.counts.items() if count)
    old, new = shortened(comparison.old, 60), shortened(comparison.new, 60)
    out.print(Text(f"{new} against {old}: {counts or 'nothing to compare'}"))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    right = {"median", "x first", "ratio", "old", "new"}
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def _measure_cells(measure: Measure) -> tuple[Text, ...]:
    speed = "" if measure.times_first is None else f"{measure.times_first:.3g}"
    shares = ", ".join(f"{share:.0%} {name}" for name, share in measure.ceilings.items())
    quartiles = f"{seconds_text(measure.low)} to {seconds_text(measure.high)}"
    cells = (shortened(measure.backend, 32), seconds_text(measure.median), quartiles, speed, shares)
    wrong = Text("" if measure.correct else "WRONG ANSWER", "bold red")
    return (*map(Text, cells), wrong)


def _row_cells(row: Row) -> tuple[Text, ...]:
    interval = "" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
    cells = (
        shortened(row.case, 40), shortened(row.backend, 32),
        "" if row.ratio is None else f"{row.ratio:.3f}", interval,
        seconds_text(row.old_median), seconds_text(row.new_median), row.reason,
    )  # fmt: skip
    return (Text(row.verdict, _STYLE[row.verdict]), *map(Text, cells))
