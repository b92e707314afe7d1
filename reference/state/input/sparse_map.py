"""SparseMap: sparse tensors kept by number, while the numbers go through a queue."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["SparseMap"]


class SparseMap:
    """Sparse tensors by number.

    Args:
      name: the name of the resource, for messages.

    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._kept: dict[int, Any] = {}
        self._next = 0

    def add(self, sparse: Any) -> int:
        """Keep a sparse tensor; return its number, one more than the last."""
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._kept[number] = sparse
        return number

    def take(self, numbers: Sequence[int]) -> list[Any]:
        """Remove and return the sparse tensors of these numbers.

        Raises:
          InvalidArgument: a number is not known; those before it are removed, as in TensorFlow.

        """
        taken = []
        with self._lock:
            for number in numbers:
                if number not in self._kept:
                    raise InvalidArgument(
                        f"Unable to find SparseTensor: {number} in map: {self._name}"
                    )
                taken.append(self._kept.pop(number))
        return taken
