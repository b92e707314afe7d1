"""Kernels of resizing: each pixel of the result a weighted sum of pixels, by rows and by columns.

How one axis is resized is a table of *taps*: for each place of the result the places that it is
made of, and their weights. Positions are computed in float32, as TensorFlow computes them, or
another neighbour would be nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sizes import check_size

__all__ = ["checked_size", "dense", "halves", "positions", "scale_of", "take_axis"]

#: How finely the cubic kernel's weights are tabled.
_CUBIC_STEPS: Final = 1024
#: Below it a sum of weights is none.
_NO_WEIGHT: Final = 1000 * 1.1754943508222875e-38


def checked_size(images: Any, size: Any) -> tuple[int, int]:
    """The height and width asked for.

    Raises:
      KernelError: the images are no batch of pictures with pixels, or the size is none.

    """
    if size.ndim != 1 or size.size != 2:
        raise InvalidArgument(f"shape_t must have two elements: {size.shape}")
    if images.ndim != 4:
        raise InvalidArgument(f"input must be 4-dimensional: {images.shape}")
    height, width = ints(size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    if 0 in images.shape[1:]:
        raise InvalidArgument("input image must be of non-zero size, with a channel at least")
    check_size((images.shape[0], height, width, images.shape[3]))
    return height, width


def scale_of(have: int, want: int, align_corners: bool) -> Any:
    """How far apart neighbours of the result are in the image: a float32."""
    if align_corners and want > 1:
        return HOST.float32(have - 1) / HOST.float32(want - 1)
    return HOST.float32(have) / HOST.float32(want)


def positions(have: int, want: int, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Where in an axis of `have` pixels each of `want` pixels lies: a float32 vector."""
    scale = scale_of(have, want, align_corners)
    places = HOST.arange(want, dtype="float32")
    if half_pixel_centers:
        return (places + HOST.float32(0.5)) * scale - HOST.float32(0.5)
    return places * scale


def take_axis(xp: Any, images: Any, places: Any, axis: int) -> Any:
    """The images' rows (axis 1) or columns (axis 2) at host places."""
    if axis == 1:
        return xp.take(images, xp.asarray(places), axis=1)
    count, height, width, channels = images.shape
    # Columns are gathered element by element: a take of so few numbers at once is slower.
    flat = (places[:, None] * channels + HOST.arange(channels)).reshape(-1)
    found = xp.take(images.reshape(count, height, width * channels), xp.asarray(flat), axis=2)
    return found.reshape(count, height, len(places), channels)


def _by_axis(xp: Any, weights: Any, axis: int, dtype: Any) -> Any:
    """A vector of weights that multiplies rows or columns."""
    return xp.asarray(weights.astype(dtype)).reshape((-1, 1, 1) if axis == 1 else (-1, 1))


def halves(positions_: Any, have: int) -> tuple[Any, Any, Any]:
    """The pixels on either side of each position, and the share of the second."""
    floor = HOST.floor(positions_)
    upper = HOST.minimum(HOST.ceil(positions_).astype("int64"), have - 1)
    lower = HOST.minimum(HOST.maximum(floor.astype("int64"), 0), upper)
    return lower, upper, positions_ - floor


def _mixed(xp: Any, images: Any, halves: tuple[Any, Any, Any], axis: int) -> Any:
    lower, upper, share = halves
    first = take_axis(xp, images, lower, axis)
    second = take_axis(xp, images, upper, axis)
    second -= first
    second *= _by_axis(xp, share, axis, images.dtype)
    second += first
    return second


