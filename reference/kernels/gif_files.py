"""GIF files as TensorFlow reads them: their complete frames, on a canvas that fits them.

Data behind the last complete frame is ignored, so that a truncated file gives the frames
before. The canvas has the size of the largest frame, not the size that the file states.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.pillow import pillow, too_large

__all__ = ["GifError", "frames_of"]

_HEADER_BYTES: Final = 13
_FRAME_BYTES: Final = 10
_EXTENSION: Final = 0x21
_FRAME: Final = 0x2C
#: The number of pixels, over all frames, from which on a file is refused.
_PIXELS: Final = 2**29


class GifError(ValueError):
    """The file has no complete frame, or too large ones."""


def frames_of(content: bytes) -> Array:
    """The frames, drawn over one another: uint8 [frames, height, width, 3].

    Raises:
      GifError: the file has no complete frame, or too large ones.

    """
    frames = list(_complete_frames(content))
    if not frames:
        raise GifError("no frame is complete")
    width, height = (max(size[axis] for size, _ in frames) for axis in (0, 1))
    if not 0 < width * height * len(frames) < _PIXELS:
        raise GifError(f"{len(frames)} frames of {height} by {width} pixels")
    sizes = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    readable = content[:6] + sizes + content[10 : frames[-1][1]] + b";"
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
        with pillow().Image.open(io.BytesIO(readable)) as image:
            images = pillow().ImageSequence.Iterator(image)
            drawn = [HOST.asarray(frame.convert("RGB"))[:height, :width] for frame in images]
            return HOST.stack(drawn)
    except unreadable as error:
        raise GifError(str(error)) from error


def _complete_frames(content: bytes) -> Iterator[tuple[tuple[int, int], int]]:
    """The size and the end of each frame, up to the first incomplete one."""
    if len(content) < _HEADER_BYTES:
        return
    position = _HEADER_BYTES + _table_bytes(content[10])
    while position < len(content):
        kind = content[position]
        if kind == _EXTENSION:
            position = _blocks_end(content, position + 2)
            continue
        head = content[position : position + _FRAME_BYTES]
        if kind != _FRAME or len(head) < _FRAME_BYTES:
            return
        size = (int.from_bytes(head[5:7], "little"), int.from_bytes(head[7:9], "little"))
        # A table of colours, the least width of a code, and then the data.
        position = _blocks_end(content, position + _FRAME_BYTES + _table_bytes(head[9]) + 1)
        if position > len(content):
            return
        yield size, position


def _table_bytes(flags: int) -> int:
    """The size in bytes of the table of colours that follows a descriptor with these flags."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _blocks_end(content: bytes, position: int) -> int:
    """Where a sequence of sub-blocks ends; beyond the end of a truncated file."""
    while position < len(content) and content[position]:
        position += content[position] + 1
    return position + 1
