"""PNG files: images written as such, and their pixels read with every bit.

Pillow reads those of up to 8 bits. It has no pixels of several channels of 16 bits, so files of 16
bits are unpacked here: a filter makes each byte depend on its neighbours to the left and above, so
all rows are worked on side by side, each a pixel behind the one above it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.pillow import pillow, too_large

__all__ = ["Header", "PngError", "pixels_of", "png"]

#: The type of a PNG's colours by how many numbers a pixel has: grey, grey and alpha, RGB, RGBA.
_COLOURS: Final = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PALETTE: Final = 3
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
#: The seven passes of an interlaced file: first row and column, steps.
_PASSES: Final = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2),
                  (0, 1, 2, 2), (1, 0, 2, 1))  # fmt: skip
_UP, _AVERAGE, _PAETH = 2, 3, 4
#: Packed bytes of a chunk, as libpng writes them.
_PART: Final = 8192
#: The longest chunk that may be.
_LONGEST: Final = (1 << 31) - 1
#: A side of so many pixels, or so many in all, are refused.
_SIDE: Final = 2**27
_PIXELS: Final = 2**29


class PngError(ValueError):
    """A file is no PNG, or a part of one is missing or damaged."""


def png(image: Any, compression: int = -1) -> bytes:
    """A PNG file of an image.

    Args:
      image: an array of uint8 or uint16 of the shape [height, width, 1, 2, 3 or 4].
      compression: zlib's level, -1 for its own choice.

    """
    height, width, depth = image.shape
    size = image.dtype.itemsize
    data = image.astype(image.dtype.newbyteorder(">")).reshape(height, width * depth)
    rows = _filtered(data.view("uint8").reshape(height, width, depth * size))
    header = struct.pack(">IIBBBBB", width, height, 8 * size, _COLOURS[depth], 0, 0, 0)
    packer = zlib.compressobj(compression, zlib.DEFLATED, _window(rows.size), 9, zlib.Z_FILTERED)
    packed = _headed(packer.compress(rows.tobytes()) + packer.flush(), rows.size)
    parts = [packed[place : place + _PART] for place in range(0, len(packed), _PART)]
    chunks = ((b"IHDR", header), *((b"IDAT", part) for part in parts), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _window(size: int) -> int:
    """The bits of the window that libpng gives zlib for so many bytes: no more than they need."""
    bits = 15
    while bits > 8 and size + 262 <= 1 << bits - 1:
        bits -= 1
    return bits


def _headed(packed: bytes, size: int) -> bytes:
    """Packed bytes whose first two tell of the smallest window that so many bytes need."""
    window = packed[0] >> 4
    while window > 0 and size <= 1 << window + 7:
        window -= 1
    first, second = packed[0] & 15 | window << 4, packed[1] & 0xE0
    second += 31 - ((first << 8) + second) % 31
    return bytes((first, second)) + packed[2:]


def _filtered(data: Any) -> Any:
    """Rows of pixels [rows, pixels, bytes] as they are stored, the filter's number before each.

    A filter takes from each byte what its neighbours let guess; of those that fit a picture of
    that size each row has the one whose bytes are nearest to 0, of equal ones the first.
    """
    height, width, size = data.shape
    wide = HOST.zeros((height + 1, width + 1, size), "int16")
    wide[1:, 1:] = data
    left, up, corner = wide[1:, :-1], wide[:-1, 1:], wide[:-1, :-1]
    guesses = [HOST.zeros_like(left), left, up, (left + up) >> 1, _nearest(left, up, corner)]
    kinds = [
        kind
        for kind in range(5)
        if not ((height == 1 and kind >= _UP) or (width == 1 and kind in {1, _AVERAGE, _PAETH}))
    ]
    tried = [
        ((wide[1:, 1:] - guesses[kind]) & 255).astype("uint8").reshape(height, -1) for kind in kinds
    ]
    costs = HOST.stack([HOST.abs(each.view("int8").astype("int64")).sum(axis=1) for each in tried])
    best = costs.argmin(axis=0)
    rows = HOST.empty((height, 1 + width * size), "uint8")
    rows[:, 0] = HOST.asarray(kinds)[best]
    rows[:, 1:] = HOST.stack(tried)[best, HOST.arange(height)]
    return rows


def _chunk(name: bytes, data: bytes) -> bytes:
    checked = name + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a file: name and data; those that count must be whole."""
    place = len(_SIGNATURE)
    while place + 8 <= len(content):
        length, name = struct.unpack_from(">I4s", content, place)
        data = content[place + 8 : place + 8 + length]
        place += 12 + length
        if length > _LONGEST or place > len(content):
            raise PngError("a chunk is cut off")
        (wanted,) = struct.unpack_from(">I", content, place - 4)
        if name[:1].isupper() and zlib.crc32(name + data) != wanted:
            raise PngError(f"chunk {name!r} is damaged")
        yield name, data
        if name == b"IEND":
            return
    raise PngError("the end is missing")


