"""Faults of sparse tensors: places that there are not, or in the wrong order, other parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid

__all__: list[str] = []


def _with_places(
    draw: Draw, parts: tuple[str, str, str], places: list[list[int]], size: int
) -> Fault:
    """Valid arguments whose sparse tensor has these places in a shape of equal sizes."""
    draw.attrs |= {"validate_indices": True}
    arguments = valid(draw)
    indices, values, shape = parts
    rank = len(arguments.inputs[shape])
    rows = [(row * rank)[:rank] for row in places]
    replaced: dict[str, Any] = {
        indices: np.array(rows, np.int64).reshape(len(rows), rank),
        values: draw.tensor(values, (len(rows),), "any"),
        shape: np.array([size] * rank, np.int64),
    }
    return changed(draw, arguments, "run", **replaced)


@fault
def index_out_of_range(draw: Draw, indices: str, values: str, shape: str) -> Fault:
    """An index that is below 0, or not below its dimension."""
    index = draw.random.choice((-1, 3))
    return _with_places(draw, (indices, values, shape), [[index]], 3)


@fault
def places_out_of_order(draw: Draw, indices: str, values: str, shape: str) -> Fault:
    """An index before a lower one."""
    return _with_places(draw, (indices, values, shape), [[2], [1]], 3)


@fault
def other_rows(draw: Draw, first: str, seen: Seen = "shapes") -> Fault:
    """A tensor with more rows than the other one, whose shape may be a value."""
    arguments = valid(draw)
    shape = arguments.inputs[first].shape
    more: Any = draw.tensor(first, (shape[0] + 1, *shape[1:]), "any")
    return changed(draw, arguments, seen, **{first: more})


@fault
def unsorted_segments(draw: Draw, segment_ids: str) -> Fault:
    """Segment ids that fall."""
    arguments = valid(draw)
    return changed(draw, arguments, "run", **_gathered(draw, arguments, segment_ids, [1, 0]))


@fault
def gathered_range(draw: Draw, indices: str) -> Fault:
    """A row that there is not."""
    arguments = valid(draw)
    places = [draw.random.choice((-1, 1000)), 0]
    return changed(draw, arguments, "run", **_gathered(draw, arguments, indices, places))


def _gathered(draw: Draw, arguments: Arguments, name: str, values: list[int]) -> dict[str, Any]:
    """Two gathered rows of which one input has these values; there are segments enough."""
    replaced = {
        input_name: draw.integers(input_name, [0, 0]) for input_name in ("indices", "segment_ids")
    }
    if "num_segments" in arguments.inputs:
        replaced["num_segments"] = draw.integers("num_segments", 5)
    return {**replaced, name: draw.integers(name, values)}
