"""What shapes kernels demand of their inputs, and integer inputs in host memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import ints, scalar_int

__all__ = [
    "check_size",
    "one_number",
    "require_rank",
    "require_rank_at_least",
    "require_same_shape",
    "vector_of",
]

_RANKS: Final = ("a scalar", "a vector", "a matrix")


def require_rank(rank: int, **inputs: Array) -> None:
    """Check the rank of inputs, by their names.

    Raises:
      InvalidArgument: an input has another rank.

    """
    for name, given in inputs.items():
        if given.ndim != rank:
            kind = _RANKS[rank] if rank < len(_RANKS) else f"of rank {rank}"
            raise InvalidArgument(f"{name} must be {kind}, got shape {bracketed(given.shape)}")


def require_rank_at_least(rank: int, **inputs: Array) -> None:
    """Check that inputs have at least this rank.

    Raises:
      InvalidArgument: an input has a lower rank.

    """
    for name, given in inputs.items():
        if given.ndim < rank:
            raise InvalidArgument(
                f"{name} must have at least {rank} dimensions, got shape {bracketed(given.shape)}"
            )


def require_same_shape(**inputs: Array) -> None:
    """Check that inputs have one shape.

    Raises:
      InvalidArgument: two have different ones.

    """
    if len({given.shape for given in inputs.values()}) > 1:
        shapes = {name: given.shape for name, given in inputs.items()}
        texts = (f"{name}: {bracketed(shape)}" for name, shape in shapes.items())
        raise InvalidArgument(f"These must have one shape: {', '.join(texts)}")


def check_size(shape: Iterable[int]) -> None:
    """Check that a shape has less than 2**63 elements.

    Raises:
      KernelError: the shape has more elements.

    """
    count = 1
    for size in shape:
        if count * size >= 2**63:
            raise InvalidArgument(
                f"Encountered overflow when multiplying {count} with {size}, result: -1"
            )
        count *= size


def one_number(given: Array, name: str) -> int:
    """The integer of a scalar in host memory.

    Raises:
      InvalidArgument: the input of that name is not a scalar.

    """
    if given.ndim:
        require_rank(0, **{name: given})
    return scalar_int(given)


def vector_of(given: Array, name: str) -> list[int]:
    """The integers of a vector in host memory.

    Raises:
      InvalidArgument: the input of that name is not a vector.

    """
    require_rank(1, **{name: given})
    return ints(given)
