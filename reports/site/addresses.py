"""Where everything stands in the site: pages lie as the files of the repository that they show."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final

from sessrun.reports.site.relations import FaultEntry, Relations
from sessrun.spec.loader import load_withdrawn, subject_of

__all__ = ["Addresses", "SiteError", "relative"]

#: A word that may be the id of a clause.
_CLAUSE_ID: Final = re.compile(r"\b[A-Z][A-Z-]*-[0-9]{3}\b")


class SiteError(Exception):
    """A page that leads nowhere."""


class Addresses:
    """The address of a clause, a vector, an operation, a fault: a page and an anchor on it."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations

    def clause(self, id_: str) -> str:
        """The address of a clause, or of one that was withdrawn."""
        if id_ not in self._relations.clauses:
            return f"spec/rulings.html#{id_}"
        return f"spec/clauses/{subject_of(id_)}.html#{id_}"

    def vector(self, id_: str) -> str:
        """The address of a vector."""
        folder, _, slug = id_.partition("/")
        return f"spec/vectors/{folder}.html#{slug}"

    def operation(self, name: str) -> str:
        """The address of a declared operation."""
        return f"spec/ops/{self._relations.operation_files[name]}.html#{name}"

    def fault(self, fault: FaultEntry) -> str:
        """The address of a fault."""
        return f"conformance/faulty/{subject_of(fault.clause)}.html#{fault.name}"

    def named(self, word: str) -> str | None:
        """The address of what the word names: a clause, a vector, an operation; None for others."""
        if self._is_clause(word):
            return self.clause(word)
        if word in self._relations.vectors:
            return self.vector(word)
        if word in self._relations.operations and len(word) > 1:
            return self.operation(word)
        return None

    def _is_clause(self, word: str) -> bool:
        return word in self._relations.clauses or word in load_withdrawn()

    def with_links(self, text: str, link: Callable[[str, str], str]) -> str:
        """The text with each id of a clause replaced by `link(id, address)`."""

        def replaced(match: re.Match[str]) -> str:
            id_ = match[0]
            return link(id_, self.clause(id_)) if self._is_clause(id_) else id_

        return _CLAUSE_ID.sub(replaced, text)


def relative(address: str, page: str) -> str:
    """The address as it is written on a page of the site."""
    path, mark, anchor = address.partition("#")
    if path == page and mark:
        return f"#{anchor}"
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + mark + anchor
