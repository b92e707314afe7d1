"""Optional: values or none, as one value of dtype variant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["Optional"]


class Optional:
    """Some values, or none.

    Args:
      values: the values; None if it has none.
      dtypes: the name of the dtype of each.

    """

    def __init__(self, values: tuple[Any, ...] | None, dtypes: Sequence[str] = ()) -> None:
        self.values = values
        self.dtypes = dtypes

    def mapped(self, function: Callable[[Any], Any]) -> Optional:
        """An optional of the results of a function of the values; an empty optional unchanged."""
        if self.values is None:
            return self
        return Optional(tuple(map(function, self.values)), self.dtypes)

    def joined(self, other: Optional, function: Callable[[Any, Any], Any]) -> Optional:
        """An optional of the function's results for the values of two optionals.

        Raises:
          InvalidArgument: only one of them has values, or their numbers differ.

        """
        if self.values is None and other.values is None:
            return self
        if self.values is None or other.values is None or len(self.values) != len(other.values):
            text = "Cannot add optionals: only one has a value, or they have other numbers of them."
            raise InvalidArgument(text)
        return Optional(tuple(map(function, self.values, other.values)), self.dtypes)
