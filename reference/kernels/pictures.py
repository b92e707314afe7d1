"""Kernels that decode and encode images: PNG, JPEG, GIF, BMP.

Pillow decodes as TensorFlow does, except for JPEG with the fast transform, which
TensorFlow uses unless `dct_method` is `INTEGER_ACCURATE`: there single values differ by up to 13 of
255 in noise and 3 in smooth pictures (the mean by less than 2). Without fancy upscaling TensorFlow
repeats the colours of subsampled pictures; here they are always interpolated.
"""

from __future__ import annotations

import io
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.gif_files import GifError, frames_of
from sessrun.reference.kernels.host import HOST, ints, string_array
from sessrun.reference.kernels.input_shapes import require_rank_at_least
from sessrun.reference.kernels.pillow import pillow, too_large
from sessrun.reference.kernels.png_files import Header, PngError, pixels_of, png
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder, kernel

_CPU: Final = ("CPU",)
_MAGIC: Final = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
)
#: The markers of a JPEG's frame and of its scans, and the largest side that libjpeg takes.
_JPEG_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC9, 0xCA})
_JPEG_SCAN: Final = 0xDA
_JPEG_SIDE: Final = 65500
#: The weights of red, green and blue in grey as multiples of 2**-15, as in libpng.
_GREY: Final = (9797, 19234, 3737)


def _content(contents: Array | bytes) -> bytes:
    if not isinstance(contents, bytes) and contents.ndim:
        raise InvalidArgument(f"contents must be scalar, got shape {contents.shape}")
    content: bytes = contents if isinstance(contents, bytes) else contents.item()
    return content


def _kind(content: bytes) -> str:
    if not content:
        raise InvalidArgument("Input is empty.")
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    raise InvalidArgument(
        "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
    )


def _png_pixels(content: bytes, channels: int, bits: int) -> Array:
    """The pixels of a PNG file with so many channels and bits: uint8 or uint16."""
    try:
        header, pixels = pixels_of(content)
    except PngError as error:
        raise InvalidArgument(f"Invalid PNG data, size {len(content)}: {error}") from None
    channels = channels or header.channels
    if channels in {2, 4} and pixels.shape[2] % 2:
        pixels = _with_alpha(pixels, header)
    elif channels in {1, 3} and not pixels.shape[2] % 2:
        pixels = pixels[..., :-1]
    if channels < 3 <= pixels.shape[2]:
        pixels = _grey(pixels)
    elif channels >= 3 > pixels.shape[2]:
        pixels = HOST.concatenate([pixels[..., :1].repeat(3, axis=2), pixels[..., 1:]], axis=2)
    if pixels.dtype == "uint16" and bits == 8:
        return (pixels >> 8).astype("uint8")
    if pixels.dtype == "uint8" and bits == 16:
        return pixels.astype("uint16") * 257
    return pixels


def _with_alpha(pixels: Array, header: Header) -> Array:
    """The pixels with an alpha channel."""
    full = (1 << header.bits) - 1
    alpha = HOST.full((*pixels.shape[:2], 1), full, pixels.dtype)
    if header.transparent and not header.has_palette:
        colour = HOST.frombuffer(header.transparent, ">u2")
        if pixels.dtype == "uint8":
            full = (1 << header.bits) - 1
            colour = (colour.astype("int64") * 255) // full
            alpha[...] = 255
        alpha[(pixels == colour).all(axis=2)] = 0
    return HOST.concatenate([pixels, alpha], axis=2)


def _grey(pixels: Array) -> Array:
    """RGB converted to grey by libpng's weights; pixels that are grey already are unchanged."""
    wide = pixels[..., :3].astype("int64")
    half = 1 << 14 if pixels.dtype == "uint16" else 0
    mixed = (wide * HOST.array(_GREY)).sum(axis=2) + half >> 15
    is_grey = (wide == wide[..., :1]).all(axis=2)
    grey = HOST.where(is_grey, wide[..., 0], mixed).astype(pixels.dtype)
    return HOST.concatenate([grey[..., None], pixels[..., 3:]], axis=2)


