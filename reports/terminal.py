"""The terminal view: verdict, totals, clauses by subject, failures by cause with replays.

Everything that a backend controls enters as plain text without control characters; nothing is
parsed as markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sessrun.reports.failures import replay_command
from sessrun.reports.origin import origin_of_cases
from sessrun.reports.printable import number, printable, shortened
from sessrun.reports.summary import FailureGroup, Summary, Verdict
from sessrun.spec.records import BUSY, DISTURBED, TRIED_AGAIN

__all__ = ["print_summary", "summary_view"]

_VERDICT_STYLE: Final[dict[Verdict, str]] = {
    "CERTIFIED": "bold green",
    "CERTIFIED WITH WAIVERS": "bold yellow",
    "SIMULATED": "bold blue",
    "NOT CERTIFIED": "bold red",
    "NOT APPLICABLE": "bold",
    "VOID": "bold magenta",
}
#: How many kinds of events are printed.
_KINDS: Final = 5
#: How many clauses of a group fit on its line.
_CLAUSES: Final = 5
_GLYPH: Final[dict[Verdict, str]] = {
    "CERTIFIED": "✓",
    "CERTIFIED WITH WAIVERS": "✓",
    "SIMULATED": "≈",
    "NOT CERTIFIED": "✗",
    "NOT APPLICABLE": "-",
    "VOID": "!",
}


def print_summary(
    summary: Summary,
    console: Console | None = None,
    *,
    replays: str = "replays",
    groups: int = 20,
    chosen: bool = False,
) -> None:
    """Print the summary.

    Args:
      summary: the summary.
      console: where to; standard output if None.
      replays: the folder of the replay files, as the printed commands name it.
      groups: how many causes of each kind to show.
      chosen: whether the cases were chosen freely, so that there is no verdict.

    """
    view = summary_view(summary, replays, groups, chosen=chosen)
    # Soft wrap: a command that was broken over two lines could not be copied.
    (console or Console()).print(view, soft_wrap=True)


def summary_view(
    summary: Summary, replays: str = "replays", groups: int = 20, *, chosen: bool = False
) -> RenderableType:
    """The summary as something that rich can print; arguments as `print_summary`."""
    parts: list[RenderableType] = [
        _face(summary, chosen=chosen),
        _totals(summary),
        Text(),
        _chosen_subjects(summary) if chosen else _subjects(summary),
    ]
    wrong = [group for group in summary.failures if group.answered]
    declined = [group for group in summary.failures if not group.answered]
    backend = str(summary.header["backend"]["spec"])
    parts.append(Text())
    if wrong:
        parts.append(Text(f"What went wrong, {number(len(wrong), 'cause')}, fix the first first:"))
        parts.extend(_failure(group, backend, replays) for group in wrong[:groups])
        parts.extend(_hidden(len(wrong) - groups))
    if declined:
        parts.append(Text(f"Not offered, or not answered, {number(len(declined), 'cause')}:"))
        parts.append(_lacks(declined[:groups]))
        parts.extend(_hidden(len(declined) - groups))
        command = replay_command(declined[0].cases[0], declined[0].result, backend, replays)
        parts.append(Text(f"  the first: $ {printable(command, keep='')}\n", "cyan"))
    return Group(*parts)


def _face(summary: Summary, *, chosen: bool) -> Text:
    backend = summary.header["backend"]
    text = Text()
    text.append(shortened(f"{backend['name']} {backend['version']}", 80), "bold")
    text.append(f"  profile {summary.profile}, spec {summary.header['spec']['version']}\n")
    if chosen:
        return text.append("No verdict: `sessrun certify` runs the whole profile.\n", "dim")
    text.append(f"{_GLYPH[summary.verdict]} {summary.verdict}\n", _VERDICT_STYLE[summary.verdict])
    for reason in (*summary.reasons, *origin_of_cases(summary)):
        text.append(f"  {printable(reason)}\n")
    return text


def _totals(summary: Summary) -> Text:
    """The counts against the one denominator: what was planned."""
    text = Text(f"{summary.counts['pass']:,} of {number(summary.planned, 'planned case')} passed")
    for result, count in summary.counts.items():
        if count and result != "pass":
            text.append(f", {count:,} {result}")
    if summary.events:
        kinds = Counter(map(_kind, summary.events)).most_common()
        events = ", ".join(f"{count:,} {kind}" for kind, count in kinds[:_KINDS])
        text.append(f"\nevents of the run: {events}{', …' if len(kinds) > _KINDS else ''}")
    return text


def _kind(event: Mapping[str, Any]) -> str:
    """What an event was; of a restart why, where the backend was not lost."""
    name, detail = shortened(event["event"], 40), event.get("detail")
    return f"{name} ({detail})" if detail in {BUSY, DISTURBED, TRIED_AGAIN} else name


def _subjects(summary: Summary) -> Table:
    asks_declared = summary.required["not declared"] > 0
    gap = 1 if asks_declared else 2  # or it would not fit 80 columns
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    table.add_column("subject", no_wrap=True)
    for name in ("required", "hold", "in part", "broken", "not tested", "n/a"):
        table.add_column(name, justify="right")
    for name in (*(["not declared"] if asks_declared else []), "cases", "passed"):
        table.add_column(name, justify="right")
    for subject in summary.subjects:
        clauses = [c for c in summary.clauses if c.subject == subject.subject and c.required]
        results = [clause.result for clause in clauses]
        broken = results.count("broken")
        table.add_row(
            Text(subject.subject),
            str(len(clauses)),
            str(sum(c.result == "holds" and not c.in_part for c in clauses)),
            str(sum(c.in_part for c in clauses)),
            Text(str(broken), "red" if broken else ""),
            str(results.count("not tested")),
            str(results.count("not applicable here")),
            *([str(results.count("not declared"))] if asks_declared else []),
            f"{subject.planned:,}",
            f"{subject.counts.get('pass', 0):,}",
        )
    return table


def _chosen_subjects(summary: Summary) -> Table:
    """The subjects of the cases that were chosen, and what came of these."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("subject")
    table.add_column("cases", justify="right")
    table.add_column("passed", justify="right")
    table.add_column("otherwise")
    for subject in summary.subjects:
        if subject.planned:
            rest = [f"{count:,} {kind}" for kind, count in subject.counts.items() if kind != "pass"]
            passed = f"{subject.counts.get('pass', 0):,}"
            table.add_row(subject.subject, f"{subject.planned:,}", passed, ", ".join(rest))
    return table


