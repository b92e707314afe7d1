"""Faults of diagonals: taken of what has none, set where they do not fit."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid

__all__: list[str] = []


@fault
def unlike_halves(draw: Draw, x: str) -> Fault:
    """A matrix with one column more than rows."""
    size = draw.dim(1)
    return Fault(draw.arguments(**{x: draw.tensor(x, (size, size + 1), "bits")}))


@fault
def longer_diagonal(draw: Draw, diagonal: str, seen: Seen = "run") -> Fault:
    """One element more than the diagonal has."""
    arguments = valid(draw)
    given = arguments.inputs[diagonal]
    longer = np.concatenate([given, given[..., :1]], axis=-1)
    return changed(draw, arguments, seen, **{diagonal: longer})


@fault
def far_diagonal(draw: Draw, k: str) -> Fault:
    """A diagonal that no matrix drawn here reaches."""
    arguments = valid(draw)
    far = draw.random.choice((40, -40))
    return changed(draw, arguments, "values", **{k: np.array(far, np.int32)})


@fault
def turned_ends(draw: Draw, k: str) -> Fault:
    """A lowest diagonal above the highest."""
    arguments = valid(draw)
    return changed(draw, arguments, "values", **{k: np.array([0, -1], np.int32)})
