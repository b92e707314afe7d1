"""Convolutions of images in host memory whose windows are copied along one dimension alone.

Of a tile, some images or some rows of one, a buffer holds the windows along a row. There the
windows of an image lie along the other dimension as overlapping ranges, so that BLAS multiplies
them where they are, as many small products (`products`). For windows of 5 by 5 a fifth of the
elements is copied, and the copies stay in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import aligned, grouped, multiply, rows_at_once, shared_out
from sessrun.spec.rules.windows import Axis

__all__ = [
    "added_rows",
    "can_add_rows",
    "can_convolve",
    "can_return",
    "can_sum",
    "convolved",
    "returned",
    "summed",
]

#: Elements of a buffer: a megabyte of floats.
_TILE: Final = 1 << 18
#: The same where products with several matrices are computed at once, which take more memory.
_SHORT_TILE: Final = 1 << 17
#: The fewest rows of a small product, and the fewest positions of an image, that are worth it.
_FEWEST_ROWS: Final = 6
_FEWEST_POSITIONS: Final = 64
#: The most filters, and the fewest elements of a window along a row, for `added_rows`.
_NARROW: Final = 64
#: The fewest images for it: threads share images.
_FEWEST_IMAGES: Final = 8
#: The most positions that are summed by one product.
_MOST_POSITIONS: Final = 600

#: Slices of the images and of the rows of positions.
_Tile = tuple[slice, slice]


def _is_flat(x: Array, along: Sequence[Axis]) -> bool:
    """Whether these are images of floats, and windows of more than a pixel."""
    windows = math.prod(axis.window for axis in along)
    return len(along) == 2 and windows > 1 and x.dtype.kind == "f" and x.dtype.itemsize > 2


def can_convolve(x: Array, along: Sequence[Axis], depth: int) -> bool:
    """Whether `convolved` takes these images, and is faster than one product of all windows."""
    width = math.prod(axis.window for axis in along) * x.shape[-1]
    most = rows_at_once(width, depth)
    return _is_flat(x, along) and along[0].dilation == 1 and min(most, along[1].out) >= _FEWEST_ROWS


def can_sum(x: Array, along: Sequence[Axis], depth: int) -> bool:
    """Whether `summed` takes these images, and is faster than products of all windows."""
    positions = math.prod(axis.out for axis in along)
    most = rows_at_once(min(positions, _MOST_POSITIONS), depth)
    return (
        _is_flat(x, along)
        and along[0].stride == 1
        and most >= _FEWEST_ROWS
        and positions >= _FEWEST_POSITIONS
    )


def _tiles(
    images: Sequence[int], along: Sequence[Axis], channels: int, most: int = _TILE
) -> list[_Tile]:
    """Tiles of some images whose windows along the rows have at most so many elements."""
    first, last = along
    row = first.stride * last.out * last.window * channels
    count = max(most // (row * first.out), 1)
    height = -(-first.out // -(-row * first.out // most))
    return [
        (slice(image, min(image + count, images[-1] + 1)), slice(row, min(row + height, first.out)))
        for image in images[::count]
        for row in range(0, first.out, height)
    ]


def _chunk(rows: int, columns: int) -> int:
    """Of the rows of a tile's positions, the number that are summed by one product."""
    return max(-(-rows // -(-rows * columns // _MOST_POSITIONS)), 1)


def _windows_of_rows(x: Array, last: Axis) -> Array:
    """A view of the windows along padded rows: (images, rows, positions, window, channels)."""
    image, row, element, channel = x.strides
    view: Array = HOST.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], last.out, last.window, x.shape[3]),
        (image, row, element * last.stride, element * last.dilation, channel),
    )
    return view


