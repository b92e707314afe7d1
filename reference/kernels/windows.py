"""Windows of convolutions and poolings: their geometry, and their layout as matrices.

A kernel never loops over positions, but over the elements of the window, which are few, or over
blocks of images whose windows become the rows of a matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.spec.rules.windows import Axis, axes

__all__ = [
    "Portion",
    "blocks",
    "geometry",
    "offsets",
    "padded",
    "portions",
    "row_matrices",
    "rows",
    "spread",
    "spread_in_planes",
    "window_slices",
    "windows_size",
]

#: The elements of a matrix of windows computed at a time: on a CPU they stay in the cache, on
#: a GPU they are a gigabyte of floats.
_BLOCK = 1 << 19
_GPU_BLOCK = 1 << 28


#: An index tuple of slices.
Slices = tuple[slice, ...]
#: A portion of windows, see `portions`.
Portion = tuple[Slices, Array, tuple[Axis, ...]]


def geometry(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int] = (),
) -> tuple[Axis, ...]:
    """The window along each spatial dimension of a tensor with channels last.

    Args:
      sizes: the sizes of the spatial dimensions.
      windows: the sizes of the window.
      strides: the attribute, with batch and channels.
      dilations: the attribute, with batch and channels.
      padding: the attribute.
      explicit: the attribute `explicit_paddings`.

    Raises:
      KernelError: the output size would be negative, or an explicit padding is.

    """
    if min(explicit, default=0) < 0:
        raise InvalidArgument("All elements of explicit_paddings must be nonnegative")
    pads = list(zip(explicit[2:-2:2], explicit[3:-2:2], strict=True))
    along = axes(sizes, windows, strides[1:-1], dilations[1:-1], str(padding), pads)
    for axis in along:
        if axis.out < 0:
            raise InvalidArgument(
                f"Computed output size would be negative: {axis.out} "
                f"[input_size: {axis.size}, effective_filter_size: {axis.window}, "
                f"stride: {axis.stride}]"
            )
    return along


def padded(xp: ArrayModule, x: Array, along: Sequence[Axis], value: int = 0) -> Array:
    """The padded tensor; elements that no window reaches may be cut off."""
    if not any(axis.before > 0 or axis.after > 0 for axis in along):
        return x
    pads = [(0, 0), *((axis.before, max(axis.after, 0)) for axis in along), (0, 0)]
    shape = [size + sum(pad) for size, pad in zip(x.shape, pads, strict=True)]
    out = xp.full(shape, value, dtype=x.dtype)
    out[tuple(slice(pad[0], pad[0] + size) for size, pad in zip(x.shape, pads, strict=True))] = x
    return out


def _window_view(xp: ArrayModule, x: Array, along: Sequence[Axis]) -> Array:
    """A view of all windows of a padded tensor: [batch, *positions, *window, channels]."""
    inner = x.strides[1:-1]
    steps = [stride * axis.stride for stride, axis in zip(inner, along, strict=True)]
    apart = [stride * axis.dilation for stride, axis in zip(inner, along, strict=True)]
    shape = (len(x), *(axis.out for axis in along), *(axis.window for axis in along), x.shape[-1])
    strides = (x.strides[0], *steps, *apart, x.strides[-1])
    view: Array = xp.lib.stride_tricks.as_strided(x, shape, strides)
    return view


def offsets(along: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """The indices of the elements of the window, in C order."""
    index = [0] * len(along)
    for _ in range(_product(axis.window for axis in along)):
        yield tuple(index)
        for dim in reversed(range(len(along))):
            index[dim] += 1
            if index[dim] < along[dim].window:
                break
            index[dim] = 0


def _product(sizes: Iterable[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def rows(xp: ArrayModule, x: Array, along: Sequence[Axis]) -> Array:
    """The windows of a padded tensor as a matrix [batch * positions, window * channels]."""
    width = _product(axis.window for axis in along) * x.shape[-1]
    height = x.shape[0] * _product(axis.out for axis in along)
    if _are_pixels(x, along):
        return x.reshape(height, width)
    return xp.ascontiguousarray(_window_view(xp, x, along)).reshape(height, width)


def _are_pixels(x: Array, along: Sequence[Axis]) -> bool:
    """Whether the windows of a padded tensor are its pixels, and all of them."""
    return all(
        axis.window == 1 and axis.out == size
        for axis, size in zip(along, x.shape[1:-1], strict=True)
    )


def window_slices(along: Sequence[Axis], offset: Sequence[int]) -> tuple[Slices, Slices]:
    """The windows whose element at an offset is not padding, and these elements.

    Returns:
      Index tuples, with batch and channels: of the windows' positions, and of the elements.

    """
    pairs = [axis.within(element) for axis, element in zip(along, offset, strict=True)]
    return (
        (slice(None), *(here for here, _ in pairs), slice(None)),
        (slice(None), *(there for _, there in pairs), slice(None)),
    )


def blocks(xp: ArrayModule, batch: int, size: int) -> Iterator[slice]:
    """Slices of a batch whose images take `size` elements each."""
    step = max((_BLOCK if xp is HOST else _GPU_BLOCK) // max(size, 1), 1)
    for start in range(0, batch, step):
        yield slice(start, min(start + step, batch))


def portions(xp: ArrayModule, x: Array, along: Sequence[Axis]) -> Iterator[Portion]:
    """The windows of a padded tensor in portions whose rows stay in the cache.

    A matrix of several megabytes for an image is memory that the system must allocate and clear
    every time, which takes longer than the product.

    Args:
      xp: the array module.
      x: [batch, spatial dimensions, channels], padded.
      along: the window along each spatial dimension.

    Yields:
      The slices of images and positions; the part of the tensor that their windows cover; the
      window along each dimension of that part.

    """
    first, *others = along
    size = windows_size(along, x.shape[-1])
    if size <= _BLOCK or xp is not HOST:
        for block in blocks(xp, len(x), size):
            yield (block,), x[block], tuple(along)
        return
    step = max(first.out * _BLOCK // size, 1)
    for image in range(len(x)):
        for start in range(0, first.out, step):
            count = min(step, first.out - start)
            begin = start * first.stride
            end = begin + (count - 1) * first.stride + (first.window - 1) * first.dilation + 1
            yield (
                (slice(image, image + 1), slice(start, start + count)),
                x[image : image + 1, begin:end],
                (dataclasses.replace(first, out=count), *others),
            )


def row_matrices(xp: ArrayModule, parts: Sequence[Portion]) -> Iterator[tuple[Slices, Array]]:
    """The slices of portions, and their windows as matrices, see `rows`.

    In host memory the next matrix takes the memory of the last one: new memory would be cleared by
    the system, which in threads takes longer than a product.
    """
    if xp is not HOST or not parts:
        yield from ((here, rows(xp, x, along)) for here, x, along in parts)
        return
    sizes = (len(x) * windows_size(along, x.shape[-1]) for _, x, along in parts)
    memory = HOST.empty(max(sizes), parts[0][1].dtype)
    for here, x, along in parts:
        if _are_pixels(x, along):
            yield here, rows(HOST, x, along)
        else:
            yield here, _copied(_window_view(HOST, x, along), memory)


def _copied(windows: Array, memory: Array) -> Array:
    """Windows of shape [batch, *positions, *window, channels] as a matrix in some memory.

    A row of a window of images with one channel is short: they are copied by columns of the matrix.
    """
    lead = windows.ndim // 2
    positions, window = windows.shape[:lead], windows.shape[lead:]
    height, width = _product(positions), _product(window)
    if window[-1] > 1:
        matrix = memory[: height * width].reshape(height, width)
        HOST.copyto(matrix.reshape(windows.shape), windows)
        return matrix
    columns = memory[: height * width].reshape(width, height)
    by_position = columns.reshape(*window, *positions)
    HOST.copyto(by_position, windows.transpose(*range(lead, 2 * lead), *range(lead)))
    return columns.T


def windows_size(along: Sequence[Axis], channels: int) -> int:
    """The number of elements of all windows of an image."""
    return _product(axis.out * axis.window for axis in along) * channels


def spread(xp: ArrayModule, parts: Array, along: Sequence[Axis], channels: int) -> Array:
    """The sum of overlapping windows, the transpose of `rows`.

    Args:
      xp: the array module.
      parts: [batch, *positions, *window, channels].
      along: the window along each spatial dimension.
      channels: the number of channels.

    """
    sizes = [axis.size for axis in along]
    out = xp.zeros((parts.shape[0], *sizes, channels), parts.dtype)
    for offset in offsets(along):
        pairs = [axis.within(element) for axis, element in zip(along, offset, strict=True)]
        there = (slice(None), *(there for _, there in pairs), slice(None))
        here = (slice(None), *(here for here, _ in pairs), *offset, slice(None))
        out[there] += parts[here]
    return out


def spread_in_planes(xp: ArrayModule, parts: Array, along: Sequence[Axis]) -> Array:
    """As `spread`, for planes of channels, which is faster for few channels.

    Args:
      xp: the array module.
      parts: [*window, channels, batch, *positions].
      along: the window along each spatial dimension.

    Returns:
      [batch, sizes, channels], a view.

    """
    spatial = len(along)
    leading = parts.shape[spatial : spatial + 2]
    out = xp.zeros((*leading, *(axis.size for axis in along)), parts.dtype)
    for offset in offsets(along):
        pairs = [axis.within(element) for axis, element in zip(along, offset, strict=True)]
        there = (slice(None), slice(None), *(there for _, there in pairs))
        here = (*offset, slice(None), slice(None), *(here for here, _ in pairs))
        out[there] += parts[here]
    return out.transpose((*range(1, spatial + 2), 0))
