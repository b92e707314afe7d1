"""The pages of a scoreboard: an index, a page for each package, one for each engine with releases.

Everything that a backend controls passes through `printable` and the templates' autoescape, as in
the report of one run; there is no script but the report's own filter, and nothing is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.reports.compact import fold
from sessrun.reports.diff import Change, Diff
from sessrun.reports.failures import replay_name
from sessrun.reports.findings import Findings
from sessrun.reports.html import FACES, Links, content_policy, report_html, template, template_text
from sessrun.reports.printable import number, printable, shortened, utf8
from sessrun.reports.scoreboard import Board, Cell, Entry, Step
from sessrun.spec.loader import load_profiles
from sessrun.spec.scopes import scope_of

__all__ = ["scoreboard_pages"]

#: How many changes of one sort a page of an engine lists.
_CHANGES: Final = 60
_CELL_WORDS: Final = {
    "good": ("✓", "all hold"),
    "open": ("~", "the rest is not offered, or not answered"),
    "bad": ("✗", "some are broken"),
    "idle": ("-", "none applies"),
}
_KIND_STYLES: Final = {
    "regression": ("broken", "✗"),
    "progress": ("holds", "✓"),
    "other": ("open", "~"),
}


def scoreboard_pages(
    board: Board, refused: Mapping[str, str], findings: Findings
) -> Iterator[tuple[str, bytes]]:
    """Each file of the site: its path below the site's folder, and its content.

    Args:
      board: the certificates.
      refused: packages that could not be read, each with the reason.
      findings: what is known of the engines' failures.

    """
    yield "index.html", _index(board, refused)
    for entry in board.entries:
        yield from _package(board, entry, findings)
    for engine, steps in board.releases.items():
        yield _engine_page(board, engine), _engine(engine, steps)
    for engine, slug in board.engines.items():
        page = findings.page(engine)
        if page is not None:
            title = f"Findings in {shortened(engine, 80)}"
            yield f"findings-{slug}.html", _render("findings.html.j2", title=title, body=page)


def _render(name: str, **values: Any) -> bytes:
    """A page with the board's style."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    style = template_text("style.css") + Markup("\n") + template_text("scoreboard.css")
    page = template(name).render(style=style, policy=content_policy(style), **values)
    return utf8(page)


def _index(board: Board, refused: Mapping[str, str]) -> bytes:
    return _render(
        "scoreboard.html.j2",
        title="sess.run scoreboard",
        count=number(len(board.entries), "certificate"),
        engines=number(len(board.engines), "engine"),
        legend=[(state, *words) for state, words in _CELL_WORDS.items()],
        profiles=[_profile(board, name, entries) for name, entries in board.profiles.items()],
        releases=[_releases(board, engine, steps) for engine, steps in board.releases.items()],
        refused=[(shortened(name, 200), shortened(why, 300)) for name, why in refused.items()],
    )


def _profile(board: Board, name: str, entries: Sequence[Entry]) -> dict[str, Any]:
    subjects = sorted({subject for entry in entries for subject in entry.cells})
    return {
        "name": printable(name),
        "summary": _about(name),
        "subjects": subjects,
        "rows": [_row(board, entry, subjects) for entry in entries],
    }


def _about(profile: str) -> str:
    """What a profile, or the part of one, is about."""
    scope = scope_of(profile)
    about = load_profiles()[scope.profile].summary
    return about if scope.name == scope.profile else f"{about} Of these: {scope.part.summary}."


def _row(board: Board, entry: Entry, subjects: Sequence[str]) -> dict[str, Any]:
    summary = entry.summary
    required = summary.required
    style, glyph = FACES[summary.verdict]
    held = required["holds"] - required["in part"]
    idle = required["not applicable here"] + required.get("not declared", 0)
    return {
        **_named(entry),
        "engine_page": _engine_page(board, entry.engine) if entry.engine in board.releases else "",
        "verdict": summary.verdict,
        "face": {"style": style, "glyph": glyph},
        "held": held,
        "required": required["total"] - idle,
        "share": _share(held, required["total"] - idle),
        "passed": summary.counts["pass"],
        "planned": summary.planned,
        "coverage": summary.coverage.words if summary.coverage is not None else "",
        "cells": [_cell(entry, subject) for subject in subjects],
    }


def _named(entry: Entry) -> dict[str, str]:
    header = entry.summary.header
    return {
        "engine": shortened(entry.engine, 60),
        "version": shortened(entry.version, 60),
        "page": f"{entry.slug}.html",
        "date": shortened((header.get("started") or "")[:10], 10),
        "spec": shortened(header["spec"]["version"], 20),
    }


def _cell(entry: Entry, subject: str) -> dict[str, Any]:
    cell = entry.cells.get(subject)
    if cell is None:
        return {"subject": subject, "state": "idle", "mark": "", "words": "not asked", "text": ""}
    mark, words = _CELL_WORDS[cell.state]
    return {
        "subject": subject,
        "href": f"{entry.slug}.html#clauses-{subject}",
        "state": cell.state,
        "mark": mark,
        "text": f"{cell.held}/{cell.required}" if cell.required else "",
        "share": _share(cell.held, cell.required),
        "words": f"{subject}: {_cell_words(cell, words)}",
    }