def _jpeg_image(content: bytes, channels: int, ratio: int = 1) -> tuple[Any, str]:
    if channels not in {0, 1, 3}:
        raise InvalidArgument(f"JPEG does not support {channels} channels")
    if ratio not in {1, 2, 4, 8}:
        raise InvalidArgument(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    try:
        image = pillow().Image.open(io.BytesIO(content))
    except (pillow().UnidentifiedImageError, OSError, SyntaxError, *too_large()) as error:
        raise InvalidArgument(
            "jpeg::Uncompress failed. Invalid JPEG data or crop window."
        ) from error
    mode = {0: "L" if image.mode == "L" else "RGB", 1: "L", 3: "RGB"}[channels]
    width, height = image.size
    image.draft(
        mode, (width / ratio, height / ratio)
    )  # not rounded, so that small pictures are scaled, too
    return image, mode


def _jpeg_pixels(content: bytes, attrs: Attrs, channels: int) -> Array:
    image, mode = _jpeg_image(content, channels, attrs.get("ratio", 1))
    method = attrs.get("dct_method", "")
    method = method.decode() if isinstance(method, bytes) else method
    if method not in {"", "INTEGER_FAST", "INTEGER_ACCURATE"}:
        raise InvalidArgument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    try:
        pixels = HOST.asarray(image if image.mode == mode else image.convert(mode))
    except (OSError, SyntaxError) as error:
        recovered = _truncated(content, mode) if attrs.get("try_recover_truncated") else None
        if recovered is None:
            raise InvalidArgument(
                "jpeg::Uncompress failed. Invalid JPEG data or crop window."
            ) from error
        pixels = recovered
    return pixels.reshape(*pixels.shape[:2], -1)


def _truncated(content: bytes, mode: str) -> Array | None:
    """The pixels of a truncated file, grey where they are missing."""
    parser = pillow().ImageFile.Parser()
    parser.feed(content + b"\xff\xd9")
    try:
        image = parser.close()
    except OSError:
        return None
    return HOST.asarray(image.convert(mode))


def _frames(content: bytes) -> Array:
    """The frames of a GIF, drawn over one another: [frames, height, width, 3]."""
    try:
        return frames_of(content)
    except GifError as error:
        raise InvalidArgument(f"Invalid GIF data (size {len(content)}), {error}") from error


def _bmp_pixels(content: bytes, channels: int) -> Array:
    """The pixels of an uncompressed BMP of 8, 24 or 32 bits."""
    data = HOST.frombuffer(content, "uint8")
    if channels not in {0, 3, 4}:
        raise InvalidArgument(f"`channels` must be 0, 3 or 4 for BMP, but got {channels}")
    if len(data) < 32:
        raise InvalidArgument(
            "Incomplete bmp content, requires at least 32 bytes to "
            "find the header size, width, height, and bpp, got "
            f"{len(data)} bytes"
        )
    offset = int.from_bytes(content[10:14], "little", signed=True)
    width = int.from_bytes(content[18:22], "little", signed=True)
    tall = int.from_bytes(content[22:26], "little", signed=True)
    bits = int.from_bytes(content[28:30], "little")
    if bits not in {8, 24, 32}:
        raise InvalidArgument(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {bits // 8}"
        )
    height, depth = abs(tall), bits // 8
    row = (bits * width + 31) // 32 * 4
    if width <= 0 or not height or offset < 0 or len(data) < offset + row * height:
        raise InvalidArgument(
            f"Incomplete bmp content: width {width}, height {tall}, {len(data)} bytes"
        )
    lines = data[offset : offset + row * height]
    pixels = lines.reshape(height, row)[:, : width * depth].reshape(height, width, depth)
    pixels = pixels[::-1] if tall > 0 else pixels
    if depth >= 3:
        pixels = pixels[..., [2, 1, 0, 3][:depth]]
    return HOST.ascontiguousarray(_as_channels(pixels, channels or depth))


def _as_channels(pixels: Array, channels: int) -> Array:
    """The pixels with so many channels: grey repeated, an opaque alpha added or dropped."""
    if channels >= 3 and pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    if channels == 4 and pixels.shape[2] == 3:
        return HOST.concatenate([pixels, HOST.full((*pixels.shape[:2], 1), 255, "uint8")], axis=2)
    return pixels[..., :channels]


def _converted(pixels: Array, dtype: str) -> Array:
    """The pixels converted to uint8, uint16 or float32."""
    if dtype == "float32":
        return pixels.astype("float32") * HOST.float32(1 / HOST.iinfo(pixels.dtype).max)
    if dtype == "uint16" and pixels.dtype == "uint8":
        return pixels.astype("uint16") * 256
    return pixels


def _decoded(content: bytes, attrs: Attrs, dtype: str, channels: int) -> Array:
    """The pixels of a file: [height, width, channels], of a GIF [frames, height, width, 3]."""
    kind = _kind(content)
    if kind == "PNG":
        pixels = _png_pixels(content, channels, 8 if dtype == "uint8" else 16)
    elif kind == "JPEG":
        pixels = _jpeg_pixels(content, attrs, channels)
    elif kind == "GIF":
        if channels not in {0, 3}:
            raise InvalidArgument(f"channels must be 0 or 3 for GIF, got {channels}")
        pixels = _frames(content)
    else:
        pixels = _bmp_pixels(content, channels)
    return _converted(pixels, dtype)


def _check_channels(channels: int) -> int:
    if channels not in {0, 1, 3, 4}:
        raise InvalidArgument(f"channels must be 0, 1, 3, or 4, got {channels}")
    return channels


def _check_kind(kind: str, op_type: str) -> None:
    """Refuse a BMP for an operation that decodes other files, and the reverse."""
    if op_type == "DecodeImage" or (kind == "BMP") == (op_type == "DecodeBmp"):
        return
    if kind == "BMP":
        raise InvalidArgument(
            "Trying to decode BMP format using a wrong op. Use "
            "`decode_bmp` or `decode_image` instead. Op used: "
            f"{op_type}"
        )
    raise InvalidArgument(
        f"Trying to decode {kind} format using DecodeBmp op. Use "
        f"`decode_{kind.lower()}` or `decode_image` instead."
    )


@binder("DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp", "DecodeImage", devices=_CPU)
def decode_image(bind: Bind) -> KernelFunction:
    """The pixels of a file; all but DecodeBmp read PNG, JPEG and GIF, and DecodeImage BMP too."""
    attrs, op_type = dict(bind.attrs), bind.node.type
    channels = _check_channels(attrs.get("channels", 0))
    dtype = attrs.get("dtype", "uint8")

    def compute(contents: Array) -> Array:
        content = _content(contents)
        kind = _kind(content)
        _check_kind(kind, op_type)
        pixels = _decoded(content, attrs, dtype, channels)
        if op_type == "DecodeGif":
            return pixels if kind == "GIF" else pixels[None]
        if kind != "GIF" or (op_type == "DecodeImage" and attrs["expand_animations"]):
            return pixels
        if op_type != "DecodeImage" and len(pixels) > 1:
            raise InvalidArgument(
                f"Got {len(pixels)} frames, but animated gifs can only be "
                "decoded by tf.io.decode_gif or tf.io.decode_image"
            )
        return pixels[0]

    return compute


@binder("DecodeAndCropJpeg", devices=_CPU)
def decode_and_crop_jpeg(bind: Bind) -> KernelFunction:
    """A block [row, column, height, width] of a JPEG's pixels."""
    attrs = dict(bind.attrs)
    channels = _check_channels(attrs["channels"])

    def compute(contents: Array, window: Array) -> Array:
        content = _content(contents)
        if window.ndim != 1 or window.size != 4:
            raise InvalidArgument(f"crop_window must have four elements: {window.shape}")
        kind = _kind(content)
        if kind != "JPEG":
            raise InvalidArgument(
                f"DecodeAndCropJpeg operation can run on JPEG only, but detected {kind}."
            )
        pixels = _jpeg_pixels(content, attrs, channels)
        top, left, height, width = ints(window)
        if (
            min(top, left) < 0
            or height <= 0
            or width <= 0
            or (top + height > pixels.shape[0] or left + width > pixels.shape[1])
        ):
            raise InvalidArgument("jpeg::Uncompress failed. Invalid JPEG data or crop window.")
        return pixels[top : top + height, left : left + width]

    return compute


@kernel("ExtractJpegShape", devices=_CPU)
def extract_jpeg_shape(_: ArrayModule, contents: Array, *, output_type: str) -> Array:
    """Height, width and channels of a JPEG."""
    content = _content(contents)
    if not content.startswith(b"\xff\xd8\xff"):
        raise InvalidArgument(f"Invalid JPEG data, size {len(content)}")
    shape = _jpeg_shape(content)
    if shape is None:
        raise InvalidArgument(f"Invalid JPEG data, size {len(content)}")
    return HOST.array(shape, output_type)


def _jpeg_shape(content: bytes) -> tuple[int, int, int] | None:
    """Height, width and channels of a JPEG that is complete up to its first scan, else None."""
    position, shape = 2, None
    while position + 4 <= len(content) and content[position] == 0xFF:
        kind, size = (
            content[position + 1],
            int.from_bytes(content[position + 2 : position + 4], "big"),
        )
        if kind in _JPEG_FRAMES:
            head = content[position + 4 : position + 2 + size]
            if len(head) < 6 or len(head) < 6 + 3 * head[5]:
                return None
            height, width = (int.from_bytes(head[at : at + 2], "big") for at in (1, 3))
            if not (0 < height <= _JPEG_SIDE and 0 < width <= _JPEG_SIDE):
                return None
            shape = (height, width, 1 if head[5] == 1 else 3)
        if kind == _JPEG_SCAN:
            return shape if position + 2 + size <= len(content) else None
        position += 1 if kind == 0xFF else 2 + size
    return None


@kernel("EncodePng", devices=_CPU)
def encode_png(_: ArrayModule, image: Array, *, compression: int) -> Array:
    """PNG files of pictures of 1 to 4 channels."""
    require_rank_at_least(3, images=image)
    if image.shape[-1] not in {1, 2, 3, 4}:
        raise InvalidArgument(f"image must have 1, 2, 3, or 4 channels: {bracketed(image.shape)}")
    if not -1 <= compression <= 9:
        raise InvalidArgument(f"compression should be in [-1,9], got {compression}")
    if not all(image.shape[-3:-1]):
        raise InvalidArgument("cannot encode empty image")
    files = [png(picture, compression) for picture in image.reshape(-1, *image.shape[-3:])]
    return string_array(files, image.shape[:-3])
