"""A model of readers: what they read from drawn files, and what they count."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.conformance.generators.record_files import record_file

__all__ = ["DrawnFile", "Failed", "Kind", "Model", "draw_kind"]

_MISSING: Final = 5
_ENDED: Final = 11
_LOST: Final = 15
#: The bytes before a record's data.
_HEAD: Final = 12
_ENCODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": lambda data: data,
    "ZLIB": zlib.compress,
    "GZIP": lambda data: gzip.compress(data, mtime=0),
}


class Failed(Exception):  # noqa: N818 - a part of what is expected, not an error
    """The read fails with the code that is its argument."""


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """A file.

    Attributes:
      name: in the case's folder.
      data: what it holds; None if there is none.
      records: numbers in the keys, and values.
      lost: whether there is an error after the records.

    """

    name: str
    data: bytes | None
    records: tuple[tuple[int, bytes], ...] = ()
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of reader with its attributes.

    Attributes:
      op: the type of its operation.
      attrs: the attributes that differ from their defaults.

    """

    op: str
    attrs: dict[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether it is done with a file as soon as it has given a record."""
        return self.op in {"WholeFileReaderV2", "IdentityReaderV2"}

    def draw_file(self, draw: random.Random, name: str) -> DrawnFile:
        """A file for it."""
        if self.op != "IdentityReaderV2" and draw.random() < 0.06:
            return DrawnFile(name, None)
        data = draw.randbytes(draw.choice((0, 1, 5, 30)))
        match self.op:
            case "TextLineReaderV2":
                return self._lines(draw, name)
            case "FixedLengthRecordReaderV2":
                return self._fixed(draw, name)
            case "TFRecordReaderV2":
                return self._records(draw, name)
            case "IdentityReaderV2":
                return DrawnFile(name, None, ((-1, b""),))
        return DrawnFile(name, data, ((-1, data),))

    def _lines(self, draw: random.Random, name: str) -> DrawnFile:
        lines = [
            draw.choice((b"", b"a", b"two words", b"x\ry", b"\xff\0", b"z" * 300))
            for _ in range(draw.randrange(7))
        ]
        data = b"".join(line + draw.choice((b"\n", b"\r\n")) for line in lines)
        if draw.random() < 0.4:
            lines.append(b"the last")
            data += b"the last"
        skipped = self.attrs.get("skip_header_lines", 0)
        return DrawnFile(name, data, tuple(enumerate(lines, 1))[skipped:])

    def _fixed(self, draw: random.Random, name: str) -> DrawnFile:
        header, size = self.attrs.get("header_bytes", 0), self.attrs["record_bytes"]
        hop = self.attrs.get("hop_bytes", 0) or size
        footer = self.attrs.get("footer_bytes", 0)
        data = draw.randbytes(header + draw.choice((0, 1, size, 3 * size, 20)) + footer)
        records = []
        offset = header
        while offset + size <= len(data) - footer:
            records.append(data[offset : offset + size])
            offset += hop
        written = _ENCODINGS[self.attrs.get("encoding", "")](data)
        return DrawnFile(name, written, tuple(enumerate(records)))

    def _records(self, draw: random.Random, name: str) -> DrawnFile:
        records = [draw.randbytes(draw.choice((0, 1, 9, 200))) for _ in range(draw.randrange(5))]
        data = record_file(records)
        offsets = [len(record_file(records[:count])) for count in range(len(records) + 1)]
        pairs = tuple(zip(offsets, records, strict=False))
        encoding = self.attrs.get("compression_type", "")
        if encoding or not records or draw.random() < 0.6:
            return DrawnFile(name, _ENCODINGS[encoding](data), pairs)
        offset = draw.randrange(len(data))
        undamaged = sum(end <= offset for end in offsets[1:])
        if draw.random() < 0.5:
            flipped = data[:offset] + bytes([data[offset] ^ 1 << draw.randrange(8)])
            return DrawnFile(name, flipped + data[offset + 1 :], pairs[:undamaged], lost=True)
        # What is too short for a record's length is taken for the end of the file.
        return DrawnFile(
            name, data[:offset], pairs[:undamaged], lost=offset - offsets[undamaged] >= _HEAD
        )


def draw_kind(draw: random.Random) -> Kind:
    """A kind of reader."""
    match draw.randrange(6):
        case 0:
            return Kind("WholeFileReaderV2")
        case 1:
            return Kind("IdentityReaderV2")
        case 2:
            return Kind("TextLineReaderV2", {"skip_header_lines": draw.choice((0, 0, 1, 3))})
        case 3:
            encoding = draw.choice(("", "", "ZLIB", "GZIP"))
            return Kind("TFRecordReaderV2", {"compression_type": encoding})
    return Kind(
        "FixedLengthRecordReaderV2",
        {
            "record_bytes": draw.choice((1, 3, 8)),
            "header_bytes": draw.choice((0, 2)),
            "footer_bytes": draw.choice((0, 3)),
            "hop_bytes": draw.choice((0, 0, 1, 5)),
            "encoding": draw.choice(("", "", "ZLIB", "GZIP")),
        },
    )


class Model:
    """A reader, and the closed queue that it reads the names of.

    Args:
      kind: of the reader.
      files: those of the queue.
      paths: their names, as the reader has them.

    """

    def __init__(self, kind: Kind, files: Sequence[DrawnFile], paths: Sequence[bytes]) -> None:
        self.kind = kind
        self._waiting = list(zip(files, paths, strict=True))
        self._current: tuple[DrawnFile, bytes] | None = None
        self._left: list[tuple[int, bytes]] = []
        self.produced = 0
        self.units = 0

    def _begin(self) -> None:
        if self._current is not None:
            return
        if not self._waiting:
            raise Failed(_ENDED)
        file, path = self._waiting.pop(0)
        if file.data is None and not self.kind.whole:
            raise Failed(_MISSING)
        self._current, self._left = (file, path), list(file.records)

    def _next(self) -> tuple[bytes, bytes] | None:
        """The next record of the file, None if there are no more."""
        assert self._current is not None
        file, path = self._current
        if self.kind.op == "IdentityReaderV2":
            self._done()
            return path, path
        if self.kind.whole:
            if file.data is None:
                raise Failed(_MISSING)
            self._done()
            return path, file.data
        if self._left:
            number, value = self._left.pop(0)
            return b"%s:%d" % (path, number), value
        if file.lost:
            raise Failed(_LOST)
        self._done()
        return None

    def _done(self) -> None:
        self._current = None
        self.units += 1

    def read(self) -> tuple[bytes, bytes]:
        """The next record."""
        while True:
            self._begin()
            record = self._next()
            if record is not None:
                self.produced += 1
                return record

    def read_up_to(self, count: int) -> list[tuple[bytes, bytes]]:
        """The next records of one file."""
        while True:
            self._begin()
            records: list[tuple[bytes, bytes]] = []
            try:
                while len(records) < count and self._current is not None:
                    record = self._next()
                    if record is not None:
                        records.append(record)
            finally:
                self.produced += len(records)
            if records or self._current is not None:
                return records

    def reset(self) -> None:
        """Start again; names that were taken from the queue do not come back."""
        self._current = None
        self.produced = self.units = 0
