"""Faults of convolutions, poolings and normalizations of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import INVALID, Fault, Seen, fault, filled, valid

__all__: list[str] = []


def _with(made: Arguments, name: str, value: np.ndarray) -> Arguments:
    return Arguments({**made.inputs, name: value}, made.attrs)


def _ruled(made: Arguments, **attrs: Any) -> Arguments:
    return Arguments(made.inputs, {**made.attrs, **attrs})


@fault
def filter_depth(draw: Draw, x: str, filters: str, seen: Seen = "shapes") -> Fault:
    """Filters of more channels than the images have."""
    made = valid(draw)
    shape = (*made.inputs[filters].shape[:-2], made.inputs[x].shape[-1] + 1, 1)
    return Fault(_with(made, filters, draw.tensor(filters, shape, "small")), seen=seen)


@fault
def window_too_large(draw: Draw, x: str, filters: str) -> Fault:
    """Filters larger than the images by more than a stride, without padding."""
    draw.attrs["padding"] = "VALID"
    made = valid(draw)
    shape = list(made.inputs[filters].shape)
    shape[0] += made.inputs[x].shape[1] + 2 * made.attrs["strides"][1]
    return Fault(_with(made, filters, draw.tensor(filters, shape, "small")))


@fault
def backprop_size(draw: Draw, grad: str) -> Fault:
    """A gradient of one row more than there are places."""
    made = valid(draw)
    shape = list(made.inputs[grad].shape)
    shape[0], shape[1] = max(shape[0], 1), shape[1] + 1
    return Fault(_with(made, grad, draw.tensor(grad, shape, "small")), seen="run")


@fault
def pool_too_large(draw: Draw, x: str) -> Fault:
    """A window larger than the images by more than a stride, without padding."""
    draw.attrs["padding"] = "VALID"
    draw.attrs["explicit_paddings"] = ()
    made = valid(draw)
    size = made.inputs[x].shape[1] + made.attrs["ksize"][1] + 2 * made.attrs["strides"][1]
    return Fault(_ruled(made, ksize=(1, size, *made.attrs["ksize"][2:])))


@fault
def pooled_batch(draw: Draw, x: str) -> Fault:
    """A window over two images, UNIMPLEMENTED."""
    del x
    made = valid(draw)
    return Fault(_ruled(made, ksize=(2, *made.attrs["ksize"][1:])), codes=(12,), seen="run")


@fault
def channel_count(draw: Draw, vector: str) -> Fault:
    """A vector of one element more than there are channels."""
    made = valid(draw)
    longer = (made.inputs[vector].shape[0] + 1,)
    return Fault(_with(made, vector, draw.tensor(vector, longer, "plain")))


@fault
def depthwise_depth(draw: Draw, x: str, filters: str) -> Fault:
    """Filters for more channels than the images have."""
    made = valid(draw)
    shape = (*made.inputs[filters].shape[:2], made.inputs[x].shape[3] + 1, 1)
    return Fault(_with(made, filters, draw.tensor(filters, shape, "small")))


@fault
def dilation_depth(draw: Draw, x: str, filters: str) -> Fault:
    """Filters for more channels than the images have."""
    made = valid(draw)
    shape = (*made.inputs[filters].shape[:2], made.inputs[x].shape[3] + 1)
    return Fault(_with(made, filters, draw.tensor(filters, shape, "small")))


@fault
def fractional_batch(draw: Draw, x: str) -> Fault:
    """A ratio for the batch, UNIMPLEMENTED."""
    made = valid(draw)
    shape = (4, *made.inputs[x].shape[1:])
    more = _with(made, x, draw.tensor(x, shape, "small"))
    ratio = (1.5, *made.attrs["pooling_ratio"][1:])
    return Fault(_ruled(more, pooling_ratio=ratio), codes=(12,), seen="run")


@fault
def other_batch(draw: Draw, grad: str, seen: Seen = "run") -> Fault:
    """A gradient for one image more than there are, with oneDNN ABORTED (10)."""
    made = filled(draw)
    shape = (made.inputs[grad].shape[0] + 1, *made.inputs[grad].shape[1:])
    return Fault(_with(made, grad, draw.tensor(grad, shape, "small")), (INVALID, 10), seen)


@fault
def backprop_rows(draw: Draw, grad: str, seen: Seen = "run") -> Fault:
    """As many rows and one more as there are places; ABORTED (10) as above."""
    made = filled(draw)
    shape = list(made.inputs[grad].shape)
    shape[1] += 1
    return Fault(_with(made, grad, draw.tensor(grad, shape, "small")), (INVALID, 10), seen)


@fault
def window_over_batch(draw: Draw, ksize: str) -> Fault:
    """A window over two images that is an input, UNIMPLEMENTED."""
    made = valid(draw)
    sizes = made.inputs[ksize].copy()
    sizes[0] = 2
    return Fault(_with(made, ksize, sizes), codes=(12,), seen="run")
