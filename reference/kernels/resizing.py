"""Kernels of resizing: pixels are weighted sums of pixels, by rows and by columns.

How an axis is resized is a table of *taps*: for each position of the result the indices of the
pixels that it is computed from, and their weights. Positions are float32, as in TensorFlow, or
another neighbour would be nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.input_shapes import check_size, require_rank
from sessrun.reference.kernels.registry import kernel

__all__ = ["checked_size", "dense", "halves", "positions", "scale_of", "take_axis"]

#: The number of steps between two pixels in the table of the cubic kernel's weights.
_CUBIC_STEPS: Final = 1024
#: A sum of weights below this counts as 0.
_NO_WEIGHT: Final = 1000 * 1.1754943508222875e-38


def checked_size(images: Array, size: Array) -> tuple[int, int]:
    """The requested height and width.

    Raises:
      KernelError: the images are no batch of non-empty pictures, or the size is not positive.

    """
    if size.ndim != 1 or size.size != 2:
        raise InvalidArgument(f"shape_t must have two elements: {size.shape}")
    require_rank(4, images=images)
    height, width = ints(size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    if 0 in images.shape[1:]:
        raise InvalidArgument("input image must be of non-zero size, with a channel at least")
    check_size((images.shape[0], height, width, images.shape[3]))
    return height, width


def scale_of(have: int, want: int, align_corners: bool) -> Array:
    """The distance of the result's neighbouring pixels in the image: a float32."""
    if align_corners and want > 1:
        return HOST.float32(have - 1) / HOST.float32(want - 1)
    return HOST.float32(have) / HOST.float32(want)