@kernel("ResizeBilinear", host_inputs=("size",))
def resize_bilinear(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
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


def _per_image(xp: Any, images: Any, size: tuple[int, int], resize: Any) -> Any:
    """Each image resized by itself, since it stays in the cache; the result float32."""
    count, _, _, channels = images.shape
    found = xp.empty((count, *size, channels), dtype="float32")
    for number in range(count):
        found[number : number + 1] = resize(images[number : number + 1].astype("float32"))
    return found


def _nearest(have: int, want: int, align_corners: bool, half_pixel_centers: bool) -> Any:
    scale = scale_of(have, want, align_corners)
    places = HOST.arange(want, dtype="float32")
    if half_pixel_centers:
        places += HOST.float32(0.5)
    exact = places * scale
    # A half goes up, as no position is negative.
    whole = HOST.floor(exact + HOST.float32(0.5)) if align_corners else HOST.floor(exact)
    return HOST.clip(whole.astype("int64"), 0, have - 1)


@kernel("ResizeNearestNeighbor", host_inputs=("size",))
def resize_nearest_neighbor(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    """Each pixel is the nearest one."""
    height, width = checked_size(images, size)
    rows = _nearest(images.shape[1], height, align_corners, half_pixel_centers)
    columns = _nearest(images.shape[2], width, align_corners, half_pixel_centers)
    if height < images.shape[1]:
        return take_axis(xp, take_axis(xp, images, rows, 1), columns, 2)
    return take_axis(xp, take_axis(xp, images, columns, 2), rows, 1)


@kernel("ResizeNearestNeighborGrad", host_inputs=("size",))
def resize_nearest_neighbor_grad(
    xp: Any, grads: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    """For each pixel of an image of this size the sum of the gradients of its copies."""
    height, width = checked_size(grads, size)
    rows = _nearest(height, grads.shape[1], align_corners, half_pixel_centers)
    columns = _nearest(width, grads.shape[2], align_corners, half_pixel_centers)
    summed = _gathered(xp, grads, columns, width, 2)
    return _gathered(xp, summed, rows, height, 1).astype(grads.dtype)


def _gathered(xp: Any, grads: Any, places: Any, size: int, axis: int) -> Any:
    """The sums along an axis over the elements that have one place; the places ascend."""
    wide = grads.astype("float32") if grads.dtype.itemsize == 2 else grads
    shape = list(grads.shape)
    shape[axis] = size
    found = xp.zeros(tuple(shape), wide.dtype)
    room = (slice(None),) * axis
    # The n-th copies of each place are added at once: they are all different.
    turns = HOST.arange(len(places)) - HOST.searchsorted(places, places)
    for turn in range(int(turns.max()) + 1):
        chosen = HOST.flatnonzero(turns == turn)
        found[(*room, xp.asarray(places[chosen]))] += xp.take(wide, xp.asarray(chosen), axis=axis)
    return found


def _cubic_table(a: float) -> Any:
    """Weights of a cubic kernel: for each step those of the nearer and of the farther pixel."""
    x = HOST.arange(_CUBIC_STEPS + 1) / _CUBIC_STEPS
    a = HOST.float32(a)
    x = x.astype("float32")
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + HOST.float32(1)
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return HOST.stack([near, far], axis=1).astype("float32")


def _cubic_taps(have: int, want: int, align: bool, half: bool) -> tuple[Any, Any]:
    """Places and weights, each [want, 4], of the four pixels around each position."""
    exact = positions(have, want, align, half)
    whole = HOST.floor(exact).astype("int64")
    steps = HOST.rint((exact - whole.astype("float32")) * HOST.float32(_CUBIC_STEPS))
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
    wanted = whole[:, None] + HOST.arange(-1, 3)
    places = HOST.clip(wanted, 0, have - 1)
    if half:  # pixels beyond the edge do not count
        weights = HOST.where(places == wanted, weights, HOST.float32(0))
        total = weights.sum(axis=1, keepdims=True, dtype="float32")
        is_some = HOST.abs(total) >= _NO_WEIGHT
        weights = HOST.where(is_some, weights * (1 / HOST.where(is_some, total, 1)), weights)
    return places, weights.astype("float32")


def _weighed(xp: Any, images: Any, taps: tuple[Any, Any], axis: int) -> Any:
    """The sum of the images' rows or columns at some places, times their weights."""
    places, weights = taps
    total = None
    for tap in range(places.shape[1]):
        part = take_axis(xp, images, places[:, tap], axis)
        part *= _by_axis(xp, weights[:, tap], axis, images.dtype)
        total = part if total is None else total + part
    return total


@kernel("ResizeBicubic", host_inputs=("size",))
def resize_bicubic(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
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


def _area_taps(have: int, want: int, align_corners: bool) -> tuple[Any, Any]:
    """Places and weights of the pixels that lie in each pixel's part of the axis."""
    scale = scale_of(have, want, align_corners and have > 1)
    begin = HOST.arange(want, dtype="float32") * scale
    end = (HOST.arange(want, dtype="float32") + HOST.float32(1)) * scale
    first = HOST.floor(begin).astype("int64")
    last = HOST.ceil(end).astype("int64")
    places = first[:, None] + HOST.arange(max(int((last - first).max()), 1))
    low = HOST.maximum(places.astype("float32"), begin[:, None])
    high = HOST.minimum((places + 1).astype("float32"), end[:, None])
    weights = HOST.where(places < last[:, None], high - low, HOST.float32(0))
    return HOST.clip(places, 0, have - 1), (weights / scale).astype("float32")


@kernel("ResizeArea", host_inputs=("size",), devices=("CPU",))
def resize_area(xp: Any, images: Any, size: Any, *, align_corners: bool) -> Any:
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


def dense(taps: tuple[Any, Any], have: int) -> Any:
    """The matrix [want, have] by which an axis is resized: a float32 array in host memory."""
    places, weights = taps
    found = HOST.zeros((len(places), have), "float32")
    for tap in range(places.shape[1]):
        found[HOST.arange(len(places)), places[:, tap]] += weights[:, tap]
    return found


def _spread(xp: Any, grads: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """What the resized pixels' gradients are for the image's, by the two axes' matrices."""
    wide = "float64" if dtype == "float64" else "float32"
    count, _, width, channels = grads.shape
    found = xp.empty((count, rows.shape[1], columns.shape[1], channels), dtype)
    up, across = xp.asarray(rows.T.astype(wide)), xp.asarray(columns.astype(wide))
    for number in range(count):
        one = grads[number].astype(wide).reshape(-1, width * channels)
        one = xp.matmul(up, one).reshape(-1, width, channels)
        lines = xp.ascontiguousarray(one.transpose(0, 2, 1)).reshape(-1, width)
        turned = xp.matmul(lines, across).reshape(len(one), channels, -1)
        found[number] = turned.transpose(0, 2, 1).astype(dtype)
    return found


def _linear_taps(have: int, want: int, align: bool, half: bool) -> tuple[Any, Any]:
    lower, upper, share = halves(positions(have, want, align, half), have)
    return HOST.stack([lower, upper], 1), HOST.stack([1 - share, share], 1)


def _check_gradient(grads: Any, original: Any) -> None:
    if grads.ndim != 4 or original.ndim != 4:
        raise InvalidArgument(
            f"input_grad and original_image must be 4-dimensional: {grads.shape}, {original.shape}"
        )
    if 0 in original.shape[1:3] or 0 in grads.shape[1:3]:
        raise InvalidArgument("images must be of non-zero size")


def _taken_back(
    xp: Any, grads: Any, original: Any, taps: Callable[..., Any], align: bool, half: bool
) -> Any:
    """Each gradient spread over the pixels that its own was made of."""
    _check_gradient(grads, original)
    rows, columns = (
        dense(taps(have, want, align, half), have)
        for have, want in zip(original.shape[1:3], grads.shape[1:3], strict=True)
    )
    return _spread(xp, grads, rows, columns, original.dtype)


@kernel("ResizeBilinearGrad")
def resize_bilinear_grad(
    xp: Any, grads: Any, original: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    """The gradient of ResizeBilinear by its images."""
    return _taken_back(xp, grads, original, _linear_taps, align_corners, half_pixel_centers)


@kernel("ResizeBicubicGrad")
def resize_bicubic_grad(
    xp: Any, grads: Any, original: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    """The gradient of ResizeBicubic by its images."""
    return _taken_back(xp, grads, original, _cubic_taps, align_corners, half_pixel_centers)
