"""Value domains of what reads text: patterns, separators, templates, compressed and raw bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []

_WORDS: Final = (b"", b"a", b"aab", b"ab ba", b"xa1b22", b" a  b ", b"A,b,,c", b"\n", "ä1".encode())
#: Patterns that every dialect reads alike, with what they may be replaced by.
_PATTERNS: Final = (
    (b"a", b"<>"), (b"a+", b""), (b"[ab]", b"x"), (b"(a)(b)", rb"\2\1"), (b"[0-9]+", rb"<\0>"),
    (b"^a", b"z"), (b"b$", b"zz"), (b".*", b"w"), (b"a|b", b"-"), (b"[^a-z]", b"_"), (rb"\s", b""),
)  # fmt: skip
_SEPARATORS: Final = (b"", b" ", b",", b"a", b"ab", b", ")


def _texts(draw: Draw, words: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    held = np.empty(int(np.prod(shape, dtype=np.int64)), object)
    held[:] = draw.random.choices(words, k=len(held))
    return held.reshape(shape)


def _scalar(value: bytes) -> np.ndarray:
    return np.array(value, object)


@domain
def matched_text(draw: Draw, x: str, pattern: str = "", rewrite: str = "") -> Arguments:
    """Words, a pattern and what it is replaced by: inputs if they are named, else attributes."""
    found, put = draw.random.choice(_PATTERNS)
    words = {x: _texts(draw, _WORDS, draw.shape(0, 3))}
    if not pattern:
        draw.attrs["pattern"] = found.decode()
        if draw.operation.attr("rewrite") is not None:
            draw.attrs["rewrite"] = put.decode()
        return draw.arguments(**words)
    more = {pattern: _scalar(found)} | ({rewrite: _scalar(put)} if rewrite else {})
    return draw.arguments(**words, **more)


@domain
def split_text(draw: Draw, x: str, separator: str) -> Arguments:
    """A vector of words, and a separator of some characters or none."""
    if draw.operation.attr("maxsplit") is not None:
        draw.attrs["maxsplit"] = draw.random.choice((-1, -1, 0, 1, 2))
    words = _texts(draw, _WORDS, (draw.dim(),))
    return draw.arguments(**{x: words, separator: _scalar(draw.random.choice(_SEPARATORS))})


@domain
def sharded_name(draw: Draw, name: str, *numbers: str) -> Arguments:
    """A file's name, and numbers of five digits at most."""
    drawn = [draw.random.choice((0, 1, 7, 99, 99999)) for _ in numbers]
    text = _scalar(draw.random.choice((b"", b"a", b"/tmp/model.ckpt")))
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
    return draw.arguments(**{x: _texts(draw, packed, draw.shape(0, 2))})


@domain
def padded_bytes(draw: Draw, x: str, length: str) -> Arguments:
    """Strings of any lengths, and the length that each is cut or filled up to.

    Left out: halves, which TensorFlow's CPU does not decode so.
    """
    if draw.attrs["out_type"] in {"bfloat16", "float16"}:
        draw.attrs["out_type"] = "float32"
    size = BY_NAME[draw.attrs["out_type"]].itemsize
    words = [draw.random.randbytes(draw.random.randint(0, 3 * size)) for _ in range(5)]
    wanted = size * draw.random.randint(1, 3)
    texts = _texts(draw, words, draw.shape(1, 2, 1))
    return draw.arguments(**{x: texts, length: draw.integers(length, wanted)})