def positions(have: int, want: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """The positions of `want` pixels on an axis of `have` pixels: a float32 vector."""
    scale = scale_of(have, want, align_corners)
    steps = HOST.arange(want, dtype="float32")
    if half_pixel_centers:
        return (steps + HOST.float32(0.5)) * scale - HOST.float32(0.5)
    return steps * scale


def take_axis(xp: ArrayModule, images: Array, indices: Array, axis: int) -> Array:
    """The images' rows (axis 1) or columns (axis 2) at indices in host memory."""
    if axis == 1:
        return xp.take(images, xp.asarray(indices), axis=1)
    count, height, width, channels = images.shape
    # Columns are gathered element by element: a take of so few numbers at once is slower.
    flat = (indices[:, None] * channels + HOST.arange(channels)).reshape(-1)
    columns = xp.take(images.reshape(count, height, width * channels), xp.asarray(flat), axis=2)
    return columns.reshape(count, height, len(indices), channels)


def _by_axis(xp: ArrayModule, weights: Array, axis: int, dtype: DType) -> Array:
    """A vector of weights, shaped to multiply rows or columns."""
    return xp.asarray(weights.astype(dtype)).reshape((-1, 1, 1) if axis == 1 else (-1, 1))


def halves(positions_: Array, have: int) -> tuple[Array, Array, Array]:
    """The lower and upper pixel around each position, and the weight of the upper one."""
    floor = HOST.floor(positions_)
    upper = HOST.minimum(HOST.ceil(positions_).astype("int64"), have - 1)
    lower = HOST.minimum(HOST.maximum(floor.astype("int64"), 0), upper)
    return lower, upper, positions_ - floor


def _mixed(xp: ArrayModule, images: Array, halves: tuple[Array, Array, Array], axis: int) -> Array:
    lower, upper, share = halves
    first = take_axis(xp, images, lower, axis)
    second = take_axis(xp, images, upper, axis)
    second -= first
    second *= _by_axis(xp, share, axis, images.dtype)
    second += first
    return second


@kernel("ResizeBilinear", host_inputs=("size",))
def resize_bilinear(
    xp: ArrayModule, images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """Each pixel from its four neighbours: first along rows, then along columns."""
    height, width = checked_size(images, size)
    _, have_height, have_width, _ = images.shape
    if (height, width) == images.shape[1:3]:
        return images.astype("float32")
    rows = halves(positions(have_height, height, align_corners, half_pixel_centers), have_height)
    columns = halves(positions(have_width, width, align_corners, half_pixel_centers), have_width)
    return _per_image(
        xp, images, (height, width), lambda one: _mixed(xp, _mixed(xp, one, columns, 2), rows, 1)
    )


def _per_image(
    xp: ArrayModule, images: Array, size: tuple[int, int], resize: Callable[[Array], Array]
) -> Array:
    """The images resized one by one, so that they stay in the cache; float32."""
    count, _, _, channels = images.shape
    resized = xp.empty((count, *size, channels), dtype="float32")
    for number in range(count):
        resized[number : number + 1] = resize(images[number : number + 1].astype("float32"))
    return resized


def _nearest(have: int, want: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    scale = scale_of(have, want, align_corners)
    steps = HOST.arange(want, dtype="float32")
    if half_pixel_centers:
        steps += HOST.float32(0.5)
    exact = steps * scale
    # A half is rounded up, as no position is negative.
    nearest = HOST.floor(exact + HOST.float32(0.5)) if align_corners else HOST.floor(exact)
    return HOST.clip(nearest.astype("int64"), 0, have - 1)


@kernel("ResizeNearestNeighbor", host_inputs=("size",))
def resize_nearest_neighbor(
    xp: ArrayModule, images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """Each pixel is the nearest one."""
    height, width = checked_size(images, size)
    rows = _nearest(images.shape[1], height, align_corners, half_pixel_centers)
    columns = _nearest(images.shape[2], width, align_corners, half_pixel_centers)
    if height < images.shape[1]:
        return take_axis(xp, take_axis(xp, images, rows, 1), columns, 2)
    return take_axis(xp, take_axis(xp, images, columns, 2), rows, 1)


@kernel("ResizeNearestNeighborGrad", host_inputs=("size",))
def resize_nearest_neighbor_grad(
    xp: ArrayModule, grads: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """For each pixel of an image of this size, the sum of the gradients of its copies."""
    height, width = checked_size(grads, size)
    rows = _nearest(height, grads.shape[1], align_corners, half_pixel_centers)
    columns = _nearest(width, grads.shape[2], align_corners, half_pixel_centers)
    summed = _gathered(xp, grads, columns, width, 2)
    return _gathered(xp, summed, rows, height, 1).astype(grads.dtype)


def _gathered(xp: ArrayModule, grads: Array, targets: Array, size: int, axis: int) -> Array:
    """The sums along an axis of the elements with the same target; the targets ascend."""
    wide = grads.astype("float32") if grads.dtype.itemsize == 2 else grads
    shape = list(grads.shape)
    shape[axis] = size
    sums = xp.zeros(tuple(shape), wide.dtype)
    room = (slice(None),) * axis
    # The n-th copies of all targets are added at once, as their targets differ.
    turns = HOST.arange(len(targets)) - HOST.searchsorted(targets, targets)
    for turn in range(int(turns.max()) + 1):
        chosen = HOST.flatnonzero(turns == turn)
        sums[(*room, xp.asarray(targets[chosen]))] += xp.take(wide, xp.asarray(chosen), axis=axis)
    return sums


def _cubic_table(a: float) -> Array:
    """Weights of a cubic kernel: for each step those of the nearer and of the farther pixel."""
    x = HOST.arange(_CUBIC_STEPS + 1) / _CUBIC_STEPS
    b = HOST.float32(a)
    x = x.astype("float32")
    near = ((b + 2) * x - (b + 3)) * x * x + 1
    x = x + HOST.float32(1)
    far = ((b * x - 5 * b) * x + 8 * b) * x - 4 * b
    return HOST.stack([near, far], axis=1).astype("float32")


def _cubic_taps(have: int, want: int, align: bool, half: bool) -> tuple[Array, Array]:
    """Indices and weights, [want, 4] both, of the four pixels around each position."""
    exact = positions(have, want, align, half)
    floor = HOST.floor(exact).astype("int64")
    steps = HOST.rint((exact - floor.astype("float32")) * HOST.float32(_CUBIC_STEPS))
    steps = steps.astype("int64")
    table = _cubic_table(-0.5 if half else -0.75)
    weights = HOST.stack(
        [
            table[steps, 1],
            table[steps, 0],
            table[_CUBIC_STEPS - steps, 0],
            table[_CUBIC_STEPS - steps, 1],
        ],
        axis=1,
    )
    wanted = floor[:, None] + HOST.arange(-1, 3)
    indices = HOST.clip(wanted, 0, have - 1)
    if half:  # pixels beyond the edge do not count
        weights = HOST.where(indices == wanted, weights, HOST.float32(0))
        total = weights.sum(axis=1, keepdims=True, dtype="float32")
        is_some = HOST.abs(total) >= _NO_WEIGHT
        weights = HOST.where(is_some, weights * (1 / HOST.where(is_some, total, 1)), weights)
    return indices, weights.astype("float32")


def _weighed(xp: ArrayModule, images: Array, taps: tuple[Array, Array], axis: int) -> Array:
    """The weighted sum of the images' rows or columns at the taps."""
    indices, weights = taps
    total: Array | None = None
    for tap in range(indices.shape[1]):
        part = take_axis(xp, images, indices[:, tap], axis)
        part *= _by_axis(xp, weights[:, tap], axis, images.dtype)
        total = part if total is None else total + part
    assert total is not None  # there are taps
    return total


@kernel("ResizeBicubic", host_inputs=("size",))
def resize_bicubic(
    xp: ArrayModule, images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """Each pixel from the sixteen around it: first along columns, then along rows."""
    height, width = checked_size(images, size)
    rows = _cubic_taps(images.shape[1], height, align_corners, half_pixel_centers)
    columns = _cubic_taps(images.shape[2], width, align_corners, half_pixel_centers)
    return _per_image(
        xp,
        images,
        (height, width),
        lambda one: _weighed(xp, _weighed(xp, one, rows, 1), columns, 2),
    )


def _area_taps(have: int, want: int, align_corners: bool) -> tuple[Array, Array]:
    """Indices and weights of the pixels in the part of the axis that each pixel covers."""
    scale = scale_of(have, want, align_corners and have > 1)
    begin = HOST.arange(want, dtype="float32") * scale
    end = (HOST.arange(want, dtype="float32") + HOST.float32(1)) * scale
    first = HOST.floor(begin).astype("int64")
    last = HOST.ceil(end).astype("int64")
    indices = first[:, None] + HOST.arange(max(int((last - first).max()), 1))
    low = HOST.maximum(indices.astype("float32"), begin[:, None])
    high = HOST.minimum((indices + 1).astype("float32"), end[:, None])
    weights = HOST.where(indices < last[:, None], high - low, HOST.float32(0))
    return HOST.clip(indices, 0, have - 1), (weights / scale).astype("float32")


@kernel("ResizeArea", host_inputs=("size",), devices=("CPU",))
def resize_area(xp: ArrayModule, images: Array, size: Array, *, align_corners: bool) -> Array:
    """Each pixel is the mean of the part of the image that it covers."""
    height, width = checked_size(images, size)
    rows = _area_taps(images.shape[1], height, align_corners)
    columns = _area_taps(images.shape[2], width, align_corners)
    return _per_image(
        xp,
        images,
        (height, width),
        lambda one: _weighed(xp, _weighed(xp, one, rows, 1), columns, 2),
    )


def dense(taps: tuple[Array, Array], have: int) -> Array:
    """The matrix [want, have] by which an axis is resized: a float32 array in host memory."""
    indices, weights = taps
    matrix = HOST.zeros((len(indices), have), "float32")
    for tap in range(indices.shape[1]):
        matrix[HOST.arange(len(indices)), indices[:, tap]] += weights[:, tap]
    return matrix


def _spread(xp: ArrayModule, grads: Array, rows: Array, columns: Array, dtype: DType) -> Array:
    """The gradients by the image, from those by the resized one and the two axes' matrices."""
    wide = "float64" if dtype == "float64" else "float32"
    count, _, width, channels = grads.shape
    spread = xp.empty((count, rows.shape[1], columns.shape[1], channels), dtype)
    up, across = xp.asarray(rows.T.astype(wide)), xp.asarray(columns.astype(wide))
    for number in range(count):
        one = grads[number].astype(wide).reshape(-1, width * channels)
        one = xp.matmul(up, one).reshape(-1, width, channels)
        lines = xp.ascontiguousarray(one.transpose(0, 2, 1)).reshape(-1, width)
        turned = xp.matmul(lines, across).reshape(len(one), channels, -1)
        spread[number] = turned.transpose(0, 2, 1).astype(dtype)
    return spread


def _linear_taps(have: int, want: int, align: bool, half: bool) -> tuple[Array, Array]:
    lower, upper, share = halves(positions(have, want, align, half), have)
    return HOST.stack([lower, upper], 1), HOST.stack([1 - share, share], 1)


def _check_gradient(grads: Array, original: Array) -> None:
    require_rank(4, grads=grads, original=original)
    if 0 in original.shape[1:3] or 0 in grads.shape[1:3]:
        raise InvalidArgument("images must be of non-zero size")


Taps = Callable[[int, int, bool, bool], tuple[Array, Array]]


def _taken_back(
    xp: ArrayModule, grads: Array, original: Array, taps: Taps, align: bool, half: bool
) -> Array:
    """Distribute each gradient over the pixels that its own pixel was computed from."""
    _check_gradient(grads, original)
    rows, columns = (
        dense(taps(have, want, align, half), have)
        for have, want in zip(original.shape[1:3], grads.shape[1:3], strict=True)
    )
    return _spread(xp, grads, rows, columns, original.dtype)


@kernel("ResizeBilinearGrad")
def resize_bilinear_grad(
    xp: ArrayModule, grads: Array, original: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """The gradient of ResizeBilinear by its images."""
    return _taken_back(xp, grads, original, _linear_taps, align_corners, half_pixel_centers)


@kernel("ResizeBicubicGrad")
def resize_bicubic_grad(
    xp: ArrayModule, grads: Array, original: Array, *, align_corners: bool, half_pixel_centers: bool
) -> Array:
    """The gradient of ResizeBicubic by its images."""
    return _taken_back(xp, grads, original, _cubic_taps, align_corners, half_pixel_centers)
