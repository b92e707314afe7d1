"""Definitions of poolings and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide
from sessrun.spec.definitions.windows import Window, channels_first, channels_last

__all__ = ["blocks_of"]

Ints = Sequence[int]
Position = tuple[int, ...]
_ALL: Array = slice(None)


def _window(
    images: Array, ksize: Ints, strides: Ints, padding: str, pads: Ints, data_format: str
) -> Window:
    """The window of a pooling over images with channels last."""
    rank = images.ndim - 2
    inner = slice(2, 2 + rank) if data_format.startswith("NC") else slice(1, 1 + rank)
    return Window.of(
        images.shape[1:-1], ksize[inner], strides, padding, pads=pads, data_format=data_format
    )


def blocks_of(window: Window) -> dict[Position, list[Position]]:
    """For each place of the window the image's elements that it meets, row by row."""
    blocks: dict[Position, list[Position]] = {position: [] for position in np.ndindex(*window.out)}
    for position, _, at in window.met():
        blocks[position].append(at)
    return blocks


def _largest(images: Array, window: Window) -> tuple[Array, dict[Position, Position]]:
    """The largest number of each block, and where the first such is."""
    result = np.empty((len(images), *window.out, images.shape[-1]), images.dtype)
    where: dict[Position, Position] = {}
    for position, block in blocks_of(window).items():
        for batch, channel in np.ndindex(len(images), images.shape[-1]):
            numbers = wide(np.array([images[(batch, *at, channel)] for at in block]))
            first = block[int(np.argmax(numbers))]
            result[(batch, *position, channel)] = images[(batch, *first, channel)]
            where[(batch, *position, channel)] = (batch, *first, channel)
    return result, where


def _max_pooled(
    x: Array, ksize: Ints, strides: Ints, padding: str, pads: Ints, data_format: str
) -> Array:
    images = channels_last(x, data_format)
    window = _window(images, ksize, strides, padding, pads, data_format)
    return channels_first(_largest(images, window)[0], data_format)


@definition("MaxPool")
def _max_pool(
    x: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
) -> Array:
    """The largest number of each block; what is padding does not count."""
    return _max_pooled(x, ksize, strides, padding, explicit_paddings, data_format)


@definition("MaxPoolV2")
def _max_pool_v2(
    x: Array, ksize: Array, strides: Array, *, padding: str, data_format: str
) -> Array:
    return _max_pooled(x, ksize.tolist(), strides.tolist(), padding, (), data_format)


@definition("MaxPool3D")
def _max_pool_3d(x: Array, *, ksize: Ints, strides: Ints, padding: str, data_format: str) -> Array:
    return _max_pooled(x, ksize, strides, padding, (), data_format)


def _max_back(
    x: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    pads: Ints,
    data_format: str,
) -> Array:
    """The gradient of each block to the first of its largest numbers, added up."""
    images, above = channels_last(x, data_format), wide(channels_last(grad, data_format))
    window = _window(images, ksize, strides, padding, pads, data_format)
    total = np.zeros(images.shape, above.dtype)
    for position, at in _largest(images, window)[1].items():
        total[at] += above[position]
    return channels_first(total, data_format)


@definition("MaxPoolGrad")
def _max_pool_grad(
    x: Array,
    _y: Array,
    grad: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints,
    data_format: str,
) -> Array:
    return _max_back(x, grad, ksize, strides, padding, explicit_paddings, data_format)


@definition("MaxPoolGradV2")
def _max_pool_grad_v2(
    x: Array,
    _y: Array,
    grad: Array,
    ksize: Array,
    strides: Array,
    *,
    padding: str,
    data_format: str,
) -> Array:
    return _max_back(x, grad, ksize.tolist(), strides.tolist(), padding, (), data_format)


@definition("MaxPool3DGrad")
def _max_pool_3d_grad(
    x: Array,
    y: Array,
    grad: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str,
) -> Array:
    """Of volumes, the gradient of each block to every number that is the largest."""
    images, largest = channels_last(x, data_format), channels_last(y, data_format)
    above = wide(channels_last(grad, data_format))
    total = np.zeros(images.shape, above.dtype)
    for position, _, at in _window(images, ksize, strides, padding, (), data_format).met():
        is_largest = images[(_ALL, *at)] == largest[(_ALL, *position)]
        total[(_ALL, *at)] += np.where(is_largest, above[(_ALL, *position)], 0)
    return channels_first(total, data_format)


def _max_again(
    x: Array, grad: Array, ksize: Ints, strides: Ints, padding: str, data_format: str
) -> Array:
    """For each block the gradient at the first of its largest numbers."""
    images, above = channels_last(x, data_format), channels_last(grad, data_format)
    window = _window(images, ksize, strides, padding, (), data_format)
    largest, where = _largest(images, window)
    result = np.empty(largest.shape, grad.dtype)
    for position, at in where.items():
        result[position] = above[at]
    return channels_first(result, data_format)


