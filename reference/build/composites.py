"""What is made of several tensors: slices of rows, sparse tensors, rows of different lengths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

__all__ = ["CompositeTensor"]


class CompositeTensor:
    """A value that a run takes and gives as several tensors; its class is called with them."""

    @abstractmethod
    def parts(self) -> Sequence[Any]:
        """The tensors it is made of, in the order of its class's arguments."""
        raise NotImplementedError

    def with_parts(self, parts: Sequence[Any]) -> Self:
        """One of the same class, made of other tensors."""
        return type(self)(*parts)
