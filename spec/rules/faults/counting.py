"""Faults of operations that count."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault
from sessrun.spec.rules.faults.elementwise import valid

__all__: list[str] = []


@fault
def negative_number(draw: Draw, x: str) -> Fault:
    """A number below zero among those that are counted."""
    made = valid(draw)
    numbers = made.inputs[x].copy()
    numbers.reshape(-1)[0] = -1
    return changed(draw, made, "run", **{x: numbers})


@fault
def falling_range(draw: Draw, value_range: str) -> Fault:
    """A range that ends where it begins."""
    made = valid(draw)
    ends = made.inputs[value_range].copy()
    ends[1] = ends[0]
    return changed(draw, made, "run", **{value_range: ends})


@fault
def no_bins(draw: Draw, nbins: str) -> Fault:
    """No bins at all."""
    return changed(draw, valid(draw), "values", **{nbins: np.array(0, np.int32)})


@fault
def beyond_the_row(draw: Draw, x: str, n: str) -> Fault:
    """The number after a row's last one."""
    made = valid(draw)
    return changed(draw, made, "values", **{n: draw.integers(n, made.inputs[x].shape[-1])})


@fault
def unlike_weights(draw: Draw, values: str, weights: str) -> Fault:
    """One weight more than there are numbers."""
    made = valid(draw)
    count = len(made.inputs[values]) + 1
    return changed(draw, made, "run", **{weights: draw.tensor(weights, (count,), "small")})


@fault
def falling_boundaries(draw: Draw, x: str) -> Fault:
    """Boundaries that are not in order."""
    del x
    made = valid(draw)
    return Fault(Arguments(made.inputs, {**made.attrs, "boundaries": [3.0, 1.0]}), seen="run")