@definition("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad(
    x: Array,
    _y: Array,
    grad: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str,
) -> Array:
    return _max_again(x, grad, ksize, strides, padding, data_format)


@definition("MaxPoolGradGradV2")
def _max_pool_grad_grad_v2(
    x: Array,
    _y: Array,
    grad: Array,
    ksize: Array,
    strides: Array,
    *,
    padding: str,
    data_format: str,
) -> Array:
    return _max_again(x, grad, ksize.tolist(), strides.tolist(), padding, data_format)


@definition("MaxPoolWithArgmax")
def _max_pool_with_argmax(
    x: Array, *, ksize: Ints, strides: Ints, padding: str, include_batch_in_index: bool
) -> tuple[Array, Array]:
    """And the number of the element in the image, or in the batch, in row-major order."""
    window = _window(x, ksize, strides, padding, (), "NHWC")
    largest, where = _largest(x, window)
    numbers = np.empty(largest.shape, np.int64)
    for position, (batch, *at) in where.items():
        first = batch if include_batch_in_index else 0
        numbers[position] = np.ravel_multi_index((first, *at), x.shape)
    return largest, numbers


@definition("MaxPoolGradWithArgmax")
def _max_pool_grad_with_argmax(
    x: Array, grad: Array, argmax: Array, *, include_batch_in_index: bool
) -> Array:
    """Each gradient to the element of that number, added up."""
    total = np.zeros(x.shape, wide(grad).dtype).reshape(-1)
    image = x.size // len(x)
    for position in np.ndindex(grad.shape):
        first = 0 if include_batch_in_index else position[0] * image
        total[first + int(argmax[position])] += wide(grad)[position]
    return total.reshape(x.shape)


@definition("AvgPool", "AvgPool3D")
def _avg_pool(x: Array, *, ksize: Ints, strides: Ints, padding: str, data_format: str) -> Array:
    """The mean of each block, of as many numbers as are in the image."""
    images = channels_last(x, data_format)
    window = _window(images, ksize, strides, padding, (), data_format)
    result = np.empty((len(x), *window.out, images.shape[-1]))
    for position, block in blocks_of(window).items():
        result[(_ALL, *position)] = np.mean([wide(images)[(_ALL, *at)] for at in block], axis=0)
    return channels_first(result, data_format)


@definition("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_grad(
    sizes: Array,
    grad: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str,
) -> Array:
    """The gradient of each block in equal parts to its elements."""
    total = channels_last(np.zeros(tuple(map(int, sizes))), data_format)
    above = wide(channels_last(grad, data_format))
    window = _window(total, ksize, strides, padding, (), data_format)
    for position, block in blocks_of(window).items():
        for at in block:
            total[(_ALL, *at)] += above[(_ALL, *position)] / len(block)
    return channels_first(total, data_format)


def _spans(borders: Array, size: int, *, overlapping: bool) -> list[range]:
    """From each border to the next; to this one too where blocks overlap, within the image."""
    return [
        range(int(a), min(int(b) + (1 if overlapping else 0), size)) for a, b in pairwise(borders)
    ]


@definition("FractionalMaxPoolGrad")
def _fractional_max_pool_grad(
    x: Array,
    _y: Array,
    grad: Array,
    rows: Array,
    columns: Array,
    *,
    overlapping: bool,
) -> Array:
    """To the first largest number between each two borders, row by row."""
    total = np.zeros(x.shape, wide(grad).dtype)
    spans = (
        _spans(rows, x.shape[1], overlapping=overlapping),
        _spans(columns, x.shape[2], overlapping=overlapping),
    )
    for batch, row, column, channel in np.ndindex(grad.shape):
        block = [(batch, i, j, channel) for i in spans[0][row] for j in spans[1][column]]
        first = block[int(np.argmax([x[at] for at in block]))]
        total[first] += wide(grad)[batch, row, column, channel]
    return total


@definition("FractionalAvgPoolGrad")
def _fractional_avg_pool_grad(
    sizes: Array,
    grad: Array,
    rows: Array,
    columns: Array,
    *,
    overlapping: bool,
) -> Array:
    """In equal parts to the elements between each two borders."""
    total = np.zeros(tuple(map(int, sizes)))
    spans = (
        _spans(rows, total.shape[1], overlapping=overlapping),
        _spans(columns, total.shape[2], overlapping=overlapping),
    )
    for row, column in np.ndindex(grad.shape[1:3]):
        block = [(i, j) for i in spans[0][row] for j in spans[1][column]]
        for i, j in block:
            total[:, i, j] += grad[:, row, column].astype(np.float64) / len(block)
    return total
