"""GIF files as TensorFlow reads them: the frames that are there whole, on a canvas that fits them.

What follows the last whole frame is left out, so that a file whose end is missing gives the frames
before. The canvas is as wide and as high as the largest frame, whatever size the file states.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.pillow import pillow, too_large

__all__ = ["GifError", "frames_of"]

_HEADER_BYTES: Final = 13
_FRAME_BYTES: Final = 10
_EXTENSION: Final = 0x21
_FRAME: Final = 0x2C
#: A canvas of so many pixels, over all frames, or more is refused.
_PIXELS: Final = 2**29


class GifError(ValueError):
    """The file holds no whole frame, or too large ones."""


def frames_of(content: bytes) -> Any:
    """The frames, each drawn over the one before: uint8 [frames, height, width, 3].

    Raises:
      GifError: see there.

    """
    found = list(_whole_frames(content))
    if not found:
        raise GifError("no frame is whole")
    width, height = (max(size[axis] for size, _ in found) for axis in (0, 1))
    if not 0 < width * height * len(found) < _PIXELS:
        raise GifError(f"{len(found)} frames of {height} by {width} pixels")
    sizes = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    whole = content[:6] + sizes + content[10 : found[-1][1]] + b";"
    unreadable: tuple[type[Exception], ...] = (
        ArithmeticError,
        EOFError,
        LookupError,
        OSError,
        SyntaxError,
        ValueError,
        *too_large(),
    )
    try:
        with pillow().Image.open(io.BytesIO(whole)) as image:
            each = pillow().ImageSequence.Iterator(image)
            drawn = [HOST.asarray(frame.convert("RGB"))[:height, :width] for frame in each]
            return HOST.stack(drawn)
    except unreadable as error:
        raise GifError(str(error)) from error


def _whole_frames(content: bytes) -> Iterator[tuple[tuple[int, int], int]]:
    """For each frame, up to the first that is not whole, its size and where its last byte ends."""
    if len(content) < _HEADER_BYTES:
        return
    place = _HEADER_BYTES + _table_bytes(content[10])
    while place < len(content):
        kind = content[place]
        if kind == _EXTENSION:
            place = _blocks_end(content, place + 2)
            continue
        head = content[place : place + _FRAME_BYTES]
        if kind != _FRAME or len(head) < _FRAME_BYTES:
            return
        size = (int.from_bytes(head[5:7], "little"), int.from_bytes(head[7:9], "little"))
        # A table of colours, the least width of a code, and then the data.
        place = _blocks_end(content, place + _FRAME_BYTES + _table_bytes(head[9]) + 1)
        if place > len(content):
            return
        yield size, place


def _table_bytes(flags: int) -> int:
    """How long the table of colours is that follows a description with these flags."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _blocks_end(content: bytes, place: int) -> int:
    """Where blocks end that begin with their length; past the end of the file if it is cut."""
    while place < len(content) and content[place]:
        place += content[place] + 1
    return place + 1
