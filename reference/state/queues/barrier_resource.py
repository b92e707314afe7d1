"""Barriers: elements by key, which can be taken once all their components are inserted."""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import Cancelled, InvalidArgument, KernelError, OutOfRange
from sessrun.reference.state.attempts import Attempt

__all__ = ["Barrier", "Ready"]

#: The first index of an element; the index rises with each insertion of new keys.
_FIRST: Final = -(2**63)


class Ready(NamedTuple):
    """A complete element; elements are taken in the order of the first insertions of their keys.

    Attributes:
      order: the index of the first insertion of its key.
      number: how many elements were complete before it.
      key: its key.
      components: its components.

    """

    order: int
    number: int
    key: bytes
    components: tuple[Array, ...]


class _Take(Attempt):
    """Takes complete elements once there are enough."""

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
        #: For each key of an incomplete element: its index, and the components.
        self._incomplete: dict[bytes, tuple[int, list[Array | None]]] = {}
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

    def insert(self, component: int, keys: Sequence[bytes], rows: Sequence[Array]) -> None:
        """Insert a component of the elements of these keys; those before an error stay.

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

    def _insert(self, component: int, key: bytes, row: Array) -> bool:
        """Insert a component of the element of a key; return whether the key is new."""
        key_text = key.decode(errors="replace")
        is_new = key not in self._incomplete
        if is_new:
            if self._is_closed:
                raise Cancelled(
                    f"Barrier {self.name} is closed, but attempted to insert a brand "
                    f"new key: {key_text}."
                )
            self._incomplete[key] = (self._index, [None] * len(self.types))
        index, components = self._incomplete[key]
        if components[component] is not None:
            raise InvalidArgument(
                f"Key {key_text} already has a value for component {component} in barrier "
                f"{self.name}"
            )
        components[component] = row
        inserted = [part for part in components if part is not None]
        if len(inserted) == len(components):
            del self._incomplete[key]
            self._complete(index, key, inserted)
        return is_new

    def _complete(self, index: int, key: bytes, components: Sequence[Array]) -> None:
        for number, (part, shape) in enumerate(zip(components, self.shapes, strict=True)):
            if tuple(part.shape) != shape:
                raise InvalidArgument(
                    f"Shape mismatch in tuple component {number + 1}. Expected "
                    f"{list(shape)}, got {list(part.shape)}"
                )
        self._number += 1
        heapq.heappush(self._ready, Ready(index, self._number, key, tuple(components)))

    def take(self, wanted: int, *, few: bool, wait: bool) -> Attempt:
        """Take complete elements once there are enough.

        Args:
          wanted: how many.
          few: whether fewer are enough of a closed barrier, if it has any.
          wait: whether `few` waits for incomplete elements.

        Raises:
          OutOfRange: the barrier is closed and will never have that many.

        """
        attempt = _Take(self, wanted)
        with self._lock:
            if self._is_closed:
                available = len(self._ready)
                if not few or wait:
                    available += len(self._incomplete)
                if few:
                    attempt.wanted = min(wanted, available)
                if available < max(attempt.wanted, 1):
                    raise self._insufficient(attempt.wanted, available)
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def close(self, *, cancel: bool) -> None:
        """Accept no new keys, and with `cancel` no components either.

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
            if isinstance(attempt, _Take) and attempt in self._waiting:
                self._waiting.remove(attempt)
            self._serve()

    def _serve(self) -> None:
        """Serve the waiting attempts, in order, while there are elements."""
        while self._waiting:
            first = self._waiting[0]
            if len(self._ready) >= first.wanted:
                first.succeed([heapq.heappop(self._ready) for _ in range(first.wanted)])
            elif self._is_closed and not self._incomplete:
                first.fail(self._insufficient(first.wanted, len(self._ready)))
            else:
                return
            self._waiting.popleft()

    def _insufficient(self, wanted: int, available: int) -> KernelError:
        return OutOfRange(
            f"Barrier '{self.name}' is closed and has insufficient elements "
            f"(requested {wanted}, total size {available})"
        )
