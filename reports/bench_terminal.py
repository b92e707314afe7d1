"""The terminal views of benchmark runs and comparisons, for eighty columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessrun.reports.comparison import Comparison, Row
from sessrun.reports.device_words import COUNTED, ceiling_rows, counts_cells, device_facts, doubts
from sessrun.reports.history import Change, Series
from sessrun.reports.measures import (
    Measure,
    is_on_gpu,
    measures_of,
    range_text,
    seconds_text,
    share_text,
)
from sessrun.reports.memory_view import MEMORY_COLUMNS, memory_rows
from sessrun.reports.printable import number, shortened

__all__ = ["print_bench", "print_changes", "print_comparison"]

_STYLE: Final = {"FASTER": "green", "SLOWER": "bold red", "SAME": "", "UNDECIDED": "yellow"}


def print_bench(run: Mapping[str, Any], console: Console | None = None) -> None:
    """Print each case's median, quartiles, speed against the first backend, nearest ceiling.

    The memory of the jobs follows in a table of its own.

    On a GPU the medians between its events and with cold inputs in place of the quartiles, and
    what was counted in a table of its own; first and last the doubts.

    Args:
      run: the run (`sessrun.reports.comparison.read_bench`).
      console: where to; standard output if None.

    """
    on_gpu = is_on_gpu(run)
    columns = ("wall", "device", "cold") if on_gpu else ("median", "quartiles")
    table = _table("case", "backend", *columns, "x first", "reaches", gap=1 if on_gpu else 2)
    cases = measures_of(run)
    for case, measures in cases.items():
        for index, measure in enumerate(measures):
            name = Text("" if index else shortened(case, 48))
            table.add_row(name, *_measure_cells(measure, on_gpu=on_gpu))
    out = console or Console()
    for sentence in doubts(run):
        out.print(Text(sentence, "bold red"))
    out.print(table)
    _print_memory(run, out)
    _print_device(run, [m for measures in cases.values() for m in measures], out)
    for measure in (m for measures in cases.values() for m in measures if not m.correct):
        who = f"{shortened(measure.case, 48)}, {shortened(measure.backend, 32)}"
        out.print(Text(f"{who}: {shortened(measure.detail, 200)}", "red"))
    out.print(Text(f"{number(run['rounds'], 'interleaved round')}, seed {run['seed']}", "dim"))


def _print_memory(run: Mapping[str, Any], out: Console) -> None:
    """Print the resident memory of each job's process, where it was measured."""
    rows = memory_rows(run)
    if not rows:
        return
    table = _table("memory of", "backend", *MEMORY_COLUMNS)
    previous = ""
    for row in rows:
        name = "" if row.case == previous else shortened(row.case, 48)
        table.add_row(*map(Text, (name, shortened(row.backend, 32), *row.cells)))
        previous = row.case
    out.print(table)


def _print_device(run: Mapping[str, Any], measures: Sequence[Measure], out: Console) -> None:
    """What was counted, the device's facts and ceilings, what was left out."""
    counted = [measure for measure in measures if measure.counts]
    if counted:
        table = _table("of one call", *COUNTED)
        for measure in counted:
            cells = (shortened(measure.case, 32), *counts_cells(measure.counts))
            table.add_row(*map(Text, cells))
        out.print(table)
        where = {shortened(measure.counts["counted_on"], 40) for measure in counted}
        out.print(Text(f"counted on {', '.join(sorted(where))}", "dim"))
    facts = device_facts(run)
    if is_on_gpu(run):
        facts += [
            (what, f"{before or 'none'} before, {after or 'none'} after")
            for what, before, after in ceiling_rows(run)
        ]
    for name, value in facts:
        out.print(Text(f"{name}: {value}", "dim"))
    for entry in run.get("left_out", []):
        who = ", ".join(shortened(entry[key], 48) for key in ("case", "backend") if key in entry)
        out.print(Text(f"left out {who}: {shortened(entry['reason'], 200)}", "yellow"))


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print each row's verdict, ratio and interval, and why what is undecided is so.

    Args:
      comparison: the comparison.
      console: where to; standard output if None.

    """
    several = len({row.backend for row in comparison.rows}) > 1
    names = ["verdict", "case", "backend", "ratio", "interval", "old", "new"]
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


def print_changes(
    series: Sequence[tuple[Series, Sequence[Change]]], console: Console | None = None
) -> None:
    """Print where the level of each series of a history changed.

    Args:
      series: each with its changes, as `sessrun.reports.history.changes` gives them.
      console: where to; standard output if None.

    """
    out = console or Console()
    table = _table("change", "case", "backend", "commit", "after", "new / old", "now")
    for one, changes in series:
        for change in changes:
            word, style = ("slower", "bold red") if change.ratio > 1 else ("faster", "green")
            cells = (
                shortened(one.case, 40),
                shortened(one.backend, 24),
                shortened(change.commit, 12),
                shortened(change.before, 12),
                f"{change.ratio:.3f}",
                seconds_text(one.seconds[-1]),
            )
            table.add_row(Text(word, style), *map(Text, cells))
    count = sum(len(changes) for _, changes in series)
    if count:
        out.print(table)
    runs = max((len(one.commits) for one, _ in series), default=0)
    out.print(Text(f"{number(count, 'change')} in {f'{len(series):,} series'}, up to {runs} runs"))


def _table(*names: str, gap: int = 2) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    right = {"median", "wall", "device", "cold", "x first", "ratio", "old", "new", *COUNTED}
    right |= {"new / old", "now", *MEMORY_COLUMNS}
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def _measure_cells(measure: Measure, *, on_gpu: bool) -> tuple[Text, ...]:
    speed = "" if measure.times_first is None else f"{measure.times_first:.3g}"
    nearest = max(measure.ceilings.items(), key=lambda pair: pair[1], default=None)
    reaches = "" if nearest is None else f"{share_text(nearest[1])} of {nearest[0]}"
    if on_gpu:
        more = tuple(
            "" if it is None else seconds_text(it) for it in (measure.device, measure.cold)
        )
    else:
        more = (range_text(measure.low, measure.high),)
    cells = (shortened(measure.backend, 32), seconds_text(measure.median), *more, speed)
    last = Text(reaches) if measure.correct else Text("WRONG ANSWER", "bold red")
    return (*map(Text, cells), last)


def _undecided(comparison: Comparison) -> dict[str, list[str]]:
    """Each reason why a row is undecided, with the cases for which it is."""
    reasons: dict[str, list[str]] = {}
    for row in comparison.rows:
        if row.verdict == "UNDECIDED":
            reasons.setdefault(row.reason, []).append(shortened(row.case, 40))
    return {reason: list(dict.fromkeys(cases)) for reason, cases in reasons.items()}


def _row_cells(row: Row) -> tuple[Text, ...]:
    interval = "" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
    cells = (
        shortened(row.case, 40),
        shortened(row.backend, 32),
        "" if row.ratio is None else f"{row.ratio:.3f}",
        interval,
        seconds_text(row.old_median),
        seconds_text(row.new_median),
    )
    return (Text(row.verdict, _STYLE[row.verdict]), *map(Text, cells))
