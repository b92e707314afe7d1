"""Faults of convolutions, poolings and normalizations of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import INVALID, Fault, Seen, fault, filled, valid

__all__: list[str] = []


def _with(arguments: Arguments, name: str, value: np.ndarray) -> Arguments:
    return Arguments({**arguments.inputs, name: value}, arguments.attrs)


def _ruled(arguments: Arguments, **attrs: Any) -> Arguments:
    return Arguments(arguments.inputs, {**arguments.attrs, **attrs})


@fault
def filter_depth(draw: Draw, x: str, filters: str, seen: Seen = "shapes") -> Fault:
    """Filters of more channels than the images have."""
    arguments = valid(draw)
    shape = (*arguments.inputs[filters].shape[:-2], arguments.inputs[x].shape[-1] + 1, 1)
    return Fault(_with(arguments, filters, draw.tensor(filters, shape, "small")), seen=seen)


@fault
def window_too_large(draw: Draw, x: str, filters: str) -> Fault:
    """Filters larger than the images by more than a stride, without padding."""
    draw.attrs["padding"] = "VALID"
    arguments = valid(draw)
    shape = list(arguments.inputs[filters].shape)
    shape[0] += arguments.inputs[x].shape[1] + 2 * arguments.attrs["strides"][1]
    return Fault(_with(arguments, filters, draw.tensor(filters, shape, "small")))


@fault
def backprop_size(draw: Draw, grad: str) -> Fault:
    """A gradient of one row more than there are places."""
    arguments = valid(draw)
    shape = list(arguments.inputs[grad].shape)
    shape[0], shape[1] = max(shape[0], 1), shape[1] + 1
    return Fault(_with(arguments, grad, draw.tensor(grad, shape, "small")), seen="run")


@fault
def pool_too_large(draw: Draw, x: str) -> Fault:
    """A window larger than the images by more than a stride, without padding."""
    draw.attrs["padding"] = "VALID"
    draw.attrs["explicit_paddings"] = ()
    arguments = valid(draw)
    size = (
        arguments.inputs[x].shape[1]
        + arguments.attrs["ksize"][1]
        + 2 * arguments.attrs["strides"][1]
    )
    return Fault(_ruled(arguments, ksize=(1, size, *arguments.attrs["ksize"][2:])))


@fault
def pooled_batch(draw: Draw, x: str) -> Fault:
    """A window over two images, UNIMPLEMENTED."""
    del x
    arguments = valid(draw)
    return Fault(
        _ruled(arguments, ksize=(2, *arguments.attrs["ksize"][1:])), codes=(12,), seen="run"
    )


@fault
def channel_count(draw: Draw, vector: str) -> Fault:
    """A vector of one element more than there are channels."""
    arguments = valid(draw)
    longer = (arguments.inputs[vector].shape[0] + 1,)
    return Fault(_with(arguments, vector, draw.tensor(vector, longer, "plain")))


@fault
def depthwise_depth(draw: Draw, x: str, filters: str) -> Fault:
    """Filters for more channels than the images have."""
    arguments = valid(draw)
    shape = (*arguments.inputs[filters].shape[:2], arguments.inputs[x].shape[3] + 1, 1)
    return Fault(_with(arguments, filters, draw.tensor(filters, shape, "small")))


@fault
def dilation_depth(draw: Draw, x: str, filters: str) -> Fault:
    """Filters for more channels than the images have."""
    arguments = valid(draw)
    shape = (*arguments.inputs[filters].shape[:2], arguments.inputs[x].shape[3] + 1)
    return Fault(_with(arguments, filters, draw.tensor(filters, shape, "small")))


@fault
def fractional_batch(draw: Draw, x: str) -> Fault:
    """A ratio for the batch, UNIMPLEMENTED."""
    arguments = valid(draw)
    shape = (4, *arguments.inputs[x].shape[1:])
    more = _with(arguments, x, draw.tensor(x, shape, "small"))
    ratio = (1.5, *arguments.attrs["pooling_ratio"][1:])
    return Fault(_ruled(more, pooling_ratio=ratio), codes=(12,), seen="run")


@fault
def other_batch(draw: Draw, grad: str, seen: Seen = "run") -> Fault:
    """A gradient for one image more than there are, with oneDNN ABORTED (10)."""
    arguments = filled(draw)
    shape = (arguments.inputs[grad].shape[0] + 1, *arguments.inputs[grad].shape[1:])
    return Fault(_with(arguments, grad, draw.tensor(grad, shape, "small")), (INVALID, 10), seen)


@fault
def backprop_rows(draw: Draw, grad: str, seen: Seen = "run") -> Fault:
    """As many rows and one more as there are places; ABORTED (10) as above."""
    arguments = filled(draw)
    shape = list(arguments.inputs[grad].shape)
    shape[1] += 1
    return Fault(_with(arguments, grad, draw.tensor(grad, shape, "small")), (INVALID, 10), seen)


@fault
def window_over_batch(draw: Draw, ksize: str) -> Fault:
    """A window over two images that is an input, UNIMPLEMENTED."""
    arguments = valid(draw)
    sizes = arguments.inputs[ksize].copy()
    sizes[0] = 2
    return Fault(_with(arguments, ksize, sizes), codes=(12,), seen="run")
