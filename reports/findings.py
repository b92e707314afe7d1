"""Pages of findings, `ENGINE.md`: which section speaks of what, and the page as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sessrun.reports.scoreboard import slug_of

__all__ = ["Findings"]

#: A word that may be a clause's id or an operation's name.
_WORD: Final = re.compile(r"(?<![\w-])(?:[A-Z][A-Z-]*-[0-9]{3}|[A-Z]\w*)(?![\w-])")


class Findings:
    """The pages of a folder; None has none.

    An engine's page is the file of its name, in lower case with hyphens: `onnx-runtime.md`.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def sections(self, engine: str) -> dict[str, str]:
        """Each word of the engine's page to the id of the section that has it first."""
        anchors: dict[str, str] = {}
        for anchor, text in _texts(self._tokens(engine)):
            for word in _WORD.findall(text):
                anchors.setdefault(word, anchor)
        return anchors

    def page(self, engine: str) -> Any:
        """The engine's page as HTML, marked safe, each section with its id; None if there is none.

        HTML in the Markdown is shown, not used.
        """
        from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

        tokens = self._tokens(engine)
        if not tokens:
            return None
        html = _markdown().renderer.render(tokens, _markdown().options, {})
        return Markup(html)  # noqa: S704 - rendered with html off

    def _tokens(self, engine: str) -> list[Any]:
        """The parsed page, ids on its headings; empty if there is none."""
        path = None if self._folder is None else self._folder / f"{slug_of(engine)}.md"
        if path is None or not path.is_file():
            return []
        tokens: list[Any] = _markdown().parse(path.read_text(encoding="utf-8"))
        headings = [token for token in tokens if token.type == "heading_open"]
        for number, heading in enumerate(headings, 1):
            heading.attrSet("id", f"section-{number}")
        return tokens


@lru_cache(maxsize=1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - needed only when a page is rendered

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _texts(tokens: list[Any]) -> Iterator[tuple[str, str]]:
    """The id of the section and the text of each part that holds text, in order."""
    anchor = ""
    for token in tokens:
        if token.type == "heading_open":
            anchor = token.attrGet("id")
        elif token.content:
            yield anchor, token.content
