"""Kernels that crop boxes out of images and resize them, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, OutOfRange
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.input_shapes import check_size, require_rank
from sessrun.reference.kernels.registry import kernel

#: The number of values gathered at once, so that they stay in the cache.
_AT_ONCE: Final = 1 << 18


def _check(image_shape: tuple[int, ...], boxes: Array, numbers: Array) -> None:
    if len(image_shape) != 4:
        raise InvalidArgument(f"input image must be 4-D: {image_shape}")
    if min(image_shape[1:3]) <= 0:
        raise InvalidArgument("image dimensions must be positive")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgument(f"boxes must have 4 columns: {boxes.shape}")
    if numbers.ndim != 1 or numbers.shape[0] != boxes.shape[0]:
        raise InvalidArgument(f"box_index has incompatible shape: {numbers.shape}")


def _check_numbers(numbers: Array, count: int) -> None:
    if not bool(((numbers >= 0) & (numbers < count)).all()):
        raise OutOfRange(f"box_index has values outside [0, {count})")


def _sample_positions(boxes: Array, first: int, have: int, want: int) -> Array:
    """Positions of the crops' samples on an axis of `have` pixels: float32, [boxes, want]."""
    low, high = boxes[:, first, None], boxes[:, first + 2, None]
    last = HOST.float32(have - 1)
    if want > 1:
        scale = (high - low) * last / HOST.float32(want - 1)
        return low * last + HOST.arange(want, dtype="float32") * scale
    return HOST.float32(0.5) * (low + high) * last


Rounding = Callable[[Array], Array]


class _Corners:
    """The pixels around each sample of the crops: their indices in the flat batch, and weights."""

    def __init__(
        self, image_shape: tuple[int, ...], boxes: Array, numbers: Array, size: tuple[int, int]
    ) -> None:
        _, height, width, _ = image_shape
        rows = _sample_positions(boxes, 0, height, size[0])
        columns = _sample_positions(boxes, 1, width, size[1])
        self.inside = ((rows >= 0) & (rows <= height - 1))[:, :, None] & (
            (columns >= 0) & (columns <= width - 1)
        )[:, None, :]
        rows = HOST.where((rows >= 0) & (rows <= height - 1), rows, 0)
        columns = HOST.where((columns >= 0) & (columns <= width - 1), columns, 0)
        self.rows, self.columns = rows, columns
        self.row_share = (rows - HOST.floor(rows)).astype("float32")[:, :, None, None]
        self.column_share = (columns - HOST.floor(columns)).astype("float32")[:, None, :, None]
        self._start = numbers.astype("int64")[:, None, None] * (height * width)
        self._width = width

    def flat(self, round_row: Rounding, round_column: Rounding) -> Array:
        """The flat indices of the pixels whose rows and columns are rounded in these ways."""
        rows = round_row(self.rows).astype("int64")[:, :, None] * self._width
        return self._start + rows + round_column(self.columns).astype("int64")[:, None, :]

    def nearest(self) -> Array:
        """The flat indices of the nearest pixels; a half is rounded up."""
        return self.flat(_rounded, _rounded)

    def four(self) -> tuple[Array, Array, Array, Array]:
        """The flat indices of the pixels top left, top right, bottom left, bottom right."""
        floor, ceil = HOST.floor, HOST.ceil
        return (
            self.flat(floor, floor),
            self.flat(floor, ceil),
            self.flat(ceil, floor),
            self.flat(ceil, ceil),
        )


def _rounded(values: Array) -> Array:
    return HOST.floor(values + HOST.float32(0.5))


