"""Definitions of texts that are matched by patterns, hashed, and brought into other encodings."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition, strings

__all__: list[str] = []

_MASK: Final = 2**64 - 1
#: The names of encodings, as Python has them.
_CODECS: Final = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
}


def _texts(x: Array, function: Callable[[bytes], bytes]) -> Array:
    return strings([function(text) for text in x.reshape(-1)]).reshape(x.shape)


@functools.cache
def _members(category: str) -> str:
    """The characters of a category of Unicode, such as `L` or `Ll`, as ranges of a class."""
    inside = [unicodedata.category(chr(n)).startswith(category) for n in range(sys.maxunicode + 1)]
    ends = np.flatnonzero(np.diff([False, *inside, False]))
    return "".join(f"\\U{a:08x}-\\U{b - 1:08x}" for a, b in ends.reshape(-1, 2).tolist())


def _compiled(pattern: bytes | str) -> re.Pattern[str]:
    r"""A pattern of RE2 as one of Python, which lacks `\pL` and `\P{Ll}`."""
    text = pattern.decode() if isinstance(pattern, bytes) else pattern

    def members(escape: re.Match[str]) -> str:
        before = text[: escape.start()]
        ranges = _members(escape[2].strip("{}"))
        if before.rfind("[") > before.rfind("]"):
            return ranges
        return f"[^{ranges}]" if escape[1] == "P" else f"[{ranges}]"

    return re.compile(re.sub(r"\\([pP])(\w|\{\w+\})", members, text), re.ASCII)


def _matches(x: Array, pattern: bytes | str) -> Array:
    compiled = _compiled(pattern)
    matches = [compiled.fullmatch(text.decode()) is not None for text in x.reshape(-1)]
    return np.array(matches, bool).reshape(x.shape)


@definition("RegexFullMatch")
def _full_match(x: Array, pattern: Array) -> Array:
    return _matches(x, pattern[()])


@definition("StaticRegexFullMatch")
def _static_full_match(x: Array, *, pattern: str) -> Array:
    return _matches(x, pattern)


def _rewritten(match: re.Match[str], rewrite: str) -> str:
    r"""The rewrite with `\0` to `\9` replaced by groups, and two backslashes by one."""
    return re.sub(
        r"\\([0-9\\])",
        lambda escape: "\\" if escape[1] == "\\" else match[int(escape[1])] or "",
        rewrite,
    )


def _replaced(text: str, pattern: re.Pattern[str], rewrite: str, *, replace_global: bool) -> str:
    """Matches from left to right; an empty one does not count where the one before it ends."""
    parts, start, last = [], 0, -1
    while start <= len(text) and (match := pattern.search(text, start)):
        if match.start() == match.end() == last:
            parts.append(text[start : start + 1])
            start += 1
            continue
        parts += [text[start : match.start()], _rewritten(match, rewrite)]
        start = last = match.end()
        if not replace_global:
            break
    return "".join(parts) + text[start:]


@definition("StaticRegexReplace")
def _static_replace(x: Array, *, pattern: str, rewrite: str, replace_global: bool) -> Array:
    compiled = _compiled(pattern)

    def function(text: bytes) -> bytes:
        own = _replaced(text.decode(), compiled, rewrite, replace_global=replace_global)
        return own.encode()

    return _texts(x, function)


@definition("RegexReplace")
def _replace(x: Array, pattern: Array, rewrite: Array, *, replace_global: bool) -> Array:
    return _static_replace(
        x,
        pattern=pattern[()].decode(),
        rewrite=rewrite[()].decode(),
        replace_global=replace_global,
    )


def _turned(word: int, count: int) -> int:
    return (word << count | word >> (64 - count)) & _MASK


def _rounds(v: list[int], count: int) -> None:
    """So many rounds of SipHash on its four words."""
    for _ in range(count):
        for a, b, turn, crossed in ((0, 1, 13, True), (2, 3, 16, False)):
            v[a] = (v[a] + v[b]) & _MASK
            v[b] = _turned(v[b], turn) ^ v[a]
            v[a] = _turned(v[a], 32) if crossed else v[a]
        for a, b, turn, crossed in ((2, 1, 17, True), (0, 3, 21, False)):
            v[a] = (v[a] + v[b]) & _MASK
            v[b] = _turned(v[b], turn) ^ v[a]
            v[a] = _turned(v[a], 32) if crossed else v[a]


def _siphash(text: bytes, key: Sequence[int]) -> int:
    """SipHash-2-4."""
    low, high = (part & _MASK for part in key)
    names = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [name ^ part for name, part in zip(names, (low, high, low, high), strict=True)]
    padded = text + b"\0" * (7 - len(text) % 8) + bytes([len(text) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 255
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@definition("StringToHashBucketStrong")
def _strong_bucket(x: Array, *, num_buckets: int, key: Sequence[int]) -> Array:
    buckets = [_siphash(text, key) % num_buckets for text in x.reshape(-1)]
    return np.array(buckets, np.int64).reshape(x.shape)


def _decoded(text: bytes, encoding: str) -> Iterator[tuple[int | None, int]]:
    """The code points of a text, None for a part that is ill-formed, and where each begins."""
    codec, start = _CODECS[encoding], 0
    while start < len(text):
        try:
            valid, wrong = text[start:].decode(codec), (0, 0)
        except UnicodeDecodeError as error:
            valid = text[start : start + error.start].decode(codec)
            wrong = error.start, error.end
        at = start
        for letter in valid:
            yield ord(letter), at
            at += len(letter.encode(codec))
        if not wrong[1]:
            return
        yield None, at
        start += wrong[1]


def _points(
    text: bytes, encoding: str, errors: str, replacement: int, *, controls: bool
) -> list[tuple[int, int]]:
    """Code points and where they begin, with what is wrong replaced or left out.

    With `controls` so are the control characters below a space.
    """
    points = []
    for point, at in _decoded(text, encoding):
        if point is not None and not (controls and point < 32):
            points.append((point, at))
        elif errors == "replace":
            points.append((replacement, at))
    return points


@definition("UnicodeDecodeWithOffsets")
def _decode_with_offsets(
    x: Array,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: str,  # noqa: N803 - the attribute's name
) -> list[Array]:
    rows = [
        _points(text, input_encoding, errors, replacement_char, controls=replace_control_characters)
        for text in x.reshape(-1)
    ]
    flat = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    ends = np.cumsum([0, *map(len, rows)]).astype(Tsplits)
    return [ends, flat[:, 0].astype(np.int32), flat[:, 1]]


@definition("UnicodeDecode")
def _decode(
    x: Array,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: str,  # noqa: N803 - the attribute's name
) -> list[Array]:
    outputs: list[Array] = _decode_with_offsets(
        x,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        Tsplits=Tsplits,
    )
    return outputs[:2]


@definition("UnicodeTranscode")
def _transcode(
    x: Array,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Array:
    def function(text: bytes) -> bytes:
        points = _points(
            text, input_encoding, errors, replacement_char, controls=replace_control_characters
        )
        return "".join(chr(point) for point, _ in points).encode(_CODECS[output_encoding])

    return _texts(x, function)


@definition("UnicodeEncode")
def _encode(
    values: Array, splits: Array, *, errors: str, output_encoding: str, replacement_char: int
) -> Array:
    """The text of each row; surrogates and what is beyond Unicode are no code points."""

    def letter(point: int) -> str:
        if 0 <= point < 0x110000 and point not in range(0xD800, 0xE000):
            return chr(point)
        return chr(replacement_char) if errors == "replace" else ""

    rows = ["".join(map(letter, values[a:b].tolist())) for a, b in pairwise(splits.tolist())]
    return strings([row.encode(_CODECS[output_encoding]) for row in rows])
