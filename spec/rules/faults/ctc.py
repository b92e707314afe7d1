"""Faults of connectionist temporal classification: batches, lengths and labels that do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def empty_sequences(draw: Draw, inputs: str, lengths: str) -> Fault:
    """No sequence at all, or no step."""
    arguments = valid(draw)
    time, _, classes = arguments.inputs[inputs].shape
    shape = (time, 0, classes) if draw.chance(0.5) else (0, 1, classes)
    return changed(
        draw,
        arguments,
        "run",
        **{inputs: draw.tensor(inputs, shape), lengths: draw.integers(lengths, [0] * shape[1])},
    )


@fault
def lengths_too_long(draw: Draw, inputs: str, lengths: str, code: int) -> Fault:
    """A sequence that is longer than its inputs; the code hangs on the operation."""
    arguments = valid(draw)
    sizes = arguments.inputs[lengths].copy()
    sizes[0] = arguments.inputs[inputs].shape[0] + 1
    return replace(changed(draw, arguments, "run", **{lengths: sizes}), codes=(code,))


@fault
def no_such_labels(draw: Draw, values: str) -> Fault:
    """A label that is negative."""
    arguments = valid(draw)
    labels = arguments.inputs[values].copy()
    labels[draw.random.randrange(len(labels))] = -1
    return changed(draw, arguments, "run", **{values: labels})


@fault
def labels_of_nothing(draw: Draw, indices: str, lengths: str) -> Fault:
    """A label of a sequence that there is not, before the first one or behind the last."""
    arguments = valid(draw)
    places = arguments.inputs[indices].copy()
    if draw.chance(0.5):
        places[-1, 0] = len(arguments.inputs[lengths])
    else:
        places[0, 0] = -1
    return changed(draw, arguments, "run", **{indices: places})


@fault
def labels_out_of_order(draw: Draw, indices: str) -> Fault:
    """Labels twice at one place."""
    arguments = valid(draw)
    places = np.concatenate([arguments.inputs[indices][:1], arguments.inputs[indices]])
    values = arguments.inputs["labels_values"]
    return changed(
        draw,
        arguments,
        "run",
        **{indices: places, "labels_values": np.concatenate([values[:1], values])},
    )


@fault
def blank_of_no_class(draw: Draw, inputs: str) -> Fault:
    """A blank that is none of the classes."""
    arguments = valid(draw)
    classes = arguments.inputs[inputs].shape[2]
    blank = draw.random.choice((classes, -classes - 1))
    draw.attrs |= {**arguments.attrs, "blank_index": blank}
    return Fault(draw.arguments(**arguments.inputs), seen="run")


@fault
def too_many_paths(draw: Draw, inputs: str) -> Fault:
    """More paths than the beam is wide."""
    del inputs
    arguments = valid(draw)
    draw.attrs |= {**arguments.attrs, "top_paths": arguments.attrs["beam_width"] + 1}
    return Fault(draw.arguments(**arguments.inputs), seen="run")
