"""Barriers as a session keeps them: elements by key, held until all their components have come."""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.kernel_errors import Cancelled, InvalidArgument, KernelError, OutOfRange
from sessrun.reference.state.attempts import Attempt

__all__ = ["Barrier", "Ready"]

#: The first index of an element; they rise with each insertion of new keys.
_FIRST: Final = -(2**63)


class Ready(NamedTuple):
    """A complete element: those whose keys came first are taken first.

    Attributes:
      order: when its key came first.
      number: when it was complete.
      key: its key.
      components: its components.

    """

    order: int
    number: int
    key: bytes
    components: tuple[Any, ...]


class _Take(Attempt):
    """Takes complete elements, once there are enough."""

    __slots__ = ("wanted",)

    def __init__(self, barrier: Barrier, wanted: int) -> None:
        super().__init__(barrier)
        self.wanted = wanted


class Barrier:
    """A barrier; safe for threads.

    Args:
      name: its name, for messages.
      types: the dtype of each component.
      shapes: the shape of each component.

    """

    def __init__(self, name: str, types: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> None:
        self.name = name
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self._ready: list[Ready] = []
        #: For each key that lacks a component: its index, and the components.
        self._incomplete: dict[bytes, tuple[int, list[Any]]] = {}
        self._index = _FIRST
        self._number = 0
        self._is_closed = self._is_cancelled = False
        self._waiting: deque[_Take] = deque()
        self._lock = threading.RLock()

    @property
    def sizes(self) -> tuple[int, int]:
        """How many elements are complete, and how many are not."""
        with self._lock:
            return len(self._ready), len(self._incomplete)

    def insert(self, component: int, keys: Sequence[bytes], rows: Sequence[Any]) -> None:
        """Give one component of these keys; what came before an error stays.

        Raises:
          Cancelled: it is closed, and a key is unknown, or the close cancelled.
          InvalidArgument: a key has that component already, or a row has another shape.

        """
        with self._lock:
            if self._is_cancelled:
                raise Cancelled(f"Barrier {self.name} is closed.")
            try:
                is_new = [self._insert(component, *pair) for pair in zip(keys, rows, strict=True)]
            finally:
                self._serve()
            self._index += any(is_new)

    def _insert(self, component: int, key: bytes, row: Any) -> bool:
        """Give one component of a key; whether the key is new."""
        told = key.decode(errors="replace")
        is_new = key not in self._incomplete
        if is_new:
            if self._is_closed:
                raise Cancelled(
                    f"Barrier {self.name} is closed, but attempted to insert a brand "
                    f"new key: {told}."
                )
            self._incomplete[key] = (self._index, [None] * len(self.types))
        index, components = self._incomplete[key]
        if components[component] is not None:
            raise InvalidArgument(
                f"Key {told} already has a value for component {component} in barrier {self.name}"
            )
        components[component] = row
        if all(part is not None for part in components):
            del self._incomplete[key]
            self._complete(index, key, components)
        return is_new

    def _complete(self, index: int, key: bytes, components: Sequence[Any]) -> None:
        for place, (part, shape) in enumerate(zip(components, self.shapes, strict=True)):
            if tuple(part.shape) != shape:
                raise InvalidArgument(
                    f"Shape mismatch in tuple component {place + 1}. Expected "
                    f"{list(shape)}, got {list(part.shape)}"
                )
        self._number += 1
        heapq.heappush(self._ready, Ready(index, self._number, key, tuple(components)))

    def take(self, wanted: int, *, few: bool, wait: bool) -> Attempt:
        """Take complete elements, once there are enough.

        Args:
          wanted: how many.
          few: whether a closed barrier may give fewer, if it has any.
          wait: whether `few` waits for those that lack a component.

        Raises:
          OutOfRange: it is closed and will never have so many.

        """
        attempt = _Take(self, wanted)
        with self._lock:
            if self._is_closed:
                there = len(self._ready)
                if not few or wait:
                    there += len(self._incomplete)
                if few:
                    attempt.wanted = min(wanted, there)
                if there < max(attempt.wanted, 1):
                    raise self._insufficient(attempt.wanted, there)
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def close(self, *, cancel: bool) -> None:
        """Take no new keys; if it cancels, no components either.

        Raises:
          Cancelled: it is closed in that way already.

        """
        with self._lock:
            if self._is_cancelled or (self._is_closed and not cancel):
                raise Cancelled(f"Barrier '{self.name}' is already closed.")
            self._is_closed = True
            if cancel:
                self._is_cancelled = True
                self._incomplete.clear()
            self._serve()

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over."""
        with self._lock:
            if attempt in self._waiting:
                self._waiting.remove(attempt)  # type: ignore[arg-type]  # it was found there
            self._serve()

    def _serve(self) -> None:
        """Serve those who wait, in order, as far as there are elements."""
        while self._waiting:
            first = self._waiting[0]
            if len(self._ready) >= first.wanted:
                first.succeed([heapq.heappop(self._ready) for _ in range(first.wanted)])
            elif self._is_closed and not self._incomplete:
                first.fail(self._insufficient(first.wanted, len(self._ready)))
            else:
                return
            self._waiting.popleft()

    def _insufficient(self, wanted: int, there: int) -> KernelError:
        return OutOfRange(
            f"Barrier '{self.name}' is closed and has insufficient elements "
            f"(requested {wanted}, total size {there})"
        )
