"""Resizing of images, with the kernels and coordinates of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.images.checks import Batch, checks_of_image, larger, sizes, unless
from sessrun.reference.api.images.cropping import pad_to_bounding_box
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import round_
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import dimension_at_index
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import floor, minimum
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["METHODS", "ResizeMethod", "padded", "resized_by"]


@public("image.ResizeMethod")
class ResizeMethod:
    """How images are resized."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


#: The operation of each method, by its number and by its later name.
METHODS: Final[Mapping[object, str]] = {
    0: "ResizeBilinear",
    1: "ResizeNearestNeighbor",
    2: "ResizeBicubic",
    3: "ResizeArea",
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}


@public("image.resize", "image.resize_images")
def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: object = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images of another size.

    Args:
      images: of rank 3 or 4.
      size: new height and width.
      method: one of `ResizeMethod`.
      align_corners: whether the corners' pixels stay where they are.
      preserve_aspect_ratio: whether the images keep their ratio, and `size` is only a limit.
      name: the operations' scope.

    Raises:
      ValueError: the rank, the size or the method is wrong.

    """
    return resized_by(
        images,
        lambda value, wanted: _resized(value, wanted, method, align_corners),
        size,
        preserve_aspect_ratio,
        name,
    )


def resized_by(
    images: TensorLike,
    resize: Callable[[Tensor, Tensor], Tensor],
    size: TensorLike,
    keeps_ratio: bool,
    name: str | None,
    skips: bool = True,
) -> Tensor:
    """Resize images by a function, or return them unchanged if they already have the size.

    Args:
      images: of rank 3 or 4.
      resize: a function of images of rank 4 and a size.
      size: new height and width.
      keeps_ratio: whether the images keep their ratio, and `size` is only a limit.
      name: the operations' scope.
      skips: whether images whose static shape already has the size are returned unchanged.

    Raises:
      ValueError: the rank or the size is wrong.

    """
    with name_scope(name, "resize", [images, size]):
        value = convert_to_tensor(images, name="images")
        is_batch = _is_batch(value)
        value = value if is_batch else expand_dims(value, 0)
        wanted = _size_of(size)
        if keeps_ratio:
            wanted = _fitting(value, wanted)
        known = seen_shape(wanted)
        new = [dimension_at_index(known, axis).value for axis in range(2)]
        if skips and None not in new and new == value.shape.as_list()[1:3]:
            return value if is_batch else squeeze(value, axis=[0])
        resized = resize(value, wanted)
        resized.set_shape([None, *new, None])
        return resized if is_batch else squeeze(resized, axis=[0])


def _is_batch(value: Tensor) -> bool:
    if value.shape.ndims is None:
        raise bad_value("'images' contains no shape.")
    if value.shape.ndims not in {3, 4}:
        raise bad_value("'images' must have either 3 or 4 dimensions.")
    return bool(value.shape.ndims == 4)


def _size_of(size: TensorLike) -> Tensor:
    try:
        size_tensor = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise bad_value("'size' must be a 1-D int32 Tensor") from None
    if not size_tensor.shape.is_compatible_with([2]):
        raise bad_value("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return size_tensor


def _fitting(images: Tensor, size: Tensor) -> Tensor:
    """The largest height and width within a size that have the ratio of the images."""
    _, height, width, _ = sizes(images, 4)
    down = cast(size[0], dtypes.float32) / cast(height, dtypes.float32)
    across = cast(size[1], dtypes.float32) / cast(width, dtypes.float32)
    factor = minimum(down, across)
    scaled = [
        cast(round_(factor * cast(length, dtypes.float32)), dtypes.int32)
        for length in (height, width)
    ]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def _resized(images: Tensor, size: Tensor, method: object, align_corners: bool) -> Tensor:
    op_type = METHODS.get(method)
    if op_type is None:
        raise bad_value(f"Resize method is not implemented: {method}")
    resized: Tensor = node(op_type, images, size, align_corners=align_corners)
    return resized


@public("image.resize_image_with_pad")
def resize_image_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: object = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Resize an image, or a batch of images, to fit into a size, padded with zeros.

    Raises:
      ValueError: the rank, a size or the method is wrong.

    """
    return padded(
        image,
        target_height,
        target_width,
        lambda images, size: resize_images(images, size, method, align_corners),
    )


