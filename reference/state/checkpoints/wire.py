"""Numbers and names as checkpoints write them: lengths, and keys that keep the order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sessrun.reference.base import varints
from sessrun.reference.base.kernel_errors import DataLoss

__all__ = ["lost", "ordered_bytes", "ordered_signed", "ordered_unsigned", "take_varint"]

#: For the lengths of signed numbers, the bits of the first two bytes that encode the length.
_SIGNED_HEADERS: Final = (
    0, 0x8000, 0xC000, 0xE000, 0xF000, 0xF800, 0xFC00, 0xFE00, 0xFF00, 0xFF80, 0xFFC0,
)  # fmt: skip
_SPECIAL: Final = re.compile(rb"[\x00\xff]")
_ESCAPED: Final[Mapping[bytes, bytes]] = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}


def lost(source: str, reason: str) -> DataLoss:
    """The error of a file, or a tensor in one, that cannot be read."""
    return DataLoss(f"Unable to read {source}: {reason}")


def take_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The number at a position, and the position after it.

    Raises:
      DataLoss: the data ends within the number.

    """
    try:
        return varints.take_varint(data, position)
    except ValueError as error:
        raise DataLoss("A number in the file does not end") from error


def ordered_unsigned(value: int) -> bytes:
    """A part of a key that sorts like the number, which is not negative."""
    body = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(body)]) + body


def ordered_signed(value: int) -> bytes:
    """A part of a key that sorts like the number."""
    magnitude = ~value if value < 0 else value
    length = 1
    while magnitude >> (7 * length - 1):
        length += 1
    body = bytearray(value.to_bytes(max(length, 2), "big", signed=True)[-length:])
    header = _SIGNED_HEADERS[length].to_bytes(2, "big")
    for index in range(min(length, 2)):
        body[index] ^= header[index]
    return bytes(body)


def ordered_bytes(value: bytes) -> bytes:
    """A part of a key that sorts like the bytes, with an end mark."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], value) + b"\x00\x01"
