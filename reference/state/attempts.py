"""Attempts: requests of kernels to a shared object, such as a queue, that may have to wait.

The object serves its attempts in order, whenever its state changes, in the thread that changed it.
The run that made an attempt executes other operations while it is not over, and waits only when
no other operation can be executed.
"""

from __future__ import annotations

import threading
from typing import Any, Final, Protocol

from sessrun.reference.base.kernel_errors import KernelError

__all__ = ["DONE", "Attempt", "Served"]


class Served(Protocol):
    """An object that serves attempts."""

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over; what it took is returned, what it put in stays."""


class Attempt:
    """One attempt: over once it has a result or an error.

    Args:
      target: the object that serves it.
      result: its result, if it has succeeded at once.
      is_over: whether it has.

    Attributes:
      target: the object that serves it.
      is_over: whether it has ended; written under the target's lock.
      result: its result, None before it has one.
      error: why it failed, or None.

    """

    __slots__ = ("_wake", "error", "is_over", "result", "target")

    def __init__(self, target: Served, result: Any = None, is_over: bool = False) -> None:
        self.target = target
        self.is_over = is_over
        self.result = result
        self.error: KernelError | None = None
        self._wake: threading.Event | None = None

    def succeed(self, result: Any = None) -> None:
        """End it with a result."""
        self.result = result
        self._end()

    def fail(self, error: KernelError) -> None:
        """End it with an error, which `outcome` raises."""
        self.error = error.with_traceback(None)
        self._end()

    def tell(self, wake: threading.Event) -> None:
        """Set an event when the attempt ends; at once if it has ended."""
        self._wake = wake
        if self.is_over:
            wake.set()

    def outcome(self) -> Any:
        """Its result.

        Raises:
          KernelError: the attempt failed.

        """
        if self.error is not None:
            raise self.error
        return self.result

    def _end(self) -> None:
        self.is_over = True
        if self._wake is not None:
            self._wake.set()


class _Nobody:
    """Serves the attempts that were over when they were made."""

    def withdraw(self, attempt: Attempt) -> None:
        """Do nothing: the attempt is over."""


#: An attempt that has succeeded at once, without a result.
DONE: Final = Attempt(_Nobody(), None, True)
