"""Value domains of JPEG files: small ones, written here block by block."""

from __future__ import annotations

import struct
from typing import Final

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.strings import text_scalar

__all__: list[str] = []

#: How far apart the levels of a block's frequencies are; by it the first one tells whole levels.
_STEP: Final = 8
#: The lengths of the first numbers of blocks, in bits: each has a word of four bits.
_LENGTHS: Final = range(9)
#: The words of the other frequencies: no more of them; one of one bit; one of two bits.
_END, _WORDS = "0", {1: "10", 2: "110"}


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _tables() -> bytes:
    """The steps of the levels and both Huffman tables, which all components share."""
    first = bytes([0x00, 0, 0, 0, len(_LENGTHS), *[0] * 12, *_LENGTHS])
    others = bytes([0x10, 1, 1, 1, *[0] * 13, 0x00, 0x01, 0x02])
    steps = bytes([0, *[_STEP] * 64])
    return _segment(0xDB, steps) + _segment(0xC4, first) + _segment(0xC4, others)


def _bits(number: int, length: int) -> str:
    """A number in so many bits; a negative one less one, without its sign."""
    if not length:
        return ""
    return format(number if number >= 0 else number + (1 << length) - 1, f"0{length}b")


def _block(draw: Draw, level: int, before: int, is_flat: bool) -> str:
    """The bits of a block of a mean level, given that of the block before, and some waves."""
    size = abs(level - before).bit_length()
    bits = format(size, "04b") + _bits(level - before, size)
    for _ in range(0 if is_flat else draw.random.randint(0, 5)):
        length = draw.random.choice((1, 2))
        number = draw.random.randint(1 << length - 1, (1 << length) - 1)
        bits += _WORDS[length] + _bits(draw.random.choice((-1, 1)) * number, length)
    return bits + _END


def _jpeg(draw: Draw, width: int, height: int, components: int, is_flat: bool) -> bytes:
    """A JPEG of blocks of random levels: grey, or three components of one resolution."""
    levels, bits = [0] * components, ""
    for _ in range(-(-width // 8) * -(-height // 8)):
        for component in range(components):
            level = draw.random.randint(-100, 100)
            bits += _block(draw, level, levels[component], is_flat)
            levels[component] = level
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    frame = struct.pack(">BHHB", 8, height, width, components)
    frame += b"".join(bytes([component + 1, 0x11, 0]) for component in range(components))
    parts = b"".join(bytes([component + 1, 0]) for component in range(components))
    start = bytes([components]) + parts + bytes([0, 63, 0])
    header = _segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
    return b"".join(
        (
            b"\xff\xd8",
            header,
            _tables(),
            _segment(0xC0, frame),
            _segment(0xDA, start),
            scan,
            b"\xff\xd9",
        )
    )


@domain
def jpeg_contents(draw: Draw, contents: str, window: str = "") -> Arguments:
    """A JPEG, and perhaps a block of it: its corner, height and width.

    Pictures of one level a block are decoded by either transform, all others by the accurate one:
    what the fast one gives is left to the backend.
    """
    width, height = draw.random.randint(1, 20), draw.random.randint(1, 20)
    is_flat = draw.chance(0.4)
    if draw.operation.attr("channels") is not None:
        draw.attrs["channels"] = draw.random.choice([0, 1, 3])
        draw.attrs["ratio"] = 1
        methods = ["", "INTEGER_FAST"] if is_flat else ["INTEGER_ACCURATE"]
        draw.attrs["dct_method"] = draw.random.choice(methods)
    content = text_scalar(_jpeg(draw, width, height, draw.random.choice([1, 3]), is_flat))
    if not window:
        return draw.arguments(**{contents: content})
    top, left = draw.random.randrange(height), draw.random.randrange(width)
    size = draw.random.randint(1, height - top), draw.random.randint(1, width - left)
    return draw.arguments(**{contents: content, window: draw.integers(window, [top, left, *size])})
