"""Value domains of convolutions of images that are resized or surrounded first."""

from __future__ import annotations

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.windows import draw_channels, images

__all__: list[str] = []


@domain
def convolved_padded(draw: Draw, x: str, pads: str, filters: str) -> Arguments:
    """An image, how many pixels of its mirror image go around it, and filters.

    Left out is what TensorFlow 2.21 computes wrongly: more images than one, each of which gets the
    first one's result, and strides longer than the window where the padding is SAME.
    """
    if draw.attrs["T"] == "bfloat16":  # no kernel
        draw.attrs["T"] = "float32"
    depth, _, out = draw_channels(draw, grouped=False)
    drawn = images(draw, 2, depth, least=1)
    strides = [min(axis.stride, axis.window) for axis in drawn.along]
    draw.attrs["strides"] = (1, *strides, 1)
    most = [size - (draw.attrs["mode"] == "REFLECT") for size in drawn.shape[1:3]]
    around = [[draw.random.randint(0, min(size, 2)) for _ in "ab"] for size in most]
    return draw.arguments(
        **{
            x: draw.tensor(x, (1, *drawn.shape[1:]), "small"),
            pads: draw.integers(pads, [[0, 0], *around, [0, 0]]),
            filters: draw.tensor(filters, (*drawn.window, depth, out), "small"),
        }
    )


@domain
def convolved_resized(draw: Draw, x: str, size: str, pads: str, filters: str) -> Arguments:
    """As `convolved_padded`, of another image that is resized to the one that is drawn there."""
    arguments = convolved_padded(draw, x, pads, filters)
    wanted = arguments.inputs[x].shape
    have = (1, draw.random.randint(1, 6), draw.random.randint(1, 6), wanted[3])
    draw.attrs["T"] = arguments.attrs["T"]
    return Arguments(
        {
            x: draw.tensor(x, have, "small"),
            size: draw.integers(size, wanted[1:3]),
            pads: arguments.inputs[pads],
            filters: arguments.inputs[filters],
        },
        arguments.attrs,
    )
