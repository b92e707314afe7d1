"""Numbers and names as checkpoints write them: lengths, and keys that sort as what they say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sessrun.reference.base import varints
from sessrun.reference.base.kernel_errors import DataLoss

__all__ = ["ordered_bytes", "ordered_signed", "ordered_unsigned", "take_varint"]

#: The first two bytes' bits that say how long a signed number is, by its length.
_SIGNED_HEADERS: Final = (
    0, 0x8000, 0xC000, 0xE000, 0xF000, 0xF800, 0xFC00, 0xFE00, 0xFF00, 0xFF80, 0xFFC0,
)  # fmt: skip
_SPECIAL: Final = re.compile(rb"[\x00\xff]")
_ESCAPED: Final[Mapping[bytes, bytes]] = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}


def take_varint(data: bytes | memoryview, place: int) -> tuple[int, int]:
    """The number that begins at `place`, and where it ends.

    Raises:
      DataLoss: it does not end.

    """
    try:
        return varints.take_varint(data, place)
    except ValueError as error:
        raise DataLoss("A number in the file does not end") from error


def ordered_unsigned(value: int) -> bytes:
    """A key part that sorts as the number, which is not negative, does."""
    body = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(body)]) + body


def ordered_signed(value: int) -> bytes:
    """A key part that sorts as the number does."""
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
    """A key part that sorts as the bytes do, and ends."""
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], value) + b"\x00\x01"
