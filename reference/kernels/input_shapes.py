"""What shapes kernels demand of their inputs."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed

__all__ = ["require_rank", "require_rank_at_least", "require_same_shape"]

_RANKS: Final = ("a scalar", "a vector", "a matrix")


def require_rank(rank: int, **inputs: Array) -> None:
    """Check the rank of inputs, by their names.

    Raises:
      InvalidArgument: one is of another rank.

    """
    for name, given in inputs.items():
        if given.ndim != rank:
            kind = _RANKS[rank] if rank < len(_RANKS) else f"of rank {rank}"
            raise InvalidArgument(f"{name} must be {kind}, got shape {bracketed(given.shape)}")


def require_rank_at_least(rank: int, **inputs: Array) -> None:
    """Check that inputs have so many dimensions, or more.

    Raises:
      InvalidArgument: one has less.

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
    shapes = {name: tuple(given.shape) for name, given in inputs.items()}
    if len(set(shapes.values())) > 1:
        texts = (f"{name}: {bracketed(shape)}" for name, shape in shapes.items())
        raise InvalidArgument(f"These must have one shape: {', '.join(texts)}")
