"""Varints: integers of varying length, as protocol buffers and checkpoints write them."""

from __future__ import annotations

from typing import Final

__all__ = ["put_varint", "take_varint"]

_MORE: Final = 0x80
_LONGEST: Final = 70


def put_varint(value: int) -> bytes:
    """The bytes of a number that is not negative: seven bits in a byte, the lowest first."""
    encoded = bytearray()
    while value >= _MORE:
        encoded.append(value & 0x7F | _MORE)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def take_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The number at a position, and the position after it.

    Raises:
      ValueError: the data ends within the number.

    """
    value = shift = 0
    while position < len(data) and shift < _LONGEST:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            return value, position
        shift += 7
    raise ValueError("a number does not end")
