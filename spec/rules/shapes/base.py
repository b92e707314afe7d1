"""What every shape rule is made of: shapes, their errors, merging and broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = ["RULES", "Dim", "Shape", "ShapeError", "Value", "at_least", "axis_index",
           "broadcast_shapes", "merge", "merge_dims", "product", "rule", "with_rank"]  # fmt: skip

Dim = int | None
#: The dimensions, None for an unknown one; None for an unknown rank.
Shape = tuple[Dim, ...] | None
#: A tensor's value as an ndarray where it is known while the graph is built, else None.
Value = Any

RuleFunction = Callable[..., list[Shape]]

RULES: Final[dict[str, RuleFunction]] = {}


class ShapeError(ValueError):
    """The shapes (or values known so far) of an operation's inputs contradict its rule."""


def rule(function: RuleFunction) -> RuleFunction:
    """Register a shape rule under its name, without a trailing underscore."""
    RULES[function.__name__.rstrip("_")] = function
    return function


def merge_dims(a: Dim, b: Dim) -> Dim:
    """The one dimension that both are.

    Raises:
      ShapeError: both are known and differ.

    """
    if a is None or b is None or a == b:
        return a if b is None else b
    raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")


def merge(a: Shape, b: Shape) -> Shape:
    """The one shape that both are.

    Raises:
      ShapeError: ranks or known dimensions differ.

    """
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b):
        raise ShapeError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    return tuple(merge_dims(x, y) for x, y in zip(a, b, strict=True))


def with_rank(shape: Shape, rank: int, what: str) -> tuple[Dim, ...]:
    """The shape, of exactly that rank.

    Raises:
      ShapeError: it has another rank.

    """
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ShapeError(f"Shape must be rank {rank} but is rank {len(shape)} for {what}")
    return shape


def at_least(shape: Shape, rank: int) -> Shape:
    """The shape, if its rank is at least `rank` or unknown.

    Raises:
      ShapeError: its rank is less.

    """
    if shape is not None and len(shape) < rank:
        raise ShapeError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def axis_index(axis: int, rank: int) -> int:
    """The axis counted from the front.

    Raises:
      ShapeError: it is not in [-rank, rank).

    """
    if not -rank <= axis < rank:
        raise ShapeError(f"Axis {axis} must be in the range [{-rank}, {rank})")
    return axis + rank if axis < 0 else axis


def product(dims: Sequence[Dim]) -> Dim:
    """The number of elements; None if a dimension is unknown and none is zero."""
    total, known = 1, True
    for dim in dims:
        if dim is None:
            known = False
        else:
            total *= dim
    return total if known else None


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to.

    Raises:
      ShapeError: two dimensions differ and neither is 1.

    """
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    rank = max((len(shape) for shape in known), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in known]
    return tuple(_broadcast_dims(dims) for dims in zip(*padded, strict=True))


def _broadcast_dims(dims: Sequence[Dim]) -> Dim:
    wide = {dim for dim in dims if dim is not None and dim != 1}
    if len(wide) > 1:
        small, large = sorted(wide)[:2]
        raise ShapeError(f"Dimensions must be equal, but are {small} and {large}")
    if wide:
        return wide.pop()
    return None if None in dims else 1
