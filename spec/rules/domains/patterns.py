"""Value domains of what reads text: patterns, separators, names of files, compressed bytes."""

from __future__ import annotations

import gzip
import zlib
from typing import Final

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.strings import drawn_texts, text_scalar

__all__: list[str] = []

_WORDS: Final = (b"", b"a", b"aab", b"ab ba", b"xa1b22", b" a  b ", b"A,b,,c", b"\n", "ä1".encode())
#: Patterns that every dialect reads alike, with what they may be replaced by.
_PATTERNS: Final = (
    (b"a", b"<>"),
    (b"a+", b""),
    (b"[ab]", b"x"),
    (b"(a)(b)", rb"\2\1"),
    (b"[0-9]+", rb"<\0>"),
    (b"^a", b"z"),
    (b"b$", b"zz"),
    (b".*", b"w"),
    (b"a|b", b"-"),
    (b"[^a-z]", b"_"),
    (rb"\s", b""),
    (rb"\pL|[\pN,]", b"."),
    (rb"\P{Ll}", b"u"),
)
_SEPARATORS: Final = (b"", b" ", b",", b"a", b"ab", b", ")


@domain
def matched_text(draw: Draw, x: str, pattern: str = "", rewrite: str = "") -> Arguments:
    """Words, a pattern and what it is replaced by: inputs if they are named, else attributes."""
    searched, put = draw.random.choice(_PATTERNS)
    words = {x: drawn_texts(draw, _WORDS, draw.shape(0, 3))}
    if not pattern:
        draw.attrs["pattern"] = searched.decode()
        if draw.operation.attr("rewrite") is not None:
            draw.attrs["rewrite"] = put.decode()
        return draw.arguments(**words)
    more = {pattern: text_scalar(searched)} | ({rewrite: text_scalar(put)} if rewrite else {})
    return draw.arguments(**words, **more)


@domain
def split_text(draw: Draw, x: str, separator: str) -> Arguments:
    """A vector of words, and a separator of some characters or none."""
    if draw.operation.attr("maxsplit") is not None:
        draw.attrs["maxsplit"] = draw.random.choice((-1, -1, 0, 1, 2))
    words = drawn_texts(draw, _WORDS, (draw.dim(),))
    return draw.arguments(**{x: words, separator: text_scalar(draw.random.choice(_SEPARATORS))})


@domain
def sharded_name(draw: Draw, name: str, *numbers: str) -> Arguments:
    """A file's name, and numbers of five digits at most."""
    drawn = [draw.random.choice((0, 1, 7, 99, 99999)) for _ in numbers]
    text = text_scalar(draw.random.choice((b"", b"a", b"/tmp/model.ckpt")))
    values = {key: draw.integers(key, n) for key, n in zip(numbers, drawn, strict=True)}
    return draw.arguments(**{name: text}, **values)


def _packed(content: bytes, kind: str) -> bytes:
    match kind:
        case "ZLIB":
            return zlib.compress(content)
        case "GZIP":
            return gzip.compress(content, mtime=0)  # the same bytes at any time
    return content


@domain
def compressed(draw: Draw, x: str) -> Arguments:
    """Strings compressed in one of the ways that there are, or as they are."""
    kind = draw.random.choice(("", "ZLIB", "GZIP"))
    draw.attrs["compression_type"] = kind
    packed = [_packed(word * 20, kind) for word in _WORDS]
    return draw.arguments(**{x: drawn_texts(draw, packed, draw.shape(0, 2))})
