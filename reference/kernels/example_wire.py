"""The bytes of an Example as its parsers read them: in place, without making the message.

TensorFlow's parser is quicker and less strict than protobuf's: fields that are none of an Example's
are passed over, whatever they hold, a length that reaches beyond its surroundings ends with them,
and a feature's own bytes are looked at only if it is asked for. Source: TF 2.21.

Tags and lengths are read in Python, one by one: many short features take five times TensorFlow's
time, in lists of features nine times, those of a hundred to a thousand numbers three times.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

__all__ = ["WireError", "feature_lists_of", "features_of", "joined", "values_of"]

_VARINT: Final = 0
_FIXED64: Final = 1
_DELIMITED: Final = 2
_FIXED32: Final = 5
#: The most bytes that a varint has.
_LONGEST: Final = 10
_KINDS: Final = {1: "string", 2: "float32", 3: "int64"}
_FLOAT_SIZE: Final = 4
#: From here on lengths are negative ones, by which nothing is passed over.
_NO_LENGTH: Final = 1 << 31
#: The bits of an integer; the least negative one, written without a sign.
_BITS, _NEGATIVE = 64, 1 << 63

#: The values of a feature: an array of floats or integers, or a list of strings.
Values = Any
#: Where values of a dtype are gathered.
_EMPTY: Final[Mapping[str, Callable[[], Values]]] = {
    "string": list,
    "float32": lambda: array("f"),
    "int64": lambda: array("q"),
}


class WireError(ValueError):
    """The bytes are no such message."""


class _Reader:
    """Bytes between two places.

    Args:
      data: the bytes.
      place: where it begins.
      end: where it ends.

    """

    __slots__ = ("data", "end", "place")

    def __init__(self, data: bytes, place: int, end: int) -> None:
        self.data = data
        self.place = place
        self.end = end

    @property
    def more(self) -> bool:
        """Whether there are more bytes."""
        return self.place < self.end

    def varint(self) -> int:
        """The next number, modulo 2**64."""
        number = 0
        if self.place < self.end and self.data[self.place] < 0x80:
            self.place += 1
            return self.data[self.place - 1]
        for index in range(_LONGEST):
            if self.place >= self.end:
                break
            byte = self.data[self.place]
            self.place += 1
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return number & 0xFFFFFFFFFFFFFFFF
        raise WireError("a number is cut off")

    def length(self) -> int:
        """The next number as a length."""
        return self.varint() & 0xFFFFFFFF

    def expect(self, field: int, kind: int = _DELIMITED) -> bool:
        """Whether the next tag is this one, in its shortest form; it is passed over then."""
        found = self.more and self.data[self.place] == field << 3 | kind
        self.place += found
        return found

    def within(self) -> _Reader:
        """The message that comes next: to its length, or to the end of what it is in."""
        end = self.length() + self.place
        return _Reader(self.data, self.place, min(end, self.end))

    def take(self) -> bytes:
        """The string that comes next, all of which must be there."""
        length = self.length()
        if self.place + length > self.end:
            raise WireError("a string is cut off")
        self.place += length
        return self.data[self.place - length : self.place]

    def skip(self) -> None:
        """Pass over a field of another message; one of strings may reach beyond the end."""
        kind = self.length() & 7
        if kind == _VARINT:
            self.varint()
        elif kind in {_FIXED64, _FIXED32}:
            self.place += 8 if kind == _FIXED64 else 4
            if self.place > self.end:
                raise WireError("a field is cut off")
        elif kind == _DELIMITED:
            length = self.length()
            if length < _NO_LENGTH:
                self.place += length
        else:
            raise WireError("a group, or no field")


def features_of(data: bytes) -> dict[bytes, bytes]:
    """The features of a serialized Example, or of several that follow each other: the last count.

    Raises:
      WireError: it is none.

    """
    found: dict[bytes, bytes] = {}
    reader = _Reader(data, 0, len(data))
    while reader.more:
        if reader.expect(1):
            inner = reader.within()
            _features(inner, found)
            reader.place = inner.place
        else:
            reader.skip()
    return found


def _features(reader: _Reader, found: dict[bytes, bytes]) -> None:
    while reader.more:
        key, value, reader.place = _entry(reader)
        if value or key not in found:
            found[key] = value


def _entry(reader: _Reader) -> tuple[bytes, bytes, int]:
    """A key, its value's bytes, and where the entry ends."""
    if not reader.expect(1):
        raise WireError("no entry")
    inner = reader.within()
    order = (1, 2) if inner.data[inner.place : inner.place + 1] == b"\x0a" else (2, 1)
    parts = {}
    for field in order:
        if not inner.expect(field):
            raise WireError("an entry without a key or a value")
        parts[field] = inner.take()
    if inner.more:
        raise WireError("an entry with more than a value")
    return parts[1], parts[2], inner.place


