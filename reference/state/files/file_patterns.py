"""Names of files by patterns: `*`, `?` and sets of characters, none of which matches a slash."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

__all__ = ["matching"]

_WILDCARD = re.compile(r"[*?\[\\]")


def matching(pattern: str) -> list[str]:
    """The existing paths that match, sorted."""
    if not _WILDCARD.search(pattern):
        return [pattern] if os.path.lexists(pattern) else []
    first, *_ = parts = [part for part in pattern.split("/") if part]
    root = "/" if pattern.startswith("/") else ""
    if not root and (first == "." or _WILDCARD.search(first)):
        root = "./"  # TensorFlow's prefix of paths in the working folder
    return sorted(_below(root, parts[1:] if first == "." else parts))


def _below(folder: str, parts: list[str]) -> Iterator[str]:
    """The paths below a folder whose components match the parts of a pattern."""
    wanted, *later = parts
    expression = _expression(wanted)
    try:
        names = [".."] if wanted == ".." else os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        if expression.fullmatch(name):
            path = f"{folder}{name}"
            if not later:
                yield path
            elif os.path.isdir(path):
                yield from _below(f"{path}/", later)


_TOKEN = re.compile(r"\\(?P<plain>.)|\[(?P<not>[!^]?)(?P<set>\]?[^\]]*)\]|(?P<any>.)", re.DOTALL)
_WILD = {"*": ".*", "?": "."}


def _expression(part: str) -> re.Pattern[str]:
    """The regular expression of a part of a pattern between two slashes."""
    expression = ""
    for token in _TOKEN.finditer(part):
        if token["plain"]:
            expression += re.escape(token["plain"])
        elif token["set"] is not None:
            inside = token["set"].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            expression += f"[{'^' if token['not'] else ''}{inside}]"
        else:
            expression += _WILD.get(token["any"], re.escape(token["any"]))
    return re.compile(expression, re.DOTALL)
