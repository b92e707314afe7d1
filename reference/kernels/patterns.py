r"""Regular expressions in RE2's syntax, as TensorFlow takes them, by Python's `re`.

Both look for the leftmost match, and of several for the one that Perl prefers. A pattern is
rewritten where the syntaxes differ: RE2's `$` and `\z` are the very end, `[[:alpha:]]` is a class,
`\Q...\E` is literal; characters are those of UTF-8, classes like `\d` ASCII's. Patterns that RE2
refuses are refused: lookahead and lookbehind, and references to groups. Not supported here, and
refused, too: classes of Unicode's scripts (`\p{Greek}`), `\C`, the flag `U`.

Python's matcher backtracks, which RE2's does not, and is called per string: short ones take four
times TensorFlow's time for a full match, three times for a replacement.
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
#: A piece of a pattern outside of brackets, or a class in brackets.
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
      InvalidArgument: the pattern has a construct that RE2 lacks, or that is not supported here.

    """
    several_lines = False

    def piece(match: re.Match[str]) -> str:
        nonlocal several_lines
        if match["literal"] is not None:
            return re.escape(match["literal"])
        if match["kind"]:
            characters = _category(match["kind"], pattern)
            return f"[{characters}]" if characters else "(?!)"
        if match["times"] and max(int(match["times"]), int(match["most"] or 0)) > _MOST_TIMES:
            raise InvalidArgument(
                f"Invalid pattern: {pattern}, error: invalid repetition size: {match[0]}"
            )
        if match["group"] or match["again"] or match["escaped"] in {*"123456789", "Z", "C"}:
            raise InvalidArgument(f"Invalid pattern: {pattern}, error: {match[0]}")
        if match["end"]:
            return "$" if several_lines else r"\Z"
        if match["flags"]:
            several_lines = "-" not in match["flags"]
            return match[0]
        if match["set"]:
            return _set(match["set"], pattern)
        return r"\Z" if match["escaped"] == "z" else match[0]

    return _PIECE.sub(piece, pattern)


def _set(text: str, pattern: str) -> str:
    """A class in brackets, with named classes spelled out."""
    spelled = _NAMED.sub(lambda name: _CLASSES.get(name[1], name[0]), text)
    plain = spelled[0] + spelled[1:].replace("[", r"\[").replace(r"\\[", r"\[")
    return _KIND.sub(lambda kind: _category(kind[0], pattern), plain)


def _category(text: str, pattern: str) -> str:
    r"""The characters that `\p{...}` stands for, or all others for `\P{...}`."""
    match = _KIND.fullmatch(text)
    assert match is not None
    outside = (match["sign"] == "P") != bool(match["turned"])
    ranges = category_ranges(match["name"] or match["letter"], outside=outside)
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
    """The characters of UTF-8; a byte that is not valid becomes a surrogate."""
    return item.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def matcher(pattern: bytes) -> Callable[[list[bytes]], list[bool]]:
    """The function from strings to whether the pattern matches them entirely.

    Raises:
      InvalidArgument: the pattern is not valid.

    """
    match = _compiled(pattern).fullmatch

    def matches(items: list[bytes]) -> list[bool]:
        try:  # without a Python call per string
            return [result is not None for result in map(match, map(bytes.decode, items))]
        except UnicodeDecodeError:
            return [match(_text(item)) is not None for item in items]

    return matches


def replacer(pattern: bytes, rewrite: bytes, *, everywhere: bool) -> Callable[[bytes], bytes]:
    r"""The function that replaces matches, or the first one; `\1` in the rewrite is a group.

    A rewrite that names a missing group changes nothing; TensorFlow only logs that.

    Raises:
      InvalidArgument: the pattern is not valid.

    """
    compiled = _compiled(pattern)
    parts = re.split(r"\\(\d|\\)", _text(rewrite))
    if max((int(part) for part in parts[1::2] if part.isdigit()), default=0) > compiled.groups:
        return lambda item: item
    last = -1

    # A Python call per match: six times RE2's time where groups are inserted.
    def expanded(match: re.Match[str]) -> str:
        nonlocal last
        if (
            match.start() == match.end() == last
        ):  # RE2 has no empty match right behind another match
            return ""
        last = match.end()
        return "".join(
            part if index % 2 == 0 else "\\" if part == "\\" else match[int(part)] or ""
            for index, part in enumerate(parts)
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
