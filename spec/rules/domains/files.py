"""Value domains of files of pictures and sounds, and of what is written into such."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.strings import text_scalar

__all__: list[str] = []

#: The type of a PNG's colours and its channels.
_PNG_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}


def _bytes(draw: Draw, count: int) -> bytes:
    return bytes(draw.random.randrange(256) for _ in range(count))


def _png(draw: Draw) -> bytes:
    """A PNG of random pixels, 8 or 16 bits, each row filtered in its own way."""
    width, height = draw.random.randint(1, 6), draw.random.randint(1, 6)
    depth, bits = draw.random.randint(1, 4), draw.random.choice([8, 16])
    size = width * depth * bits // 8
    rows = b"".join(bytes([draw.random.randrange(5)]) + _bytes(draw, size) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, bits, _PNG_COLOURS[depth], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


@domain
def png_contents(draw: Draw, contents: str) -> Arguments:
    """A PNG file, and how many channels are asked for."""
    draw.attrs["channels"] = draw.random.choice([0, 1, 3, 4])
    return draw.arguments(**{contents: text_scalar(_png(draw))})


@domain
def gif_contents(draw: Draw, contents: str) -> Arguments:
    """A file that is read as a GIF of one frame: a PNG of RGB."""
    while True:
        content = _png(draw)
        if content[25] == _PNG_COLOURS[3]:
            return draw.arguments(**{contents: text_scalar(content)})


@domain
def bmp_contents(draw: Draw, contents: str) -> Arguments:
    """A BMP of 24 or 32 bits, from the bottom up or from the top down."""
    width, height = draw.random.randint(1, 5), draw.random.randint(1, 5)
    bits = draw.random.choice([24, 32])
    row = (bits * width + 31) // 32 * 4
    turned = height if draw.chance(0.5) else -height
    header = struct.pack(
        "<2sIHHIIiiHHIIiiII",
        b"BM",
        54 + row * height,
        0,
        0,
        54,
        40,
        width,
        turned,
        1,
        bits,
        0,
        row * height,
        0,
        0,
        0,
        0,
    )
    draw.attrs["channels"] = draw.random.choice([0, 0, 3, 4])
    return draw.arguments(**{contents: text_scalar(header + _bytes(draw, row * height))})


@domain
def photographs(draw: Draw, image: str, quality: str = "") -> Arguments:
    """A picture of one channel or three, and perhaps a quality."""
    shape = (draw.random.randint(1, 9), draw.random.randint(1, 9), draw.random.choice([1, 3]))
    if draw.attrs.get("format"):
        shape = (*shape[:2], 1 if draw.attrs["format"] == "grayscale" else 3)
    pixels = np.frombuffer(_bytes(draw, int(np.prod(shape))), "uint8").reshape(shape)
    if not quality:
        draw.attrs["quality"] = draw.random.choice([10, 75, 95])
        return draw.arguments(**{image: pixels})
    number = draw.integers(quality, draw.random.choice([10, 75, 95]))
    return draw.arguments(**{image: pixels, quality: number})


@domain
def wav_contents(draw: Draw, contents: str) -> Arguments:
    """A WAV of 16 bits, and how many samples and channels are asked for."""
    count, channels = draw.random.randint(0, 6), draw.random.randint(1, 3)
    data = _bytes(draw, count * channels * 2)
    draw.attrs["desired_samples"] = draw.random.choice([-1, 4])
    draw.attrs["desired_channels"] = draw.random.choice([-1, channels])
    content = (
        struct.pack(
            "<4sI4s4sIHHIIHH4sI",
            b"RIFF",
            36 + len(data),
            b"WAVE",
            b"fmt ",
            16,
            1,
            channels,
            8000,
            8000 * channels * 2,
            channels * 2,
            16,
            b"data",
            len(data),
        )
        + data
    )
    return draw.arguments(**{contents: text_scalar(content)})


@domain
def sounds(draw: Draw, audio: str, rate: str) -> Arguments:
    """Samples of some channels, some beyond 1, and a rate."""
    shape = (draw.random.randint(0, 8), draw.random.randint(1, 3))
    samples = np.nan_to_num(draw.tensor(audio, shape, "unit")) * np.float32(1.2)
    return draw.arguments(**{audio: samples, rate: draw.integers(rate, 8000)})


@domain
def windowed_sounds(draw: Draw, audio: str) -> Arguments:
    """Samples, and how long and how far apart windows are."""
    draw.attrs["window_size"] = draw.random.randint(2, 9)
    draw.attrs["stride"] = draw.random.randint(1, 5)
    shape = (draw.random.randint(1, 24), draw.random.randint(1, 2))
    return draw.arguments(**{audio: draw.tensor(audio, shape, "plain")})


@domain
def spectrograms(draw: Draw, spectrogram: str, rate: str) -> Arguments:
    """Spectra of some windows, and a rate that they can be of."""
    shape = (draw.random.randint(1, 2), draw.random.randint(1, 2), 33)
    draw.attrs["filterbank_channel_count"] = draw.random.randint(2, 6)
    draw.attrs["dct_coefficient_count"] = 2
    draw.attrs["upper_frequency_limit"] = 3000.0
    return draw.arguments(
        **{
            spectrogram: draw.tensor(spectrogram, shape, "positive"),
            rate: draw.integers(rate, draw.random.choice([8000, 16000])),
        }
    )
