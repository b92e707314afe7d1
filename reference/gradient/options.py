"""Options of `gradients`: how gradients are summed, and what an unconnected source gets."""

from __future__ import annotations

import enum
from typing import Final

from sessrun.reference.public import public

__all__ = ["AggregationMethod", "UnconnectedGradients"]


@public("AggregationMethod")
class AggregationMethod:
    """How several gradients of one tensor are summed.

    Attributes:
      ADD_N: all in one sum, once all are computed.
      DEFAULT: the same.
      EXPERIMENTAL_TREE: two at a time.
      EXPERIMENTAL_ACCUMULATE_N: two at a time, too.

    """

    ADD_N: Final = 0
    DEFAULT: Final = ADD_N
    EXPERIMENTAL_TREE: Final = 1
    EXPERIMENTAL_ACCUMULATE_N: Final = 2


@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is by a tensor that the differentiated one does not depend on."""

    NONE = "none"
    ZERO = "zero"
