"""Kernels that write JPEG files."""

from __future__ import annotations

import io
import struct
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, scalar_int, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.pillow import pillow
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

_CPU: Final = ("CPU",)
#: Where a file holds the density of its pixels.
_DENSITY: Final = 13
#: Pillow's subsampling: colours for every pixel, or for every second one of every second row.
_FULL_CHROMA, _QUARTER_CHROMA = 0, 2


def _jpeg(
    image: Array, quality: int, density: tuple[int, int, int] = (1, 300, 300), **options: Any
) -> bytes:
    """A JPEG file of a picture of one channel or three.

    Args:
      image: uint8, [height, width, 1 or 3].
      quality: from 0 to 100.
      density: the unit (1 dots per inch, 2 per centimetre), horizontal and vertical density.
      options: Pillow's options of the file format.

    """
    if not 0 <= quality <= 100:
        raise InvalidArgument(f"quality must be in [0,100], got {quality}")
    if max(image.shape[:2]) >= 1 << 16 or not all(image.shape[:2]):
        raise InvalidArgument(f"image is too large for JPEG, or empty: {image.shape}")
    file = io.BytesIO()
    is_grey = image.shape[2] == 1
    options["subsampling"] = (
        _FULL_CHROMA if is_grey else options.get("subsampling", _QUARTER_CHROMA)
    )
    plain = HOST.ascontiguousarray(image[..., 0] if is_grey else image)
    pillow().Image.fromarray(plain).save(file, "JPEG", quality=quality, dpi=(1, 1), **options)
    content = file.getvalue()
    # Pillow writes densities in dots per inch alone: they are put into the header here.
    return content[:_DENSITY] + struct.pack(">BHH", *density) + content[_DENSITY + 5 :]


def _check(image: Array, kind: str = "") -> None:
    require_rank(3, image=image)
    wanted = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[kind]
    if image.shape[2] not in wanted:
        raise InvalidArgument(
            f"image must have {' or '.join(map(str, wanted))} channels, "
            f"got {bracketed(image.shape)}"
        )


@binder("EncodeJpeg", devices=_CPU)
def encode_jpeg(bind: Bind) -> KernelFunction:
    """A JPEG file of a picture, as the attributes say."""
    words: dict[str, Any] = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in bind.attrs.items()
    }
    unit = 1 if words["density_unit"] == "in" else 2
    density = (unit, words["x_density"], words["y_density"])
    options: dict[str, Any] = {
        "subsampling": _QUARTER_CHROMA if words["chroma_downsampling"] else _FULL_CHROMA,
        "progressive": words["progressive"],
        "optimize": words["optimize_size"] or words["progressive"],
    }
    if words["xmp_metadata"]:
        options["xmp"] = words["xmp_metadata"].encode()

    def compute(image: Array) -> Array:
        _check(image, words["format"])
        return string_array([_jpeg(image, words["quality"], density, **options)], ())

    return compute


@kernel("EncodeJpegVariableQuality", devices=_CPU)
def encode_jpeg_variable_quality(_: ArrayModule, image: Array, quality: Array) -> Array:
    """A JPEG file of a picture, with the quality as an input."""
    _check(image)
    require_rank(0, quality=quality)
    return string_array([_jpeg(image, scalar_int(quality))], ())
