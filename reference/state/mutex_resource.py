"""Locks as a session keeps them, and what a run holds of one."""

from __future__ import annotations

import threading
from collections import deque

from sessrun.reference.state.attempts import Attempt

__all__ = ["Held", "Mutex"]


class Mutex:
    """A lock: one holder at a time, who asked first comes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: Held | None = None
        self._waiting: deque[Attempt] = deque()

    def acquire(self) -> Attempt:
        """Hold it, once no other does; the attempt gives a `Held`."""
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
        """Let the next hold it, if `held` is what holds it now."""
        with self._lock:
            if held is not None and self._holder is held:
                self._holder = None
                self._serve()

    def give_up(self, attempt: Attempt) -> None:
        """Forget an attempt, and let go of what it gave: the run that made it is over."""
        self.withdraw(attempt)
        self.let_go(attempt.result)

    def _serve(self) -> None:
        if self._holder is None and self._waiting:
            self._holder = Held(self)
            self._waiting.popleft().succeed(self._holder)


class Held:
    """What holds a lock, until it lets go of it."""

    __slots__ = ("_mutex",)

    def __init__(self, mutex: Mutex) -> None:
        self._mutex = mutex

    def let_go(self) -> None:
        """Let the next hold the lock; a second time does nothing."""
        self._mutex.let_go(self)
