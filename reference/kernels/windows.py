"""Windows of kernels: the geometry of an operation's attributes, and how windows are laid out.

A kernel never loops over places: it goes over the elements of the window, which are few, or over
blocks of images whose windows are laid out as rows of a matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.spec.rules.windows import Axis, axes

__all__ = [
    "blocks",
    "folded",
    "geometry",
    "offsets",
    "padded",
    "places",
    "portions",
    "rows",
    "spread",
    "spread_in_planes",
]

#: How many elements of a matrix of windows are made at a time: on a CPU they stay in the cache, on
#: a GPU they are a gigabyte of floats.
_BLOCK = 1 << 19
_GPU_BLOCK = 1 << 28


def geometry(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int] = (),
) -> tuple[Axis, ...]:
    """The window along each spatial dimension of a tensor whose channels are last.

    Args:
      sizes: the spatial dimensions' sizes.
      windows: the window's.
      strides: the attribute, with batch and channels.
      dilations: the attribute, with batch and channels.
      padding: the attribute.
      explicit: the attribute `explicit_paddings`.

    Raises:
      KernelError: the window is larger than what there is by more than a stride, or less than
        nothing is to be added.

    """
    if min(explicit, default=0) < 0:
        raise InvalidArgument("All elements of explicit_paddings must be nonnegative")
    pads = list(zip(explicit[2:-2:2], explicit[3:-2:2], strict=True))
    found = axes(sizes, windows, strides[1:-1], dilations[1:-1], str(padding), pads)
    for axis in found:
        if axis.out < 0:
            raise InvalidArgument(
                f"Computed output size would be negative: {axis.out} "
                f"[input_size: {axis.size}, effective_filter_size: {axis.window}, "
                f"stride: {axis.stride}]"
            )
    return found


def padded(xp: Any, x: Any, along: Sequence[Axis], value: Any = 0) -> Any:
    """The tensor with what is added around; what no window reaches may be cut off."""
    if not any(axis.before > 0 or axis.after > 0 for axis in along):
        return x
    pads = [(0, 0), *((axis.before, max(axis.after, 0)) for axis in along), (0, 0)]
    shape = [size + sum(pad) for size, pad in zip(x.shape, pads, strict=True)]
    out = xp.full(shape, value, dtype=x.dtype)
    out[tuple(slice(pad[0], pad[0] + size) for size, pad in zip(x.shape, pads, strict=True))] = x
    return out


def _window_view(xp: Any, x: Any, along: Sequence[Axis]) -> Any:
    """All windows of a padded tensor, none copied: [batch, places, window, channels]."""
    inner = x.strides[1:-1]
    steps = [stride * axis.stride for stride, axis in zip(inner, along, strict=True)]
    apart = [stride * axis.dilation for stride, axis in zip(inner, along, strict=True)]
    shape = (len(x), *(axis.out for axis in along), *(axis.window for axis in along), x.shape[-1])
    strides = (x.strides[0], *steps, *apart, x.strides[-1])
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


def offsets(along: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """The index of each element of the window, in C order."""
    index = [0] * len(along)
    for _ in range(_product(axis.window for axis in along)):
        yield tuple(index)
        for place in reversed(range(len(along))):
            index[place] += 1
            if index[place] < along[place].window:
                break
            index[place] = 0


def _product(sizes: Any) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def rows(xp: Any, x: Any, along: Sequence[Axis]) -> Any:
    """The windows of a padded tensor as rows of a matrix: [batch * places, window * channels]."""
    places = [axis.out for axis in along]
    width = _product(axis.window for axis in along) * x.shape[-1]
    height = x.shape[0] * _product(places)
    if width == x.shape[-1] and tuple(places) == x.shape[1:-1]:
        return x.reshape(height, width)
    return xp.ascontiguousarray(_window_view(xp, x, along)).reshape(height, width)


def places(along: Sequence[Axis], offset: Sequence[int]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Where an element of the window is not padding.

    Returns:
      Two keys of tensors with batch and channels around: the places, and these elements.

    """
    pairs = [axis.within(place) for axis, place in zip(along, offset, strict=True)]
    return (
        (slice(None), *(here for here, _ in pairs), slice(None)),
        (slice(None), *(there for _, there in pairs), slice(None)),
    )


