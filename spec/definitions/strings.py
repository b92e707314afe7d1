"""Definitions of operations on strings, which are bytes."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sessrun.spec.definitions.base import Array, definition, numpy_dtype, strings

__all__: list[str] = []


def _elementwise(function: Callable[..., bytes], *tensors: Array) -> Array:
    """A function of each element of tensors that broadcast, which gives bytes."""
    spread = np.broadcast_arrays(*tensors)
    values = [function(*items) for items in zip(*(x.reshape(-1) for x in spread), strict=True)]
    return strings(values).reshape(spread[0].shape)


@definition("StringJoin")
def _join(inputs: list[Array], *, separator: str) -> Array:
    """The inputs with the separator between them; scalars beside every element."""
    shape = next((x.shape for x in inputs if x.ndim), ())
    spread = [np.broadcast_to(x, shape) for x in inputs]
    return _elementwise(lambda *items: separator.encode().join(items), *spread)


_SPACE = b" \t\n\v\f\r"


@definition("StringLower")
def _lower(x: Array, *, encoding: str) -> Array:
    """ASCII letters without an encoding; with UTF-8 all of Unicode's; bad bytes are U+FFFD."""
    if encoding:
        return _elementwise(lambda s: s.decode("utf-8", "replace").lower().encode(), x)
    return _elementwise(bytes.lower, x)


@definition("StringUpper")
def _upper(x: Array, *, encoding: str) -> Array:
    if encoding:
        return _elementwise(lambda s: s.decode("utf-8", "replace").upper().encode(), x)
    return _elementwise(bytes.upper, x)


@definition("StringStrip")
def _strip(x: Array) -> Array:
    """Without the white space of ASCII on both sides."""
    return _elementwise(lambda s: s.strip(_SPACE), x)


@definition("StringLength")
def _length(x: Array, *, unit: str) -> Array:
    """Bytes, or bytes that do not continue a character of UTF-8."""

    def size(text: bytes) -> int:
        return len(text) if unit == "BYTE" else sum((byte & 0xC0) != 0x80 for byte in text)

    return np.array([size(text) for text in x.reshape(-1)], np.int32).reshape(x.shape)


def _characters(text: bytes) -> list[bytes]:
    """A text of UTF-8 character by character."""
    return re.findall(rb"[^\x80-\xbf][\x80-\xbf]*", text, re.DOTALL)


@definition("Substr")
def _substr(x: Array, pos: Array, length: Array, *, unit: str) -> Array:
    """From a position, of a negative one from behind, at most so many bytes or characters."""

    def part(text: bytes, start: int, count: int) -> bytes:
        units = _characters(text) if unit == "UTF8_CHAR" else [bytes([b]) for b in text]
        first = start + len(units) if start < 0 else start
        return b"".join(units[first : first + count])

    return _elementwise(part, x, pos, length)


@definition("ReduceJoin")
def _reduce_join(x: Array, indices: Array, *, keep_dims: bool, separator: str) -> Array:
    """Joined along the axes, the one that is named first fastest."""
    axes = [int(axis) % x.ndim for axis in np.reshape(indices, -1)]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose(*kept, *reversed(axes)) if x.ndim else x
    outer = tuple(x.shape[axis] for axis in kept)
    rows = moved.reshape(*outer, -1)
    values = [separator.encode().join(rows[at]) for at in np.ndindex(*outer)]
    shape = (
        tuple(1 if axis in axes else n for axis, n in enumerate(x.shape)) if keep_dims else outer
    )
    return strings(values).reshape(shape)


@definition("UnsortedSegmentJoin")
def _segment_join(x: Array, ids: Array, count: Array, *, separator: str) -> Array:
    """For each segment its slices joined element by element, in order; empty of none.

    The separator comes before a string unless all strings so far are empty.
    """
    inner = x.shape[ids.ndim :]
    slices = x.reshape(ids.size, *inner)
    result = np.full((int(count), *inner), b"", object)
    for number in range(int(count)):
        mine = slices[ids.reshape(-1) == number]
        for at in np.ndindex(*inner):
            words = [mine[(i, *at)] for i in range(len(mine))]
            begin = next((i for i, word in enumerate(words) if word), len(words))
            result[(number, *at)] = separator.encode().join(words[begin:])
    return result


