"""Integer inputs in host memory that must be a scalar or a vector."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import ints, scalar_int

__all__ = ["one_number", "vector_of"]


def one_number(given: Array, refusal: str) -> int:
    """The integer of a scalar in host memory.

    Args:
      given: the input.
      refusal: the message if the input is no scalar; `{}` stands for its shape.

    Raises:
      InvalidArgument: the input is no scalar.

    """
    if given.ndim:
        raise InvalidArgument(refusal.format(bracketed(given.shape)))
    return scalar_int(given)


def vector_of(given: Array, name: str) -> list[int]:
    """The integers of a vector in host memory.

    Raises:
      InvalidArgument: the input is no vector.

    """
    if given.ndim != 1:
        raise InvalidArgument(f"{name} must be a vector, got shape {bracketed(given.shape)}")
    return ints(given)
