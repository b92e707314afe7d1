"""Kernels that move spatial blocks into the batch or the channels, and back; data formats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import ints
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel


def _pairs(pads: Array, count: int, what: str) -> list[tuple[int, int]]:
    """The rows of a matrix of pairs.

    Raises:
      KernelError: the matrix has another shape, or a negative element.

    """
    if pads.shape != (count, 2):
        raise InvalidArgument(f"{what} should have shape [{count}, 2] instead of {pads.shape}")
    flat = ints(pads)
    if flat and min(flat) < 0:
        raise InvalidArgument(f"{what} must be non-negative")
    return list(zip(flat[::2], flat[1::2], strict=True))


def _check_blocks(x: Array, blocks: Sequence[int]) -> None:
    if x.ndim < 1 + len(blocks):
        raise InvalidArgument(f"input rank should be >= {1 + len(blocks)} instead of {x.ndim}")
    if any(block < 1 for block in blocks):
        raise InvalidArgument(f"All values in block_shape must be positive, got {list(blocks)}")


def _to_batch(xp: ArrayModule, x: Array, blocks: Sequence[int], pads: Array) -> Array:
    """Images padded and divided into blocks; elements at the same offset form a new image."""
    _check_blocks(x, blocks)
    count = len(blocks)
    around = _pairs(pads, count, "paddings")
    sizes = [size + sum(pair) for size, pair in zip(x.shape[1:], around, strict=False)]
    for index, (size, block) in enumerate(zip(sizes, blocks, strict=True)):
        if size % block:
            raise InvalidArgument(
                f"padded_shape[{index}]={size} is not divisible by block_shape[{index}]={block}"
            )
    rest = x.shape[1 + count :]
    if any(any(pair) for pair in around):
        padded = xp.zeros((x.shape[0], *sizes, *rest), x.dtype)
        inside = (
            slice(before, before + size)
            for (before, _), size in zip(around, x.shape[1:], strict=False)
        )
        padded[(slice(None), *inside)] = x
        x = padded
    cut = [
        part for size, block in zip(sizes, blocks, strict=True) for part in (size // block, block)
    ]
    apart = x.reshape(x.shape[0], *cut, *rest)
    axes = range(1, 1 + 2 * count)
    order = (*axes[1::2], 0, *axes[::2], *range(1 + 2 * count, apart.ndim))
    small = [size // block for size, block in zip(sizes, blocks, strict=True)]
    return apart.transpose(order).reshape(x.shape[0] * math.prod(blocks), *small, *rest)


def _to_space(x: Array, blocks: Sequence[int], crops: Array) -> Array:
    """The inverse of `_to_batch`, with crops in the place of paddings."""
    _check_blocks(x, blocks)
    count, total = len(blocks), math.prod(blocks)
    off = _pairs(crops, count, "crops")
    if x.shape[0] % total:
        raise InvalidArgument(
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of "
            f"block sizes ({total})"
        )
    batch, rest = x.shape[0] // total, x.shape[1 + count :]
    sizes = [size * block for size, block in zip(x.shape[1:], blocks, strict=False)]
    for index, (size, pair) in enumerate(zip(sizes, off, strict=True)):
        if size < sum(pair):
            raise InvalidArgument(f"cropped_shape[{index}]={size - sum(pair)} must be non-negative")
    apart = x.reshape(*blocks, batch, *x.shape[1:])
    order = [count]
    for index in range(count):
        order += [count + 1 + index, index]
    order += range(2 * count + 1, apart.ndim)
    uncropped = apart.transpose(tuple(order)).reshape(batch, *sizes, *rest)
    inside = (slice(before, size - after) for (before, after), size in zip(off, sizes, strict=True))
    return uncropped[(slice(None), *inside)]


def _vector(blocks: Array) -> list[int]:
    require_rank(1, block_shape=blocks)
    return ints(blocks)


@kernel("SpaceToBatch", host_inputs=("paddings",))
def space_to_batch(xp: ArrayModule, x: Array, pads: Array, *, block_size: int) -> Array:
    """Images padded and divided into square blocks, whose elements go to separate images."""
    require_rank(4, x=x)
    return _to_batch(xp, x, (block_size, block_size), pads)


@kernel("SpaceToBatchND", host_inputs=("block_shape", "paddings"))
def space_to_batch_nd(xp: ArrayModule, x: Array, blocks: Array, pads: Array) -> Array:
    """As SpaceToBatch, with blocks of any shape."""
    return _to_batch(xp, x, _vector(blocks), pads)


@kernel("BatchToSpace", host_inputs=("crops",))
def batch_to_space(_: ArrayModule, x: Array, crops: Array, *, block_size: int) -> Array:
    """The inverse of SpaceToBatch."""
    require_rank(4, x=x)
    return _to_space(x, (block_size, block_size), crops)


@kernel("BatchToSpaceND", host_inputs=("block_shape", "crops"))
def batch_to_space_nd(_: ArrayModule, x: Array, blocks: Array, crops: Array) -> Array:
    """The inverse of SpaceToBatchND."""
    return _to_space(x, _vector(blocks), crops)


def _images(x: Array, data_format: str) -> None:
    require_rank(4, x=x)
    if data_format != "NHWC":
        raise InvalidArgument(f"Only NHWC data_format supported on CPU. Got {data_format}")


@kernel("SpaceToDepth")
def space_to_depth(_: ArrayModule, x: Array, *, block_size: int, data_format: str) -> Array:
    """Square blocks of images moved into the channels."""
    _images(x, data_format)
    batch, height, width, depth = x.shape
    if height % block_size or width % block_size:
        raise InvalidArgument(
            f"Image width {width} and height {height} should be divisible by "
            f"block_size: {block_size}"
        )
    rows, columns = height // block_size, width // block_size
    apart = x.reshape(batch, rows, block_size, columns, block_size, depth)
    moved = apart.transpose((0, 1, 3, 2, 4, 5))
    return moved.reshape(batch, rows, columns, depth * block_size * block_size)


@kernel("DepthToSpace")
def depth_to_space(_: ArrayModule, x: Array, *, block_size: int, data_format: str) -> Array:
    """The inverse of SpaceToDepth."""
    _images(x, data_format)
    batch, rows, columns, depth = x.shape
    if depth % (block_size * block_size):
        raise InvalidArgument(
            f"Input depth dimension {depth} should be divisible by: {block_size * block_size}"
        )
    left = depth // (block_size * block_size)
    apart = x.reshape(batch, rows, columns, block_size, block_size, left)
    moved = apart.transpose((0, 1, 3, 2, 4, 5))
    return moved.reshape(batch, rows * block_size, columns * block_size, left)


def _formats(bind: Bind) -> tuple[str, str]:
    """The source and the destination format.

    Raises:
      KernelError: the formats do not have the same four or five letters.

    """
    source, target = bind.attrs["src_format"], bind.attrs["dst_format"]
    for text in (source, target):
        if len(text) not in {4, 5}:
            raise InvalidArgument(f"Format must be of length 4 or 5, received {text}")
    if sorted(source) != sorted(target):
        raise InvalidArgument(
            f"Destination and source format must determine a permutation, got {source} and {target}"
        )
    return source, target


@binder("DataFormatDimMap")
def format_dims(bind: Bind) -> KernelFunction:
    """The axes of one format converted to those of another."""
    source, target = _formats(bind)
    xp, count = bind.xp, len(source)
    table = xp.asarray([target.index(letter) for letter in source])

    def compute(x: Array) -> Array:
        return table[x % count].astype(x.dtype)

    return compute


@binder("DataFormatVecPermute")
def format_vector(bind: Bind) -> KernelFunction:
    """A vector, or pairs, with an element per axis of a format, reordered for another format."""
    source, target = _formats(bind)

    def compute(x: Array) -> Array:
        letters = [source, target]
        if x.ndim not in {1, 2}:
            raise InvalidArgument(f"input must be a vector or 2D tensor, but got shape {x.shape}")
        if x.shape[0] == len(source) - 2:
            letters = ["".join(c for c in text if c not in "NC") for text in letters]
        elif x.shape[0] != len(source):
            raise InvalidArgument(
                f"input must be of size {len(source) - 2} or {len(source)}, but got shape {x.shape}"
            )
        if x.ndim == 2 and x.shape[1] != 2:
            raise InvalidArgument(f"Second dimension of 2D input must be of size 2: {x.shape}")
        return x[bind.xp.asarray([letters[0].index(letter) for letter in letters[1]])]

    return compute
