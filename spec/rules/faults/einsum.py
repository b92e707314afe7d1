"""Faults of sums of products over named dimensions."""

from __future__ import annotations

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, fault

__all__: list[str] = []


@fault
def unlike_labels(draw: Draw, inputs: str, equation: str) -> Fault:
    """Two dimensions of one name and of different sizes."""
    draw.attrs["T"] = "float32"
    draw.attrs[equation] = "ab,bc->ac"
    pair = [draw.tensor(inputs, (2, 3), "small"), draw.tensor(inputs, (4, 2), "small")]
    return Fault(draw.arguments(**{inputs: pair}))