class _Strips:
    """Buffers for the largest of some tiles.

    Attributes:
      windows: the windows along the rows of padded images:
        (images, rows, positions, window * channels).

    """

    def __init__(
        self, x: Array, along: Sequence[Axis], tiles: Sequence[_Tile], with_rows_inside: bool
    ) -> None:
        self._first, last = along
        self._x, channels = x, x.shape[-1]
        count = max(images.stop - images.start for images, _ in tiles)
        height = self._height(max(rows.stop - rows.start for _, rows in tiles))
        self._is_padded = last.before > 0 or last.after > 0
        if self._is_padded:
            width = last.before + last.size + max(last.after, 0)
            padded = HOST.zeros((count, height, width, channels), x.dtype)
            self._inner = padded[:, :, last.before : last.before + last.size]
            self._source = _windows_of_rows(padded, last)
        else:
            self._source = _windows_of_rows(x, last)
        if with_rows_inside:
            shape = (count, last.out, height, last.window, channels)
            self._copies = HOST.empty(shape, x.dtype).swapaxes(1, 2)
        else:
            self._copies = HOST.empty((count, height, *self._source.shape[2:]), x.dtype)
        self.windows = self._copies.reshape(count, height, last.out, last.window * channels)

    def _height(self, rows: int) -> int:
        """The number of rows that the windows of so many rows of positions cover."""
        first = self._first
        return (rows - 1) * first.stride + (first.window - 1) * first.dilation + 1

    def load(self, tile: _Tile) -> None:
        """Put a tile's windows at the begin of `windows`."""
        images, rows = tile
        count, height = images.stop - images.start, self._height(rows.stop - rows.start)
        top = rows.start * self._first.stride - self._first.before
        low = min(max(top, 0), top + height)
        high = max(min(top + height, self._first.size), low)
        if self._is_padded:
            self._inner[:count, : high - low] = self._x[images, low:high]
            source = self._source[:count, : high - low]
        else:
            source = self._source[images, low:high]
        copies = self._copies[:count, :height]
        copies[:, : low - top] = 0
        HOST.copyto(copies[:, low - top : high - top], source)
        copies[:, high - top :] = 0


