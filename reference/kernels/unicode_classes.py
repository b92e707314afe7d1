"""The characters of Unicode's general categories, as patterns name them: `L`, `Lu`, `Nd`."""

from __future__ import annotations

import functools
import itertools
import sys
import unicodedata
from typing import Final

__all__ = ["category_ranges"]

#: Categories of two letters; unassigned characters (Cn) are in none of RE2's.
_CATEGORIES: Final = (
    "Cc",
    "Cf",
    "Co",
    "Cs",
    "Ll",
    "Lm",
    "Lo",
    "Lt",
    "Lu",
    "Mc",
    "Me",
    "Mn",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Pe",
    "Pf",
    "Pi",
    "Po",
    "Ps",
    "Sc",
    "Sk",
    "Sm",
    "So",
    "Zl",
    "Zp",
    "Zs",
)


@functools.cache
def _runs() -> tuple[tuple[str, int, int], ...]:
    """Runs of characters of one category: the category, the first and the last character."""
    runs, first = [], 0
    numbers = range(sys.maxunicode + 1)
    for kind, run in itertools.groupby(map(unicodedata.category, map(chr, numbers))):
        count = len(list(run))
        runs.append((kind, first, first + count - 1))
        first += count
    return tuple(runs)


@functools.cache
def category_ranges(name: str, *, outside: bool = False) -> str | None:
    """The characters of a category, or all others, as ranges within the brackets of a class.

    Args:
      name: one letter for all categories that begin with it, two letters, or `Any`.
      outside: whether the other characters are wanted.

    Returns:
      Ranges of escaped characters; None for an unknown category.

    """
    kinds = {kind for kind in _CATEGORIES if name in {kind, kind[0]}}
    if not kinds and name != "Any":
        return None
    return "".join(
        rf"\U{first:08X}-\U{last:08X}"
        for kind, first, last in _runs()
        if (name == "Any" or kind in kinds) != outside
    )
