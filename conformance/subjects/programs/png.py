"""Reads PNG files, in which images of summaries are written, without a library or the backend."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np

__all__ = ["pixels_of"]

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_HEADER: Final = struct.Struct(">IIBBBBB")
#: The number of channels of each colour type: grey, colour, and both with alpha.
_CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}


def pixels_of(data: bytes) -> np.ndarray:
    """The pixels of an image of eight bits a channel, without interlacing.

    Returns:
      uint8 of shape [height, width, channels].

    Raises:
      ValueError: the bytes are no such image.

    """
    if not data.startswith(_SIGNATURE):
        raise ValueError("these bytes are no PNG file")
    chunks = list(_chunks(data[len(_SIGNATURE) :]))
    width, height, depth, colour, *_, interlaced = _HEADER.unpack(chunks[0][1])
    if depth != 8 or interlaced or colour not in _CHANNELS:
        raise ValueError(f"depth {depth}, colour type {colour}, interlacing {interlaced}")
    channels = _CHANNELS[colour]
    packed = b"".join(content for kind, content in chunks if kind == b"IDAT")
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    above = np.zeros(width * channels, np.int64)
    lines = []
    for row in rows:
        above = _unfiltered(int(row[0]), row[1:].astype(np.int64), above, channels)
        lines.append(above)
    return np.array(lines, np.uint8).reshape(height, width, channels)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length


def _unfiltered(kind: int, row: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    """The bytes of a row, from its filtered bytes and the row above."""
    for index in range(len(row)):
        left = row[index - channels] if index >= channels else 0
        corner = above[index - channels] if index >= channels else 0
        row[index] = (row[index] + _predicted(kind, left, above[index], corner)) % 256
    return row


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    """The prediction of a byte by filter 0 to 4: zero, left, above, average, Paeth."""
    if kind == 4:
        nearest = left + above - corner
        return min((left, above, corner), key=lambda value: abs(nearest - value))
    return (0, left, above, (left + above) // 2)[kind]
