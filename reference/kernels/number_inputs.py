"""Integer inputs in host memory that must be a scalar or a vector."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import ints, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank

__all__ = ["one_number", "vector_of"]


def one_number(given: Array, name: str) -> int:
    """The integer of a scalar in host memory.

    Raises:
      InvalidArgument: the input of that name is no scalar.

    """
    require_rank(0, **{name: given})
    return scalar_int(given)


def vector_of(given: Array, name: str) -> list[int]:
    """The integers of a vector in host memory.

    Raises:
      InvalidArgument: the input of that name is no vector.

    """
    require_rank(1, **{name: given})
    return ints(given)
