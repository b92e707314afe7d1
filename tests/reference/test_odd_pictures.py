"""Pictures with headers of gigapixels, and files that are cut: refused as TensorFlow 2.21 does."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sessrun.reference as tf


def written(kind: str, frames: int = 1) -> bytes:
    """A file of pictures of 5 rows and 7 columns of noise."""
    draw = np.random.default_rng(1)
    first, *others = [
        Image.fromarray(draw.integers(0, 255, (5, 7, 3), dtype=np.uint8)) for _ in range(frames)
    ]
    file = io.BytesIO()
    options: dict[str, Any] = {"save_all": True, "append_images": others} if others else {}
    first.save(file, kind, **options)
    return file.getvalue()


def png(width: int, height: int) -> bytes:
    """A PNG file of RGB with these sizes in its header, and no pixels."""

    def part(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"")) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def jpeg(width: int, height: int) -> bytes:
    """A JPEG file with these sizes in its header, and few pixels."""
    file = written("JPEG")
    place = file.index(b"\xff\xc0") + 5
    return file[:place] + struct.pack(">HH", height, width) + file[place + 4 :]


def bmp(width: int, height: int) -> bytes:
    sizes = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + sizes


def gif(width: int, height: int, *, of_frame: bool) -> bytes:
    """A GIF file with these sizes of its canvas, or of its frame."""
    file = written("GIF")
    place = file.index(b"\x2c", 13) + 5 if of_frame else 6
    return file[:place] + struct.pack("<HH", width, height) + file[place + 4 :]


@pytest.fixture(scope="module")
def decode() -> Iterator[Any]:
    """Decode a file by an operation: the pixels."""
    with tf.Graph().as_default(), tf.Session() as session:
        content = tf.placeholder(tf.string, [])
        ops = {
            "png": tf.image.decode_png(content),
            "jpeg": tf.image.decode_jpeg(content),
            "gif": tf.image.decode_gif(content),
            "bmp": tf.image.decode_bmp(content),
            "image": tf.image.decode_image(content),
            "shape": tf.image.extract_jpeg_shape(content),
        }
        yield lambda op, data: session.run(ops[op], {content: data})


HUGE = {
    "png-all": png(2**31 - 1, 2**31 - 1),
    "png-wide": png(2**27, 1),
    "png-unsigned": png(2**32 - 1, 1),
    "png-30000": png(30000, 30000),
    "jpeg-65500": jpeg(65500, 65500),
    "jpeg-30000": jpeg(30000, 30000),
    "gif-65535": gif(65535, 65535, of_frame=True),
    "bmp-all": bmp(2**31 - 1, 2**31 - 1),
    "bmp-30000": bmp(30000, 30000),
}


@pytest.mark.parametrize("op", ["own", "image"])
@pytest.mark.parametrize("name", HUGE)
def test_a_header_of_gigapixels_is_refused(name: str, op: str, decode: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode(name.partition("-")[0] if op == "own" else op, HUGE[name])


def test_the_shape_of_a_large_jpeg_is_in_its_header(decode: Any) -> None:
    assert decode("shape", jpeg(65500, 30000)).tolist() == [30000, 65500, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode("shape", jpeg(65535, 5))


def test_the_shape_is_told_once_the_first_scan_begins(decode: Any) -> None:
    file = written("JPEG")
    told = file.index(b"\xff\xda") + 14
    for end in range(len(file)):
        if end >= told:
            assert decode("shape", file[:end]).tolist() == [5, 7, 3]
        else:
            with pytest.raises(tf.errors.InvalidArgumentError):
                decode("shape", file[:end])


def test_the_canvas_of_a_gif_is_as_large_as_its_frames(decode: Any) -> None:
    whole = decode("gif", written("GIF"))
    for width, height in ((65535, 65535), (20, 20), (3, 3), (0, 0)):
        assert np.array_equal(decode("gif", gif(width, height, of_frame=False)), whole)


def test_a_cut_gif_has_the_frames_that_are_whole(decode: Any) -> None:
    file = written("GIF", frames=3)
    whole = decode("gif", file)
    counts = []
    for end in range(len(file) + 1):
        try:
            found = decode("gif", file[:end])
        except tf.errors.InvalidArgumentError:
            counts.append(0)
            continue
        assert np.array_equal(found, whole[: len(found)])
        counts.append(len(found))
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP"])
def test_a_cut_file_is_refused_wherever_it_is_cut(kind: str, decode: Any) -> None:
    """Or decoded, where only what tells the end is missing."""
    file = written(kind)
    whole = decode(kind.lower(), file)
    for end in range(len(file)):
        for op in (kind.lower(), "image"):
            try:
                found = decode(op, file[:end])
            except tf.errors.InvalidArgumentError:
                continue
            assert found.shape == whole.shape
            assert len(file) - end <= 12