def _failure(group: FailureGroup, backend: str, replays: str) -> Text:
    shown = ", ".join(group.clauses[:_CLAUSES])
    more = " …" if len(group.clauses) > _CLAUSES else ""
    text = Text()
    text.append(f"  {group.result}", "bold red")
    text.append(f" in {number(len(group.cases), 'case')}", "bold")
    text.append(f"  {shown}{more}  ")
    text.append(f"[{group.signature}]\n", "dim")
    if group.unblocks:
        text.append(f"    alone in the way of {number(len(group.unblocks), 'clause')}\n")
    text.append(f"    {shortened(group.title.removeprefix(f'{group.result}: '), 240)}\n")
    command = replay_command(group.cases[0], group.result, backend, replays)
    text.append(f"    $ {printable(command, keep='')}\n", "cyan")
    return text


def _lacks(groups: Sequence[FailureGroup]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 2))
    table.add_column("cause")
    for name in ("cases", "clauses", "for it alone"):
        table.add_column(name, justify="right")
    for group in groups:
        table.add_row(
            Text(shortened(f"{group.result}: {group.title}", 80)),
            f"{len(group.cases):,}",
            f"{len(group.clauses):,}",
            f"{len(group.unblocks):,}",
        )
    return table


def _hidden(count: int) -> list[Text]:
    if count <= 0:
        return []
    return [Text(f"  and {number(count, 'more cause')}: see the full report", "dim")]
