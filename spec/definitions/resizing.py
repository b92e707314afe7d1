"""Definitions of images in another size, of crops of them, and of what their gradients are.

Each size is a matrix of weights along rows and one along columns: a pixel of the result is a sum
of pixels of the image, and the gradient goes back by the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, wide

__all__ = ["bilinear_weights", "resized"]

#: The weights [new size, old size], of two sizes and the two options of where pixels are.
Weights = Callable[[int, int, bool, bool], Array]


def _scale(old: int, new: int, corners: bool) -> np.float32:
    """How far pixels of the result are apart in the image, a float32."""
    if corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def _positions(old: int, new: int, corners: bool, half: bool) -> list[np.float32]:
    """Where in the image each pixel of the result lies: its corner, or its middle if `half`."""
    scale = _scale(old, new, corners)
    if half:
        return [(np.float32(i) + np.float32(0.5)) * scale - np.float32(0.5) for i in range(new)]
    return [np.float32(i) * scale for i in range(new)]


def bilinear_weights(old: int, new: int, corners: bool, half: bool) -> Array:
    """The two pixels around each position, by how near they are; the edge goes on beyond it."""
    weights = np.zeros((new, old))
    for row, position in enumerate(_positions(old, new, corners, half)):
        share = float(position) - math.floor(position)
        weights[row, max(math.floor(position), 0)] += 1 - share
        weights[row, min(math.ceil(position), old - 1)] += share
    return weights


def _nearest_weights(old: int, new: int, corners: bool, half: bool) -> Array:
    """The pixel at the position: rounded (half up) between corners, else without its fraction."""
    weights = np.zeros((new, old))
    scale = _scale(old, new, corners)
    for row in range(new):
        position = (np.float32(row) + np.float32(0.5 if half else 0)) * scale
        index = math.floor(float(position) + 0.5) if corners else math.floor(position)
        weights[row, min(max(index, 0), old - 1)] = 1
    return weights


def _cubic(distance: float, a: float) -> float:
    """The weight of a pixel so far away: Keys' kernel with parameter `a`."""
    x = abs(distance)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0


def _bicubic_weights(old: int, new: int, corners: bool, half: bool) -> Array:
    """The four pixels around each position, whose fraction is a multiple of 1 / 1024.

    By Keys' kernel of -0.75, where the edge goes on beyond it; between middles of -0.5, where
    nothing is beyond the edge and weights are made to add up to 1.
    """
    weights = np.zeros((new, old))
    for row, position in enumerate(_positions(old, new, corners, half)):
        first = math.floor(position)
        share = float(np.rint((position - np.float32(first)) * np.float32(1024))) / 1024
        for step in (-1, 0, 1, 2):
            weight = _cubic(step - share, -0.5 if half else -0.75)
            inside = 0 <= first + step < old
            if inside or not half:
                weights[row, min(max(first + step, 0), old - 1)] += weight
        if half:
            weights[row] /= weights[row].sum()
    return weights


def _area_weights(old: int, new: int, corners: bool, _: bool) -> Array:
    """Each pixel by how much of it lies in that of the result."""
    weights = np.zeros((new, old))
    scale = _scale(old, new, corners)
    for row in range(new):
        low, high = float(np.float32(row) * scale), float(np.float32(row + 1) * scale)
        if scale == 0:  # of one row between corners: no part of it, so all of it
            weights[row, 0] = 1
        for column in range(math.floor(low), math.ceil(high)):
            part = min(column + 1, high) - max(column, low)
            weights[row, min(max(column, 0), old - 1)] += part / float(scale)
    return weights


def resized(images: Array, rows: Array, columns: Array) -> Array:
    """Images [batch, rows, columns, channels] with weights along rows and columns."""
    return np.einsum("pi,qj,bijc->bpqc", rows, columns, wide(images).astype(np.float64))


def _back(grads: Array, rows: Array, columns: Array) -> Array:
    return np.einsum("pi,qj,bpqc->bijc", rows, columns, wide(grads).astype(np.float64))


def _define(name: str, weights: Weights) -> None:
    @definition(name)
    def forward(
        images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
    ) -> Array:
        high, broad = images.shape[1:3]
        options = (align_corners, half_pixel_centers)
        rows, columns = (int(n) for n in size)
        return resized(images, weights(high, rows, *options), weights(broad, columns, *options))


