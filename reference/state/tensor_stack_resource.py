"""Stacks of tensors: the last one pushed is the first one popped.

The handle tensor holds the stack itself, so that it ends with the run that made it.
"""

from __future__ import annotations

import itertools
import threading
from typing import Final

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError

__all__ = ["TensorStack"]

#: Numbers that distinguish the stacks of the same name in a process.
_NUMBERS: Final = itertools.count()


class TensorStack:
    """A stack of tensors of one dtype.

    Args:
      name: for messages, where a number is added to it.
      dtype: the spec name of the elements' dtype.
      limit: how many elements it takes; any number if negative.

    Attributes:
      name: its name with the number.
      dtype: the spec name of the elements' dtype.

    """

    def __init__(self, name: str, dtype: str, limit: int = -1) -> None:
        self.name = f"{name}_{next(_NUMBERS)}"
        self.dtype = dtype
        self._limit = limit
        self._elements: list[object] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def push(self, value: object) -> None:
        """Push an array.

        Raises:
          InvalidArgument: the stack is closed or full.

        """
        with self._lock:
            self._check_open()
            if 0 <= self._limit <= len(self._elements):
                raise self._refused(f"overflowed its max_size ({self._limit})")
            self._elements.append(value)

    def pop(self) -> object:
        """Remove and return the array that was pushed last.

        Raises:
          InvalidArgument: the stack is closed or empty.

        """
        with self._lock:
            self._check_open()
            if not self._elements:
                raise self._refused("is empty when calling Pop(): push a tensor in the same run")
            return self._elements.pop()

    def close(self) -> None:
        """Delete the elements; the stack can only be closed again."""
        with self._lock:
            self._elements.clear()
            self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise self._refused("has already been closed.")

    def _refused(self, message: str) -> KernelError:
        return InvalidArgument(f"Stack[{self.name}] {message}")
