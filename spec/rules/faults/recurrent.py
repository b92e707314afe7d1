"""Faults of cells of recurrent networks: sizes that do not go together."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault
from sessrun.spec.rules.faults.elementwise import valid

__all__: list[str] = []


@fault
def longer_bias(draw: Draw, bias: str) -> Fault:
    """One number more than the gates have units."""
    made = valid(draw)
    values = made.inputs[bias]
    return changed(draw, made, "run", **{bias: np.append(values, values[:1])})


@fault
def other_examples(draw: Draw, state: str) -> Fault:
    """A state of one example more than there are inputs."""
    made = valid(draw)
    values = made.inputs[state]
    return changed(draw, made, "run", **{state: np.concatenate([values, values[:1]])})


@fault
def flat_state(draw: Draw, state: str) -> Fault:
    """The state of one example, without the dimension of examples."""
    made = valid(draw)
    return changed(draw, made, "run", **{state: made.inputs[state][0]})