def _size_of(crop_size: Array) -> tuple[int, int]:
    if crop_size.ndim != 1 or crop_size.size != 2:
        raise InvalidArgument(f"crop_size must have two elements: {crop_size.shape}")
    height, width = ints(crop_size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("crop dimensions must be positive")
    return height, width


@kernel("CropAndResize", devices=("CPU",))
def crop_and_resize(
    _: ArrayModule,
    image: Array,
    boxes: Array,
    numbers: Array,
    crop_size: Array,
    *,
    method: str,
    extrapolation_value: float,
) -> Array:
    """Boxes of images, all resized to one size; float32."""
    _check(image.shape, boxes, numbers)
    height, width = _size_of(crop_size)
    channels = image.shape[3]
    check_size((len(boxes), height, width, channels))
    if not HOST.isfinite(boxes).all():
        raise InvalidArgument("Boxes contains at least one element that is not finite")
    _check_numbers(numbers, image.shape[0])
    crops = HOST.empty((len(boxes), height, width, channels), "float32")
    pixels = image.reshape(-1, channels)
    step = max(1, _AT_ONCE // max(height * width * channels, 1))
    for begin in range(0, len(boxes), step):
        part = slice(begin, begin + step)
        corners = _Corners(image.shape, boxes[part], numbers[part], (height, width))
        if method in {"nearest", b"nearest"}:
            crops[part] = pixels[corners.nearest()]
        else:
            crops[part] = _mixed(pixels, corners)
        if not corners.inside.all():
            crops[part][~corners.inside] = extrapolation_value
    return crops


def _mixed(pixels: Array, corners: _Corners) -> Array:
    """The bilinear interpolation of the four pixels."""
    (top, top_right, bottom, bottom_right) = (
        pixels[indices].astype("float32", copy=False) for indices in corners.four()
    )
    top_right -= top
    top_right *= corners.column_share
    top += top_right
    bottom_right -= bottom
    bottom_right *= corners.column_share
    bottom += bottom_right
    bottom -= top
    bottom *= corners.row_share
    bottom += top
    return bottom


def _check_grads(grads: Array, boxes: Array) -> None:
    require_rank(4, grads=grads)
    if min(grads.shape[1:3]) <= 0:
        raise InvalidArgument("grads dimensions must be positive")
    if boxes.ndim == 2 and boxes.shape[0] != grads.shape[0]:
        raise InvalidArgument("boxes and grads have incompatible shape")


@kernel("CropAndResizeGradImage", devices=("CPU",))
def crop_and_resize_grad_image(
    _: ArrayModule,
    grads: Array,
    boxes: Array,
    numbers: Array,
    image_size: Array,
    *,
    method: str,
    T: str,
) -> Array:
    """The gradient of CropAndResize by its images: the crops' gradients added to their pixels."""
    if image_size.ndim != 1 or image_size.size != 4:
        raise InvalidArgument(f"image_size must be 1-D with 4 elements: {image_size.shape}")
    shape = tuple(ints(image_size))
    if min(shape) < 0:
        raise InvalidArgument(f"image_size must not be negative: {shape}")
    _check_grads(grads, boxes)
    _check(shape, boxes, numbers)
    if shape[3] != grads.shape[3]:
        raise InvalidArgument("image_size and grads are incompatible")
    check_size(shape)
    _check_numbers(numbers, shape[0])
    corners = _Corners(shape, boxes, numbers, (grads.shape[1], grads.shape[2]))
    inner = HOST.where(corners.inside[..., None], grads, HOST.float32(0))
    if method in {"nearest", b"nearest"}:
        parts = [(corners.nearest(), inner)]
    else:
        down, across = corners.row_share, corners.column_share
        shares = (
            (1 - down) * (1 - across),
            (1 - down) * across,
            down * (1 - across),
            down * across,
        )
        parts = [
            (indices, inner * share) for indices, share in zip(corners.four(), shares, strict=True)
        ]
    channels = shape[3]
    size = shape[0] * shape[1] * shape[2] * channels
    total = HOST.zeros(size)
    for indices, values in parts:
        flat = indices[..., None] * channels + HOST.arange(channels)
        total += HOST.bincount(flat.reshape(-1), values.reshape(-1), size)
    return total.reshape(shape).astype(T)


@kernel("CropAndResizeGradBoxes", devices=("CPU",))
def crop_and_resize_grad_boxes(
    _: ArrayModule, grads: Array, image: Array, boxes: Array, numbers: Array
) -> Array:
    """The gradient of CropAndResize by its boxes: float32, [boxes, 4]."""
    _check_grads(grads, boxes)
    _check(image.shape, boxes, numbers)
    if image.shape[3] != grads.shape[3]:
        raise InvalidArgument("image and grads have incompatible depths")
    _check_numbers(numbers, image.shape[0])
    height, width, channels = image.shape[1:]
    many, rows, columns = grads.shape[:3]
    corners = _Corners(image.shape, boxes, numbers, (rows, columns))
    pixels = image.reshape(-1, channels)
    top, top_right, bottom, bottom_right = (
        pixels[indices].astype("float32") for indices in corners.four()
    )
    inner = HOST.where(corners.inside[..., None], grads, HOST.float32(0))
    across, down = corners.column_share, corners.row_share
    by_row = inner * ((1 - across) * (bottom - top) + across * (bottom_right - top_right))
    by_column = inner * ((1 - down) * (top_right - top) + down * (bottom_right - bottom))
    gradient = HOST.empty((many, 4), "float32")
    for first, part, have, want, axes in (
        (0, by_row, height, rows, (2, 3)),
        (1, by_column, width, columns, (1, 3)),
    ):
        along = part.sum(axis=axes, dtype="float64")
        far = HOST.arange(want) / (want - 1) if want > 1 else HOST.full(1, 0.5)
        gradient[:, first] = (along * ((have - 1) * (1 - far))).sum(axis=1)
        gradient[:, first + 2] = (along * ((have - 1) * far)).sum(axis=1)
    return gradient