def _define_grad(name: str, weights: Weights) -> None:
    @definition(name)
    def backward(
        grads: Array, original: Array, *, align_corners: bool, half_pixel_centers: bool
    ) -> Array:
        options = (align_corners, half_pixel_centers)
        (high, broad), (rows, columns) = original.shape[1:3], grads.shape[1:3]
        return _back(grads, weights(high, rows, *options), weights(broad, columns, *options))


for _name, _weights in (
    ("ResizeBilinear", bilinear_weights),
    ("ResizeNearestNeighbor", _nearest_weights),
    ("ResizeBicubic", _bicubic_weights),
):
    _define(_name, _weights)
_define_grad("ResizeBilinearGrad", bilinear_weights)
_define_grad("ResizeBicubicGrad", _bicubic_weights)


@definition("ResizeArea")
def _resize_area(images: Array, size: Array, *, align_corners: bool) -> Array:
    """The mean of what lies in each pixel of the result."""
    (high, broad), (rows, columns) = images.shape[1:3], (int(n) for n in size)
    first = _area_weights(high, rows, align_corners, False)
    return resized(images, first, _area_weights(broad, columns, align_corners, False))


@definition("ResizeNearestNeighborGrad")
def _nearest_grad(
    grads: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """Each gradient to the pixel that was taken."""
    options = (align_corners, half_pixel_centers)
    (rows, columns), (high, broad) = grads.shape[1:3], (int(n) for n in size)
    first = _nearest_weights(high, rows, *options)
    return _back(grads, first, _nearest_weights(broad, columns, *options))


def _crop_weights(low: float, high: float, old: int, new: int, method: str) -> Array:
    """The weights of a crop between two ends, 1 is the last pixel; NaN beyond the image."""
    weights = np.zeros((new, old))
    first, last = np.float32(low), np.float32(high)
    span = np.float32(old - 1)
    for row in range(new):
        step = (last - first) * span / np.float32(new - 1) if new > 1 else np.float32(0)
        middle = np.float32(0.5) * (first + last) * span
        position = float(first * span + np.float32(row) * step if new > 1 else middle)
        if not 0 <= position <= old - 1:
            weights[row] = np.nan
        elif method == "nearest":
            weights[row, math.floor(position + 0.5)] = 1
        else:
            share = position - math.floor(position)
            weights[row, math.floor(position)] += 1 - share
            weights[row, math.ceil(position)] += share
    return weights


def _crop_matrices(
    boxes: Array, image: tuple[int, ...], size: tuple[int, ...], method: str
) -> list[tuple[Array, Array]]:
    return [
        (
            _crop_weights(y1, y2, image[0], size[0], method),
            _crop_weights(x1, x2, image[1], size[1], method),
        )
        for y1, x1, y2, x2 in boxes.tolist()
    ]


@definition("CropAndResize")
def _crop_and_resize(
    image: Array,
    boxes: Array,
    numbers: Array,
    size: Array,
    *,
    method: str,
    extrapolation_value: float,
) -> Array:
    """Parts of images, each in the size; the value where a pixel lies beyond the image."""
    shape = tuple(int(n) for n in size)
    crops = np.empty((len(boxes), *shape, image.shape[3]))
    matrices = _crop_matrices(boxes, image.shape[1:3], shape, method)
    for box, (number, (rows, columns)) in enumerate(zip(numbers, matrices, strict=True)):
        inside = np.isfinite(rows[:, :1]) & np.isfinite(columns[:, 0])
        crop = resized(image[number][None], np.nan_to_num(rows), np.nan_to_num(columns))[0]
        crops[box] = np.where(inside[..., None], crop, extrapolation_value)
    return crops


@definition("CropAndResizeGradImage")
def _crop_grad(
    grads: Array, boxes: Array, numbers: Array, image_size: Array, *, method: str
) -> Array:
    """Each gradient to the pixels that its own was made of."""
    shape = tuple(int(n) for n in image_size)
    total = np.zeros(shape)
    matrices = _crop_matrices(boxes, shape[1:3], grads.shape[1:3], method)
    for grad, number, (rows, columns) in zip(grads, numbers, matrices, strict=True):
        inside = np.isfinite(rows[:, :1]) & np.isfinite(columns[:, 0])
        seen = np.where(inside[..., None], grad, 0)[None]
        total[number] += _back(seen, np.nan_to_num(rows), np.nan_to_num(columns))[0]
    return rounded(total, np.float64)
