"""Programs that decode images: transparent, grey or coloured, truncated, of several frames."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(
    rows, bits: int, colour: int, *chunks: tuple[bytes, bytes], is_compressed: bool = True
) -> bytes:
    """A PNG file with these rows, or with invalid data; `colour` is the header's colour type."""
    rows = np.asarray(rows, "uint8")
    per_pixel = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour] * bits
    width = rows.shape[1] * 8 // per_pixel
    header = struct.pack(">IIBBBBB", width, len(rows), bits, colour, 0, 0, 0)
    data = (
        zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows)) if is_compressed else b"none"
    )
    extra = b"".join(_chunk(*chunk) for chunk in chunks)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + extra
        + _chunk(b"IDAT", data)
        + _chunk(b"IEND", b"")
    )


#: Colours with equal and with different components.
_RGB = [[9, 9, 9, 200, 100, 50], [200, 20, 50, 255, 100, 128]]
_GREYS = [[0, 127, 128, 255], [1, 2, 3, 254]]


def _files() -> dict[str, bytes]:
    palette = b"PLTE", bytes([1, 2, 3, 40, 50, 60, 250, 240, 230, 7, 7, 7])
    return {
        "grey": _png(_GREYS, 8, 0),
        "grey, one transparent": _png(_GREYS, 8, 0, (b"tRNS", b"\0\x80")),
        "grey of 2 bits": _png([[0b00011011], [0b11100100]], 2, 0, (b"tRNS", b"\0\x02")),
        "grey of 16 bits": _png([[0, 5, 1, 200], [255, 255, 2, 0]], 16, 0, (b"tRNS", b"\x01\xc8")),
        "nonsense of 16 bits": _png([[0, 5]], 16, 0, is_compressed=False),
        "grey and alpha": _png([[9, 100, 200, 0], [3, 255, 4, 1]], 8, 4),
        "colour": _png(_RGB, 8, 2),
        "colour, one transparent": _png(_RGB, 8, 2, (b"tRNS", b"\0\xc8\0\x64\0\x32")),
        "colour of 16 bits": _png([[1, 2, 3, 4, 5, 6], [1, 2, 1, 2, 1, 2]], 16, 2),
        "colour and alpha": _png([[9, 9, 9, 1, 200, 100, 50, 255]], 8, 6),
        "palette": _png([[0, 1, 2, 3]], 8, 3, palette),
        "palette, some transparent": _png([[0, 1, 2, 3]], 8, 3, palette, (b"tRNS", b"\0\x80")),
    }


def _transparent_or_grey(tf):
    return [
        [
            name,
            channels,
            *attempt(
                lambda c=content, n=channels, d=dtype: run(
                    tf, tf.image.decode_png(c, channels=n, dtype=d)
                )
            ),
        ]
        for name, content in _files().items()
        for channels in (0, 1, 2, 3, 4)
        for dtype in (tf.uint8, tf.uint16)
    ]


def _cut_off(tf):
    """Truncated JPEG files, whose missing part is grey with `try_recover_truncated`."""
    picture = np.full((32, 16, 3), 40, "uint8")
    picture[:16] = [200, 100, 50]
    coloured = run(tf, tf.image.encode_jpeg(picture, quality=95))
    grey = run(tf, tf.image.encode_jpeg(picture[..., :1], format="grayscale"))
    tail = b"\xff\xd9"

    def decoded(content: bytes, *, recover: bool, channels: int = 0):
        picture = tf.image.decode_jpeg(content, channels, try_recover_truncated=recover)
        pixels = run(tf, picture)
        return pixels.shape, pixels[0, 0] // 8, pixels[0, -1] // 8

    return [content.endswith(tail) for content in (coloured, grey)], attempt(
        *(
            lambda c=content[:size], r=recover: decoded(c, recover=r)
            for content in (coloured, grey)
            for size in (None, -2)
            for recover in (False, True)
        ),
        lambda: decoded(coloured[:60], recover=True),
        lambda: decoded(coloured[:2], recover=True),
        lambda: decoded(coloured[:60], recover=False),
        lambda: decoded(coloured[:-2], recover=True, channels=1),
        *(
            lambda h=height, w=width, r=ratio: run(
                tf,
                tf.shape(
                    tf.image.decode_jpeg(
                        tf.image.encode_jpeg(np.zeros((h, w, 3), "uint8")), ratio=r
                    )
                ),
            )
            for height, width, ratio in (
                (15, 16, 8),
                (7, 8, 4),
                (16, 9, 2),
                (17, 33, 8),
                (7, 16, 8),
                (3, 8, 4),
                (1, 1, 8),
            )
        ),
    )


def _gif(*frames: bytes, table: bytes = b"", head: bytes = b"GIF89a") -> bytes:
    flags = 0x80 | (len(table) // 3).bit_length() - 2 if table else 0
    return head + struct.pack("<HHBBB", 3, 2, flags, 0, 0) + table + b"".join(frames) + b";"


def _frame(pixels: list[int], width: int, *, table: bytes = b"", left: int = 0) -> bytes:
    """A frame of pixels below 4, as codes of 3 bits with a clear code before each of them."""
    codes: list[int] = []
    for pixel in pixels:
        codes += [4, pixel]
    bits = "".join(f"{code:03b}"[::1] for code in reversed([*codes, 5]))
    data = int(bits, 2).to_bytes(-(-len(bits) // 8), "little")
    flags = 0x80 | (len(table) // 3).bit_length() - 2 if table else 0
    position = struct.pack("<HHHHB", left, 0, width, len(pixels) // width, flags)
    return b"," + position + table + b"\x02" + bytes([len(data)]) + data + b"\0"


_TABLE = bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 10, 20, 30])
_OTHER = bytes([1, 1, 1, 2, 4, 6, 90, 80, 70, 250, 251, 252])


def _frames(tf):
    """GIF files with global or local colour tables, with extensions, and truncated."""
    first, second = _frame([0, 1, 2, 3, 2, 1], 3), _frame([3, 2, 1, 0, 1, 2], 3, table=_OTHER)
    control, remark = b"!\xf9\x04\0\x05\0\0\0", b"!\xfe\x03abc\x02de\0"
    files = [
        _gif(first, table=_TABLE),
        _gif(first, second, table=_TABLE),
        _gif(second),
        _gif(control, first, remark, second, table=_TABLE),
        _gif(remark, table=_TABLE),
        _gif(first, second, table=_TABLE)[:-5],
        _gif(first, second, table=_TABLE)[:-20],
        _gif(first, table=_TABLE)[:30],
        _gif(first, table=_TABLE)[:12],
        _gif(table=_TABLE),
        _gif(first, b"!\xfe\x09ab", table=_TABLE)[:-1],
        _gif(first, b"?", second, table=_TABLE),
    ]
    return attempt(
        *(lambda c=content: run(tf, tf.image.decode_gif(c)) for content in files),
        lambda: run(tf, tf.image.decode_png(files[0])),
        lambda: run(tf, tf.image.decode_png(files[1])),
        lambda: run(tf, tf.image.decode_image(files[1], expand_animations=False)),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function for function in (_transparent_or_grey, _cut_off, _frames)
}