def _cell_words(cell: Cell, words: str) -> str:
    clauses = f"{cell.held} of {number(cell.required, 'required clause')} hold, {words}"
    return f"{clauses}; {cell.passed:,} of {number(cell.planned, 'case')} passed"


def _share(part: int, total: int) -> str:
    """A percentage that is 100 only where it is all, and 0 only where it is nothing."""
    if not total:
        return "none applies"
    return f"{min(max(round(100 * part / total), part > 0), 99 if part < total else 100)}%"


def _releases(board: Board, engine: str, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "engine": shortened(engine, 60),
        "page": _engine_page(board, engine),
        "steps": [
            {
                "profile": printable(step.new.profile),
                "span": _span(step),
                "words": _outcome(step.diff),
                "worse": bool(step.diff.regressions),
            }
            for step in steps
        ],
    }


def _span(step: Step) -> str:
    """The two releases, or the days and times of two runs of one release."""
    old, new = shortened(step.old.version, 60), shortened(step.new.version, 60)
    if step.old.version != step.new.version:
        return f"{old} → {new}"
    return f"{old}, {_time(step.old)} → {_time(step.new)}"


def _time(entry: Entry) -> str:
    """When its run started, to the second."""
    return shortened((entry.summary.header.get("started") or "no time")[:19].replace("T", " "), 19)


def _outcome(diff: Diff) -> str:
    """What a step brought, in a line."""
    worse, clauses, cases = len(diff.regressions), len(diff.clauses), len(diff.cases)
    words = number(worse, "regression") if worse else "no regression"
    if not (clauses or cases):
        return f"{words}, nothing changed"
    return f"{words}; {number(clauses, 'clause')} and {number(cases, 'case')} came out otherwise"


def _engine_page(board: Board, engine: str) -> str:
    return f"engine-{board.engines[engine]}.html"


def _engine(engine: str, steps: Sequence[Step]) -> bytes:
    shown = [
        {
            "span": _span(step),
            "old": _named(step.old),
            "new": _named(step.new),
            "profile": printable(step.new.profile),
            "verdict": [step.diff.verdict.before, step.diff.verdict.after],
            "held": step.diff.held,
            "words": _outcome(step.diff),
            "worse": bool(step.diff.regressions),
            "facts": _changes(step, step.diff.facts),
            "lists": [
                {"title": title, "count": len(changes), "changes": _changes(step, changes)}
                for title, changes in (
                    ("Clauses", step.diff.clauses),
                    ("Operations and dtypes", (*step.diff.cells, *step.diff.lacks)),
                    ("Cases", step.diff.cases),
                )
                if changes
            ],
            "notes": list(_notes(step.diff)),
        }
        for step in steps
    ]
    name = shortened(engine, 80)
    return _render("scoreboard_engine.html.j2", title=f"Releases of {name}", steps=shown)


def _changes(step: Step, changes: Sequence[Change]) -> list[dict[str, str]]:
    order = tuple(_KIND_STYLES)
    clauses = {clause.id for clause in step.new.summary.clauses}
    ranked = sorted(changes, key=lambda change: order.index(change.kind))
    return [
        {
            "about": shortened(change.about, 160),
            "href": f"{step.new.slug}.html#{change.about}" if change.about in clauses else "",
            "before": shortened(change.before, 80),
            "after": shortened(change.after, 80),
            "style": _KIND_STYLES[change.kind][0],
            "mark": _KIND_STYLES[change.kind][1],
            "reason": shortened(change.reason, 240),
        }
        for change in ranked[:_CHANGES]
    ]


def _notes(diff: Diff) -> Iterator[str]:
    if diff.incomparable:
        yield f"{number(diff.incomparable, 'drawn case')} of other seeds cannot be compared."
    if diff.added or diff.removed:
        yield f"{number(len(diff.added), 'case')} came, {len(diff.removed):,} went."
    if diff.changed:
        yield f"{number(len(diff.changed), 'case')} with another content cannot be compared."


def _package(board: Board, entry: Entry, findings: Findings) -> Iterator[tuple[str, bytes]]:
    """The page of a package, the replays that it names, and the package itself."""
    package, summary = entry.certificate.package, entry.summary
    programs = {}
    for group in summary.failures:
        name = replay_name(group.cases[0])
        form = package.replays.get(name)
        if form is not None:
            programs[group.cases[0]] = _program(form)
            yield f"{entry.slug}/{name}", package.files[f"replays/{name}"]
    slug = board.engines[entry.engine]
    page, sections = f"findings-{slug}.html", findings.sections(entry.engine)
    trail = [("Scoreboard", "index.html"), *_trail(board, entry)]
    trail += [("Findings", page)] if sections else []
    links = Links(
        trail=trail,
        package=f"{entry.slug}.xz",
        programs=programs,
        findings={word: f"{page}#{section}" for word, section in sections.items()},
    )
    yield f"{entry.slug}.html", utf8(report_html(summary, entry.slug, links))
    yield f"{entry.slug}.xz", fold(package.files)


def _trail(board: Board, entry: Entry) -> Iterator[tuple[str, str]]:
    if entry.engine in board.releases:
        yield "Releases", _engine_page(board, entry.engine)


def _program(replay: Mapping[str, Any]) -> str:
    """The plain TensorFlow code of a replay."""
    lines = replay.get("python")
    text = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
    return printable(text)[:20_000]