def padded(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    resize: Callable[[Tensor, TensorLike], Tensor],
) -> Tensor:
    """Resize images by a function to fit into a size, padded with zeros.

    Raises:
      ValueError: the rank or a size is wrong.

    """
    with name_scope(None, "resize_image_with_pad", [image]):
        batch = Batch(convert_to_tensor(image, name="image"))
        checks = checks_of_image(batch.images)
        checks += unless(target_width > 0, "target_width must be > 0.")
        checks += unless(target_height > 0, "target_height must be > 0.")
        images = after(checks, batch.images)
        _, height, width, _ = sizes(images, 4)
        have = [cast(length, dtypes.float32) for length in (height, width)]
        want = [cast(length, dtypes.float32) for length in (target_height, target_width)]
        ratio = larger(have[1] / want[1], have[0] / want[0])
        exact = [length / ratio for length in have]
        size = [cast(floor(length), dtypes.int32) for length in exact]
        spare = [(room - length) / 2 for room, length in zip(want, exact, strict=True)]
        spare = [floor(length) for length in spare]
        offsets = [larger(0, cast(length, dtypes.int32)) for length in spare]
        resized = resize(images, size)
        top, left = offsets
        result = pad_to_bounding_box(resized, top, left, target_height, target_width)
        if result.shape.ndims is None:
            raise bad_value("padded contains no shape.")
        sizes(result, 4)
        return batch.restored(result)


def _plain(op_type: str, doc: str) -> Callable[..., Tensor]:
    """The public function that builds one resizing operation."""

    def resize(
        images: TensorLike,
        size: TensorLike,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:
        resized: Tensor = node(
            op_type,
            images,
            size,
            name=name,
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        )
        return resized

    resize.__doc__ = doc
    return resize


resize_bilinear = _plain("ResizeBilinear", "Resize images by bilinear interpolation.")
resize_nearest_neighbor = _plain("ResizeNearestNeighbor", "Images resized by nearest pixels.")
resize_bicubic = _plain("ResizeBicubic", "Resize images by bicubic interpolation.")


@public("image.resize_area")
def resize_area(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Resize images; a pixel is the mean of the area that it covers."""
    resized: Tensor = node("ResizeArea", images, size, name=name, align_corners=align_corners)
    return resized


public("image.resize_bicubic")(resize_bicubic)
public("image.resize_bilinear")(resize_bilinear)
public("image.resize_nearest_neighbor")(resize_nearest_neighbor)


#: Methods of TensorFlow 2 that are kernels of ScaleAndTranslate, and kernels of smoothed ones.
_SCALED: Final = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")
_SMOOTHED: Final[Mapping[str, str]] = {"bilinear": "triangle", "bicubic": "keyscubic"}


def resize_images_v2(
    images: TensorLike,
    size: TensorLike,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resize images as TensorFlow 2 does: a pixel's coordinates are those of its centre.

    Args:
      images: of rank 3 or 4.
      size: new height and width.
      method: the name of the method, such as "bilinear" or "lanczos3".
      preserve_aspect_ratio: whether the images keep their ratio, and `size` is only a limit.
      antialias: whether an antialiasing filter is applied where images get smaller.
      name: the operations' scope.

    Raises:
      ValueError: the rank, the size or the method is wrong.

    """

    def resize(value: Tensor, wanted: Tensor) -> Tensor:
        kind = _SMOOTHED.get(method) if antialias else None
        if kind is not None or method in _SCALED:
            factors = cast(wanted, dtypes.float32) / cast(shape(value)[1:3], dtypes.float32)
            return node(
                "ScaleAndTranslate",
                value,
                wanted,
                factors,
                zeros([2]),
                kernel_type=kind or method,
                antialias=antialias,
            )
        if method in METHODS and isinstance(method, str):
            middles: dict[str, Any] = {} if method == "area" else {"half_pixel_centers": True}
            return node(METHODS[method], value, wanted, **middles)
        raise bad_value(f"Resize method is not implemented: {method}")

    return resized_by(images, resize, size, preserve_aspect_ratio, name, skips=False)
