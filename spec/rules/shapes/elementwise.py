"""Shape rules of operations that work element by element."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import Shape, ShapeError, broadcast_shapes, merge, rule

__all__: list[str] = []


@rule
def same(shape: Shape) -> list[Shape]:
    """The input's shape."""
    return [shape]


@rule
def each(shapes: Sequence[Shape]) -> list[Shape]:
    """Each input's shape."""
    return list(shapes)


@rule
def broadcast(*shapes: Shape) -> list[Shape]:
    """The shape that all inputs broadcast to."""
    return [broadcast_shapes(*shapes)]


@rule
def broadcast_equal(x: Shape, y: Shape, incompatible_shape_error: bool) -> list[Shape]:
    """The broadcast shape; if unlike shapes are no error, a scalar (false) for them."""
    if incompatible_shape_error:
        return [broadcast_shapes(x, y)]
    try:
        whole = broadcast_shapes(x, y)
    except ShapeError:
        return [()]
    return [whole if whole is not None and None not in whole else None]


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
    whole = merge(t, e)
    if condition is None or not condition or whole is None:
        return [whole]
    if len(condition) == 1 and len(whole) != 1:
        if not whole:
            raise ShapeError("A vector condition needs t and e of rank 1 at least")
        merge(condition, whole[:1])
        return [whole]
    return [merge(whole, condition)]


@rule
def string_join(shapes: Sequence[Shape]) -> list[Shape]:
    """The one shape of all inputs that are no scalars."""
    if any(shape is None for shape in shapes):
        return [None]
    return [functools.reduce(merge, [shape for shape in shapes if shape], None)
            if any(shapes) else ()]  # fmt: skip
