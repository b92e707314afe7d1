"""Writing PNG files, and reading their pixels with all bits.

Pillow reads files of up to 8 bits. It has no mode for several channels of 16 bits, so files of 16
bits are unpacked here: filters make a byte depend on its neighbours to the left and above, so
all rows are processed together, every row one pixel behind the row above.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.pillow import pillow, too_large

__all__ = ["Header", "PngError", "pixels_of", "png"]

#: The colour type of a PNG by the number of channels: grey, grey and alpha, RGB, RGBA.
_COLOURS: Final = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PALETTE: Final = 3
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
#: The seven passes of an interlaced file: first row and column, steps.
_PASSES: Final = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2),
                  (0, 1, 2, 2), (1, 0, 2, 1))  # fmt: skip
_UP, _AVERAGE, _PAETH = 2, 3, 4
#: The number of packed bytes in a chunk, as libpng writes them.
_PART: Final = 8192
#: The greatest length of a chunk.
_LONGEST: Final = (1 << 31) - 1
#: The sides and the number of pixels from which on files are refused.
_SIDE: Final = 2**27
_PIXELS: Final = 2**29


class PngError(ValueError):
    """A file is no PNG, or a part of one is missing or damaged."""


def png(image: Array, compression: int = -1) -> bytes:
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
    parts = [packed[begin : begin + _PART] for begin in range(0, len(packed), _PART)]
    chunks = ((b"IHDR", header), *((b"IDAT", part) for part in parts), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _window(size: int) -> int:
    """The bits of zlib's window for so many bytes, as libpng chooses them: no more than needed."""
    bits = 15
    while bits > 8 and size + 262 <= 1 << bits - 1:
        bits -= 1
    return bits


def _headed(packed: bytes, size: int) -> bytes:
    """Packed bytes with a header that states the smallest window for so many bytes."""
    window = packed[0] >> 4
    while window > 0 and size <= 1 << window + 7:
        window -= 1
    first, second = packed[0] & 15 | window << 4, packed[1] & 0xE0
    second += 31 - ((first << 8) + second) % 31
    return bytes((first, second)) + packed[2:]


def _filtered(data: Array) -> Array:
    """Rows of pixels [rows, pixels, bytes] filtered, with the filter's number in front of each row.

    A filter subtracts a prediction by neighbours from each byte. Of the filters for a picture of
    that size, a row gets the one whose bytes are nearest to 0, of equal ones the first.
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
    costs = HOST.stack(
        [HOST.abs(filtered.view("int8").astype("int64")).sum(axis=1) for filtered in tried]
    )
    best = costs.argmin(axis=0)
    rows = HOST.empty((height, 1 + width * size), "uint8")
    rows[:, 0] = HOST.asarray(kinds)[best]
    rows[:, 1:] = HOST.stack(tried)[best, HOST.arange(height)]
    return rows


def _chunk(name: bytes, data: bytes) -> bytes:
    checked = name + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a file: name and data; critical chunks are checked."""
    position = len(_SIGNATURE)
    while position + 8 <= len(content):
        length, name = struct.unpack_from(">I4s", content, position)
        data = content[position + 8 : position + 8 + length]
        position += 12 + length
        if length > _LONGEST or position > len(content):
            raise PngError("a chunk is cut off")
        (wanted,) = struct.unpack_from(">I", content, position - 4)
        if name[:1].isupper() and zlib.crc32(name + data) != wanted:
            raise PngError(f"chunk {name!r} is damaged")
        yield name, data
        if name == b"IEND":
            return
    raise PngError("the end is missing")


class Header:
    """The header of a PNG file: size, bits, colours, transparency; and its packed pixels."""

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
        """Whether pixels are indices into a palette."""
        return bool(self.colours == _PALETTE)

    @property
    def channels(self) -> int:
        """The number of channels of a pixel, or of a colour of the palette."""
        if self.has_palette:
            return 4 if self.transparent else 3
        return _CHANNELS[self.colours]


def pixels_of(content: bytes) -> tuple[Header, Array]:
    """The header and the pixels of a file, with the header's channels.

    Values of fewer than 8 bits are scaled to 0 to 255; a colour that stands for transparency
    is not replaced.

    Returns:
      The header, and an array of uint8 or, of a file of 16 bits, uint16.

    Raises:
      PngError: the file cannot be read.

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
            pixels = HOST.asarray(image if image.mode == mode else image.convert(mode))
    except unreadable as error:
        raise PngError(str(error)) from error
    return header, pixels.reshape(*pixels.shape[:2], -1)


def _unpacked(header: Header) -> Array:
    """The pixels of a file of 16 bits: uint16."""
    try:
        data = HOST.frombuffer(zlib.decompress(header.packed), "uint8")
    except zlib.error as error:
        raise PngError(str(error)) from error
    pixel = 2 * _CHANNELS[header.colours]
    octets = HOST.empty((header.height, header.width, pixel), "uint8")
    position = 0
    for row, column, down, across in _PASSES if header.is_laced else ((0, 0, 1, 1),):
        part = octets[row::down, column::across]
        if not part.size:
            continue
        length = len(part) * (1 + part.shape[1] * pixel)
        if position + length > len(data):
            raise PngError("pixels are missing")
        lines = data[position : position + length].reshape(len(part), -1)
        part[...] = _unfiltered(lines[:, 0], lines[:, 1:].reshape(part.shape))
        position += length
    shape = (header.height, header.width, pixel // 2)
    return octets.reshape(header.height, -1).view(">u2").astype("uint16").reshape(shape)


def _unfiltered(kinds: Array, data: Array) -> Array:
    """Undo the filters of rows of bytes [rows, pixels, bytes], given the filter of each row."""
    height, width, size = data.shape
    octets = HOST.zeros(
        (height + 1, width + 1, size), "int64"
    )  # with a row above and a column before of zeros
    rows = HOST.arange(height)
    for step in range(width + height - 1):
        turn = rows[max(0, step - width + 1) : step + 1]
        column = step - turn
        left, up = octets[turn + 1, column], octets[turn, column + 1]
        kind = kinds[turn][:, None]
        guess = HOST.where(kind == 1, left, 0)
        guess = HOST.where(kind == _UP, up, guess)
        guess = HOST.where(kind == _AVERAGE, (left + up) >> 1, guess)
        guess = HOST.where(kind == _PAETH, _nearest(left, up, octets[turn, column]), guess)
        octets[turn + 1, column + 1] = (data[turn, column] + guess) & 255
    return octets[1:, 1:]


def _nearest(left: Array, up: Array, corner: Array) -> Array:
    """The one of three neighbours that is nearest to left + up - corner; ties go to the first."""
    by_left, by_up = HOST.abs(up - corner), HOST.abs(left - corner)
    by_corner = HOST.abs(left + up - 2 * corner)
    return HOST.where(
        (by_left <= by_up) & (by_left <= by_corner),
        left,
        HOST.where(by_up <= by_corner, up, corner),
    )
