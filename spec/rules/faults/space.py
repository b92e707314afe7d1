"""Faults of blocks of space, windows as channels, and data formats."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def uneven_space(draw: Draw, x: str, pads: str) -> Fault:
    """One row more than blocks divide."""
    arguments = valid(draw)
    more = arguments.inputs[pads] + np.array([[0, 1], [0, 0]], arguments.inputs[pads].dtype)
    del x
    return changed(draw, arguments, "values", **{pads: more})


@fault
def uneven_blocks(draw: Draw, x: str, pads: str) -> Fault:
    """One row more than the first block, of 2 or 3 rows, divides."""
    arguments = valid(draw)
    more = arguments.inputs[pads].copy()
    more[0, 1] += 1
    del x
    return changed(draw, arguments, "values", **{pads: more})


@fault
def uneven_batch_of_blocks(draw: Draw, x: str) -> Fault:
    """One element of the batch more than blocks, of 2 at least, need."""
    arguments = valid(draw)
    shape = (arguments.inputs[x].shape[0] + 1, *arguments.inputs[x].shape[1:])
    return changed(draw, arguments, "values", **{x: draw.tensor(x, shape, "small")})


@fault
def no_block(draw: Draw, block_shape: str) -> Fault:
    """A block without rows."""
    arguments = valid(draw)
    blocks = arguments.inputs[block_shape].copy()
    blocks[0] = draw.random.choice((0, -1))
    return changed(draw, arguments, "values", **{block_shape: blocks})


@fault
def uneven_batch(draw: Draw, x: str, crops: str) -> Fault:
    """One image more than blocks need."""
    arguments = valid(draw)
    shape = (arguments.inputs[x].shape[0] + 1, *arguments.inputs[x].shape[1:])
    del crops
    return changed(draw, arguments, "shapes", **{x: draw.tensor(x, shape, "small")})


@fault
def uneven_images(draw: Draw, x: str, block_size: str) -> Fault:
    """One row more than blocks divide."""
    arguments = valid(draw)
    batch, rows, *rest = arguments.inputs[x].shape
    del block_size
    return changed(
        draw, arguments, "shapes", **{x: draw.tensor(x, (batch, rows + 1, *rest), "small")}
    )


@fault
def uneven_depth(draw: Draw, x: str, block_size: str) -> Fault:
    """One channel more than blocks need."""
    arguments = valid(draw)
    *rest, depth = arguments.inputs[x].shape
    del block_size
    return changed(draw, arguments, "shapes", **{x: draw.tensor(x, (*rest, depth + 1), "small")})


@fault
def patch_too_large(draw: Draw, x: str) -> Fault:
    """A window larger than the images by more than a stride, without padding."""
    draw.attrs["padding"] = "VALID"
    arguments = valid(draw)
    size = (
        arguments.inputs[x].shape[1]
        + arguments.attrs["ksizes"][1]
        + 2 * arguments.attrs["strides"][1]
    )
    attrs = {**arguments.attrs, "ksizes": (1, size, *arguments.attrs["ksizes"][2:])}
    return Fault(Arguments(arguments.inputs, attrs))


@fault
def no_such_format(draw: Draw, x: str) -> Fault:
    """Formats of different letters."""
    arguments = valid(draw)
    del x
    attrs = {**arguments.attrs, "dst_format": arguments.attrs["dst_format"].replace("W", "X")}
    return Fault(Arguments(arguments.inputs, attrs), seen="run")
