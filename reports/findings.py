"""Pages of findings, `ENGINE.md`: which clauses they speak of, and the page as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sessrun.reports.scoreboard import slug_of

__all__ = ["Findings"]

_CLAUSE: Final = re.compile(r"(?<![\w-])[A-Z][A-Z-]*-[0-9]{3}(?![\w-])")
_TAG: Final = re.compile(r"(<[^>]*>)")


class Findings:
    """The pages of a folder; None has none.

    An engine's page is the file of its name, in lower case with hyphens: `onnx-runtime.md`.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def clauses(self, engine: str) -> tuple[str, ...]:
        """The ids of the clauses that the engine's page names, in its order."""
        return tuple(dict.fromkeys(_CLAUSE.findall(self._text(engine))))

    def page(self, engine: str) -> Any:
        """The engine's page as HTML, marked safe, an anchor at the first mention of each clause.

        None if there is none. HTML in the Markdown is shown, not used.
        """
        from markdown_it import MarkdownIt  # noqa: PLC0415 - needed only when a page is rendered
        from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

        text = self._text(engine)
        if not text:
            return None
        html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
        return Markup("".join(_anchored(html)))  # noqa: S704 - rendered with html off

    def _text(self, engine: str) -> str:
        return "" if self._folder is None else _read(self._folder / f"{slug_of(engine)}.md")


@lru_cache(maxsize=64)
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _anchored(html: str) -> Iterator[str]:
    seen: set[str] = set()

    def anchor(match: re.Match[str]) -> str:
        clause = match[0]
        if clause in seen:
            return clause
        seen.add(clause)
        return f'<a class="clause" id="{clause}">{clause}</a>'

    for piece in _TAG.split(html):
        yield piece if piece.startswith("<") else _CLAUSE.sub(anchor, piece)