def feature_lists_of(data: bytes) -> tuple[dict[bytes, bytes], dict[bytes, list[bytes]]]:
    """The context of a serialized SequenceExample, and the features of each feature list.

    Raises:
      WireError: it is none.

    """
    context: dict[bytes, bytes] = {}
    lists: dict[bytes, list[bytes]] = {}
    reader = _Reader(data, 0, len(data))
    while reader.more:
        is_context = reader.expect(1)
        if not is_context and not reader.expect(2):
            reader.skip()
            continue
        inner = reader.within()
        if is_context:
            _features(inner, context)
        else:
            while inner.more:
                key, value, inner.place = _entry(inner)
                lists[key] = _steps(value)
        reader.place = inner.place
    return context, lists


def _steps(data: bytes) -> list[bytes]:
    reader = _Reader(data, 0, len(data))
    found = []
    while reader.more:
        if not reader.expect(1):
            raise WireError("no feature of a list")
        found.append(reader.take())
    return found


def joined(rows: Iterable[Values], dtype: str) -> Values:
    """All values of features, or other values of that dtype, behind one another."""
    flat = _EMPTY[dtype]()
    for row in rows:
        flat.extend(row)
    return flat


def values_of(feature: bytes) -> tuple[str, Values] | None:
    """The dtype and the values of a feature's bytes; None if it is of no kind.

    Raises:
      WireError: they are no feature.

    """
    if not feature:
        return None
    reader = _Reader(feature, 0, len(feature))
    tag = reader.length()
    dtype = _KINDS.get(tag >> 3) if tag & 7 == _DELIMITED else None
    if dtype is None:
        raise WireError("a feature of no kind")
    return dtype, _LISTS[dtype](reader.within())


def _strings(reader: _Reader) -> list[bytes]:
    found: list[bytes] = []
    while reader.more:
        if not reader.expect(1):
            raise WireError("no string of a list")
        found.append(reader.take())
    return found


def _one_by_one(reader: _Reader, kind: int) -> bytes:
    """The bytes of numbers each of which has its tag."""
    parts = []
    while reader.more:
        if not reader.expect(1, kind):
            raise WireError("no number of a list")
        begin = reader.place
        if kind == _VARINT:
            reader.varint()
        else:
            reader.place = min(begin + _FLOAT_SIZE, reader.end)
        parts.append(reader.data[begin : reader.place])
    return b"".join(parts)


def _floats(reader: _Reader) -> Values:
    if reader.expect(1):
        size = reader.length() // _FLOAT_SIZE * _FLOAT_SIZE  # a rest is passed over
        data = reader.data[reader.place : min(reader.place + size, reader.end)]
    else:
        data = _one_by_one(reader, _FIXED32)
        size = -(-len(data) // _FLOAT_SIZE) * _FLOAT_SIZE
    if len(data) < size:
        raise WireError("a number is cut off")
    found = array("f", data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _integers(reader: _Reader) -> Values:
    found = array("q")
    number = shift = 0
    if reader.expect(1):
        inner = reader.within()
        data = inner.data[inner.place : inner.end]
    else:
        data = _one_by_one(reader, _VARINT)
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            number &= 0xFFFFFFFFFFFFFFFF
            found.append(number - (1 << _BITS) if number >= _NEGATIVE else number)
            number = shift = 0
        elif shift == 7 * _LONGEST:
            break
    if shift:
        raise WireError("a number is cut off")
    return found


_LISTS: Final[Mapping[str, Callable[[_Reader], Values]]] = {
    "string": _strings,
    "float32": _floats,
    "int64": _integers,
}
