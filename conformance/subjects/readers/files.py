"""Drawn files for readers of every kind, whose records are known since they were drawn."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sessrun.conformance.generators.record_files import record_file
from sessrun.spec.model.record_files import Records

__all__ = ["DrawnFile", "Kind", "draw_kind"]

#: The bytes before a record's data.
_HEAD: Final = 12
_ENCODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": lambda data: data,
    "ZLIB": zlib.compress,
    "GZIP": lambda data: gzip.compress(data, mtime=0),
}


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """A file.

    Attributes:
      name: in the case's folder.
      data: what it holds; None if there is none.
      records: what a reader finds in it.

    """

    name: str
    data: bytes | None
    records: Records = field(default_factory=lambda: Records(()))


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of reader with its attributes.

    Attributes:
      op: the type of its operation.
      attrs: the attributes that differ from their defaults.

    """

    op: str
    attrs: dict[str, Any] = field(default_factory=dict)

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
                return DrawnFile(name, None)
        return DrawnFile(name, data, Records(((-1, data),)))

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
        return DrawnFile(name, data, Records(tuple(enumerate(lines, 1))[skipped:]))

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
        return DrawnFile(name, written, Records(tuple(enumerate(records))))

    def _records(self, draw: random.Random, name: str) -> DrawnFile:
        records = [draw.randbytes(draw.choice((0, 1, 9, 200))) for _ in range(draw.randrange(5))]
        data = record_file(records)
        offsets = [len(record_file(records[:count])) for count in range(len(records) + 1)]
        pairs = tuple(zip(offsets, records, strict=False))
        encoding = self.attrs.get("compression_type", "")
        if encoding or not records or draw.random() < 0.6:
            return DrawnFile(name, _ENCODINGS[encoding](data), Records(pairs))
        offset = draw.randrange(len(data))
        undamaged = sum(end <= offset for end in offsets[1:])
        if draw.random() < 0.5:
            flipped = data[:offset] + bytes([data[offset] ^ 1 << draw.randrange(8)])
            return DrawnFile(
                name, flipped + data[offset + 1 :], Records(pairs[:undamaged], is_damaged=True)
            )
        # What is too short for a record's length is taken for the end of the file.
        is_damaged = offset - offsets[undamaged] >= _HEAD
        return DrawnFile(name, data[:offset], Records(pairs[:undamaged], is_damaged))


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
