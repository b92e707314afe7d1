"""The suite's own reader of PNG files, held against Pillow's writer."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from sessrun.conformance.subjects.programs.png import pixels_of


def written(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pixels_are_those_that_were_written(channels: int) -> None:
    draw = np.random.default_rng(channels)
    noise = draw.integers(0, 256, (9, 14, channels)).astype(np.uint8)
    slope = np.cumsum(np.ones((9, 14, channels)), axis=0).astype(np.uint8) * 3
    for pixels in (noise, slope):
        assert np.array_equal(pixels_of(written(pixels)), pixels)


@pytest.mark.parametrize("kind", range(5))
def test_every_filter_is_taken_back(kind: int) -> None:
    """One row of 10, 20, 30 under each filter, and the same above it."""
    left = {0: [10, 20, 30], 1: [10, 10, 10], 2: [0, 0, 0], 3: [5, 5, 5], 4: [0, 0, 0]}[kind]
    rows = bytes([0, 10, 20, 30, kind, *left])
    header = struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = b"".join(struct.pack(">I4s", len(c), k) + c + b"\0" * 4 for k, c in chunks)
    pixels = pixels_of(b"\x89PNG\r\n\x1a\n" + body)
    assert pixels[..., 0].tolist() == [[10, 20, 30], [10, 20, 30]]


@pytest.mark.parametrize("data", [b"", b"GIF89a", written(np.zeros((1, 1, 1), np.uint16))])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"no PNG file|depth 16"):
        pixels_of(data)
