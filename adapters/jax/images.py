"""Translations of resizing and cropping."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from sessrun.adapters.jax.rules import REALS, Array, Node, rule

__all__: list[str] = []


def _scale(node: Node, size: int, wanted: int) -> np.float32:
    """How many pixels of the picture one of the wanted ones is wide."""
    if node["align_corners"] and wanted > 1:
        return np.float32(size - 1) / np.float32(wanted - 1)
    return np.float32(size) / np.float32(wanted)


def _coordinates(node: Node, size: int, wanted: int) -> np.ndarray:
    """Where in the picture the wanted pixels lie, in float32."""
    steps = np.arange(wanted, dtype=np.float32)
    scale = _scale(node, size, wanted)
    if node.attrs.get("half_pixel_centers"):
        return (steps + np.float32(0.5)) * scale - np.float32(0.5)
    return steps * scale


def _sizes(node: Node, images: Array, size: Array) -> tuple[int, int]:
    """The wanted height and width."""
    node.check(images.ndim == 4 and size.shape == (2,), "no pictures, or no height and width")
    node.check(bool(np.all(size > 0)), f"the size {size.tolist()} is not positive")
    node.check(min(images.shape[1:3]) > 0, "the pictures are empty")
    return int(size[0]), int(size[1])


@rule("ResizeBilinear", dtypes=REALS, constants="size")
def _bilinear(node: Node, images: Array, size: Array) -> Array:
    """Between the four pixels around a point, first along the rows."""
    height, width = _sizes(node, images, size)
    wide = images.astype(jnp.float32)
    top, bottom, down = _neighbours(_coordinates(node, images.shape[1], height), images.shape[1])
    left, right, along = _neighbours(_coordinates(node, images.shape[2], width), images.shape[2])

    def row(at: np.ndarray) -> Array:
        line = wide[:, at]
        first = line[:, :, left]
        return first + (line[:, :, right] - first) * along[:, None]

    upper = row(top)
    return upper + (row(bottom) - upper) * down[:, None, None]


def _neighbours(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pixels before and behind points of an axis, and how far between them these are."""
    floor = np.floor(at)
    before = np.maximum(floor, 0).astype(np.int64)
    behind = np.minimum(np.ceil(at), size - 1).astype(np.int64)
    return np.minimum(before, size - 1), np.maximum(behind, 0), (at - floor).astype(np.float32)


@rule("ResizeNearestNeighbor", dtypes=REALS, constants="size")
def _nearest(node: Node, images: Array, size: Array) -> Array:
    height, width = _sizes(node, images, size)
    rows, columns = (
        _nearest_pixels(node, images.shape[axis], wanted)
        for axis, wanted in ((1, height), (2, width))
    )
    return images[:, rows][:, :, columns]


def _nearest_pixels(node: Node, size: int, wanted: int) -> Array:
    steps = np.arange(wanted, dtype=np.float32)
    half = np.float32(0.5) if node["half_pixel_centers"] else np.float32(0)
    at = (steps + half) * _scale(node, size, wanted)
    chosen = np.floor(at + np.float32(0.5)) if node["align_corners"] else np.floor(at)
    return np.clip(chosen, 0, size - 1).astype(np.int64)


@rule("ResizeArea", dtypes=REALS, constants="size")
def _area(node: Node, images: Array, size: Array) -> Array:
    """Means of the areas that the wanted pixels cover."""
    height, width = _sizes(node, images, size)
    rows = _weighted(images.astype(jnp.float32), 1, *_coverage(node, images.shape[1], height))
    return _weighted(rows, 2, *_coverage(node, images.shape[2], width))


def _coverage(node: Node, size: int, wanted: int) -> tuple[Array, Array]:
    """The pixels of each wanted one, and which part of it each covers: [wanted, pixels]."""
    scale = _scale(node, size, wanted) if size > 1 else np.float32(1) / np.float32(wanted)
    begin = np.arange(wanted, dtype=np.float32) * scale
    end = np.arange(1, wanted + 1, dtype=np.float32) * scale
    first, last = np.floor(begin).astype(np.int64), np.ceil(end).astype(np.int64)
    pixels = first[:, None] + np.arange(max(int(np.max(last - first)), 1))
    low, high = np.maximum(pixels, begin[:, None]), np.minimum(pixels + 1, end[:, None])
    covered = np.where(pixels < last[:, None], high - low, 0) / scale
    return np.clip(pixels, 0, size - 1), covered.astype(np.float32)


