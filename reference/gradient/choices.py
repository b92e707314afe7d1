"""How gradients are summed, and what stands for one that is not there."""

from __future__ import annotations

import enum
from typing import Final

from sessrun.reference.public import public

__all__ = ["AggregationMethod", "UnconnectedGradients"]


@public("AggregationMethod")
class AggregationMethod:
    """How the gradients that reach one tensor by several ways are summed.

    Attributes:
      ADD_N: all at once, when all are there.
      DEFAULT: the same.
      EXPERIMENTAL_TREE: two at a time.
      EXPERIMENTAL_ACCUMULATE_N: each as it comes.

    """

    ADD_N: Final = 0
    DEFAULT: Final = ADD_N
    EXPERIMENTAL_TREE: Final = 1
    EXPERIMENTAL_ACCUMULATE_N: Final = 2


@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is of a tensor that the differentiated one does not depend on."""

    NONE = "none"
    ZERO = "zero"
