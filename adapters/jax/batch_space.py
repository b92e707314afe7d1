"""Translations of blocks of pixels moved between the batch, depth and the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp

from sessrun.adapters.jax.rules import ALL, Array, Node, rule

__all__: list[str] = []


@rule("SpaceToBatchND", dtypes=ALL, constants="block_shape paddings")
def _space_to_batch_nd(node: Node, x: Array, block_shape: Array, paddings: Array) -> Array:
    return _space_to_batch(node, x, block_shape.tolist(), paddings)


@rule("SpaceToBatch", dtypes=ALL, constants="paddings")
def _space_to_batch_2d(node: Node, x: Array, paddings: Array) -> Array:
    return _space_to_batch(node, x, [node["block_size"]] * 2, paddings)


def _space_to_batch(node: Node, x: Array, block: Sequence[int], paddings: Array) -> Array:
    """Each block's pixels in as many batches, in the order of the block."""
    count = len(block)
    node.check(x.ndim > count and paddings.shape == (count, 2), "the paddings do not fit")
    node.check(min(block, default=1) > 0, f"no blocks: {list(block)}")
    widths = [(0, 0), *paddings.tolist(), *[(0, 0)] * (x.ndim - count - 1)]
    padded = jnp.pad(x, widths)
    batch, rest = padded.shape[0], padded.shape[count + 1 :]
    split = [batch]
    for size, of in zip(padded.shape[1:], block, strict=False):
        node.check(size % of == 0, f"{size} pixels are no multiple of {of}")
        split += [size // of, of]
    axes = [
        *range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2),
        *range(2 * count + 1, 2 * count + 1 + len(rest)),
    ]  # fmt: skip
    moved = jnp.transpose(padded.reshape((*split, *rest)), axes)
    return moved.reshape((batch * math.prod(block), *split[1::2], *rest))


@rule("BatchToSpaceND", dtypes=ALL, constants="block_shape crops")
def _batch_to_space_nd(node: Node, x: Array, block_shape: Array, crops: Array) -> Array:
    return _batch_to_space(node, x, block_shape.tolist(), crops)


@rule("BatchToSpace", dtypes=ALL, constants="crops")
def _batch_to_space_2d(node: Node, x: Array, crops: Array) -> Array:
    return _batch_to_space(node, x, [node["block_size"]] * 2, crops)


def _batch_to_space(node: Node, x: Array, block: Sequence[int], crops: Array) -> Array:
    """The inverse: pixels of batches side by side, and the edges cropped."""
    count, cells = len(block), math.prod(block)
    node.check(x.ndim > count and crops.shape == (count, 2), "the crops do not fit")
    node.check(cells > 0 and x.shape[0] % cells == 0, f"a batch is no multiple of {cells}")
    space, rest = x.shape[1 : count + 1], x.shape[count + 1 :]
    batch = x.shape[0] // cells
    axes = [count]
    for n in range(count):
        axes += [count + 1 + n, n]
    axes += range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = jnp.transpose(x.reshape((*block, batch, *space, *rest)), axes)
    sizes = [size * of for size, of in zip(space, block, strict=True)]
    pixels = moved.reshape((batch, *sizes, *rest))
    parts = [slice(None)]
    for size, (before, after) in zip(sizes, crops.tolist(), strict=True):
        node.check(before >= 0 <= after and before + after <= size, "more is cropped than is there")
        parts.append(slice(before, size - after))
    return pixels[tuple(parts)]


@rule("SpaceToDepth", "DepthToSpace", dtypes=ALL)
def _depth(node: Node, x: Array) -> Array:
    """Blocks of a picture as its channels, or the reverse."""
    node.check(x.ndim == 4 and node["data_format"] in {"NHWC", "NCHW"}, "no pictures")
    if node["data_format"] == "NCHW":
        x = jnp.transpose(x, (0, 2, 3, 1))
    size = node["block_size"]
    batch, height, width, depth = x.shape
    if node.op == "SpaceToDepth":
        node.check(height % size == 0 == width % size, "a side is no multiple of the block")
        x = x.reshape((batch, height // size, size, width // size, size, depth))
        x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
        x = x.reshape((batch, height // size, width // size, depth * size * size))
    else:
        node.check(depth % (size * size) == 0, "the depth is no multiple of the block")
        x = x.reshape((batch, height, width, size, size, depth // (size * size)))
        x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
        x = x.reshape((batch, height * size, width * size, depth // (size * size)))
    return jnp.transpose(x, (0, 3, 1, 2)) if node["data_format"] == "NCHW" else x
