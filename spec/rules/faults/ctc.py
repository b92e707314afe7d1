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
    made = valid(draw)
    time, _, classes = made.inputs[inputs].shape
    whole = (time, 0, classes) if draw.chance(0.5) else (0, 1, classes)
    return changed(
        draw,
        made,
        "run",
        **{inputs: draw.tensor(inputs, whole), lengths: draw.integers(lengths, [0] * whole[1])},
    )


@fault
def lengths_too_long(draw: Draw, inputs: str, lengths: str, code: int) -> Fault:
    """A sequence that is longer than its inputs; the code hangs on the operation."""
    made = valid(draw)
    told = made.inputs[lengths].copy()
    told[0] = made.inputs[inputs].shape[0] + 1
    return replace(changed(draw, made, "run", **{lengths: told}), codes=(code,))


@fault
def no_such_labels(draw: Draw, values: str) -> Fault:
    """A label that is negative."""
    made = valid(draw)
    labels = made.inputs[values].copy()
    labels[draw.random.randrange(len(labels))] = -1
    return changed(draw, made, "run", **{values: labels})


@fault
def labels_of_nothing(draw: Draw, indices: str, lengths: str) -> Fault:
    """A label of a sequence that there is not, before the first one or behind the last."""
    made = valid(draw)
    places = made.inputs[indices].copy()
    if draw.chance(0.5):
        places[-1, 0] = len(made.inputs[lengths])
    else:
        places[0, 0] = -1
    return changed(draw, made, "run", **{indices: places})


@fault
def labels_out_of_order(draw: Draw, indices: str) -> Fault:
    """Labels twice at one place."""
    made = valid(draw)
    places = np.concatenate([made.inputs[indices][:1], made.inputs[indices]])
    values = made.inputs["labels_values"]
    return changed(
        draw,
        made,
        "run",
        **{indices: places, "labels_values": np.concatenate([values[:1], values])},
    )


@fault
def blank_of_no_class(draw: Draw, inputs: str) -> Fault:
    """A blank that is none of the classes."""
    made = valid(draw)
    classes = made.inputs[inputs].shape[2]
    blank = draw.random.choice((classes, -classes - 1))
    draw.attrs |= {**made.attrs, "blank_index": blank}
    return Fault(draw.arguments(**made.inputs), seen="run")


@fault
def too_many_paths(draw: Draw, inputs: str) -> Fault:
    """More paths than the beam is wide."""
    del inputs
    made = valid(draw)
    draw.attrs |= {**made.attrs, "top_paths": made.attrs["beam_width"] + 1}
    return Fault(draw.arguments(**made.inputs), seen="run")
