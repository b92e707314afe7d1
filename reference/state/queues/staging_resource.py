"""Staging areas: elements in a line, or elements by key.

An area may have a capacity and a limit of bytes. An attempt to put waits for room, an attempt to
take for its element; attempts are served as soon as they can be, the oldest first.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError, ResourceExhausted
from sessrun.reference.state.attempts import Attempt

__all__ = ["MapArea", "StagingArea"]

#: The bytes that a string takes besides its characters.
_STRING_COST: Final = 24

#: What an attempt takes: the parts of an element, with its key if it has one; None if it puts.
Taken: TypeAlias = "tuple[Array, ...] | tuple[int, tuple[Array, ...]] | None"

#: Does what an attempt wants, if it can be done: returns the result in a tuple, else None.
Trial = Callable[[], tuple[Taken] | None]


def _cost(array: Array) -> int:
    """The bytes of an array."""
    if array.dtype == object:
        return sum(_STRING_COST + len(item) for item in array.reshape(-1))
    return int(array.size * array.dtype.itemsize)


class _Waiting(Attempt):
    """An attempt that is tried whenever the area changes."""

    __slots__ = ("trial",)

    def __init__(self, area: _Area, trial: Trial) -> None:
        super().__init__(area)
        self.trial = trial


class _Area:
    """The attempts and limits of an area of either kind; safe for threads.

    Args:
      capacity: how many elements fit in; 0 for any number.
      limit: how many bytes fit in; 0 for any number.

    """

    def __init__(self, capacity: int, limit: int) -> None:
        self._capacity = capacity
        self._limit = limit
        self._bytes = 0
        self._waiting: deque[_Waiting] = deque()
        self._lock = threading.RLock()

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over."""
        with self._lock:
            if isinstance(attempt, _Waiting) and attempt in self._waiting:
                self._waiting.remove(attempt)

    def _tried(self, trial: Trial) -> Attempt:
        """An attempt that does this, now or when the area changes."""
        attempt = _Waiting(self, trial)
        with self._lock:
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def _serve(self) -> None:
        """Serve attempts until none can be done."""
        moved = True
        while moved:
            moved = False
            for attempt in list(self._waiting):
                try:
                    result = attempt.trial()
                except KernelError as error:
                    attempt.fail(error)
                else:
                    if result is None:
                        continue
                    attempt.succeed(result[0])
                self._waiting.remove(attempt)
                moved = True

    def _fitting(self, parts: Sequence[Array]) -> int:
        """The bytes of the parts.

        Raises:
          ResourceExhausted: they can never fit.

        """
        cost = sum(map(_cost, parts))
        if 0 < self._limit < cost:
            raise ResourceExhausted(
                f"Attempted to insert tensors with combined size of '{cost}' "
                f"bytes into Staging Area with a memory limit of '{self._limit}'."
            )
        return cost

    def _has_room(self, elements: int, cost: int) -> bool:
        is_full = 0 < self._capacity <= elements
        return not is_full and not 0 < self._limit < self._bytes + cost


class StagingArea(_Area):
    """Elements in a line: the first one in is the first one out."""

    def __init__(self, capacity: int, limit: int) -> None:
        super().__init__(capacity, limit)
        self._elements: deque[tuple[Array, ...]] = deque()

    def __len__(self) -> int:
        with self._lock:
            return len(self._elements)

    def put(self, element: tuple[Array, ...]) -> Attempt:
        """Put an element in once there is room."""
        cost = self._fitting(element)

        def trial() -> tuple[Taken] | None:
            if not self._has_room(len(self._elements), cost):
                return None
            self._elements.append(element)
            self._bytes += cost
            return (None,)

        return self._tried(trial)

    def take(self) -> Attempt:
        """Take the first element; waits until there is one."""

        def trial() -> tuple[Taken] | None:
            if not self._elements:
                return None
            element = self._elements.popleft()
            self._bytes -= sum(map(_cost, element))
            return (element,)

        return self._tried(trial)

    def peek(self, index: int) -> Attempt:
        """The element at an index, once there are that many; it is not removed."""
        return self._tried(
            lambda: (self._elements[index],) if 0 <= index < len(self._elements) else None
        )

    def clear(self) -> None:
        """Take all elements out."""
        with self._lock:
            self._elements.clear()
            self._bytes = 0
            self._serve()


