"""What readers see in files: numbered records, and whether damage comes after them."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Records", "masked_crc", "records_of"]

#: A record's length and its checksum come before the data; another checksum behind.
_HEAD: Final = 12
_TAIL: Final = 4
_POLYNOMIAL: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8
_DECODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": lambda data: data,
    "ZLIB": zlib.decompress,
    "GZIP": gzip.decompress,
}


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file.

    Attributes:
      numbered: the number in each one's key, and its value.
      is_damaged: whether what comes behind them is no record.

    """

    numbered: tuple[tuple[int, bytes], ...]
    is_damaged: bool = False


def records_of(kind: str, attrs: Mapping[str, Any], data: bytes) -> Records:
    """What a reader sees in a file.

    Args:
      kind: `WholeFileReader`, `TextLineReader`, `FixedLengthRecordReader` or `TFRecordReader`.
      attrs: the attributes of its operation.
      data: what the file holds.

    """
    match kind:
        case "TextLineReader":
            return Records(_lines(data)[attrs["skip_header_lines"] :])
        case "FixedLengthRecordReader":
            return Records(_fixed(_DECODINGS[attrs["encoding"]](data), attrs))
        case "TFRecordReader":
            return _framed(_DECODINGS[attrs["compression_type"]](data))
    return Records(((-1, data),))


def _lines(data: bytes) -> tuple[tuple[int, bytes], ...]:
    r"""Lines, counted from 1, without their ends: \n or \r\n or nothing (READERS-002 to 004)."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return tuple(enumerate((line.removesuffix(b"\r") for line in lines), 1))


def _fixed(data: bytes, attrs: Mapping[str, Any]) -> tuple[tuple[int, bytes], ...]:
    """Records of one size between header and footer, counted from 0 (READERS-005 to 008)."""
    size, begin = attrs["record_bytes"], attrs["header_bytes"]
    end = len(data) - attrs["footer_bytes"]
    offsets = range(begin, end - size + 1, attrs["hop_bytes"] or size)
    return tuple(enumerate(data[offset : offset + size] for offset in offsets))


def _framed(data: bytes) -> Records:
    """Records with checksums, numbered by the byte at which each begins (READERS-009 to 012).

    What is too short for a record's length at the end is no damage.
    """
    numbered: list[tuple[int, bytes]] = []
    offset = 0
    while offset + _HEAD <= len(data):
        length = data[offset : offset + 8]
        begin = offset + _HEAD
        end = begin + int(struct.unpack("<Q", length)[0])
        is_whole = end + _TAIL <= len(data) and data[offset + 8 : begin] == masked_crc(length)
        if not is_whole or data[end : end + _TAIL] != masked_crc(data[begin:end]):
            return Records(tuple(numbered), is_damaged=True)
        numbered.append((offset, data[begin:end]))
        offset = end + _TAIL
    return Records(tuple(numbered))


def _row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_ROWS: Final = tuple(_row(byte) for byte in range(256))


def masked_crc(data: bytes) -> bytes:
    """The checksum that records and tables of checkpoints carry: a masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _ROWS[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)
