"""The HTML views of benchmark runs and comparisons: one self-contained file each, with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sessrun.reports.comparison import Comparison, Row
from sessrun.reports.device_words import ceiling_rows, counts_text, device_facts, doubts
from sessrun.reports.html import content_policy, flat, template, template_text
from sessrun.reports.measures import (
    Measure,
    is_of_stand_in,
    is_on_gpu,
    measures_of,
    range_text,
    seconds_text,
    share_text,
)
from sessrun.reports.memory_view import MEMORY_COLUMNS, MEMORY_NOTE, memory_rows
from sessrun.reports.plots import ratio_plot, times_plot
from sessrun.reports.printable import number, printable, shortened

__all__ = ["bench_html", "comparison_html", "fact_label"]

#: Style class and mark of a verdict, so that nothing depends on the colour.
_MARKS: Final = {
    "FASTER": ("holds", "▲"),
    "SLOWER": ("broken", "▼"),
    "SAME": ("idle", "="),
    "UNDECIDED": ("open", "?"),
}


def bench_html(run: Mapping[str, Any], comparisons: Sequence[Comparison] = ()) -> str:
    """One run as a page: plots and numbers by case, and comparisons of its backends.

    Args:
      run: the run (`sessrun.reports.comparison.read_bench`).
      comparisons: comparisons to show above them (`compare_backends`).

    """
    backends = list(dict.fromkeys(series["backend"] for series in run["series"]))
    facts = [
        ("Date", _date(run)),
        ("Rounds", f"{number(run['rounds'], 'round')}, interleaved"),
        ("Seed", str(run["seed"])),
        ("sessrun", printable(run["sessrun"])),
        *device_facts(run),
        *((fact_label(name), _fact(value)) for name, value in sorted(run["fingerprint"].items())),
    ]
    title = f"{_simulated(run)}Benchmarks of {', '.join(backends)}"
    return _page(title, facts, doubts(run), comparisons, run, measures_of(run))


def _simulated(run: Mapping[str, Any]) -> str:
    return "SIMULATED: " if is_of_stand_in(run) else ""


def comparison_html(comparison: Comparison, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Two runs compared, as a page.

    Args:
      comparison: their comparison (`sessrun.reports.comparison.compare`).
      old: the old run.
      new: the new run.

    """
    facts = [
        ("Old side", f"{shortened(comparison.old, 80)}, {_date(old)}"),
        ("New side", f"{shortened(comparison.new, 80)}, {_date(new)}"),
        ("Machine", "the same" if comparison.same_machine else "not the same"),
        ("Rounds", f"{old['rounds']} and {new['rounds']}"),
    ]
    simulated = _simulated(old) or _simulated(new)
    title = f"{simulated}{comparison.new} against {comparison.old}"
    return _page(title, facts, comparison.notes, (comparison,), new, _beside(old, new))


def _beside(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[Measure]]:
    """Case to the series of both runs, the old and the new one of a backend side by side.

    Where the sides are two backends of one run, its series are there once.
    """
    if old is new:
        return measures_of(old)
    sides: dict[str, list[tuple[str, Measure]]] = {}
    for run, side in ((old, "old"), (new, "new")):
        for case, members in measures_of(run).items():
            named = [(m.backend, replace(m, backend=f"{side} {m.backend}")) for m in members]
            sides.setdefault(case, []).extend(named)
    return {
        case: [measure for _, measure in sorted(members, key=lambda pair: pair[0])]
        for case, members in sides.items()
    }


def _date(run: Mapping[str, Any]) -> str:
    return shortened(run["started"], 40).replace("T", " ").replace("+00:00", " UTC")


def fact_label(name: str) -> str:
    """A key of a fingerprint as a label."""
    known = {"cpus": "CPUs", "gpus": "GPUs", "device": "Graphs placed on", "gpu": "GPU, libraries"}
    known |= {"file_modes": "File modes"}
    return known.get(name, name.capitalize())


def _fact(value: Any) -> str:
    return shortened(flat(value), 300)


def _page(
    title: str,
    facts: Sequence[tuple[str, str]],
    notes: Sequence[str],
    comparisons: Sequence[Comparison],
    run: Mapping[str, Any],
    cases: Mapping[str, Sequence[Measure]],
) -> str:
    style = template_text("style.css") + template_text("bench.css")
    page: str = template("bench.html.j2").render(
        title=shortened(title, 160),
        style=style,
        policy=content_policy(style),
        facts=[(printable(name), value) for name, value in facts],
        notes=[printable(note) for note in notes],
        comparisons=[_compared(item, index) for index, item in enumerate(comparisons)],
        on_gpu=is_on_gpu(run),
        ceilings=ceiling_rows(run),
        left_out=[
            {key: shortened(entry.get(key, ""), 200) for key in ("case", "backend", "reason")}
            for entry in run.get("left_out", [])
        ],
        memory=memory_rows(run),
        memory_columns=MEMORY_COLUMNS,
        memory_note=MEMORY_NOTE,
        cases=[
            {
                "name": shortened(case, 120),
                "about": shortened(next((m.about for m in measures if m.about), ""), 200),
                "plot": times_plot(measures, f"case{index}"),
                "rows": [_measure(measure) for measure in measures],
            }
            for index, (case, measures) in enumerate(cases.items())
        ],
    )
    return page


def _compared(comparison: Comparison, index: int) -> dict[str, Any]:
    plotted = any(row.low is not None for row in comparison.rows)
    return {
        "title": f"{shortened(comparison.new, 60)} against {shortened(comparison.old, 60)}",
        "counts": [(*_MARKS[name], name, count) for name, count in comparison.counts.items()],
        "plot": ratio_plot(comparison, f"ratios{index}") if plotted else None,
        "rows": [_row(row) for row in comparison.rows],
        "margin": f"{comparison.margin:.0%}",
        "how": _how(comparison),
    }


def _how(comparison: Comparison) -> str:
    """What the ratios and intervals of a comparison are, in a sentence."""
    if any(row.blocks is not None for row in comparison.rows):
        return (
            "The ratio is new time over old in the middle of all blocks, with the interval of a "
            "test that shares its level among all jobs and looks."
        )
    return (
        "The ratio is new time over old, median over median, with its "
        f"{comparison.confidence:.0%} interval."
    )


def _row(row: Row) -> dict[str, str]:
    style, mark = _MARKS[row.verdict]
    return {
        "case": shortened(row.case, 80),
        "backend": shortened(row.backend, 80),
        "style": style,
        "mark": mark,
        "verdict": row.verdict,
        "ratio": "" if row.ratio is None else f"{row.ratio:.3f}",
        "interval": "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}",
        "times": f"{seconds_text(row.old_median)} → {seconds_text(row.new_median)}"
        + (" (device)" if row.clock == "device" else ""),
        "reason": row.reason,
    }


def _measure(measure: Measure) -> dict[str, str]:
    shares = (f"{share_text(share)} of {name}" for name, share in measure.ceilings.items())
    return {
        "backend": shortened(measure.backend, 80),
        "median": seconds_text(measure.median),
        "quartiles": range_text(measure.low, measure.high),
        "speed": "" if measure.times_first is None else f"{measure.times_first:.3g}",
        "shares": ", ".join(shares),
        "device": "" if measure.device is None else seconds_text(measure.device),
        "cold": "" if measure.cold is None else seconds_text(measure.cold),
        "compiling": "" if measure.compiling is None else seconds_text(measure.compiling),
        "counts": counts_text(measure.counts) if measure.counts else "",
        "wrong": "" if measure.correct else f"wrong answer: {shortened(measure.detail, 200)}",
    }
