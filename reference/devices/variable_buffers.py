"""VariableBuffer: the memory of one variable on its device. Clauses: VARIABLES."""

from __future__ import annotations

import threading
from typing import Any

from sessrun.reference.base.kernel_errors import FailedPrecondition

__all__ = ["VariableBuffer"]


class VariableBuffer:
    """The memory of one reference variable.

    An array in `value` is never written to while anything else refers to it, so that a value that
    was read does not change. An update stores a new array, under `lock` if it uses locking; or it
    takes the array out of `value`, always under `lock`, changes it, and puts it back.

    Attributes:
      name: the node's name, for messages.
      value: the array, or None while uninitialised or taken out.
      lock: held by updates that use locking.

    """

    __slots__ = ("lock", "name", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.lock = threading.RLock()

    def peek(self) -> Any:
        """The array, or None while uninitialised."""
        value = self.value
        if value is None:  # an update may have taken it out, while it holds the lock
            with self.lock:
                value = self.value
        return value

    def read(self) -> Any:
        """The array.

        Raises:
          FailedPrecondition: the variable is uninitialized; the message names it.

        """
        value = self.value
        if value is None and (value := self.peek()) is None:
            raise FailedPrecondition(f"Attempting to use uninitialized value {self.name}")
        return value
