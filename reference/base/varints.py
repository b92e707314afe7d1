"""Numbers of varying length, as protocol buffers and checkpoints write them."""

from __future__ import annotations

from typing import Final

__all__ = ["put_varint", "take_varint"]

_MORE: Final = 0x80
_LONGEST: Final = 70


def put_varint(value: int) -> bytes:
    """A number that is not negative, seven bits to a byte, the lowest first."""
    found = bytearray()
    while value >= _MORE:
        found.append(value & 0x7F | _MORE)
        value >>= 7
    found.append(value)
    return bytes(found)


def take_varint(data: bytes | memoryview, place: int) -> tuple[int, int]:
    """The number that begins at `place`, and where it ends.

    Raises:
      ValueError: it does not end.

    """
    value = shift = 0
    while place < len(data) and shift < _LONGEST:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            return value, place
        shift += 7
    raise ValueError("a number does not end")
