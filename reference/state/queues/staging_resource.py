"""Staging areas as a session keeps them: a line of elements, or elements by key.

An area may have a capacity and a limit of bytes; who puts in what has no room waits, and who takes
what is not there waits too. Attempts of a kind are served as soon as they can be, the oldest first.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError, ResourceExhausted
from sessrun.reference.state.attempts import Attempt

__all__ = ["MapArea", "StagingArea"]

#: What a string costs besides its bytes.
_STRING_COST: Final = 24

#: What an attempt gives once it can be done: a result in a tuple, else None.
Trial = Callable[[], tuple[Any] | None]


def _cost(array: Any) -> int:
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
    """What both kinds of area have; safe for threads.

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
            if attempt in self._waiting:
                self._waiting.remove(attempt)  # type: ignore[arg-type]  # it was found there

    def _tried(self, trial: Trial) -> Attempt:
        attempt = _Waiting(self, trial)
        with self._lock:
            self._waiting.append(attempt)
            self._serve()
        return attempt

    def _serve(self) -> None:
        """Serve whom it can until nothing moves."""
        moved = True
        while moved:
            moved = False
            for attempt in list(self._waiting):
                try:
                    given = attempt.trial()
                except KernelError as error:
                    attempt.fail(error)
                else:
                    if given is None:
                        continue
                    attempt.succeed(given[0])
                self._waiting.remove(attempt)
                moved = True

    def _fitting(self, parts: Sequence[Any]) -> int:
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
    """Elements in a line: those that came first are taken first."""

    def __init__(self, capacity: int, limit: int) -> None:
        super().__init__(capacity, limit)
        self._elements: deque[tuple[Any, ...]] = deque()

    def __len__(self) -> int:
        with self._lock:
            return len(self._elements)

    def put(self, element: tuple[Any, ...]) -> Attempt:
        """Put an element in, once there is room."""
        cost = self._fitting(element)

        def trial() -> tuple[Any] | None:
            if not self._has_room(len(self._elements), cost):
                return None
            self._elements.append(element)
            self._bytes += cost
            return (None,)

        return self._tried(trial)

    def take(self) -> Attempt:
        """Take the first element, once there is one."""

        def trial() -> tuple[Any] | None:
            if not self._elements:
                return None
            element = self._elements.popleft()
            self._bytes -= sum(map(_cost, element))
            return (element,)

        return self._tried(trial)

    def peek(self, place: int) -> Attempt:
        """The element at a place, once there are so many; it stays."""
        return self._tried(
            lambda: (self._elements[place],) if 0 <= place < len(self._elements) else None
        )

    def clear(self) -> None:
        """Take all elements out."""
        with self._lock:
            self._elements.clear()
            self._bytes = 0
            self._serve()


class MapArea(_Area):
    """Elements by key, each of some parts; one is complete when all its parts have come.

    Args:
      parts: how many parts an element has.
      ordered: whether the element of the smallest key is taken first, where no key is named.
      capacity: how many complete elements fit in; 0 for any number.
      limit: how many bytes fit in; 0 for any number.

    """

    def __init__(self, parts: int, *, ordered: bool, capacity: int, limit: int) -> None:
        super().__init__(capacity, limit)
        self._parts = parts
        self._ordered = ordered
        self._complete: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}

    def __len__(self) -> int:
        with self._lock:
            return len(self._complete)

    @property
    def incomplete(self) -> int:
        """How many elements lack a part."""
        with self._lock:
            return len(self._incomplete)

    def put(self, key: int, indices: Sequence[int], parts: Sequence[Any]) -> Attempt:
        """Give parts of an element, once there is room.

        Raises:
          InvalidArgument: it cannot have such indices.
          ResourceExhausted: they can never fit.

        """
        cost = self._fitting(parts)
        self._check(key, indices)

        def trial() -> tuple[Any] | None:
            if not self._has_room(len(self._complete), cost):
                return None
            self._give(key, indices, parts)
            self._bytes += cost
            return (None,)

        return self._tried(trial)

    def _give(self, key: int, indices: Sequence[int], parts: Sequence[Any]) -> None:
        if key not in self._incomplete and len(indices) == self._parts:
            element = [None] * self._parts
        else:
            element = self._incomplete.setdefault(key, [None] * self._parts)
        for index, part in zip(indices, parts, strict=False):
            if element[index] is not None:
                raise InvalidArgument(
                    f"The tensor for index '{index}' for key '{key}' was already initialized"
                )
            element[index] = part
        if all(part is not None for part in element):
            self._incomplete.pop(key, None)
            if self._complete.setdefault(key, element) is not element:  # the first one stays
                self._bytes -= sum(map(_cost, element))

    def take(self, key: int | None, indices: Sequence[int]) -> Attempt:
        """Take parts of an element, once it is complete: its key and the parts.

        Args:
          key: its key; None for any.
          indices: which parts; the others stay.

        """
        self._check(key, indices)

        def trial() -> tuple[Any] | None:
            found = self._next() if key is None else key
            if found is None or found not in self._complete:
                return None
            parts = self._parts_of(found, indices)
            element = self._complete[found]
            for index in indices:
                element[index] = None
            self._bytes -= sum(map(_cost, parts))
            if all(part is None for part in element):
                del self._complete[found]
            return ((found, parts),)

        return self._tried(trial)

    def peek(self, key: int, indices: Sequence[int]) -> Attempt:
        """The parts of an element, once it is complete; they stay."""
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

    def _parts_of(self, key: int, indices: Sequence[int]) -> tuple[Any, ...]:
        element = self._complete[key]
        for index in indices:
            if element[index] is None:
                raise InvalidArgument(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        return tuple(element[index] for index in indices)

    def _check(self, key: int | None, indices: Sequence[int]) -> None:
        if not indices:
            raise InvalidArgument("Indices are empty")
        if any(one >= two for one, two in itertools.pairwise(indices)):
            raise InvalidArgument("Indices are not strictly ordered")
        for index in indices:
            if not 0 <= index < self._parts:
                raise InvalidArgument(
                    f"Index '{index}' for key '{key}' was out of bounds '{self._parts}'."
                )
