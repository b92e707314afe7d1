"""Faults of quantized numbers."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def range_turned(draw: Draw, low: str, high: str) -> Fault:
    """A range whose lower end is above the upper one."""
    draw.attrs["range_given"] = True
    arguments = valid(draw)
    if "range_given" in arguments.attrs:
        arguments.attrs["range_given"] = True  # type: ignore[index]  # the drawing's own
    wrong = {
        end: np.full_like(arguments.inputs[end], number) for end, number in ((low, 5), (high, -5))
    }
    return changed(draw, arguments, "run", **wrong)


@fault
def range_attrs_turned(draw: Draw, x: str) -> Fault:
    """Attributes of a range whose lower end is above the upper one."""
    arguments = valid(draw)
    attrs = {**arguments.attrs, "range_given": True, "input_min": 5.0, "input_max": -5.0}
    return changed(draw, Arguments(arguments.inputs, attrs), "run", **{x: arguments.inputs[x]})


@fault
def end_of_rank(draw: Draw, end: str) -> Fault:
    """A vector of two for the one end of a range."""
    arguments = valid(draw)
    return changed(
        draw, arguments, "shapes", **{end: np.zeros(2, "float32") + arguments.inputs[end].flat[0]}
    )


def _with_attr(arguments: Arguments, name: str, value: int) -> Fault:
    return Fault(Arguments(arguments.inputs, {**arguments.attrs, name: value}), seen="run")


@fault
def levels_of_no_bits(draw: Draw, most: int) -> Fault:
    """Too few bits to tell levels apart, or more than there may be."""
    return _with_attr(valid(draw), "num_bits", draw.random.choice((-1, 0, 1, most + 1)))


@fault
def ends_turned(draw: Draw) -> Fault:
    """The same of ends that are attributes."""
    arguments = valid(draw)
    return Fault(
        Arguments(arguments.inputs, {**arguments.attrs, "min": 6.0, "max": -6.0}), seen="run"
    )


@fault
def bits_out_of_range(draw: Draw, bits: str) -> Fault:
    """A computed number of bits that is none, or that no level is told by."""
    number = draw.random.choice((-1, 0, 64))
    return changed(draw, valid(draw), "run", **{bits: draw.integers(bits, number)})


@fault
def joined_along_nothing(draw: Draw, axis: str) -> Fault:
    """An axis that the tensors do not have."""
    return changed(draw, valid(draw), "values", **{axis: draw.integers(axis, 9)})
