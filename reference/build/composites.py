"""Composite tensors, which consist of several: IndexedSlices, SparseTensor, RaggedTensor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from sessrun.reference.graph.tensor import Tensor

__all__ = ["CompositeTensor"]


class CompositeTensor:
    """A value that a run takes and gives as several tensors; its class is called with them."""

    @abstractmethod
    def parts(self) -> Sequence[Tensor]:
        """Its tensors, in the order of its class's arguments."""
        raise NotImplementedError

    def with_parts(self, parts: Sequence[Tensor]) -> Self:
        """A value of the same class with other tensors."""
        return type(self)(*parts)
