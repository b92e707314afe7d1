"""A stack of tensors as one run keeps it: what was put on it last is taken off first.

The stack is what the handle tensor holds, so that it ends with the run that made it.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError

__all__ = ["TensorStack"]

#: Stacks of one name are told apart by a number; no two of a process have the same.
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
        self._elements: list[Any] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def push(self, value: Any) -> None:
        """Put an array on it.

        Raises:
          InvalidArgument: once closed, or if it is full.

        """
        with self._lock:
            self._check_open()
            if 0 <= self._limit <= len(self._elements):
                raise self._refused(f"overflowed its max_size ({self._limit})")
            self._elements.append(value)

    def pop(self) -> Any:
        """Take off what was put on it last.

        Raises:
          InvalidArgument: once closed, or if it is empty.

        """
        with self._lock:
            self._check_open()
            if not self._elements:
                raise self._refused("is empty when calling Pop(): push a tensor in the same run")
            return self._elements.pop()

    def close(self) -> None:
        """Forget the elements; nothing but another close can be done with it any more."""
        with self._lock:
            self._elements.clear()
            self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise self._refused("has already been closed.")

    def _refused(self, message: str) -> KernelError:
        return InvalidArgument(f"Stack[{self.name}] {message}")