@definition("EncodeBase64")
def _encode64(x: Array, *, pad: bool) -> Array:
    """With `-` and `_`; filled up with `=` if asked for."""

    def encoded(text: bytes) -> bytes:
        letters = base64.urlsafe_b64encode(text)
        return letters if pad else letters.rstrip(b"=")

    return _elementwise(encoded, x)


@definition("DecodeBase64")
def _decode64(x: Array) -> Array:
    """With `-` and `_`, filled up or not."""

    def decoded(text: bytes) -> bytes:
        letters = text.rstrip(b"=")
        return base64.urlsafe_b64decode(letters + b"=" * (-len(letters) % 4))

    return _elementwise(decoded, x)


def _number(text: bytes) -> int | float:
    words = text.strip().decode().lower()
    if re.fullmatch(r"[+-]?\d+", words):
        return int(words)
    return float.fromhex(words) if "0x" in words else float(words)


@definition("StringToNumber")
def _to_number(x: Array, *, out_type: str) -> Array:
    """Decimal or hexadecimal, with white space around it."""
    values = [_number(text) for text in x.reshape(-1)]
    return np.array(values).astype(numpy_dtype(out_type)).reshape(x.shape)


def _from_bytes(text: bytes, dtype: str, *, little_endian: bool) -> Array:
    target = numpy_dtype(dtype)
    half = target.itemsize // 2 if target.kind == "c" else target.itemsize
    raw = np.frombuffer(text, np.uint8)
    if not little_endian:  # the bytes of each number, of both parts of a complex one
        raw = raw.reshape(-1, half)[:, ::-1].reshape(-1)
    return np.frombuffer(raw.tobytes(), target)


@definition("DecodeRaw")
def _decode_raw(x: Array, *, out_type: str, little_endian: bool) -> Array:
    """The numbers that the bytes are, as a last dimension."""
    rows = [_from_bytes(s, out_type, little_endian=little_endian) for s in x.reshape(-1)]
    return np.array(rows).reshape(*x.shape, -1 if rows else 0)


@definition("DecodePaddedRaw")
def _decode_padded_raw(x: Array, length: Array, *, out_type: str, little_endian: bool) -> Array:
    """Of bytes that are cut, or filled up with zeros, to a length."""
    size = int(length)
    rows = [
        _from_bytes(s[:size].ljust(size, b"\0"), out_type, little_endian=little_endian)
        for s in x.reshape(-1)
    ]
    return np.array(rows).reshape(*x.shape, -1)


def _digits(number: complex, precision: int, style: str) -> str:
    """A number as C's printf writes it."""
    parts = [number.real, number.imag]
    dot = "" if precision < 0 else f".{precision}"
    return ",".join(_printed(part, dot, style) for part in parts)


def _printed(number: float, dot: str, style: str) -> str:
    if not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return f"%{dot}{style}" % number


