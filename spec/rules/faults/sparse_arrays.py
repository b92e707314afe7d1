"""Faults of operations on whole sparse tensors: parts, shapes and axes that do not go together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def unlike_sizes(draw: Draw, shape: str) -> Fault:
    """A shape that is larger than the other one in its first dimension."""
    made = valid(draw)
    whole = made.inputs[shape].copy()
    whole[0] += 1
    return changed(draw, made, "run", **{shape: whole})


@fault
def unlike_beside(draw: Draw, shapes: str, axis: str) -> Fault:
    """Shapes of which the last is larger beside the axis that they are joined along."""
    made = valid(draw)
    while len(made.inputs[shapes][0]) == 1:
        made = valid(draw)
    *rest, whole = made.inputs[shapes]
    whole = whole.copy()
    whole[(made.attrs[axis] + 1) % len(whole)] += 1
    return changed(draw, made, "run", **{shapes: [*rest, whole]})


@fault
def sparse_axis(draw: Draw, shape: str, axis: str) -> Fault:
    """An axis beyond the shape, which is an input or an attribute."""
    made = valid(draw)
    given: Any = made.inputs[shape]
    rank = len(given[0] if isinstance(given, list) else given)
    place = draw.random.choice((rank, rank + 2, -rank - 1))
    if axis in made.attrs:
        return Fault(Arguments(made.inputs, {**made.attrs, axis: place}), seen="run")
    wrong = draw.integers(axis, place if made.inputs[axis].ndim == 0 else [place])
    return changed(draw, made, "run", **{axis: wrong})


@fault
def too_many_parts(draw: Draw, shape: str, axis: str, number: str) -> Fault:
    """More parts than the axis has places."""
    made = valid(draw)
    size = int(made.inputs[shape][int(made.inputs[axis])])
    parts = size + draw.random.randint(1, 2)
    return Fault(Arguments(made.inputs, {**made.attrs, number: parts}), seen="run")


@fault
def other_size(draw: Draw, shape: str, new_shape: str) -> Fault:
    """A shape of other elements: twice as many in a dimension, or two unknown ones."""
    made = valid(draw)
    given = made.inputs[shape]
    wrong = draw.random.choice(([-1, -1], [*(given[:-1]), given[-1] * 2 + 1], [-2]))
    return changed(draw, made, "run", **{new_shape: draw.integers(new_shape, wrong)})


@fault
def row_range(draw: Draw, indices: str, values: str, shape: str) -> Fault:
    """A row that is below 0, or not below the number of rows."""
    made = valid(draw)
    rows = made.inputs[shape][0]
    place = [draw.random.choice((-1, int(rows))), *(0 for _ in made.inputs[shape][1:])]
    return changed(
        draw,
        made,
        "run",
        **{
            indices: draw.integers(indices, [place]),
            values: draw.tensor(values, (1,), "plain"),
        },
    )


@fault
def place_range(draw: Draw, places: str, values: str) -> Fault:
    """A place below 0, or one after the last value."""
    made = valid(draw)
    count = len(made.inputs[values])
    wrong = draw.integers(places, [draw.random.choice((-1, count))])
    return changed(draw, made, "run", **{places: wrong})


@fault
def unlike_columns(draw: Draw, dense: str) -> Fault:
    """Two dense columns, of which one has a row more."""
    made = valid(draw)
    attrs = {**made.attrs, "dense_types": ("int64", "int64")}
    if "internal_type" in attrs:
        attrs["internal_type"] = "int64"
    columns = [np.ones((rows, 2), np.int64) for rows in (5, 6)]
    return Fault(Arguments({**made.inputs, dense: columns}, attrs), seen="run")


@fault
def unlike_parts(draw: Draw, indices: str) -> Fault:
    """A sparse column with an index more than it has values."""
    draw.attrs |= {"N": 1}
    made = valid(draw)
    while not made.inputs[indices]:
        made = valid(draw)
    first, *rest = made.inputs[indices]
    more = np.concatenate([first, np.zeros((1, 2), np.int64)])
    return changed(draw, made, "run", **{indices: [more, *rest]})


@fault
def no_stretch(draw: Draw, shape: str, dense: str) -> Fault:
    """A dense tensor that does not broadcast to the sparse one's shape."""
    made = valid(draw)
    whole = [int(size) for size in made.inputs[shape]]
    wrong = draw.random.choice(([*whole[:-1], whole[-1] + 2], [2, *whole]))
    return changed(draw, made, "run", **{dense: draw.tensor(dense, wrong, "positive")})


@fault
def inner_size(draw: Draw, b: str, turn: str) -> Fault:
    """A dense matrix of one row more than the sparse one has columns."""
    draw.attrs[turn] = False
    made = valid(draw)
    rows, columns = made.inputs[b].shape
    return changed(draw, made, "values", **{b: draw.tensor(b, (rows + 1, columns), "plain")})
