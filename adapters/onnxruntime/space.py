"""Blocks of pixels that become batches or channels, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.adapters.onnxruntime.table import ALL, Call, translates

__all__: list[str] = []


def _rearranged(
    call: Call, x: str, shape: Sequence[int], order: Sequence[int], result: Sequence[int]
) -> str:
    """A tensor given more axes, these permuted, and joined to those of the result."""
    apart = call.emit("Reshape", x, call.constant(shape), allowzero=1)
    moved = call.emit("Transpose", apart, perm=list(order))
    return call.emit("Reshape", moved, call.constant(result), allowzero=1)


@translates("SpaceToDepth", kernels=ALL)
def _space_to_depth(call: Call) -> str:
    """A pixel of a block is the outer part of the channel."""
    size, result = call.attrs["block_size"], call.output_shape()
    if call.attrs["data_format"] == "NHWC":
        batch, height, width, _ = result
        shape = (batch, height, size, width, size, call.shape()[3])
        return _rearranged(call, call.names[0], shape, (0, 1, 3, 2, 4, 5), result)
    raise call.declined(f"the data format {call.attrs['data_format']}")


@translates("DepthToSpace", kernels=ALL)
def _depth_to_space(call: Call) -> str:
    size, result = call.attrs["block_size"], call.output_shape()
    if call.attrs["data_format"] == "NHWC":
        shape = (*call.shape()[:3], size, size, result[3])
        return _rearranged(call, call.names[0], shape, (0, 1, 3, 2, 4, 5), result)
    raise call.declined(f"the data format {call.attrs['data_format']}")


@translates("SpaceToBatchND", kernels=ALL - {"float16", "int16", "uint16"})
def _space_to_batch(call: Call) -> str:
    """Padded, each axis split into blocks, the places in a block moved before the batch."""
    blocks, pads = call.integers(1), call.value(2).astype(np.int64)
    batch, *sizes = call.shape()
    count, result = len(blocks), call.output_shape()
    rest = sizes[count:]
    before, after = [0, *pads[:, 0], *[0] * len(rest)], [0, *pads[:, 1], *[0] * len(rest)]
    zero = call.constant(0, call.dtype)
    padded = call.emit("Pad", call.names[0], call.constant([*before, *after]), zero)
    split = [n for pair in zip(result[1 : count + 1], blocks, strict=True) for n in pair]
    inner, outer = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    order = (*inner, 0, *outer, *range(2 * count + 1, 2 * count + 1 + len(rest)))
    return _rearranged(call, padded, (batch, *split, *rest), order, result)


@translates("BatchToSpaceND", kernels=ALL)
def _batch_to_space(call: Call) -> str:
    """The places in a block moved from before the batch to their axes, which are then cropped."""
    blocks, crops = call.integers(1), call.value(2).astype(np.int64)
    sizes, result = call.shape()[1:], call.output_shape()
    count, batch = len(blocks), result[0]
    spatial, rest = sizes[:count], sizes[count:]
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    order = (count, *pairs, *range(2 * count + 1, 2 * count + 1 + len(rest)))
    uncropped = [size * block for size, block in zip(spatial, blocks, strict=True)]
    x = _rearranged(
        call, call.names[0], (*blocks, batch, *spatial, *rest), order, (batch, *uncropped, *rest)
    )
    if not count:
        return x
    starts = crops[:, 0]
    lists = (starts, starts + result[1 : count + 1], range(1, count + 1))
    return call.emit("Slice", x, *(call.constant(list(numbers)) for numbers in lists))