@definition("AsString")
def _as_string(
    x: Array, *, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> Array:
    """`%d`, or `%f`, `%e` (scientific) or `%g` (shortest) with the precision, or six digits.

    `true` and `false`; `(re,im)`; strings as they are. Filled up from the left to the width with
    spaces, or for `fill` 0, where the number is finite, with zeros behind the sign; for `fill` -,
    from the right. Before numbers without a sign, but for unsigned integers, stands what `fill`
    is of a space and +.
    """
    style = "e" if scientific else "g" if shortest else "f"

    def text(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, bool | np.bool_):
            return b"true" if value else b"false"
        if isinstance(value, complex):
            return f"({_digits(value, precision, style)})".encode()
        words = (
            str(value)
            if isinstance(value, int)
            else _printed(float(value), "" if precision < 0 else f".{precision}", style)
        )
        if fill in {" ", "+"} and x.dtype.kind != "u" and not words.startswith("-"):
            words = fill + words
        if fill == "-":
            return words.ljust(width).encode()
        with_zeros = fill == "0" and words[-1].isdigit()
        sign = "-" if with_zeros and words.startswith("-") else ""
        rest = words.removeprefix("-") if sign else words
        return (sign + rest.rjust(width - len(sign), "0" if with_zeros else " ")).encode()

    return strings([text(value) for value in x.reshape(-1).tolist()]).reshape(x.shape)


@definition("StringSplit")
def _split(x: Array, delimiter: Array, *, skip_empty: bool) -> tuple[Array, Array, Array]:
    """At every byte of the delimiter; between all bytes if that is empty. A sparse matrix.

    An empty string has no parts, even where empty parts count.
    """
    letters = delimiter.reshape(-1)[0]

    def parts(text: bytes) -> list[bytes]:
        if not letters or not text:
            return [bytes([byte]) for byte in text]
        words = re.split(b"[" + re.escape(letters) + b"]", text)
        return [word for word in words if word or not skip_empty]

    return _ragged([parts(text) for text in x.reshape(-1)])


def _ragged(rows: Sequence[Sequence[bytes]]) -> tuple[Array, Array, Array]:
    """Rows as the indices, values and shape of a sparse matrix."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    shape = (len(rows), max(map(len, rows), default=0))
    values = strings([word for row in rows for word in row])
    return np.array(indices, np.int64).reshape(-1, 2), values, np.array(shape, np.int64)


@definition("StringSplitV2")
def _split_v2(x: Array, sep: Array, *, maxsplit: int) -> tuple[Array, Array, Array]:
    """At the separator, or, if it is empty, at runs of white space; `maxsplit` times at most.

    With `maxsplit` white space splits off words, and what is left, even nothing, is the last part.
    """
    separator, most = sep.reshape(-1)[0], max(maxsplit, -1)
    if most == 0:
        return _ragged([[text] for text in x.reshape(-1)])
    if separator:
        return _ragged([text.split(separator, most) for text in x.reshape(-1)])
    return _ragged([_words(text, most) for text in x.reshape(-1)])


def _words(text: bytes, most: int) -> list[bytes]:
    words: list[bytes] = []
    rest = text.lstrip(_SPACE)
    while rest:
        word = re.split(b"[" + _SPACE + b"]", rest, maxsplit=1)[0]
        rest = rest[len(word) :].lstrip(_SPACE)
        words.append(word)
        if len(words) == most:
            return [*words, rest]
    return words


@definition("StringNGrams")
def _n_grams(
    data: Array,
    splits: Array,
    *,
    separator: str,
    ngram_widths: Sequence[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Array, Array]:
    """Of each row, width by width, every run of so many words, with pads before and behind.

    Pads are as many as the width less 1, or fewer: `pad_width` if that is not negative. Of no
    words at all there is no run, not even of pads. A row without any gives, where short ones are
    preserved, itself whole with its pads.
    """
    grams: list[bytes] = []
    ends = [0]
    for start, end in pairwise(splits):
        row = list(data[int(start) : int(end)])
        mine = []
        for width in ngram_widths if len(data) else ():
            mine += _runs(row, width, left_pad, right_pad, pad_width)
        if not mine and row and preserve_short_sequences:
            pads = max(pad_width, 0)
            mine = [[left_pad.encode()] * pads + row + [right_pad.encode()] * pads]
        grams += [separator.encode().join(words) for words in mine]
        ends.append(len(grams))
    return strings(grams), np.array(ends, splits.dtype)


def _runs(row: list[bytes], width: int, left: str, right: str, pad_width: int) -> list[list[bytes]]:
    pads = min(width - 1 if pad_width < 0 else pad_width, width - 1)
    words = [left.encode()] * pads + row + [right.encode()] * pads
    return [words[i : i + width] for i in range(len(words) - width + 1)]
