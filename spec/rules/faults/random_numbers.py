"""Faults of random numbers of seeds, and of keys and counters."""

from __future__ import annotations

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
