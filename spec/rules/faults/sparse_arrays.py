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
    arguments = valid(draw)
    dense_shape = arguments.inputs[shape].copy()
    dense_shape[0] += 1
    return changed(draw, arguments, "run", **{shape: dense_shape})


@fault
def unlike_beside(draw: Draw, shapes: str, axis: str) -> Fault:
    """Shapes of which the last is larger beside the axis that they are joined along."""
    arguments = valid(draw)
    while len(arguments.inputs[shapes][0]) == 1:
        arguments = valid(draw)
    *rest, dense_shape = arguments.inputs[shapes]
    dense_shape = dense_shape.copy()
    dense_shape[(arguments.attrs[axis] + 1) % len(dense_shape)] += 1
    return changed(draw, arguments, "run", **{shapes: [*rest, dense_shape]})


@fault
def sparse_axis(draw: Draw, shape: str, axis: str) -> Fault:
    """An axis beyond the shape, which is an input or an attribute."""
    arguments = valid(draw)
    given: Any = arguments.inputs[shape]
    rank = len(given[0] if isinstance(given, list) else given)
    wrong_axis = draw.random.choice((rank, rank + 2, -rank - 1))
    if axis in arguments.attrs:
        return Fault(Arguments(arguments.inputs, {**arguments.attrs, axis: wrong_axis}), seen="run")
    wrong = draw.integers(axis, wrong_axis if arguments.inputs[axis].ndim == 0 else [wrong_axis])
    return changed(draw, arguments, "run", **{axis: wrong})


@fault
def too_many_parts(draw: Draw, shape: str, axis: str, number: str) -> Fault:
    """More parts than the axis has places."""
    arguments = valid(draw)
    size = int(arguments.inputs[shape][int(arguments.inputs[axis])])
    parts = size + draw.random.randint(1, 2)
    return Fault(Arguments(arguments.inputs, {**arguments.attrs, number: parts}), seen="run")


@fault
def other_size(draw: Draw, shape: str, new_shape: str) -> Fault:
    """A shape of other elements: twice as many in a dimension, or two unknown ones."""
    arguments = valid(draw)
    given = arguments.inputs[shape]
    wrong = draw.random.choice(([-1, -1], [*(given[:-1]), given[-1] * 2 + 1], [-2]))
    return changed(draw, arguments, "run", **{new_shape: draw.integers(new_shape, wrong)})


@fault
def row_range(draw: Draw, indices: str, values: str, shape: str) -> Fault:
    """A row that is below 0, or not below the number of rows."""
    arguments = valid(draw)
    rows = arguments.inputs[shape][0]
    index = [draw.random.choice((-1, int(rows))), *(0 for _ in arguments.inputs[shape][1:])]
    return changed(
        draw,
        arguments,
        "run",
        **{
            indices: draw.integers(indices, [index]),
            values: draw.tensor(values, (1,), "plain"),
        },
    )


@fault
def position_range(draw: Draw, places: str, values: str) -> Fault:
    """A place below 0, or one after the last value."""
    arguments = valid(draw)
    count = len(arguments.inputs[values])
    wrong = draw.integers(places, [draw.random.choice((-1, count))])
    return changed(draw, arguments, "run", **{places: wrong})


@fault
def unlike_columns(draw: Draw, dense: str) -> Fault:
    """Two dense columns, of which one has a row more."""
    arguments = valid(draw)
    attrs = {**arguments.attrs, "dense_types": ("int64", "int64")}
    if "internal_type" in attrs:
        attrs["internal_type"] = "int64"
    columns = [np.ones((rows, 2), np.int64) for rows in (5, 6)]
    return Fault(Arguments({**arguments.inputs, dense: columns}, attrs), seen="run")


@fault
def unlike_parts(draw: Draw, indices: str) -> Fault:
    """A sparse column with an index more than it has values."""
    draw.attrs |= {"N": 1}
    arguments = valid(draw)
    while not arguments.inputs[indices]:
        arguments = valid(draw)
    first, *rest = arguments.inputs[indices]
    more = np.concatenate([first, np.zeros((1, 2), np.int64)])
    return changed(draw, arguments, "run", **{indices: [more, *rest]})


@fault
def no_stretch(draw: Draw, shape: str, dense: str) -> Fault:
    """A dense tensor that does not broadcast to the sparse one's shape."""
    arguments = valid(draw)
    dense_shape = [int(size) for size in arguments.inputs[shape]]
    wrong = draw.random.choice(([*dense_shape[:-1], dense_shape[-1] + 2], [2, *dense_shape]))
    return changed(draw, arguments, "run", **{dense: draw.tensor(dense, wrong, "positive")})


@fault
def inner_size(draw: Draw, b: str, turn: str) -> Fault:
    """A dense matrix of one row more than the sparse one has columns."""
    draw.attrs[turn] = False
    arguments = valid(draw)
    rows, columns = arguments.inputs[b].shape
    return changed(draw, arguments, "values", **{b: draw.tensor(b, (rows + 1, columns), "plain")})
