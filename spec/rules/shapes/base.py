"""What every shape rule is made of: shapes, their errors, merging and broadcasting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "MAX_RANK",
    "RULES",
    "Dim",
    "Known",
    "Shape",
    "ShapeError",
    "Value",
    "as_dim",
    "as_dims",
    "at_least",
    "axis_index",
    "broadcast_dims",
    "broadcast_shapes",
    "check_size",
    "exactly",
    "merge",
    "merge_dims",
    "product",
    "ranked",
    "rule",
    "size_of",
    "with_rank",
]

Dim = int | None
#: The dimensions, None for an unknown one; None for an unknown rank.
Shape = tuple[Dim, ...] | None
#: A tensor's value as an ndarray where it is known while the graph is built, else None.
Value = Any

#: Limits of TensorFlow's own shapes.
MAX_RANK: Final = 254
MAX_COUNT: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Known:
    """An input whose value says more than its shape: both, as far as they are known."""

    shape: Shape
    value: Value

    def elements(self, count: int) -> Sequence[Dim]:
        """The `count` elements as integers, each None where the value is not known."""
        if self.value is None:
            return [None] * count
        return [int(n) for n in self.value.reshape(-1).tolist()]


RuleFunction = Callable[..., list[Shape]]

RULES: Final[dict[str, RuleFunction]] = {}


class ShapeError(ValueError):
    """The shapes (or values known so far) of an operation's inputs contradict its rule.

    `is_internal` tells the few of them that TensorFlow takes for an error of its own, INTERNAL;
    `is_of_value` those that it finds before it asks the rule, so that they name no operation.
    """

    is_internal = False
    is_of_value = False


def not_a_size(size: int) -> ShapeError:
    """The error for a shape that is given as a tensor with this negative size in it."""
    error = ShapeError(f"Invalid value in tensor used for shape: {size}")
    error.is_of_value = True
    return error


def as_dims(sizes: Sequence[Dim]) -> tuple[Dim, ...]:
    """The dimensions that sizes denote: -1 stands for an unknown one.

    Raises:
      ShapeError: another is negative.

    """
    dims: list[Dim] = []
    for size in sizes:
        if size is not None and size < -1:
            raise not_a_size(size)
        dims.append(None if size == -1 else size)
    return tuple(dims)


def as_dim(size: Dim) -> Dim:
    """The dimension that one number of several denotes: -1 stands for an unknown one.

    Raises:
      ShapeError: another is negative.

    """
    if size is not None and size < -1:
        error = ShapeError(f"Dimension {size} must be >= 0")
        error.is_of_value = True
        raise error
    return None if size == -1 else size


def size_of(scalar: Value, index: int) -> Dim:
    """The dimension that the scalar input of that place denotes, which cannot be unknown.

    Raises:
      ShapeError: it is negative.

    """
    size = None if scalar is None else int(scalar.item())
    if size is not None and size < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input {index}, must be non-negative but is {size}"
        )
    return size


def rule(function: RuleFunction) -> RuleFunction:
    """Register a shape rule under its name, without a trailing underscore."""
    name = function.__name__.rstrip("_")
    if name in RULES:
        raise ValueError(f"two shape rules are called {name}")
    RULES[name] = function
    return function


def merge_dims(a: Dim, b: Dim) -> Dim:
    """The one dimension that both are.

    Raises:
      ShapeError: both are known and differ.

    """
    if a is None or b is None or a == b:
        return a if b is None else b
    raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")


def exactly(dim: Dim, size: int) -> None:
    """Check that a dimension could be of that size.

    Raises:
      ShapeError: it is known to be of another.

    """
    if dim is not None and dim != size:
        raise ShapeError(f"Dimension must be {size} but is {dim}")


def merge(a: Shape, b: Shape) -> Shape:
    """The one shape that both are.

    Raises:
      ShapeError: ranks or known dimensions differ.

    """
    if a is None or b is None:
        return a if b is None else b
    if a == b:  # as most are
        return a
    if len(a) != len(b):
        raise ShapeError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise ShapeError(
                f"Dimension {index} in both shapes must be equal, but are {x} and "
                f"{y}. Shapes are {_spelled(a)} and {_spelled(b)}."
            )
    return tuple(merge_dims(x, y) for x, y in zip(a, b, strict=True))


def _spelled(shape: Sequence[Dim]) -> str:
    return "[" + ",".join("?" if dim is None else str(dim) for dim in shape) + "]"


def with_rank(shape: Shape, rank: int) -> tuple[Dim, ...]:
    """The shape, of exactly that rank.

    Raises:
      ShapeError: it has another rank.

    """
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ShapeError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def at_least(shape: Shape, rank: int) -> Shape:
    """The shape, if its rank is at least `rank` or unknown.

    Raises:
      ShapeError: its rank is less.

    """
    if shape is not None and len(shape) < rank:
        raise ShapeError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def check_size(shape: Sequence[Dim]) -> None:
    """Check that a tensor could have so many dimensions and elements, as far as they are known.

    Args:
      shape: the dimensions; None or -1 for an unknown one.

    Raises:
      ShapeError: there are more than 254 dimensions, or 2**63 elements and more.

    """
    if len(shape) > MAX_RANK:
        raise ShapeError(f"A shape has {MAX_RANK} dimensions at most, not {len(shape)}")
    count = 1
    for dim in shape:
        if dim is None or dim < 0:
            return
        count *= dim
        if count > MAX_COUNT:
            raise ShapeError(f"Shape {list(shape)} is too large (more than 2**63 - 1 entries)")


def axis_index(axis: int, rank: int, refusal: str = "") -> int:
    """The axis counted from the front.

    Args:
      axis: counted from the front or, if negative, from the back.
      rank: how many axes there are.
      refusal: what is said of one that is not there, with `{axis}` and `{rank}` in it; by default
        that the tensor lacks dimensions.

    Raises:
      ShapeError: it is not in [-rank, rank).

    """
    if not -rank <= axis < rank:
        least = axis + 1 if axis >= 0 else -axis
        said = refusal or f"Shape must be at least rank {least} but is rank {rank}"
        raise ShapeError(said.format(axis=axis, rank=rank))
    return axis + rank if axis < 0 else axis


def product(dims: Sequence[Dim]) -> Dim:
    """The number of elements; None if a dimension is unknown and none is zero."""
    total, known = 1, True
    for dim in dims:
        if dim is None:
            known = False
        else:
            total *= dim
    return total if known or total == 0 else None


def ranked(shape: Shape, least: int, most: int) -> Shape:
    """The shape, if its rank is unknown or one of least to most.

    Raises:
      ShapeError: it is another.

    """
    if shape is not None and not least <= len(shape) <= most:
        kind = "" if least == most else "at least " if len(shape) < least else "at most "
        bound = least if len(shape) < least else most
        raise ShapeError(f"Shape must be {kind}rank {bound} but is rank {len(shape)}")
    return shape


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to, as far as it is certain.

    Raises:
      ShapeError: two known dimensions differ and neither is 1.

    """
    return functools.reduce(_broadcast_pair, shapes) if shapes else ()


def _broadcast_pair(x: Shape, y: Shape) -> Shape:
    if x is None or y is None:
        return None
    if not x or x == y:  # as most are
        return y
    if not y:
        return x
    rank = max(len(x), len(y))
    pairs = zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True)
    return tuple(broadcast_dims(*pair) for pair in pairs)


def broadcast_dims(a: Dim, b: Dim) -> Dim:
    """The dimension that both broadcast to; beside an unknown one, 0 is not certain.

    Raises:
      ShapeError: both are known, differ, and neither is 1.

    """
    if a == 1:
        return b
    if b in {1, a}:
        return a
    if a is None or b is None:
        return (a or b) or None
    raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")