def convolved(x: Array, filters: Array, along: Sequence[Axis]) -> Array:
    """The convolution of images (batch, rows, columns, channels) by filters.

    The product of a row of windows by the filters is that row of the result.
    """
    first, last = along
    depth, channels = filters.shape[-1], x.shape[-1]
    width = first.window * last.window * channels
    out = HOST.empty((len(x), first.out, last.out, depth), x.dtype)
    matrix = aligned((width, depth), x.dtype)
    matrix[...] = filters.reshape(width, depth)

    def fill(tiles: Sequence[_Tile]) -> None:
        strips = _Strips(x, along, tiles, with_rows_inside=True)
        image, row, position, _ = strips.windows.strides
        count, height = strips.windows.shape[:2]
        windows = HOST.lib.stride_tricks.as_strided(
            strips.windows,
            (count, (height - first.window) // first.stride + 1, last.out, width),
            (image, row * first.stride, position, x.itemsize),
        )
        for tile in tiles:
            strips.load(tile)
            part = out[tile]
            multiply(windows[: part.shape[0], : part.shape[1]], matrix, part)

    shared_out(fill, grouped(_tiles(range(len(x)), along, channels)), out.size * width)
    return out


def summed(x: Array, grad: Array, along: Sequence[Axis]) -> Array:
    """The gradient by the filters, (window rows, window columns * channels, depth).

    For a row of the window, the elements of all windows lie in rows of `windows` one after the
    other: their transpose times the gradients is that row of the result.
    """
    first, last = along
    depth, channels = grad.shape[-1], x.shape[-1]
    shape = (first.window, last.window * channels, depth)
    groups = grouped(_tiles(range(len(x)), along, channels))
    chunk = _chunk(groups[0][0][1].stop, last.out)

    def total(tiles: Sequence[_Tile]) -> Array:
        strips = _Strips(x, along, tiles, with_rows_inside=False)
        image, row, position, _ = strips.windows.strides
        count, height = strips.windows.shape[:2]
        rows = height - (first.window - 1) * first.dilation
        windows = HOST.lib.stride_tricks.as_strided(
            strips.windows,
            (count, *shape[:2], rows * last.out),
            (image, row * first.dilation, x.itemsize, position),
        )
        above = aligned((chunk * last.out, depth), x.dtype)
        share, result = HOST.empty(shape, x.dtype), HOST.zeros(shape, x.dtype)
        for tile in tiles:
            strips.load(tile)
            for window, gradient in zip(windows, grad[tile], strict=False):
                for start in range(0, len(gradient), chunk):
                    part = gradient[start : start + chunk].reshape(-1, depth)
                    above[: len(part)] = part
                    begin = start * last.out
                    columns = window[..., begin : begin + len(part)]
                    multiply(columns, above[: len(part)], share)
                    HOST.add(result, share, out=result)
        return result

    sums = shared_out(total, groups, grad.size * shape[0] * shape[1])
    for other in sums[1:]:
        HOST.add(sums[0], other, out=sums[0])
    return sums[0]


def can_add_rows(x: Array, filters: Array, along: Sequence[Axis]) -> bool:
    """Whether `added_rows` takes these images, and is faster than one product of all windows.

    BLAS copies a left factor of few columns for few multiplications: a narrow product of all
    windows takes longer than a wide one of the windows along rows. Rows of padding are left out,
    which times NaN and infinities are not 0.
    """
    first, last = along[0], along[-1]
    return (
        _is_flat(x, along)
        and first.stride == 1
        and first.window > 1
        and filters.shape[-1] <= _NARROW <= last.window * x.shape[-1]
        and len(x) >= _FEWEST_IMAGES
        and x.size > 0
        and bool(HOST.isfinite(filters).all())
    )


def added_rows(x: Array, filters: Array, along: Sequence[Axis]) -> Array:
    """The convolution of images by filters whose windows are a row apart.

    Each row of the filters is a convolution along the rows of images alone, whose rows are added to
    those of the result.
    """
    first, last = along
    matrices = filters.reshape(first.window, -1, filters.shape[-1])
    shifts = [first.before - offset * first.dilation for offset in range(first.window)]
    return _sum_of_rows(x, matrices, last, first.out, shifts)


def can_return(grad: Array, along: Sequence[Axis], channels: int) -> bool:
    """Whether `returned` takes these gradients, and is faster than a product of all windows."""
    first, last = along[0], along[-1]
    most = rows_at_once(last.window * grad.shape[-1], channels)
    return (
        _is_flat(grad, along)
        and first.stride == last.stride == 1
        and (last.window - 1) * last.dilation >= max(last.before, last.after)
        and min(most, first.out * last.size) >= _FEWEST_ROWS
    )


def returned(grad: Array, filters: Array, along: Sequence[Axis]) -> Array:
    """The gradient by the images of a convolution with strides of 1.

    Each row of the window is a convolution along the rows alone, of the gradients by filters in
    reverse. Its rows are added to the rows of images that this row of the window is multiplied by.
    """
    first, last = along
    channels, depth = filters.shape[-2:]
    matrices = aligned((first.window, last.window * depth, channels), grad.dtype)
    matrices.reshape(first.window, last.window, depth, channels)[...] = filters[:, ::-1].swapaxes(
        2, 3
    )
    before = (last.window - 1) * last.dilation - last.before
    after = last.size - last.out + last.before
    reverse = Axis(last.out, last.window, 1, last.dilation, before, after, last.size)
    shifts = [offset * first.dilation - first.before for offset in range(first.window)]
    return _sum_of_rows(grad, matrices, reverse, first.size, shifts)


def _sum_of_rows(
    x: Array, matrices: Array, last: Axis, height: int, shifts: Sequence[int]
) -> Array:
    """Windows along the rows of images times several matrices, added to rows of the result.

    Args:
      x: images (batch, rows, columns, channels).
      matrices: (number, window * channels, depth).
      last: the window along the rows.
      height: the rows of an image of the result.
      shifts: for each matrix the row of the result that the products of row 0 are added to.

    """
    number, width, depth = matrices.shape
    along = (Axis(x.shape[1], 1, 1, 1, 0, 0, x.shape[1]), last)
    out = HOST.empty((len(x), height, last.out, depth), x.dtype)
    is_together = rows_at_once(width, depth) < _FEWEST_ROWS
    factors = matrices.swapaxes(0, 1).reshape(1, width, -1) if is_together else matrices

    def fill(images: Sequence[int]) -> None:
        tiles = _tiles(images, along, x.shape[-1], _SHORT_TILE if is_together else _TILE)
        strips = _Strips(x, along, tiles, with_rows_inside=False)
        share = HOST.empty((*strips.windows.shape[:3], factors.shape[-1]), x.dtype)
        out[images[0] : images[-1] + 1] = 0
        for block, rows in tiles:
            strips.load((block, rows))
            count, taken = block.stop - block.start, rows.stop - rows.start
            windows = strips.windows[:count, :taken].reshape(-1, width)
            products = share[:count, :taken]
            for offset in range(number):
                if offset < len(factors):
                    multiply(windows, factors[offset], products.reshape(len(windows), -1))
                begin = rows.start + shifts[offset]
                low, high = max(begin, 0), min(begin + taken, height)
                if low < high:
                    part = products[:, low - begin : high - begin]
                    part = part[..., offset * depth : (offset + 1) * depth] if is_together else part
                    target = out[block, low:high]
                    HOST.add(target, part, out=target)

    shared_out(fill, grouped(range(len(x))), out.size * width * number)
    return out