class Header:
    """What a PNG file says of itself: size, bits, colours, transparency; and its packed pixels."""

    def __init__(self, content: bytes) -> None:
        parts: dict[bytes, list[bytes]] = {}
        for name, data in _chunks(content):
            parts.setdefault(name, []).append(data)
        if b"IHDR" not in parts or len(parts[b"IHDR"][0]) != 13:
            raise PngError("the header is missing")
        self.width, self.height, self.bits, self.colours, *_, laced = struct.unpack(
            ">IIBBBBB", parts[b"IHDR"][0]
        )
        if max(self.width, self.height) >= _SIDE or self.width * self.height >= _PIXELS:
            raise PngError(f"{self.height} rows of {self.width} pixels are too large")
        if self.colours not in _CHANNELS or not self.width or not self.height:
            raise PngError("the header is wrong")
        self.is_laced = bool(laced)
        self.transparent = b"".join(parts.get(b"tRNS", []))
        self.packed = b"".join(parts.get(b"IDAT", []))

    @property
    def has_palette(self) -> bool:
        """Whether pixels are numbers of colours."""
        return bool(self.colours == _PALETTE)

    @property
    def channels(self) -> int:
        """How many numbers a pixel has in the file; those of a palette's colour for one."""
        if self.has_palette:
            return 4 if self.transparent else 3
        return _CHANNELS[self.colours]


def pixels_of(content: bytes) -> tuple[Header, Any]:
    """The header and the pixels of a file, as many channels as the header says.

    Numbers of fewer than 8 bits are spread over 0 to 255; a colour that stands for transparency
    is not looked for.

    Returns:
      The header, and an array of uint8 or, of a file of 16 bits, uint16.

    Raises:
      PngError: it cannot be read.

    """
    header = Header(content)
    if header.bits == 16:
        return header, _unpacked(header)
    unreadable: tuple[type[Exception], ...] = (
        OSError,
        SyntaxError,
        ValueError,
        zlib.error,
        *too_large(),
    )
    try:
        with pillow().Image.open(io.BytesIO(content)) as image:
            mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[header.channels]
            found = HOST.asarray(image if image.mode == mode else image.convert(mode))
    except unreadable as error:
        raise PngError(str(error)) from error
    return header, found.reshape(*found.shape[:2], -1)


def _unpacked(header: Header) -> Any:
    """The pixels of a file of 16 bits: uint16."""
    try:
        data = HOST.frombuffer(zlib.decompress(header.packed), "uint8")
    except zlib.error as error:
        raise PngError(str(error)) from error
    pixel = 2 * _CHANNELS[header.colours]
    whole = HOST.empty((header.height, header.width, pixel), "uint8")
    place = 0
    for row, column, down, across in _PASSES if header.is_laced else ((0, 0, 1, 1),):
        part = whole[row::down, column::across]
        if not part.size:
            continue
        length = len(part) * (1 + part.shape[1] * pixel)
        if place + length > len(data):
            raise PngError("pixels are missing")
        lines = data[place : place + length].reshape(len(part), -1)
        part[...] = _unfiltered(lines[:, 0], lines[:, 1:].reshape(part.shape))
        place += length
    shape = (header.height, header.width, pixel // 2)
    return whole.reshape(header.height, -1).view(">u2").astype("uint16").reshape(shape)


def _unfiltered(kinds: Any, data: Any) -> Any:
    """Rows of bytes [rows, pixels, bytes] from what filters of these kinds made of them."""
    height, width, size = data.shape
    found = HOST.zeros((height + 1, width + 1, size), "int64")  # a pixel of zeros above and before
    rows = HOST.arange(height)
    for step in range(width + height - 1):
        turn = rows[max(0, step - width + 1) : step + 1]
        column = step - turn
        left, up = found[turn + 1, column], found[turn, column + 1]
        kind = kinds[turn][:, None]
        guess = HOST.where(kind == 1, left, 0)
        guess = HOST.where(kind == _UP, up, guess)
        guess = HOST.where(kind == _AVERAGE, (left + up) >> 1, guess)
        guess = HOST.where(kind == _PAETH, _nearest(left, up, found[turn, column]), guess)
        found[turn + 1, column + 1] = (data[turn, column] + guess) & 255
    return found[1:, 1:]


def _nearest(left: Any, up: Any, corner: Any) -> Any:
    """Of three neighbours the one nearest to left + up - corner; of two the first."""
    by_left, by_up = HOST.abs(up - corner), HOST.abs(left - corner)
    by_corner = HOST.abs(left + up - 2 * corner)
    return HOST.where(
        (by_left <= by_up) & (by_left <= by_corner),
        left,
        HOST.where(by_up <= by_corner, up, corner),
    )
