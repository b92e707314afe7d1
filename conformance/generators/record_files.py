"""Record files made without an engine: lengths, data, and their masked CRC-32C."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from sessrun.spec.model.record_files import masked_crc

__all__ = ["record_file"]


def record_file(records: Iterable[bytes]) -> bytes:
    """The bytes of a record file, uncompressed."""
    return b"".join(map(_framed, records))


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + masked_crc(length) + record + masked_crc(record)
