"""The scoreboard as it is published: a page of Markdown with a row for each certificate.

Beside it lies one package of each backend, the smallest of its newest release. With it anybody
can make its row again (`sessrun scoreboard PACKAGE --publish FOLDER`); of any other package the
page has the digest of the manifest, which names the digest of every file in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sessrun.reports.compact import fold
from sessrun.reports.findings import Findings
from sessrun.reports.printable import number, shortened
from sessrun.reports.scoreboard import Board, Entry, Step, slug_of

__all__ = ["PAGE", "kept_packages", "published_files", "row"]

#: The page's name in the folder that is published, and the folder of the packages there.
PAGE: Final = "scoreboard.md"
_PACKAGES: Final = "certificates"
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>()#|~!&])")
_INTRODUCTION: Final = (
    "{} of {}, written by `sessrun scoreboard --publish`. Of each engine one package lies here, "
    "which `sessrun verify` checks; of the others the page has the digest of their manifest. "
    "[reports.md](../../docs/reports.md#scoreboard) says how all of it is made again, with a "
    "site that shows every clause, cause and replay.\n"
)
_SPEC: Final = "They rest on the spec {version}, digest `{digest:.16}`.\n"
_HEAD: Final = (
    "| engine | version | verdict | required clauses that hold | cases that passed | day | seed "
    "| digest | package |\n"
    "|---|---|---|---:|---:|---|---|---|---|\n"
)


def published_files(
    board: Board, findings: Findings, findings_folder: str
) -> Iterator[tuple[str, bytes]]:
    """Each file to be published: its path below the folder, and its content.

    Args:
      board: the certificates.
      findings: what is known of the engines' failures.
      findings_folder: where the pages of findings lie, from the folder that is published.

    """
    packages = kept_packages(board)
    yield PAGE, _page(board, packages, findings, findings_folder).encode()
    for slug, content in packages.items():
        yield f"{_PACKAGES}/{slug}.xz", content


def kept_packages(board: Board) -> dict[str, bytes]:
    """The small form of the packages that are kept: of each engine's newest release the smallest.

    They are named as their entries on the board are.
    """
    kept: dict[str, bytes] = {}
    newest: dict[str, Entry] = {}
    for entry in board.entries:  # the newest of an engine first
        first = newest.setdefault(entry.engine, entry)
        if entry.version != first.version:
            continue
        content = fold(entry.certificate.package.files)
        if first.slug not in kept or len(content) < len(kept[first.slug]):
            kept.pop(first.slug, None)
            newest[entry.engine] = entry
            kept[entry.slug] = content
    return dict(sorted(kept.items()))


def row(entry: Entry, *, kept: bool) -> str:
    """The row of a certificate, which its package alone decides."""
    summary = entry.summary
    required = summary.required
    idle = required["not applicable here"] + required.get("not declared", 0)
    manifest = entry.certificate.package.files["manifest.json"]
    cells = [
        _text(entry.engine, 60),
        _text(entry.version, 60),
        summary.verdict,
        f"{required['holds'] - required['in part']:,} of {required['total'] - idle:,}",
        f"{summary.counts['pass']:,} of {summary.planned:,}",
        _text((summary.header.get("started") or "")[:10], 10),
        _text(str(summary.header["plan"]["seed"]), 24),
        f"`{hashlib.sha256(manifest).hexdigest()[:16]}`",
        f"[{entry.slug}]({_PACKAGES}/{entry.slug}.xz)" if kept else "",
    ]
    return f"| {' | '.join(cells)} |\n"


def _page(
    board: Board, packages: Mapping[str, bytes], findings: Findings, findings_folder: str
) -> str:
    counts = number(len(board.entries), "certificate"), number(len(board.engines), "engine")
    lines = ["# Scoreboard\n\n", _INTRODUCTION.format(*counts), "\n", *_specs(board)]
    for profile, entries in board.profiles.items():
        rows = [row(entry, kept=entry.slug in packages) for entry in entries]
        lines += [f"\n## {_text(profile, 60)}\n\n", _HEAD, *rows]
    for engine, steps in board.releases.items():
        lines += [f"\n## Releases of {_text(engine, 60)}\n\n", *_steps(steps)]
    pages = [engine for engine in board.engines if findings.page(engine) is not None]
    if pages:
        lines += ["\n## Findings\n\n"]
        lines += [
            f"- [{_text(engine, 60)}]({findings_folder}/{slug_of(engine)}.md)\n" for engine in pages
        ]
    return "".join(lines)


def _specs(board: Board) -> Iterator[str]:
    """A line for each state of the spec that a certificate rests on."""
    specs = {
        (str(spec["version"]), str(spec["digest"]))
        for spec in (entry.summary.header["spec"] for entry in board.entries)
    }
    for version, digest in sorted(specs):
        yield _SPEC.format(version=version, digest=digest)


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    """What changed from each release to the next, a line for each step that changed anything."""
    yield "From a release to the next nothing came out otherwise, but for\n\n"
    for step in steps:
        counts = [len(changes) for changes in (step.diff.clauses, step.diff.cases)]
        if any(counts):
            worse = len(step.diff.regressions)
            outcome = number(worse, "regression") if worse else "no regression"
            span = f"{_text(step.old.version, 60)} → {_text(step.new.version, 60)}"
            changed = f"{number(counts[0], 'clause')}, {number(counts[1], 'case')}"
            yield f"- {_text(step.new.profile, 60)}, {span}: {changed}; {outcome}\n"


def _text(text: str, limit: int) -> str:
    """A backend's description of itself as one line of Markdown, with markup escaped."""
    return _MARKDOWN.sub(r"\\\1", shortened(text, limit))
