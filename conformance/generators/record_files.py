"""Record files made without an engine: lengths, data, and their masked CRC-32C."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

__all__ = ["masked_crc", "record_file"]

_POLYNOMIAL: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8


def _row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_ROWS: Final = tuple(_row(byte) for byte in range(256))


def record_file(records: Iterable[bytes]) -> bytes:
    """The bytes of a record file, uncompressed."""
    return b"".join(map(_framed, records))


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + masked_crc(length) + record + masked_crc(record)


def masked_crc(data: bytes) -> bytes:
    """The checksum that records and tables carry: a masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _ROWS[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)
