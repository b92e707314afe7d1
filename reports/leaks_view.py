"""The views of loops whose memory was followed: a table for the terminal, a page with curves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from sessrun.reports.curves import (
    Card,
    Curve,
    VerdictRow,
    curve_plot,
    curves_html,
    print_verdicts,
    run_facts,
)
from sessrun.reports.leak_verdicts import CONFIDENCE, LIMIT, Trend, trend_of
from sessrun.reports.memory_view import MIB, mib_text
from sessrun.reports.printable import shortened
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError, check

__all__ = ["leaks_html", "print_leaks", "read_leaks"]

_COLUMNS: Final = ("Loop", "Backend", "Steps", "Bytes a step", "Interval", "Resident at the end")
_NOTE: Final = (
    f"Resident memory over steps. GROWS: the {CONFIDENCE:.0%} interval of the slope is above "
    f"{LIMIT:g} bytes a step; FLAT: it is below. The first fifth of the steps does not count."
)


def read_leaks(path: Path) -> dict[str, Any]:
    """Read a file of loops.

    Raises:
      SpecError: it is not one.

    """
    form: dict[str, Any] = read_json(path)
    check(form, "leaks", str(path))
    for number, course in enumerate(form["courses"]):
        steps = course["steps"]
        if len(steps) != len(course["resident"]) or any(
            later <= earlier for earlier, later in itertools.pairwise(steps)
        ):
            reason = "steps must ascend, and each has a reading"
            raise SpecError(str(path), f"courses[{number}]", reason)
    return form


def _cells(course: Mapping[str, Any], trend: Trend) -> tuple[str, ...]:
    return (
        shortened(course["loop"], 60),
        shortened(course["backend"], 60),
        f"{course['steps'][-1]:,}",
        f"{trend.slope:,.1f}",
        f"{trend.low:,.1f} to {trend.high:,.1f}",
        mib_text(course["resident"][-1]),
    )


def print_leaks(run: Mapping[str, Any], console: Console | None = None) -> None:
    """Print each loop's verdict, slope and interval.

    Args:
      run: the run (`read_leaks`).
      console: where to; standard output if None.

    """
    rows, reasons = [], []
    for course in run["courses"]:
        trend = trend_of(course)
        row = VerdictRow(trend.verdict, _cells(course, trend))
        rows.append(row)
        if trend.verdict == "UNDECIDED":
            detail = f": {shortened(course['detail'], 200)}" if course["detail"] else ""
            loop, backend, *_ = row.cells
            reasons.append(f"UNDECIDED {loop}, {backend}: {trend.reason}{detail}")
    columns = ("loop", "backend", "steps", "bytes a step", "interval", "end")
    print_verdicts(columns, rows, reasons, console)


def leaks_html(run: Mapping[str, Any]) -> str:
    """A run as a page: verdicts, and the memory of each loop over its steps.

    Args:
      run: the run (`read_leaks`).

    """
    rows = []
    loops: dict[str, list[Mapping[str, Any]]] = {}
    for course in run["courses"]:
        trend = trend_of(course)
        rows.append(VerdictRow(trend.verdict, _cells(course, trend)))
        loops.setdefault(course["loop"], []).append(course)
    cards = [
        Card(loop, courses[0]["about"], _plot(courses, f"loop{number}"))
        for number, (loop, courses) in enumerate(loops.items())
    ]
    backends = ", ".join(dict.fromkeys(course["backend"] for course in run["courses"]))
    return curves_html(
        f"Memory over steps of {backends}", run_facts(run), _NOTE, _COLUMNS, rows, cards
    )


def _plot(courses: list[Mapping[str, Any]], prefix: str) -> Any:
    curves = [
        Curve(one["backend"], one["steps"], [count / MIB for count in one["resident"]])
        for one in courses
    ]
    texts = (lambda steps: f"{steps:,.0f}", lambda mib: f"{mib:,g} MiB")
    return curve_plot(curves, prefix, ("steps", "resident memory"), texts, logarithmic=False)
