"""Faults of sampled classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def class_out_of_range(draw: Draw, true_classes: str) -> Fault:
    """A true class that there is not."""
    arguments = valid(draw)
    classes = arguments.inputs[true_classes].copy()
    classes[0, 0] = draw.random.choice((-1, 1000))
    return changed(draw, arguments, "run", **{true_classes: classes})


@fault
def other_columns(draw: Draw, true_classes: str) -> Fault:
    """Fewer true classes in a row than the attribute says."""
    arguments = valid(draw)
    return changed(draw, arguments, "run", **{true_classes: arguments.inputs[true_classes][:, 1:]})


@fault
def other_width(draw: Draw, true_classes: str) -> Fault:
    """Another number of true classes in a row than the attribute says."""
    arguments = valid(draw)
    replaced: dict[str, Any] = {true_classes: np.repeat(arguments.inputs[true_classes], 2, axis=1)}
    return changed(draw, arguments, **replaced)
