"""Faults of random numbers of seeds, and of keys and counters."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def wrong_seeds(draw: Draw, seed: str) -> Fault:
    """Three seeds, or one."""
    arguments = valid(draw)
    seeds = draw.random.choice(([1, 2, 3], [1]))
    return changed(draw, arguments, "shapes", **{seed: draw.integers(seed, seeds)})


@fault
def unknown_algorithm(draw: Draw, alg: str) -> Fault:
    """The number of no algorithm."""
    arguments = valid(draw)
    return changed(draw, arguments, "run", **{alg: draw.integers(alg, 7)})


@fault
def index_behind_all(draw: Draw, index: str, max_index: str) -> Fault:
    """An index above the largest one."""
    arguments = valid(draw)
    largest = draw.integers(max_index, 4)
    behind = np.full_like(arguments.inputs[index], 5)
    return changed(draw, arguments, "run", **{index: behind, max_index: largest})


@fault
def bounds_turned(draw: Draw, low: str, high: str) -> Fault:
    """A least number that is not below the greatest."""
    arguments = valid(draw)
    while (
        not all(arguments.inputs[name].size for name in (low, high))
        or 0 in arguments.inputs["shape"]
    ):
        arguments = valid(draw)
    least = np.maximum(arguments.inputs[low].max(), np.float16(9)).astype(
        arguments.inputs[low].dtype
    )
    shape = arguments.inputs[low].shape
    wrong = {low: np.broadcast_to(least, shape), high: np.full_like(arguments.inputs[high], -9)}
    return changed(draw, arguments, "run", **wrong)


@fault
def turned_interval(draw: Draw, low: str, high: str) -> Fault:
    """An interval whose ends are exchanged, of more than no numbers."""
    arguments = valid(draw)
    while 0 in arguments.inputs["shape"]:
        arguments = valid(draw)
    ends = {low: arguments.inputs[high], high: arguments.inputs[low]}
    return changed(draw, arguments, "run", **ends)


@fault
def negative_size(draw: Draw, shape: str) -> Fault:
    """A shape with a negative dimension."""
    return changed(draw, valid(draw), "run", **{shape: draw.integers(shape, [2, -1])})


@fault
def negative_count(draw: Draw, count: str) -> Fault:
    """Less than no samples."""
    return changed(draw, valid(draw), "values", **{count: draw.integers(count, -1)})


@fault
def more_parameters(draw: Draw, shape: str, parameters: str) -> Fault:
    """Parameters of more dimensions than the shape that is asked for."""
    arguments = valid(draw)
    given = arguments.inputs[parameters]
    sizes = draw.integers(shape, given.shape)
    return changed(draw, arguments, "run", **{shape: sizes, parameters: np.stack([given] * 2)})