def blocks(xp: Any, batch: int, size: int) -> Iterator[slice]:
    """The images of a batch in blocks; each image takes `size` elements."""
    step = max((_BLOCK if xp is HOST else _GPU_BLOCK) // max(size, 1), 1)
    for start in range(0, batch, step):
        yield slice(start, min(start + step, batch))


def portions(
    xp: Any, x: Any, along: Sequence[Axis]
) -> Iterator[tuple[tuple[slice, ...], Any, tuple[Axis, ...]]]:
    """The windows of a padded tensor in portions whose rows stay in the cache.

    A matrix of some megabytes for a whole image is memory that the system must give, and clear,
    anew each time: that takes longer than the product.

    Args:
      xp: the array module.
      x: [batch, spatial dimensions, channels], padded.
      along: the window along each spatial dimension.

    Yields:
      Which images and which places along the first dimension; what of the tensor their windows
      cover; the window along each dimension of that.

    """
    first, *others = along
    size = _product(axis.out * axis.window for axis in along) * x.shape[-1]
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


def spread(xp: Any, parts: Any, along: Sequence[Axis], channels: int) -> Any:
    """The sum of windows laid over one another, the inverse way of `rows`.

    Args:
      xp: the array module.
      parts: [batch, places, window, channels].
      along: the window along each spatial dimension.
      channels: how many there are.

    """
    sizes = [axis.size for axis in along]
    out = xp.zeros((parts.shape[0], *sizes, channels), parts.dtype)
    for offset in offsets(along):
        pairs = [axis.within(place) for axis, place in zip(along, offset, strict=True)]
        there = (slice(None), *(there for _, there in pairs), slice(None))
        here = (slice(None), *(here for here, _ in pairs), *offset, slice(None))
        out[there] += parts[here]
    return out


def spread_in_planes(xp: Any, parts: Any, along: Sequence[Axis]) -> Any:
    """As `spread`, of channels one after the other, which is faster where there are few.

    Args:
      xp: the array module.
      parts: [window, channels, batch, places].
      along: the window along each spatial dimension.

    Returns:
      [batch, sizes, channels], a view.

    """
    spatial = len(along)
    whole = parts.shape[spatial : spatial + 2]
    out = xp.zeros((*whole, *(axis.size for axis in along)), parts.dtype)
    for offset in offsets(along):
        pairs = [axis.within(place) for axis, place in zip(along, offset, strict=True)]
        there = (slice(None), slice(None), *(there for _, there in pairs))
        here = (*offset, slice(None), slice(None), *(here for here, _ in pairs))
        out[there] += parts[here]
    return out.transpose((*range(1, spatial + 2), 0))


def folded(function: Callable[..., Any], xp: Any, x: Any, along: Sequence[Axis], start: Any) -> Any:
    """The fold of each window by a function of two arrays, one dimension after the other.

    Args:
      function: `maximum`, `add` or the like, with an `out` argument.
      xp: the array module.
      x: [batch, spatial dimensions, channels].
      along: the window along each spatial dimension.
      start: the fold of nothing.

    """
    for place, axis in enumerate(along, 1):
        x = _folded_along(function, xp, x, place, axis, start)
    return x


def _folded_along(
    function: Callable[..., Any], xp: Any, x: Any, place: int, axis: Axis, start: Any
) -> Any:
    if axis.window == 1 and axis.out == axis.size:
        return x
    pairs = [axis.within(offset) for offset in range(axis.window)]
    whole = next((pair for pair in pairs if pair[0] == slice(0, axis.out)), None)
    lead = (slice(None),) * place
    if whole is None:
        out = xp.full((*x.shape[:place], axis.out, *x.shape[place + 1 :]), start, x.dtype)
    else:
        out = x[(*lead, whole[1])].copy()
    for pair in pairs:
        if pair is not whole:
            target = out[(*lead, pair[0])]
            out[(*lead, pair[0])] = function(target, x[(*lead, pair[1])])
    return out
