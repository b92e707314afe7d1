"""Faults of operations on images."""

from __future__ import annotations

import dataclasses

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.strings import text_scalar
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid

__all__: list[str] = []

_PRECONDITION = 9
_OUT_OF_RANGE = 11


@fault
def no_pixels(draw: Draw, size: str) -> Fault:
    """A size of which one dimension is 0."""
    arguments = valid(draw)
    wrong = arguments.inputs[size].copy()
    wrong[draw.random.randrange(2)] = 0
    return changed(draw, arguments, "run", **{size: wrong})


@fault
def wrong_rank(draw: Draw, x: str, seen: Seen = "shapes") -> Fault:
    """A vector where a tensor of a higher rank must be, a matrix for a vector or a scalar."""
    arguments = valid(draw)
    value = np.asarray(arguments.inputs[x])
    flat = value.reshape(1, -1) if value.ndim < 2 else value.reshape(-1)
    return changed(draw, arguments, seen, **{x: flat})


@fault
def image_range(draw: Draw, numbers: str) -> Fault:
    """A box of a picture that there is not."""
    arguments = valid(draw)
    wrong = arguments.inputs[numbers].copy()
    wrong[0] = draw.random.choice([-1, 100])
    refused = changed(draw, arguments, "run", **{numbers: wrong})
    return dataclasses.replace(refused, codes=(_OUT_OF_RANGE,))


@fault
def no_colours(draw: Draw, images: str) -> Fault:
    """Colours of two or four parts."""
    arguments = valid(draw)
    shape = (2, draw.random.choice([2, 4]))
    refused = changed(draw, arguments, "shapes", **{images: draw.tensor(images, shape, "positive")})
    return dataclasses.replace(refused, codes=(_PRECONDITION,))


@fault
def box_beyond(draw: Draw, boxes: str) -> Fault:
    """A box that lies in part outside of the picture, whose sides are 1."""
    box = [0.1, 0.1, 0.9, 0.9]
    box[draw.random.randrange(4)] = draw.random.choice([-0.5, 1.5])
    wrong = np.array([[box]], "float32")
    return changed(draw, valid(draw), "run", **{boxes: wrong})


@fault
def above_one(draw: Draw, share: str) -> Fault:
    """A share of an area that is none."""
    arguments = valid(draw)
    number = draw.random.choice([-0.5, 1.5])
    wrong = np.array(number).astype(arguments.inputs[share].dtype)
    return changed(draw, arguments, "run", **{share: wrong})


@fault
def block_beyond(draw: Draw, window: str) -> Fault:
    """A block that begins before the picture, ends behind it, or is empty."""
    arguments = valid(draw)
    wrong = arguments.inputs[window].copy()
    wrong[draw.random.randrange(2)] = -1
    if draw.chance(0.7):
        wrong = arguments.inputs[window].copy()
        wrong[draw.random.randint(2, 3)] = draw.random.choice([0, 100])
    return changed(draw, arguments, "run", **{window: wrong})


@fault
def no_picture(draw: Draw, contents: str) -> Fault:
    """Bytes that are no file of the kind, nor how one begins: TensorFlow may wait for the rest."""
    wrong = draw.random.choice([b"", b"no picture at all, only words"])
    return changed(draw, valid(draw), "run", **{contents: text_scalar(wrong)})
