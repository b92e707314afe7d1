"""The terminal view of a difference: what it is of, regressions first, then what else changed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from sessrun.reports.diff import Change, Diff, Kind
from sessrun.reports.printable import number, printable, shortened

__all__ = ["print_diff"]

_STYLES: Final[dict[Kind, str]] = {"regression": "bold red", "progress": "green", "other": "yellow"}
_MARKS: Final[dict[Kind, str]] = {"regression": "✗", "progress": "✓", "other": "·"}
#: The order of kinds: what a reader must see first.
_KINDS: Final[tuple[Kind, ...]] = tuple(_STYLES)


def print_diff(
    difference: Diff, console: Console | None = None, *, rows: int = 20, backend: str | None = None
) -> None:
    """Print a difference.

    Args:
      difference: the difference.
      console: where to; standard output if None.
      rows: how many changes of one sort to show.
      backend: how the command line names the new backend, for the command that replays a case.

    """
    (console or Console()).print(Group(*_parts(difference, rows, backend)), soft_wrap=True)


def _parts(diff: Diff, rows: int, backend: str | None) -> Iterator[RenderableType]:
    yield _face(diff)
    if diff.facts:
        yield _facts(diff.facts)
    yield from _section("Clauses", diff.clauses, rows)
    yield from _section("Operations and dtypes", (*diff.cells, *diff.lacks), rows)
    yield from _section("Cases", diff.cases, rows)
    yield from _plans(diff)
    broken = [change for change in diff.cases if change.kind == "regression"]
    if broken and backend is not None:
        case, name = shlex.quote(broken[0].about), shlex.quote(backend)
        command = f"sessrun replay {case} --backend {name}"
        yield Text(f"the first again: $ {printable(command, keep='')}\n", "cyan")
    count = len(diff.regressions)
    verdict = number(count, "regression") if count else "no regression"
    yield Text(verdict, "bold red" if count else "bold green")


def _face(diff: Diff) -> Text:
    text = Text()
    text.append(f"{shortened(diff.old, 80)} → {shortened(diff.new, 80)}", "bold")
    text.append(f"  profile {shortened(diff.profile, 60)}\n")
    verdict = diff.verdict
    same = verdict.before == verdict.after
    words = verdict.after if same else f"{verdict.before} → {verdict.after}"
    text.append(f"{words}\n", "bold" if same else _STYLES[verdict.kind])
    held = [f"{holds} of {number(required, 'required clause')}" for holds, required in diff.held]
    text.append(f"{held[0]} held, {held[1]} now\n")
    return text


def _facts(facts: Sequence[Change]) -> Text:
    text = Text("What differs about the runs:\n", "bold")
    for fact in facts:
        before, after = shortened(fact.before, 80), shortened(fact.after, 80)
        text.append(f"  {fact.about}: {before} → {after}\n", "")
    return text


def _section(title: str, changes: Sequence[Change], rows: int) -> Iterator[RenderableType]:
    if not changes:
        return
    counted: Counter[str] = Counter(change.kind for change in changes)
    words = ", ".join(
        number(counted[kind], noun, noun if kind == "other" else None)
        for kind, noun in zip(_KINDS, ("regression", "improvement", "otherwise"), strict=True)
        if counted[kind]
    )
    steps = Counter((change.before, change.after) for change in changes)
    for (before, after), count in steps.most_common():
        words += f"\n  {count:,} times {shortened(before, 40)} → {shortened(after, 40)}"
    yield Text(f"{title}: {words}", "bold")
    ordered = sorted(changes, key=lambda change: _KINDS.index(change.kind))
    yield _lines(ordered, rows)


def _lines(changes: Sequence[Change], rows: int) -> Text:
    """A line for each change, and one for its reason."""
    text = Text()
    for change in changes[:rows]:
        text.append(f"  {_MARKS[change.kind]} {shortened(change.about, 160)}  ")
        steps = f"{shortened(change.before, 60)} → {shortened(change.after, 60)}\n"
        text.append(steps, _STYLES[change.kind])
        if change.reason:
            text.append(f"      {shortened(change.reason, 200)}\n", "dim")
    if len(changes) > rows:
        text.append(f"    and {len(changes) - rows:,} more: see --json\n", "dim")
    return text


def _plans(diff: Diff) -> Iterable[Text]:
    """Cases that only one of the plans has."""
    for count, words in (
        (len(diff.added), "only the new package has"),
        (len(diff.removed), "only the old package has"),
        (len(diff.changed), "have another content in the new package, and are not compared"),
        (diff.incomparable, "were drawn by another seed, and are not compared one by one"),
    ):
        if count:
            yield Text(f"{number(count, 'case')} {words}", "dim")
