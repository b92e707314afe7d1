"""The bytes of an Example as its parsers read them: in place, without making the message.

TensorFlow's parser is quicker and less strict than protobuf's: fields that are none of an Example's
are passed over, whatever they hold, a length that reaches beyond its surroundings ends with them,
and a feature's own bytes are looked at only if it is asked for. Source: TF 2.21.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["WireError", "feature_lists_of", "features_of", "values_of"]

_VARINT: Final = 0
_FIXED64: Final = 1
_DELIMITED: Final = 2
_FIXED32: Final = 5
#: The most bytes that a varint has.
_LONGEST: Final = 10
_KINDS: Final = {1: "string", 2: "float32", 3: "int64"}
_FLOAT: Final = struct.Struct("<f")


class WireError(ValueError):
    """The bytes are no such message."""


class _Reader:
    """Bytes between two places.

    Args:
      data: the bytes.
      place: where it begins.
      end: where it ends.

    """

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
        length = self.length()
        return _Reader(self.data, self.place, min(self.place + length, self.end))

    def take(self) -> bytes:
        """The string that comes next, all of which must be there."""
        length = self.length()
        if self.place + length > self.end:
            raise WireError("a string is cut off")
        self.place += length
        return self.data[self.place - length : self.place]

    def skip(self) -> None:
        """Pass over a field of another message; one of strings may reach beyond the end."""
        kind = self.tag() & 7
        if kind == _VARINT:
            self.varint()
        elif kind in {_FIXED64, _FIXED32}:
            self.place += 8 if kind == _FIXED64 else 4
            if self.place > self.end:
                raise WireError("a field is cut off")
        elif kind == _DELIMITED:
            length = self.length()
            self.place = min(self.place + length, self.end)
        else:
            raise WireError("a group, or no field")

    def tag(self) -> int:
        """The next tag; 0 if there is none, which is a field of kind 0."""
        try:
            return self.length()
        except WireError:
            return 0


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
        key, value, place = _entry(reader)
        found[key] = value
        reader.place = place


def _entry(reader: _Reader) -> tuple[bytes, bytes, int]:
    """A key, its value's bytes, and where the entry ends."""
    if not reader.expect(1):
        raise WireError("no entry")
    inner = reader.within()
    if not inner.expect(1):
        raise WireError("an entry without a key")
    key = inner.take()
    if not inner.expect(2):
        raise WireError("an entry without a value")
    value = inner.take()
    if inner.more:
        raise WireError("an entry with more than a value")
    return key, value, inner.place


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


def values_of(feature: bytes) -> tuple[str, list[Any]] | None:
    """The dtype and the values of a feature's bytes; None if it is of no kind.

    Raises:
      WireError: they are no feature.

    """
    if not feature:
        return None
    reader = _Reader(feature, 0, len(feature))
    tag = reader.tag()
    dtype = _KINDS.get(tag >> 3) if tag & 7 == _DELIMITED else None
    if dtype is None:
        raise WireError("a feature of no kind")
    return dtype, _LISTS[dtype](reader.within())


def _strings(reader: _Reader) -> list[Any]:
    found: list[Any] = []
    while reader.more:
        if not reader.expect(1):
            raise WireError("no string of a list")
        found.append(reader.take())
    return found


def _numbers(reader: _Reader, kind: int, one: Any) -> list[Any]:
    """Numbers, packed or each with its tag."""
    found: list[Any] = []
    if reader.expect(1):
        inner = reader.within()
        while inner.more:
            found.append(one(inner))
        return found
    while reader.more:
        if not reader.expect(1, kind):
            raise WireError("no number of a list")
        found.append(one(reader))
    return found


def _float(reader: _Reader) -> float:
    if reader.place + _FLOAT.size > reader.end:
        raise WireError("a number is cut off")
    (value,) = _FLOAT.unpack_from(reader.data, reader.place)
    reader.place += _FLOAT.size
    return float(value)


def _integer(reader: _Reader) -> int:
    number = reader.varint()
    return number - (1 << 64) if number >> 63 else number


_LISTS: Final[Mapping[str, Callable[[_Reader], list[Any]]]] = {
    "string": _strings,
    "float32": lambda reader: _numbers(reader, _FIXED32, _float),
    "int64": lambda reader: _numbers(reader, _VARINT, _integer),
}
