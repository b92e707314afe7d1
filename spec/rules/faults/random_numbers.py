"""Faults of random numbers of seeds, and of keys and counters."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault
from sessrun.spec.rules.faults.elementwise import valid

__all__: list[str] = []


@fault
def wrong_seeds(draw: Draw, seed: str) -> Fault:
    """Three seeds, or one."""
    made = valid(draw)
    seeds = draw.random.choice(([1, 2, 3], [1]))
    return changed(draw, made, "shapes", **{seed: draw.integers(seed, seeds)})


@fault
def unknown_algorithm(draw: Draw, alg: str) -> Fault:
    """The number of no algorithm."""
    made = valid(draw)
    return changed(draw, made, "run", **{alg: draw.integers(alg, 7)})


@fault
def bounds_turned(draw: Draw, low: str, high: str) -> Fault:
    """A least number that is not below the greatest."""
    made = valid(draw)
    while not all(made.inputs[name].size for name in (low, high)) or 0 in made.inputs["shape"]:
        made = valid(draw)
    least = np.maximum(made.inputs[low].max(), np.float16(9)).astype(made.inputs[low].dtype)
    shape = made.inputs[low].shape
    wrong = {low: np.broadcast_to(least, shape), high: np.full_like(made.inputs[high], -9)}
    return changed(draw, made, "run", **wrong)
