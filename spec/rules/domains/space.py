"""Value domains of blocks of space, windows as channels, and data formats."""

from __future__ import annotations

import math

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.windows import images

__all__: list[str] = []

#: Dtypes whose blocks a CPU moves: numbers, but no complex ones.
_REAL = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)


def _pads(draw: Draw, size: int, block: int) -> list[int]:
    """What is added before and behind, so that blocks divide the whole."""
    before = draw.random.randint(0, 2)
    return [before, -(size + before) % block + block * draw.random.randint(0, 1)]


@domain
def space_to_batch(draw: Draw, x: str, pads: str, block_size: str) -> Arguments:
    """Images, and what is added around them so that blocks divide them."""
    draw.draw_dtype("T", _REAL)
    block = draw.attrs[block_size] = draw.random.randint(2, 3)
    shape = (draw.dim(1, 2), draw.random.randint(1, 4), draw.random.randint(1, 4), draw.dim(1, 2))
    around = [_pads(draw, size, block) for size in shape[1:3]]
    return draw.arguments(**{x: draw.tensor(x, shape, "bits"), pads: draw.integers(pads, around)})


def _blocks(draw: Draw, x: str, block_shape: str) -> list[int]:
    """The sizes of blocks along one to three dimensions, not all of them 1."""
    del x, block_shape
    draw.draw_dtype("T", _REAL)
    more = draw.random.randint(0, 2)
    return [draw.random.randint(2, 3), *(draw.random.randint(1, 2) for _ in range(more))]


@domain
def space_to_batch_nd(draw: Draw, x: str, block_shape: str, pads: str) -> Arguments:
    """A tensor, blocks over its dimensions after the batch, and what is added around these."""
    blocks = _blocks(draw, x, block_shape)
    sizes = [draw.random.randint(1, 4) for _ in blocks]
    rest = [draw.dim(1, 2) for _ in range(draw.random.randint(0, 2))]
    around = [_pads(draw, size, block) for size, block in zip(sizes, blocks, strict=True)]
    return draw.arguments(
        **{
            x: draw.tensor(x, (draw.dim(1, 2), *sizes, *rest), "bits"),
            block_shape: draw.integers(block_shape, blocks),
            pads: draw.integers(pads, around),
        }
    )


@domain
def batch_to_space_nd(draw: Draw, x: str, block_shape: str, crops: str) -> Arguments:
    """As many elements of a batch as blocks need, and what is taken off; something is left."""
    blocks = _blocks(draw, x, block_shape)
    sizes = [draw.random.randint(1, 3) for _ in blocks]
    rest = [draw.dim(1, 2) for _ in range(draw.random.randint(0, 2))]
    off = []
    for size, block in zip(sizes, blocks, strict=True):
        before = draw.random.randint(0, size * block - 1)
        off.append([before, draw.random.randint(0, size * block - 1 - before)])
    batch = draw.dim(1, 2) * math.prod(blocks)
    return draw.arguments(
        **{
            x: draw.tensor(x, (batch, *sizes, *rest), "bits"),
            block_shape: draw.integers(block_shape, blocks),
            crops: draw.integers(crops, off),
        }
    )


@domain
def batch_to_space(draw: Draw, x: str, crops: str, block_size: str) -> Arguments:
    """Images as many as blocks need, and what is taken off; something is left."""
    draw.draw_dtype("T", _REAL)
    block = draw.attrs[block_size] = draw.random.randint(2, 3)
    sizes = (draw.random.randint(1, 3), draw.random.randint(1, 3))
    shape = (draw.dim(1, 2) * block**2, *sizes, draw.dim(1, 2))
    off = []
    for size in sizes:
        before = draw.random.randint(0, size * block - 1)
        off.append([before, draw.random.randint(0, size * block - 1 - before)])
    return draw.arguments(**{x: draw.tensor(x, shape, "bits"), crops: draw.integers(crops, off)})


def _sized(draw: Draw, block_size: str) -> int:
    """Set the block's size and the format that a CPU knows."""
    draw.attrs["data_format"] = "NHWC"
    draw.draw_dtype("T", _REAL)
    block: int = draw.random.randint(2, 3)
    draw.attrs[block_size] = block
    return block


@domain
def blocks_of_space(draw: Draw, x: str, block_size: str) -> Arguments:
    """Images that blocks divide."""
    block = _sized(draw, block_size)
    rows, columns = (block * draw.random.randint(1, 2) for _ in range(2))
    return draw.arguments(
        **{x: draw.tensor(x, (draw.dim(1, 2), rows, columns, draw.dim(1, 3)), "bits")}
    )


@domain
def blocks_of_depth(draw: Draw, x: str, block_size: str) -> Arguments:
    """Images with as many channels as blocks need."""
    block = _sized(draw, block_size)
    depth = block**2 * draw.random.randint(1, 2)
    return draw.arguments(
        **{x: draw.tensor(x, (draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 3), depth), "bits")}
    )


@domain
def patched(draw: Draw, x: str, spatial: int) -> Arguments:
    """Images or volumes and a window that fits into them."""
    if draw.attrs["T"] == "bool":
        draw.attrs["T"] = "float32"
    drawn = images(draw, spatial, draw.random.randint(1, 2), 1, 1)
    draw.attrs["ksizes"] = (1, *drawn.window, 1)
    if spatial == 2:
        draw.attrs["rates"] = (1, 1, 1, 1)
    return draw.arguments(**{x: draw.tensor(x, drawn.shape, "bits")})


@domain
def format_axes(draw: Draw, x: str) -> Arguments:
    """Axes of one format, counted from the front or from the back."""
    count = _drawn_formats(draw)
    shape = draw.shape(0, 2)
    axes = [draw.axis(count) for _ in range(math.prod(shape))]
    return draw.arguments(**{x: draw.integers(x, axes).reshape(shape)})


def _drawn_formats(draw: Draw) -> int:
    """Set both formats; how many axes they have."""
    first, last = draw.random.choice((("NCHW", "NHWC"), ("NCDHW", "NDHWC")))
    if draw.chance(0.5):
        first, last = last, first
    draw.attrs.update(src_format=first, dst_format=last)
    return len(first)


@domain
def format_vector(draw: Draw, x: str) -> Arguments:
    """One number, or a pair, for each axis of a format, or for each of its spatial ones."""
    count = _drawn_formats(draw) - draw.random.choice((0, 2))
    shape = (count, 2) if draw.chance(0.4) else (count,)
    return draw.arguments(**{x: draw.tensor(x, shape, "small")})
