"""Faults of decompositions and systems of linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.solving import computed_dtype
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid

__all__: list[str] = []


@fault
def not_square(draw: Draw, matrix: str, seen: Seen = "shapes") -> Fault:
    """Matrices with one row more than columns."""
    computed_dtype(draw)
    arguments = valid(draw)
    size = arguments.inputs[matrix].shape[-1]
    replaced: dict[str, Any] = {matrix: draw.tensor(matrix, (size + 1, size), "unit")}
    return changed(draw, arguments, seen, **replaced)


@fault
def no_matrix(draw: Draw, matrix: str, seen: Seen = "shapes") -> Fault:
    """A vector instead of matrices."""
    computed_dtype(draw)
    arguments = valid(draw)
    replaced: dict[str, Any] = {matrix: draw.tensor(matrix, (3,), "positive")}
    return changed(draw, arguments, seen, **replaced)


@fault
def singular_matrix(draw: Draw, matrix: str) -> Fault:
    """One of the matrices is all zeros; none of them is empty."""
    arguments = valid(draw)
    while arguments.inputs[matrix].shape[-1] == 0 or any(
        not value.size for value in arguments.inputs.values()
    ):
        arguments = valid(draw)
    return changed(draw, arguments, "run", **{matrix: np.zeros_like(arguments.inputs[matrix])})


@fault
def unlike_rows(draw: Draw, matrix: str, rhs: str, seen: Seen = "shapes") -> Fault:
    """A right-hand side of two rows more."""
    del matrix
    arguments = valid(draw)
    shape = arguments.inputs[rhs].shape
    longer = (*shape[:-2], shape[-2] + 2, shape[-1])
    replaced: dict[str, Any] = {rhs: draw.tensor(rhs, longer, "positive")}
    return changed(draw, arguments, seen, **replaced)


@fault
def negative_weight(draw: Draw, weight: str) -> Fault:
    """A regularizer below zero."""
    arguments = valid(draw)
    while any(not value.size for value in arguments.inputs.values()):
        arguments = valid(draw)
    return changed(draw, arguments, "run", **{weight: np.array(-1.0)})
