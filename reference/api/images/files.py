"""Image files: decoding, encoding, and their formats."""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.images.converting import convert_image_dtype
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.string_ops import substr
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The dtypes that files are decoded to; others are converted to.
_DECODED: Final = (dtypes.float32, dtypes.uint8, dtypes.uint16)


@public("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether a file begins as a JPEG does."""
    with name_scope(name, "is_jpeg"):
        return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


@public("image.encode_png", "io.encode_png")
def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file of an image of uint8 or uint16, of 1 to 4 channels.

    Args:
      image: of rank 3 at least.
      compression: from 0 to 9, -1 for the library's choice.
      name: the operation's name.

    """
    contents_of_file: Tensor = node(
        "EncodePng", convert_to_tensor(image), name=name, compression=compression
    )
    return contents_of_file


@public("image.decode_image", "io.decode_image")
def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels or frames of a PNG, JPEG, GIF or BMP file.

    Args:
      contents: the file, a scalar.
      channels: the number of channels of the result; None or 0 for that of the file.
      dtype: the dtype wanted.
      name: the operations' scope.
      expand_animations: whether all frames of a GIF are wanted, not the first alone.

    """
    with name_scope(name, "decode_image"):
        count = channels or 0
        decoded = dtype if dtype in _DECODED else dtypes.uint16
        image: Tensor = node(
            "DecodeImage",
            contents,
            channels=count,
            dtype=decoded,
            expand_animations=expand_animations,
        )
        if decoded != dtype:
            image = convert_image_dtype(image, dtype)
        if not expand_animations:
            image.set_shape([None, None, count or None])
        return image
