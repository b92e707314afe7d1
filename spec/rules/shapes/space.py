"""Shape rules of blocks of space that are moved into the batch or the channels, and back."""

from __future__ import annotations

import functools
import math

import numpy as np

from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    at_least,
    merge,
    ranked,
    rule,
    with_rank,
)
from sessrun.spec.rules.windows import channel_axis, spatial_axes

__all__: list[str] = []


def _pairs(pads: Known, count: int, what: str) -> np.ndarray | None:
    """The matrix of pairs, as far as it is known.

    Raises:
      ShapeError: it has another shape, or a negative element.

    """
    merge(pads.shape, (count, 2))
    if pads.value is not None and pads.value.size and pads.value.min() < 0:
        raise ShapeError(f"{what} cannot be negative")
    pairs: np.ndarray | None = pads.value
    return pairs


def _blocks(x: Shape, shape: Known) -> tuple[int, list[int] | None]:
    """How many dimensions blocks have, and their sizes if they are known.

    Raises:
      ShapeError: they are no vector of known length, or of more dimensions than images have.

    """
    if shape.shape is None or len(shape.shape) != 1:
        raise ShapeError("block_shape must have rank 1.")
    (count,) = shape.shape
    if count is None:
        raise ShapeError("block_shape must have known size.")
    at_least(x, count + 1)
    sizes = None if shape.value is None else [int(size) for size in shape.value]
    if sizes is not None and any(size < 1 for size in sizes):
        raise ShapeError("block_shape must be positive")
    return count, sizes


def _divided(size: Dim, by: int) -> Dim:
    if size is None:
        return None
    if size % by:
        raise ShapeError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return size // by


def _to_batch(x: Shape, count: int, blocks: list[int] | None, pads: Known) -> list[Shape]:
    around = _pairs(pads, count, "paddings")
    if x is None:
        return [None]
    batch: Dim = None
    if blocks is not None and x[0] is not None:
        batch = x[0] * math.prod(blocks)
        if batch >= 2**63:
            raise ShapeError(
                f"Negative dimension size caused by overflow when multiplying {x[0]} and {blocks}"
            )
    inner: list[Dim] = [None] * count
    if blocks is not None and around is not None:
        for index, (block, pair) in enumerate(zip(blocks, around.tolist(), strict=True)):
            size = x[1 + index]
            inner[index] = _divided(None if size is None else size + sum(pair), block)
    return [(batch, *inner, *x[1 + count :])]


def _to_space(x: Shape, count: int, blocks: list[int] | None, crops: Known) -> list[Shape]:
    off = _pairs(crops, count, "crops")
    if x is None:
        return [None]
    batch = None if blocks is None else functools.reduce(_divided, blocks, x[0])
    inner: list[Dim] = [None] * count
    if blocks is not None and off is not None:
        for index, (block, pair) in enumerate(zip(blocks, off.tolist(), strict=True)):
            size = x[1 + index]
            if size is None:
                continue
            inner[index] = left = size * block - sum(pair)
            if left < 0:
                raise ShapeError(
                    f"Negative dimension size caused by subtracting {sum(pair)} from {size * block}"
                )
    return [(batch, *inner, *x[1 + count :])]


@rule
def space_to_batch(x: Shape, pads: Known, block_size: int) -> list[Shape]:
    """A larger batch of smaller images."""
    return _to_batch(with_rank(x, 4), 2, [block_size] * 2, pads)


@rule
def space_to_batch_nd(x: Shape, block_shape: Known, pads: Known) -> list[Shape]:
    """The batch times a block's elements, each dimension over its block."""
    count, blocks = _blocks(x, block_shape)
    return _to_batch(x, count, blocks, pads)


@rule
def batch_to_space(x: Shape, crops: Known, block_size: int) -> list[Shape]:
    """A smaller batch of larger images."""
    return _to_space(with_rank(x, 4), 2, [block_size] * 2, crops)


@rule
def batch_to_space_nd(x: Shape, block_shape: Known, crops: Known) -> list[Shape]:
    """The batch over a block's elements, each dimension times its block, less the crops."""
    count, blocks = _blocks(x, block_shape)
    return _to_space(x, count, blocks, crops)


@rule
def space_to_depth(x: Shape, block_size: int, data_format: str) -> list[Shape]:
    """Rows and columns over the block's size, the channels times its square."""
    rank = 5 if data_format == "NCHW_VECT_C" else 4
    dims = with_rank(x, rank)
    result = [*dims]
    for axis in spatial_axes(data_format, 4):
        result[axis] = _divided(dims[axis], block_size)
    channels = channel_axis(data_format, 4)
    depth = dims[channels]
    result[channels] = None if depth is None else depth * block_size**2
    return [tuple(result)]


@rule
def depth_to_space(x: Shape, block_size: int, data_format: str) -> list[Shape]:
    """Rows and columns times the block's size, the channels over its square."""
    rank = 5 if data_format == "NCHW_VECT_C" else 4
    dims = with_rank(x, rank)
    result = [*dims]
    for axis in spatial_axes(data_format, 4):
        size = dims[axis]
        result[axis] = None if size is None else size * block_size
    channels = channel_axis(data_format, 4)
    result[channels] = _divided(dims[channels], block_size**2)
    return [tuple(result)]


@rule
def format_vector(x: Shape) -> list[Shape]:
    """A vector, or a matrix of pairs."""
    return [ranked(x, 1, 2)]
