"""Threads of a test whose failures are the test's."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable, Mapping, Sequence

__all__ = ["CheckedThread"]


class CheckedThread:
    """A thread that must be joined, and must not raise.

    Args:
      case: the test it belongs to.
      target: what to call in the thread.
      args: its arguments.
      kwargs: its keyword arguments.

    """

    def __init__(
        self,
        case: unittest.TestCase,
        target: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> None:
        self._case = case
        self._target = target
        self._args = args
        self._kwargs = dict(kwargs or {})
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        self._is_joined = False

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:  # noqa: BLE001 - told when it is joined
            self._error = error

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it is running."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait for its end; fail if it raised."""
        self._is_joined = True
        self._thread.join()
        if self._error is not None:
            text = f"Error in checkedThread: {self._error}"
            raise self._case.failureException(text) from self._error

    def check_termination(self) -> None:
        """Fail if it was not joined.

        Raises:
          RuntimeError: the thread was joined and is still running.

        """
        if not self._is_joined:
            self._case.fail("A checked thread was not joined.")
        if self.is_alive():
            raise RuntimeError("a thread was not joined, and is running when the test is over")
