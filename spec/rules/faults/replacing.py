"""Faults of tensors of which a part is replaced, and of indices of shapes."""

from __future__ import annotations

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def two_axes(draw: Draw, axis: str) -> Fault:
    """Two axes where one may be."""
    arguments = valid(draw)
    return changed(draw, arguments, "values", **{axis: draw.integers(axis, [0, 0])})


@fault
def index_of_no_element(draw: Draw, indices: str) -> Fault:
    """An index that is larger than there are elements."""
    arguments = valid(draw)
    return changed(draw, arguments, "run", **{indices: draw.integers(indices, [10_000])})
