"""The pages that people wrote: Markdown of the repository as pages of the site.

A link to another page leads there, one to any other file of the repository, or out of it, is
shown as text: the site stands by itself. Ids of clauses and names of operations lead to them. A
block of code whose language is the path of a Python module shows that module.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from sessrun.reports.site.addresses import Addresses, SiteError, relative

__all__ = ["Prose", "prose_pages"]

#: What of the repository is prose, by patterns below its root.
_PROSE: Final = (
    "README.md",
    "CHANGELOG.md",
    "spec/*.md",
    "docs/*.md",
    "docs/findings/*.md",
    "reports/published/*.md",
)
_NOT_IN_A_SLUG: Final = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Prose:
    """A page of prose.

    Attributes:
      page: its path in the site.
      title: its first heading.
      body: its HTML, marked safe.
      sections: the anchor and the title of each further heading.

    """

    page: str
    title: str
    body: Markup
    sections: Sequence[tuple[str, str]]


def prose_pages(root: Path, addresses: Addresses) -> Iterator[Prose | tuple[str, bytes]]:
    """Each page of prose in a checkout, and each picture that one shows with its path."""
    sources = {
        path.relative_to(root).as_posix(): path
        for pattern in _PROSE
        for path in sorted(root.glob(pattern))
    }
    pages = {source: source.removesuffix(".md") + ".html" for source in sources}
    for source, path in sources.items():
        writer = _Writer(root, source, pages, addresses)
        yield writer.prose(path.read_text(encoding="utf-8"))
        for picture in writer.pictures:
            yield picture, (root / picture).read_bytes()


class _Writer:
    """One page on its way from Markdown to HTML."""

    def __init__(
        self, root: Path, source: str, pages: Mapping[str, str], addresses: Addresses
    ) -> None:
        self._root = root
        self._source = source
        self._pages = pages
        self._addresses = addresses
        self.pictures: list[str] = []

    def prose(self, text: str) -> Prose:
        """The page."""
        tokens = _markdown().parse(text)
        headings = list(_headings(tokens))
        for token in tokens:
            if token.type == "inline" and token.children is not None:
                token.children = list(self._inline(token.children))
            elif token.type == "fence" and token.info.endswith(".py"):
                module = self._root / self._path(token.info)
                token.content, token.info = module.read_text(encoding="utf-8"), "python"
        html = _markdown().renderer.render(tokens, _markdown().options, {})
        return Prose(
            self._pages[self._source],
            title=headings[0][1] if headings else self._source,
            body=Markup(html),  # noqa: S704 - rendered with html off
            sections=headings[1:],
        )

    def _inline(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """The tokens of a paragraph, links as the site has them."""
        link: Token | None = None
        for token in tokens:
            if token.type == "link_open":
                link = self._link(str(token.attrGet("href")))
                yield link
            elif token.type == "link_close" and link is not None:
                yield Token("link_close", link.tag, -1)
                link = None
            elif token.type == "image":
                self.pictures.append(self._path(str(token.attrGet("src"))))
                yield token
            elif link is None and token.type in {"text", "code_inline"}:
                yield self._with_links(token)
            else:
                yield token

    def _link(self, href: str) -> Token:
        """The beginning of a link to a page of the site; of a text with a title for any other."""
        path, mark, anchor = href.partition("#")
        source = self._path(path) if path else self._source
        if source in self._pages:
            address = relative(self._pages[source] + mark + anchor, self._pages[self._source])
            return Token("link_open", "a", 1, attrs={"href": address})
        if ":" not in href and not (self._root / source).exists():
            raise SiteError(f"{self._source}: the link {href} leads nowhere")
        return Token("link_open", "span", 1, attrs={"title": source if ":" not in href else href})

    def _path(self, path: str) -> str:
        """A path as the page writes it, from the root of the repository."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self._source), path))

    def _with_links(self, token: Token) -> Token:
        """Text or code whose ids of clauses, or which itself, lead to where that stands."""
        page = self._pages[self._source]

        def link(text: str, address: str) -> str:
            return f'<a href="{relative(address, page)}">{text}</a>'

        html = str(escape(token.content))
        address = self._addresses.named(token.content) if token.type == "code_inline" else None
        if address is not None:
            html = link(html, address)
        else:
            html = self._addresses.with_links(html, link)
        if token.type == "code_inline":
            html = f"<code>{html}</code>"
        return Token("html_inline", "", 0, content=html)


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """The anchor and the text of each heading, which is given the anchor."""
    taken: dict[str, int] = {}
    for heading, inline in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            parts = inline.children or []
            title = "".join(part.content for part in parts if part.type != "image")
            slug = _NOT_IN_A_SLUG.sub("", title.lower()).replace(" ", "-")
            taken[slug] = taken.get(slug, -1) + 1
            anchor = f"{slug}-{taken[slug]}" if taken[slug] else slug
            heading.attrSet("id", anchor)
            yield anchor, title


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")
