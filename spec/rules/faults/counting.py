"""Faults of operations that count."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def negative_number(draw: Draw, x: str) -> Fault:
    """A number below zero among those that are counted."""
    arguments = valid(draw)
    while not arguments.inputs[x].size:
        arguments = valid(draw)
    numbers = arguments.inputs[x].copy()
    numbers.reshape(-1)[0] = -1
    return changed(draw, arguments, "run", **{x: numbers})


@fault
def late_rows(draw: Draw, splits: str) -> Fault:
    """A first row that does not begin with the first number."""
    arguments = valid(draw)
    ends = arguments.inputs[splits].copy()
    ends[0] = draw.random.choice([-1, 1])
    return changed(draw, arguments, "run", **{splits: ends})


@fault
def short_rows(draw: Draw, splits: str) -> Fault:
    """Rows that end before the last number or behind it."""
    arguments = valid(draw)
    ends = arguments.inputs[splits].copy()
    ends[-1] += draw.random.choice([-1, 1])
    return changed(draw, arguments, "run", **{splits: ends})


@fault
def falling_range(draw: Draw, value_range: str) -> Fault:
    """A range that ends where it begins."""
    arguments = valid(draw)
    ends = arguments.inputs[value_range].copy()
    ends[1] = ends[0]
    return changed(draw, arguments, "run", **{value_range: ends})


@fault
def no_bins(draw: Draw, nbins: str) -> Fault:
    """No bins at all."""
    return changed(draw, valid(draw), "values", **{nbins: np.array(0, np.int32)})


@fault
def beyond_the_row(draw: Draw, x: str, n: str) -> Fault:
    """The number after a row's last one."""
    arguments = valid(draw)
    return changed(
        draw, arguments, "values", **{n: draw.integers(n, arguments.inputs[x].shape[-1])}
    )


@fault
def size_of_another_kind(draw: Draw, size: str) -> Fault:
    """A size below zero, or a vector of sizes."""
    number = draw.random.choice((-1, [3], [2, 3]))
    return changed(draw, valid(draw), "values", **{size: draw.integers(size, number)})


@fault
def unlike_weights(draw: Draw, values: str, weights: str) -> Fault:
    """One weight more than there are numbers."""
    arguments = valid(draw)
    count = arguments.inputs[values].size + 1
    return changed(draw, arguments, "run", **{weights: draw.tensor(weights, (count,), "small")})


@fault
def sequence_outside(draw: Draw, indices: str) -> Fault:
    """A number of a sequence below the first one, or behind the last: an internal error."""
    arguments = valid(draw)
    places: np.ndarray = np.array(arguments.inputs[indices])
    if not len(places):
        places = np.zeros((1, 2), np.int64)
    places[-1, 0] = draw.random.choice((-1, 9))
    values = indices.replace("indices", "values")
    other = draw.tensor(values, (len(places),), "small")
    arguments = changed(draw, arguments, "run", **{indices: places, values: other}).arguments
    return Fault(arguments, codes=(13,), seen="run")


@fault
def sequences_of_other_ranks(draw: Draw, indices: str, shape: str) -> Fault:
    """Sequences that stand in a shape of one dimension more than the others'."""
    arguments = valid(draw)
    places, sizes = arguments.inputs[indices], arguments.inputs[shape]
    wide = np.concatenate([places[:, :1] * 0, places], axis=1)
    return changed(
        draw, arguments, "values", **{indices: wide, shape: np.concatenate([sizes[:1], sizes])}
    )


@fault
def falling_boundaries(draw: Draw, x: str) -> Fault:
    """Boundaries that are not in order."""
    del x
    arguments = valid(draw)
    return Fault(
        Arguments(arguments.inputs, {**arguments.attrs, "boundaries": [3.0, 1.0]}), seen="run"
    )