class MapArea(_Area):
    """Elements by key, which have several parts; an element is complete when all of them are put.

    Args:
      parts: how many parts an element has.
      ordered: whether the element of the smallest key is taken first, if no key is named.
      capacity: how many complete elements fit in; 0 for any number.
      limit: how many bytes fit in; 0 for any number.

    """

    def __init__(self, parts: int, *, ordered: bool, capacity: int, limit: int) -> None:
        super().__init__(capacity, limit)
        self._parts = parts
        self._ordered = ordered
        self._complete: dict[int, list[Array | None]] = {}
        self._incomplete: dict[int, list[Array | None]] = {}

    def __len__(self) -> int:
        with self._lock:
            return len(self._complete)

    @property
    def incomplete(self) -> int:
        """How many elements lack a part."""
        with self._lock:
            return len(self._incomplete)

    def put(self, key: int, indices: Sequence[int], parts: Sequence[Array]) -> Attempt:
        """Put parts of an element in once there is room.

        Raises:
          InvalidArgument: no element has such indices.
          ResourceExhausted: they can never fit.

        """
        cost = self._fitting(parts)
        self._check(key, indices)

        def trial() -> tuple[Taken] | None:
            if not self._has_room(len(self._complete), cost):
                return None
            self._insert(key, indices, parts)
            self._bytes += cost
            return (None,)

        return self._tried(trial)

    def _insert(self, key: int, indices: Sequence[int], parts: Sequence[Array]) -> None:
        element: list[Array | None] = [None] * self._parts
        if key in self._incomplete or len(indices) != self._parts:
            element = self._incomplete.setdefault(key, element)
        for index, part in zip(indices, parts, strict=False):
            if element[index] is not None:
                raise InvalidArgument(
                    f"The tensor for index '{index}' for key '{key}' was already initialized"
                )
            element[index] = part
        if all(part is not None for part in element):
            self._incomplete.pop(key, None)
            if self._complete.setdefault(key, element) is not element:  # the first one stays
                self._bytes -= sum(_cost(part) for part in element if part is not None)

    def take(self, key: int | None, indices: Sequence[int]) -> Attempt:
        """Take parts of an element once it is complete; the result is its key and the parts.

        Args:
          key: its key; None for any.
          indices: the indices of the parts; the others stay.

        """
        self._check(key, indices)

        def trial() -> tuple[Taken] | None:
            chosen = self._next() if key is None else key
            if chosen is None or chosen not in self._complete:
                return None
            parts = self._parts_of(chosen, indices)
            element = self._complete[chosen]
            for index in indices:
                element[index] = None
            self._bytes -= sum(map(_cost, parts))
            if all(part is None for part in element):
                del self._complete[chosen]
            return ((chosen, parts),)

        return self._tried(trial)

    def peek(self, key: int, indices: Sequence[int]) -> Attempt:
        """The parts of an element once it is complete; they stay."""
        self._check(key, indices)
        return self._tried(
            lambda: (self._parts_of(key, indices),) if key in self._complete else None
        )

    def clear(self) -> None:
        """Take all elements out."""
        with self._lock:
            self._complete.clear()
            self._incomplete.clear()
            self._bytes = 0
            self._serve()

    def _next(self) -> int | None:
        if not self._complete:
            return None
        return min(self._complete) if self._ordered else next(iter(self._complete))

    def _parts_of(self, key: int, indices: Sequence[int]) -> tuple[Array, ...]:
        element = self._complete[key]
        parts = []
        for index in indices:
            part = element[index]
            if part is None:
                raise InvalidArgument(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
            parts.append(part)
        return tuple(parts)

    def _check(self, key: int | None, indices: Sequence[int]) -> None:
        if not indices:
            raise InvalidArgument("Indices are empty")
        if any(left >= right for left, right in itertools.pairwise(indices)):
            raise InvalidArgument("Indices are not strictly ordered")
        for index in indices:
            if not 0 <= index < self._parts:
                raise InvalidArgument(
                    f"Index '{index}' for key '{key}' was out of bounds '{self._parts}'."
                )
