"""Faults of rows: one more than go with the other inputs, or one alone."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, filled

__all__: list[str] = []


@fault
def one_row_more(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """The first row of an input once more at its end; of a number a vector of two."""
    made = filled(draw)
    rows = np.atleast_1d(made.inputs[x])
    return changed(draw, made, seen, **{x: np.concatenate([rows, rows[:1]])})


@fault
def one_row_alone(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """The first row of an input, without the dimension of rows."""
    made = filled(draw)
    return changed(draw, made, seen, **{x: made.inputs[x][0]})
