"""Faults of quantized numbers."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault
from sessrun.spec.rules.faults.elementwise import valid

__all__: list[str] = []


@fault
def range_turned(draw: Draw, low: str, high: str) -> Fault:
    """A range whose lower end is above the upper one."""
    draw.attrs["range_given"] = True
    made = valid(draw)
    if "range_given" in made.attrs:
        made.attrs["range_given"] = True  # type: ignore[index]  # the drawing's own
    wrong = {end: np.full_like(made.inputs[end], number)
             for end, number in ((low, 5), (high, -5))}  # fmt: skip
    return changed(draw, made, "run", **wrong)


@fault
def end_of_rank(draw: Draw, end: str) -> Fault:
    """A vector of two for the one end of a range."""
    made = valid(draw)
    return changed(draw, made, "shapes", **{end: np.zeros(2, "float32") + made.inputs[end].flat[0]})
