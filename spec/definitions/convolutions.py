"""Definitions of convolutions and of what their gradients are, by sums over a window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, wide
from sessrun.spec.definitions.resizing import bilinear_weights, resized
from sessrun.spec.definitions.windows import Window, channels_first, channels_last

__all__ = ["convolved"]

Ints = Sequence[int]
_ALL: Array = slice(None)


def convolved(x: Array, filters: Array, window: Window) -> Array:
    """At each place the sum, over the window and its channels, of `image * filter`.

    Channels are last. Where images have more channels than filters, these are of groups: outputs
    in equal parts, each of its own part of the channels.
    """
    seen, out = filters.shape[-2:]
    groups = x.shape[-1] // seen
    images = wide(x).reshape(*x.shape[:-1], groups, seen)
    kernels = wide(filters).reshape(*filters.shape[:-1], groups, out // groups)
    total = np.zeros((len(x), *window.out, groups, out // groups), images.dtype)
    for position, element, at in window.met():
        terms = images[(_ALL, *at)][..., None] * np.swapaxes(kernels[element], 0, 1)
        total[(_ALL, *position)] += terms.sum(axis=-2, dtype=images.dtype)
    return total.reshape(len(x), *window.out, out)


@definition("Conv2D")
def _conv2d(
    x: Array,
    filters: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    images = channels_last(x, data_format)
    window = Window.of(
        images.shape[1:-1],
        filters.shape[:-2],
        strides,
        padding,
        rates=dilations,
        pads=explicit_paddings,
        data_format=data_format,
    )
    return channels_first(convolved(images, filters, window), data_format)


@definition("Conv3D")
def _conv3d(
    x: Array,
    filters: Array,
    *,
    strides: Ints,
    padding: str,
    data_format: str,
    dilations: Ints,
) -> Array:
    return _conv2d(
        x,
        filters,
        strides=strides,
        padding=padding,
        explicit_paddings=(),
        data_format=data_format,
        dilations=dilations,
    )


@definition("Conv")
def _conv(
    x: Array,
    filters: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
    batch_dims: int,
) -> Array:
    """Of batches of batches, which count as one."""
    inner = "NC" if data_format == "CHANNELS_FIRST" else "N"
    images = x.reshape(-1, *x.shape[batch_dims:])
    result = _conv2d(
        images,
        filters,
        strides=strides,
        padding=padding,
        data_format=inner,
        explicit_paddings=explicit_paddings,
        dilations=dilations,
    )
    return result.reshape(*x.shape[:batch_dims], *result.shape[1:])


def _by_input(sizes: Array, filters: Array, grad: Array, window: Window) -> Array:
    """What `grad` makes of the images of these sizes, filters and places as in `convolved`."""
    seen, out = filters.shape[-2:]
    groups = int(sizes[-1]) // seen
    above = wide(grad).reshape(*grad.shape[:-1], groups, out // groups)
    kernels = wide(filters).reshape(*filters.shape[:-1], groups, out // groups)
    total = np.zeros((*map(int, sizes[:-1]), groups, seen), above.dtype)
    for position, element, at in window.met():
        terms = above[(_ALL, *position)][:, :, None, :] * np.swapaxes(kernels[element], 0, 1)
        total[(_ALL, *at)] += terms.sum(axis=-1, dtype=above.dtype)
    return rounded(total.reshape(tuple(map(int, sizes))), grad.dtype)


def _by_filter(x: Array, sizes: Array, grad: Array, window: Window) -> Array:
    """What `grad` makes of filters of these sizes."""
    seen, out = int(sizes[-2]), int(sizes[-1])
    groups = x.shape[-1] // seen
    images = wide(x).reshape(*x.shape[:-1], groups, seen)
    above = wide(grad).reshape(*grad.shape[:-1], groups, out // groups)
    total = np.zeros((*map(int, sizes[:-2]), seen, groups, out // groups))
    for position, element, at in window.met():
        terms = images[(_ALL, *at)][..., None] * above[(_ALL, *position)][:, :, None, :]
        total[element] += np.swapaxes(terms.sum(axis=0), 0, 1)
    return rounded(total.reshape(tuple(map(int, sizes))), grad.dtype)


def _window(
    sizes: Ints,
    window: Ints,
    strides: Ints,
    padding: str,
    dilations: Ints,
    pads: Ints,
    data_format: str,
) -> Window:
    return Window.of(
        sizes, window, strides, padding, rates=dilations, pads=pads, data_format=data_format
    )


def _ordered(sizes: Array, data_format: str) -> Array:
    """The sizes of images with channels last."""
    first = data_format.startswith("NC")
    return np.array([sizes[0], *sizes[2:], sizes[1]]) if first else sizes


@definition("Conv2DBackpropInput")
def _conv2d_by_input(
    sizes: Array,
    filters: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    """Each image's element gets the sum of `filter * grad` wherever it was met."""
    shape = _ordered(sizes, data_format)
    window = _window(
        [int(n) for n in shape[1:-1]],
        filters.shape[:-2],
        strides,
        padding,
        dilations,
        explicit_paddings,
        data_format,
    )
    return channels_first(
        _by_input(shape, filters, channels_last(grad, data_format), window), data_format
    )


@definition("Conv3DBackpropInputV2")
def _conv3d_by_input(
    sizes: Array,
    filters: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    data_format: str,
    dilations: Ints,
) -> Array:
    return _conv2d_by_input(
        sizes,
        filters,
        grad,
        strides=strides,
        padding=padding,
        explicit_paddings=(),
        data_format=data_format,
        dilations=dilations,
    )


