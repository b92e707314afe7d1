r"""Regular expressions in RE2's syntax, as TensorFlow takes them, by Python's `re`.

Both look for the leftmost match, and of several there for what Perl would find. A pattern is
rewritten where the syntaxes differ: RE2's `$` and `\z` are the very end, `[[:alpha:]]` is a class,
`\Q...\E` is taken as it is; characters are those of UTF-8, classes like `\d` ASCII's. What RE2
refuses is refused: what looks ahead or behind, and references to groups. Not known here, and
refused, too: classes of Unicode's scripts (`\p{Greek}`), `\C`, the flag `U`.

Python's matcher goes back where RE2's does not, and is called for each string: short ones take four
times TensorFlow's time to match as a whole, three times to be replaced in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.unicode_classes import category_ranges

__all__ = ["matcher", "replacer"]

#: RE2's named classes, as they stand inside of brackets.
_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
#: A piece of a pattern outside of brackets, or a whole class.
_PIECE: Final = re.compile(
    r"\\Q(?P<literal>.*?)(?:\\E|$)|(?P<kind>\\[pP](?:\{\^?\w+\}|\w))|\\(?P<escaped>.)"
    r"|(?P<again>[*+?}]\+)|\{(?P<times>\d+)(?:,(?P<most>\d*))?\}|(?P<group>\(\?[=!]|\(\?<[=!]|\(\?[(#>])"
    r"|(?P<end>\$)|(?P<flags>\(\?[a-zA-Z]*m[a-zA-Z]*[:)])"
    r"|(?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])",
    re.DOTALL,
)
_NAMED: Final = re.compile(r"\[:(\w+):\]")
#: A class of Unicode's categories.
_KIND: Final = re.compile(r"\\(?P<sign>[pP])(?:\{(?P<turned>\^?)(?P<name>\w+)\}|(?P<letter>\w))")
_MOST_TIMES: Final = 1000


def _rewritten(pattern: str) -> str:
    """The pattern in Python's syntax.

    Raises:
      InvalidArgument: for what RE2 has not, or what is not known here.

    """
    several_lines = False

    def piece(found: re.Match[str]) -> str:
        nonlocal several_lines
        if found["literal"] is not None:
            return re.escape(found["literal"])
        if found["kind"]:
            characters = _category(found["kind"], pattern)
            return f"[{characters}]" if characters else "(?!)"
        if found["times"] and max(int(found["times"]), int(found["most"] or 0)) > _MOST_TIMES:
            raise InvalidArgument(
                f"Invalid pattern: {pattern}, error: invalid repetition size: {found[0]}"
            )
        if found["group"] or found["again"] or found["escaped"] in {*"123456789", "Z", "C"}:
            raise InvalidArgument(f"Invalid pattern: {pattern}, error: {found[0]}")
        if found["end"]:
            return "$" if several_lines else r"\Z"
        if found["flags"]:
            several_lines = "-" not in found["flags"]
            return found[0]
        if found["set"]:
            return _set(found["set"], pattern)
        return r"\Z" if found["escaped"] == "z" else found[0]

    return _PIECE.sub(piece, pattern)


def _set(text: str, pattern: str) -> str:
    """A class in brackets, what is named in it spelled out."""
    spelled = _NAMED.sub(lambda name: _CLASSES.get(name[1], name[0]), text)
    plain = spelled[0] + spelled[1:].replace("[", r"\[").replace(r"\\[", r"\[")
    return _KIND.sub(lambda kind: _category(kind[0], pattern), plain)


def _category(text: str, pattern: str) -> str:
    r"""The characters that `\p{...}` stands for, or all others for `\P{...}`."""
    found = _KIND.fullmatch(text)
    assert found is not None
    outside = (found["sign"] == "P") != bool(found["turned"])
    ranges = category_ranges(found["name"] or found["letter"], outside=outside)
    if ranges is None:
        raise InvalidArgument(
            f"Invalid pattern: {pattern}, error: invalid character class range: {text}"
        )
    return ranges


@functools.lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    text = _rewritten(_text(pattern))
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise InvalidArgument(f"Invalid pattern: {_text(pattern)}, error: {error}") from error


def _text(item: bytes) -> str:
    """The characters of UTF-8; a byte that is of none is one by itself."""
    return item.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def matcher(pattern: bytes) -> Callable[[list[bytes]], list[bool]]:
    """Which strings match as a whole.

    Raises:
      InvalidArgument: the pattern is none.

    """
    match = _compiled(pattern).fullmatch

    def matches(items: list[bytes]) -> list[bool]:
        try:  # without calls of Python's for each string
            return [found is not None for found in map(match, map(bytes.decode, items))]
        except UnicodeDecodeError:
            return [match(_text(item)) is not None for item in items]

    return matches


def replacer(pattern: bytes, rewrite: bytes, *, everywhere: bool) -> Callable[[bytes], bytes]:
    r"""Matches, or the first one, replaced; `\1` in the rewrite stands for a group, `\0` for all.

    A rewrite that names a group there is not changes nothing, as TensorFlow says in its log alone.

    Raises:
      InvalidArgument: the pattern is none.

    """
    compiled = _compiled(pattern)
    parts = re.split(r"\\(\d|\\)", _text(rewrite))
    if max((int(part) for part in parts[1::2] if part.isdigit()), default=0) > compiled.groups:
        return lambda item: item
    last = -1

    # A call of Python's for each match: six times RE2's time where groups are put in.
    def expanded(found: re.Match[str]) -> str:
        nonlocal last
        if found.start() == found.end() == last:  # nothing, just behind a match, is none in RE2
            return ""
        last = found.end()
        return "".join(
            part if place % 2 == 0 else "\\" if part == "\\" else found[int(part)] or ""
            for place, part in enumerate(parts)
        )

    plain = parts[0] if len(parts) == 1 and not compiled.match("") else None

    def replace(item: bytes) -> bytes:
        nonlocal last
        last = -1
        text = _text(item)
        if plain is not None and "\\" not in plain:
            return _raw(compiled.sub(plain, text, 0 if everywhere else 1))
        return _raw(compiled.sub(expanded, text, 0 if everywhere else 1))

    return replace
