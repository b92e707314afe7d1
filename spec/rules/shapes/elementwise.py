"""Shape rules of operations that work element by element."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Shape,
    ShapeError,
    broadcast_dims,
    broadcast_shapes,
    merge,
    rule,
    with_rank,
)

__all__: list[str] = []


@rule
def same(shape: Shape) -> list[Shape]:
    """The input's shape."""
    return [shape]


@rule
def same_twice(shape: Shape) -> list[Shape]:
    """The input's shape, of two outputs."""
    return [shape, shape]


@rule
def shapes_of_inputs(shapes: Sequence[Shape]) -> list[Shape]:
    """Each input's shape."""
    return list(shapes)


@rule
def broadcast(*shapes: Shape) -> list[Shape]:
    """The shape that all inputs broadcast to."""
    return [broadcast_shapes(*shapes)]


@rule
def betainc(*shapes: Shape) -> list[Shape]:
    """The one shape of all inputs that are no scalars."""
    common: Shape = None
    for shape in shapes:
        common = common if shape == () else merge(common, shape)
    return [() if all(shape == () for shape in shapes) else common]


@rule
def broadcast_equal(x: Shape, y: Shape, incompatible_shape_error: bool) -> list[Shape]:
    """The broadcast shape; if unlike shapes are no error, a scalar (false) for them."""
    if incompatible_shape_error:
        return [broadcast_shapes(x, y)]
    if x is None or y is None:
        return [None]
    dims = []
    rank = max(len(x), len(y))
    for pair in zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True):
        if None in pair and 1 not in pair and pair != (None, None):
            return [None]
        try:
            dims.append(broadcast_dims(*pair))
        except ShapeError:
            return [()]
    return [tuple(dims)]


@rule
def broadcast_parts(shape: Shape, pos: Shape, length: Shape) -> list[Shape]:
    """The broadcast shape of texts and of the parts asked for, each by a place and a length."""
    known = pos if length is None else with_rank(pos, len(length))
    if known is not None and known != with_rank(length, len(known)):
        # Even where only one of two dimensions is unknown.
        raise ShapeError(f"pos and len shapes must match: {pos} vs. {length}")
    return [broadcast_shapes(shape, pos)]


@rule
def first_of_alike(x: Shape, y: Shape) -> list[Shape]:
    """The first input's shape, which the second has too."""
    merge(x, y)
    return [x]


@rule
def merged(shapes: Sequence[Shape]) -> list[Shape]:
    """The one shape of all inputs."""
    return [functools.reduce(merge, shapes)]


@rule
def merged_pair(x: Shape, y: Shape) -> list[Shape]:
    """The one shape of both inputs."""
    return [merge(x, y)]


@rule
def select(condition: Shape, t: Shape, e: Shape) -> list[Shape]:
    """The one shape of t and e; the condition has it too, or is a scalar or a vector of rows."""
    dims = merge(t, e)
    if condition is None or not condition or dims is None:
        return [dims]
    if len(condition) == 1 and len(dims) != 1:
        if not dims:
            raise ShapeError("A vector condition needs t and e of rank 1 at least")
        merge(condition, dims[:1])
        return [dims]
    return [merge(dims, condition)]


@rule
def string_join(shapes: Sequence[Shape]) -> list[Shape]:
    """The one shape of all inputs that are no scalars."""
    dims = functools.reduce(merge, [shape for shape in shapes if shape != ()], None)
    return [() if all(shape == () for shape in shapes) else dims]
