"""Definitions of blocks of space as batches or channels, of patches, and of data formats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.spec.definitions.base import Array, definition
from sessrun.spec.definitions.windows import Window, channels_first, channels_last

__all__: list[str] = []

Ints = Sequence[int]
_ALL: Array = slice(None)


def _to_batch(x: Array, blocks: Ints, paddings: Array) -> Array:
    """Zeros around, then for each place in a block the elements there, one batch after another."""
    rank = len(blocks)
    pairs = [(0, 0), *((int(a), int(b)) for a, b in paddings), *[(0, 0)] * (x.ndim - 1 - rank)]
    sizes = [size + a + b for size, (a, b) in zip(x.shape, pairs, strict=True)]
    around = np.zeros(sizes, x.dtype)
    around[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, pairs, strict=True))] = x
    parts = [
        around[(slice(None), *(slice(i, None, n) for i, n in zip(at, blocks, strict=True)))]
        for at in np.ndindex(*blocks)
    ]
    return np.concatenate(parts)


def _from_batch(x: Array, blocks: Ints, crops: Array) -> Array:
    """What `_to_batch` would have made `x` of, with the crops taken off."""
    rank, count = len(blocks), len(x) // int(np.prod(blocks))
    sizes = [size * n for size, n in zip(x.shape[1:], blocks, strict=False)]
    result = np.empty((count, *sizes, *x.shape[1 + rank :]), x.dtype)
    for number, at in enumerate(np.ndindex(*blocks)):
        steps = (slice(i, None, n) for i, n in zip(at, blocks, strict=True))
        result[(slice(None), *steps)] = x[number * count : (number + 1) * count]
    inner = (slice(int(a), size - int(b)) for size, (a, b) in zip(sizes, crops, strict=True))
    return result[(slice(None), *inner)]


@definition("SpaceToBatch")
def _space_to_batch(x: Array, paddings: Array, *, block_size: int) -> Array:
    return _to_batch(x, (block_size, block_size), paddings)


@definition("SpaceToBatchND")
def _space_to_batch_nd(x: Array, blocks: Array, paddings: Array) -> Array:
    return _to_batch(x, blocks.tolist(), paddings)


@definition("BatchToSpace")
def _batch_to_space(x: Array, crops: Array, *, block_size: int) -> Array:
    return _from_batch(x, (block_size, block_size), crops)


@definition("BatchToSpaceND")
def _batch_to_space_nd(x: Array, blocks: Array, crops: Array) -> Array:
    return _from_batch(x, blocks.tolist(), crops)


@definition("SpaceToDepth")
def _space_to_depth(x: Array, *, block_size: int, data_format: str) -> Array:
    """The pixels of each block behind one another as channels, row by row."""
    images = channels_last(x, data_format)
    parts = [
        images[:, i::block_size, j::block_size]
        for i in range(block_size)
        for j in range(block_size)
    ]
    return channels_first(np.concatenate(parts, axis=-1), data_format)


@definition("DepthToSpace")
def _depth_to_space(x: Array, *, block_size: int, data_format: str) -> Array:
    images = channels_last(x, data_format)
    batch, rows, columns, depth = images.shape
    inner = depth // block_size**2
    result = np.empty((batch, rows * block_size, columns * block_size, inner), x.dtype)
    for number, (i, j) in enumerate(np.ndindex(block_size, block_size)):
        part = images[..., number * inner : (number + 1) * inner]
        result[:, i::block_size, j::block_size] = part
    return channels_first(result, data_format)


def _patches(x: Array, window: Window) -> Array:
    """At each place the elements of the window as channels, zeros where it is outside."""
    depth = x.shape[-1]
    result = np.zeros((len(x), *window.out, *window.window, depth), x.dtype)
    for position, element, at in window.met():
        result[(_ALL, *position, *element)] = x[(_ALL, *at)]
    return result.reshape(len(x), *window.out, int(np.prod(window.window)) * depth)


@definition("ExtractImagePatches")
def _image_patches(x: Array, *, ksizes: Ints, strides: Ints, rates: Ints, padding: str) -> Array:
    return _patches(x, Window.of(x.shape[1:-1], ksizes[1:-1], strides, padding, rates=rates))


@definition("ExtractVolumePatches")
def _volume_patches(x: Array, *, ksizes: Ints, strides: Ints, padding: str) -> Array:
    return _patches(x, Window.of(x.shape[1:-1], ksizes[1:-1], strides, padding))


@definition("DataFormatDimMap")
def _dim_map(x: Array, *, src_format: str, dst_format: str) -> Array:
    """The axis of the other format that has the same letter; a negative one counts from behind."""
    axes = [dst_format.index(letter) for letter in src_format]
    return np.array([axes[int(axis)] for axis in x.reshape(-1)], x.dtype).reshape(x.shape)


@definition("DataFormatVecPermute")
def _vec_permute(x: Array, *, src_format: str, dst_format: str) -> Array:
    """Rows in the order of the other format; of spatial axes where batch and channels lack."""
    kept = [
        f if len(x) == len(f) else f.replace("N", "").replace("C", "")
        for f in (src_format, dst_format)
    ]
    return x[[kept[0].index(letter) for letter in kept[1]]]