def _weighted(images: Array, axis: int, pixels: Array, weights: Array) -> Array:
    """Sums of the pixels of an axis by their weights: those of no weight have no part in them."""
    shape = [1] * images.ndim
    shape[axis] = -1
    total = jnp.zeros((), images.dtype)
    for tap in range(pixels.shape[1]):
        weight = weights[:, tap].reshape(shape)
        product = jnp.take(images, pixels[:, tap], axis=axis) * weight
        total = total + jnp.where(weight == 0, np.float32(0), product)
    return total


@rule("ResizeBicubic", dtypes=REALS, constants="size")
def _bicubic(node: Node, images: Array, size: Array) -> Array:
    """Sums of sixteen pixels around a point, first along the columns."""
    height, width = _sizes(node, images, size)
    rows = _weighted(images.astype(jnp.float32), 1, *_cubic_taps(node, images.shape[1], height))
    return _weighted(rows, 2, *_cubic_taps(node, images.shape[2], width))


def _cubic_taps(node: Node, size: int, wanted: int) -> tuple[Array, Array]:
    """The four pixels around each wanted one, and their weights, as of a table of 1024 offsets.

    With `half_pixel_centers` pixels outside have none, else those at the edge take theirs.
    """
    half = node["half_pixel_centers"]
    at = _coordinates(node, size, wanted)[:, None]
    floor, shifts = np.floor(at), np.arange(-1, 3)
    offset = np.round((at - floor) * np.float32(1024)) / 1024
    weights = _cubic(np.abs(offset - shifts), -0.5 if half else -0.75)
    pixels = floor.astype(np.int64) + shifts
    bound = np.clip(pixels, 0, size - 1)
    if half:
        weights = np.where(pixels == bound, weights, 0)
        sums = weights.sum(axis=1, keepdims=True)
        weights = np.where(sums == 0, weights, weights / np.where(sums == 0, 1, sums))
    return bound, weights.astype(np.float32)


def _cubic(distance: Array, a: float) -> Array:
    """The weight of a pixel at a distance below 2."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, far)


@rule("CropAndResize", dtypes=REALS, constants="crop_size")
def _crop(node: Node, images: Array, boxes: Array, numbers: Array, crop_size: Array) -> Array:
    """Boxes of pictures, resized; `extrapolation_value` where a box reaches beyond its picture."""
    height, width = _sizes(node, images, crop_size)
    node.check(
        boxes.ndim == 2 and numbers.shape == boxes.shape[:1], "there is not one box a number"
    )
    node.check_range(numbers, images.shape[0])
    outside = jnp.float32(node["extrapolation_value"])
    shape = (boxes.shape[0], height, width, images.shape[3])
    if 0 in shape or images.shape[0] == 0:
        return jnp.full(shape, outside)
    wide = images.astype(jnp.float32)
    rows, in_rows = _crop_points(boxes[:, 0], boxes[:, 2], images.shape[1], height)
    columns, in_columns = _crop_points(boxes[:, 1], boxes[:, 3], images.shape[2], width)
    picture = jnp.clip(numbers, 0, images.shape[0] - 1)[:, None, None]
    inside = (in_rows[:, :, None] & in_columns[:, None, :])[..., None]

    def pixel(row: Array, column: Array) -> Array:
        return wide[picture, row[:, :, None], column[:, None, :]]

    if node["method"] == "nearest":
        near = pixel(_rounded_index(rows), _rounded_index(columns))
        return jnp.where(inside, near, outside)
    top, bottom, down = _between(rows)
    left, right, along = _between(columns)
    along, down = along[:, None, :, None], down[:, :, None, None]
    upper = pixel(top, left) + (pixel(top, right) - pixel(top, left)) * along
    lower = pixel(bottom, left) + (pixel(bottom, right) - pixel(bottom, left)) * along
    return jnp.where(inside, upper + (lower - upper) * down, outside)


def _crop_points(first: Array, last: Array, size: int, wanted: int) -> tuple[Array, Array]:
    """Points of an axis for each box, clipped to the picture, and which were inside."""
    steps = np.arange(wanted, dtype=np.float32)
    if wanted > 1:
        step = (last - first) * np.float32(size - 1) / np.float32(wanted - 1)
        at = first[:, None] * np.float32(size - 1) + steps * step[:, None]
    else:
        at = (np.float32(0.5) * (first + last) * np.float32(size - 1))[:, None]
    inside = (at >= 0) & (at <= size - 1)
    return jnp.where(inside, at, 0), inside


def _rounded_index(at: Array) -> Array:
    return jnp.floor(at + np.float32(0.5)).astype(np.int32)


def _between(at: Array) -> tuple[Array, Array, Array]:
    floor = jnp.floor(at)
    return floor.astype(np.int32), jnp.ceil(at).astype(np.int32), at - floor
