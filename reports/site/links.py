"""Holds a site together: every link leads to a file and an anchor of it, nothing leads out."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from urllib.parse import unquote

from sessrun.reports.site.addresses import SiteError

__all__ = ["check_links"]


class _Page(HTMLParser):
    """The anchors of a page, and the addresses that it leads to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Note what the tag names."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src", "action"} and value:
                self.addresses.append(value)


def check_links(files: Mapping[str, bytes]) -> None:
    """Check a site, given as paths and contents.

    Raises:
      SiteError: a link leads out of the site, or to what is not there; the first six are named.

    """
    pages = {
        path: _Page(content.decode()) for path, content in files.items() if path.endswith(".html")
    }
    faults = list(_faults(files, pages))
    if faults:
        rest = f"; and {len(faults) - 6} more" if len(faults) > 6 else ""
        raise SiteError("; ".join(faults[:6]) + rest)


def _faults(files: Mapping[str, bytes], pages: Mapping[str, _Page]) -> Iterator[str]:
    for path, page in pages.items():
        for address in page.addresses:
            target, _, anchor = address.partition("#")
            if ":" in target or target.startswith("/"):
                yield f"{path}: {address} leads out of the site"
                continue
            where = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
            where = where if target else path
            if where not in files:
                yield f"{path}: {address} leads to no page"
            elif anchor and where in pages and unquote(anchor) not in pages[where].anchors:
                yield f"{path}: {address} leads to no place of that page"