@definition("Conv2DBackpropFilter")
def _conv2d_by_filter(
    x: Array,
    sizes: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    """Each filter's element gets the sum of `image * grad` over the batch and all places."""
    images = channels_last(x, data_format)
    window = _window(
        images.shape[1:-1],
        [int(n) for n in sizes[:-2]],
        strides,
        padding,
        dilations,
        explicit_paddings,
        data_format,
    )
    return _by_filter(images, sizes, channels_last(grad, data_format), window)


@definition("Conv3DBackpropFilterV2")
def _conv3d_by_filter(
    x: Array,
    sizes: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    data_format: str,
    dilations: Ints,
) -> Array:
    return _conv2d_by_filter(
        x,
        sizes,
        grad,
        strides=strides,
        padding=padding,
        explicit_paddings=(),
        data_format=data_format,
        dilations=dilations,
    )


def _grouped(filters: Array) -> Array:
    """Filters for each channel as those of groups of one channel."""
    return filters.reshape(*filters.shape[:-2], 1, filters.shape[-2] * filters.shape[-1])


@definition("DepthwiseConv2dNative")
def _depthwise(
    x: Array,
    filters: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    """Each channel has filters of its own; their results stand side by side."""
    return _conv2d(
        x,
        _grouped(filters),
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )


@definition("DepthwiseConv2dNativeBackpropInput")
def _depthwise_by_input(
    sizes: Array,
    filters: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    return _conv2d_by_input(
        sizes,
        _grouped(filters),
        grad,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )


@definition("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_by_filter(
    x: Array,
    sizes: Array,
    grad: Array,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
    dilations: Ints,
) -> Array:
    grouped = np.array([*sizes[:-2], 1, sizes[-2] * sizes[-1]])
    result = _conv2d_by_filter(
        x,
        grouped,
        grad,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )
    return result.reshape(tuple(map(int, sizes)))


def _mirrored(x: Array, paddings: Array, mode: str) -> Array:
    """With mirror images around it, the edge shown once with REFLECT, else twice."""
    for axis, (before, after) in enumerate(paddings):
        edge, size = (1 if mode == "REFLECT" else 0), x.shape[axis]
        left = [edge + step for step in reversed(range(before))]
        right = [size - 1 - edge - step for step in range(after)]
        x = np.take(x, [*left, *range(size), *right], axis=axis)
    return x


@definition("FusedPadConv2D")
def _padded_conv2d(
    x: Array,
    paddings: Array,
    filters: Array,
    *,
    mode: str,
    strides: Ints,
    padding: str,
) -> Array:
    """`Conv2D` of the image with its mirror images."""
    around = _mirrored(x, paddings, mode)
    window = Window.of(around.shape[1:-1], filters.shape[:-2], strides, padding)
    return convolved(around, filters, window)


def _dilation(
    x: Array, filters: Array, window: Window
) -> tuple[Array, dict[tuple[int, ...], tuple[tuple[int, ...], tuple[int, ...]]]]:
    """The largest `image + filter` at each place, and for each of these where it is."""
    least = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    images, kernels = wide(x), wide(filters)
    best = np.full((len(x), *window.out, x.shape[-1]), least, images.dtype)
    where = {}
    for position, element, at in window.met():
        for batch, channel in np.ndindex(len(x), x.shape[-1]):
            mine = (batch, *position, channel)
            value = images[(batch, *at, channel)] + kernels[(*element, channel)]
            if mine not in where or value > best[mine]:
                best[mine], where[mine] = value, (at, element)
    return best, where


@definition("Dilation2D")
def _dilation2d(x: Array, filters: Array, *, strides: Ints, rates: Ints, padding: str) -> Array:
    window = Window.of(x.shape[1:-1], filters.shape[:-1], strides, padding, rates=rates)
    return _dilation(x, filters, window)[0]


@definition("Dilation2DBackpropInput")
def _dilation2d_by_input(
    x: Array,
    filters: Array,
    grad: Array,
    *,
    strides: Ints,
    rates: Ints,
    padding: str,
) -> Array:
    """The gradient of a place goes to the first element where the largest sum was."""
    window = Window.of(x.shape[1:-1], filters.shape[:-1], strides, padding, rates=rates)
    total = np.zeros(x.shape, wide(x).dtype)
    for (batch, *position, channel), (at, _) in _dilation(x, filters, window)[1].items():
        total[(batch, *at, channel)] += wide(grad)[(batch, *position, channel)]
    return total


@definition("Dilation2DBackpropFilter")
def _dilation2d_by_filter(
    x: Array,
    filters: Array,
    grad: Array,
    *,
    strides: Ints,
    rates: Ints,
    padding: str,
) -> Array:
    window = Window.of(x.shape[1:-1], filters.shape[:-1], strides, padding, rates=rates)
    total = np.zeros(filters.shape, wide(x).dtype)
    for (batch, *position, channel), (_, element) in _dilation(x, filters, window)[1].items():
        total[(*element, channel)] += wide(grad)[(batch, *position, channel)]
    return total


@definition("FusedResizeAndPadConv2D")
def _resized_conv2d(
    x: Array,
    size: Array,
    paddings: Array,
    filters: Array,
    *,
    resize_align_corners: bool,
    mode: str,
    strides: Ints,
    padding: str,
) -> Array:
    """`FusedPadConv2D` of the image in another size, between whose pixels is interpolated."""
    rows, columns = (
        bilinear_weights(old, int(new), resize_align_corners, half=False)
        for old, new in zip(x.shape[1:3], size, strict=True)
    )
    return _padded_conv2d(
        resized(x, rows, columns), paddings, filters, mode=mode, strides=strides, padding=padding
    )
