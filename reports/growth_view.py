"""The views of costs over sizes: a table for the terminal, a page with a plot of each cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from sessrun.reports.growth_fit import (
    CONFIDENCE,
    LIMITS,
    UPPER,
    Exponent,
    exponent_of,
    least_seconds,
)
from sessrun.reports.measures import seconds_text
from sessrun.reports.printable import shortened
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError, check

__all__ = ["growth_html", "print_growth", "read_growth"]

_COLUMNS: Final = ("Cost", "Backend", "Sizes", "Exponent", "Interval", "At the largest", "For one")
_NOTE: Final = (
    f"The exponent is the slope of a line through the logarithms of size and cost, at the upper "
    f"{UPPER} sizes at most, with its {CONFIDENCE:.0%} interval; the cost is the processor time of "
    f"a call, the least of all processes. LINEAR: at most {LIMITS['linear']:g}; CONSTANT: at most "
    f"{LIMITS['constant']:g}; SUPERLINEAR and GROWS: the whole interval is above."
)


def read_growth(path: Path) -> dict[str, Any]:
    """Read a file of costs over sizes.

    Raises:
      SpecError: it is not one.

    """
    form: dict[str, Any] = read_json(path)
    check(form, "growth", str(path))
    for number, entry in enumerate(form["costs"]):
        sizes = [point["size"] for point in entry["points"]]
        if sizes != sorted(set(sizes)):
            raise SpecError(str(path), f"costs[{number}].points", "sizes must ascend")
    return form


def print_growth(run: Mapping[str, Any], console: Console | None = None) -> None:
    """Print each cost's verdict, exponent and interval, and what the largest size took.

    Args:
      run: the run (`read_growth`).
      console: where to; standard output if None.

    """
    rows, reasons = [], []
    for entry in run["costs"]:
        exponent = exponent_of(entry)
        cells = _cells(entry, exponent)
        rows.append(VerdictRow(exponent.verdict, _short(cells, exponent)))
        if exponent.verdict == "UNDECIDED":
            detail = f": {shortened(entry['detail'], 200)}" if entry["detail"] else ""
            reasons.append(f"UNDECIDED {cells[0]}, {cells[1]}: {exponent.reason}{detail}")
    columns = ("cost", "backend", "largest", "exponent", "", "takes", "for one")
    print_verdicts(columns, rows, (*reasons, *_left_out(run)), console)


def growth_html(run: Mapping[str, Any]) -> str:
    """A run as a page: verdicts, and each cost over its sizes, with the lines that were fitted.

    Args:
      run: the run (`read_growth`).

    """
    rows = []
    costs: dict[str, list[tuple[Mapping[str, Any], Exponent]]] = {}
    for entry in run["costs"]:
        exponent = exponent_of(entry)
        rows.append(VerdictRow(exponent.verdict, _cells(entry, exponent)))
        costs.setdefault(entry["cost"], []).append((entry, exponent))
    cards = [
        Card(name, members[0][0]["about"], _plot(members, f"cost{number}"))
        for number, (name, members) in enumerate(costs.items())
    ]
    backends = ", ".join(dict.fromkeys(entry["backend"] for entry in run["costs"]))
    return curves_html(
        f"Costs over sizes of {backends}",
        run_facts(run),
        _NOTE,
        _COLUMNS,
        rows,
        cards,
        _left_out(run),
    )


def _cells(entry: Mapping[str, Any], exponent: Exponent) -> tuple[str, ...]:
    costs, sizes = least_seconds(entry), exponent.sizes
    largest = sizes[-1]
    interval = exponent.low is not None and exponent.high is not None
    return (
        shortened(entry["cost"], 40),
        shortened(entry["backend"], 60),
        f"{sizes[0]:,} to {sizes[-1]:,}",
        "" if exponent.exponent is None else f"{exponent.exponent:.2f}",
        f"{exponent.low:.2f} to {exponent.high:.2f}" if interval else "",
        seconds_text(costs[largest]),
        seconds_text(costs[largest] / largest) if entry["order"] == "linear" else "",
    )


def _short(cells: tuple[str, ...], exponent: Exponent) -> tuple[str, ...]:
    """The cells for eighty columns: the largest size alone, and how far the interval reaches."""
    reach = ""
    if exponent.exponent is not None and exponent.high is not None:
        reach = f"±{exponent.high - exponent.exponent:.2f}"
    return (*cells[:2], f"{exponent.sizes[-1]:,}", cells[3], reach, *cells[5:])


def _plot(members: Sequence[tuple[Mapping[str, Any], Exponent]], prefix: str) -> Any:
    curves = []
    for entry, exponent in members:
        costs = least_seconds(entry)
        ends = (exponent.sizes[0], exponent.sizes[-1])
        fit = [] if exponent.exponent is None else [(end, exponent.seconds(end)) for end in ends]
        curves.append(Curve(entry["backend"], list(costs), list(costs.values()), fit))
    labels = (members[0][0]["quantity"], "processor time of a call")
    texts = (lambda size: f"{size:,.0f}", seconds_text)
    return curve_plot(curves, prefix, labels, texts, logarithmic=True)


def _left_out(run: Mapping[str, Any]) -> list[str]:
    return [
        f"left out {shortened(entry['case'], 60)}, {shortened(entry['backend'], 60)}: "
        f"{shortened(entry['reason'], 200)}"
        for entry in run.get("left_out", [])
    ]
