"""Mutex: a lock that a session keeps, and the hold that a run has on it."""

from __future__ import annotations

import threading
from collections import deque

from sessrun.reference.state.attempts import Attempt

__all__ = ["Held", "Mutex"]


class Mutex:
    """A lock with one holder at a time, served in the order of the requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: Held | None = None
        self._waiting: deque[Attempt] = deque()

    def acquire(self) -> Attempt:
        """Hold the lock once it is free; the result of the attempt is a `Held`."""
        attempt = Attempt(self)
        with self._lock:
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over."""
        with self._lock:
            if attempt in self._waiting:
                self._waiting.remove(attempt)

    def let_go(self, held: Held | None) -> None:
        """Free the lock, if `held` is its present holder."""
        with self._lock:
            if held is not None and self._holder is held:
                self._holder = None
                self._serve()

    def give_up(self, attempt: Attempt) -> None:
        """Forget an attempt and free the lock that it got: its run is over."""
        self.withdraw(attempt)
        self.let_go(attempt.result)

    def _serve(self) -> None:
        if self._holder is None and self._waiting:
            self._holder = Held(self)
            self._waiting.popleft().succeed(self._holder)


class Held:
    """A hold on a lock, until it is let go."""

    __slots__ = ("_mutex",)

    def __init__(self, mutex: Mutex) -> None:
        self._mutex = mutex

    def let_go(self) -> None:
        """Free the lock; a second call does nothing."""
        self._mutex.let_go(self)
