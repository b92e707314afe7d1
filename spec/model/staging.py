"""Staging areas and staged maps: elements wait in a line, or under keys, until they are taken.

Their operations have no handle: those of one kind, container and shared name work on one area
(STAGING-009). Who waits for an area is served in any order (STAGING-005, 008, WAITING-004).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sessrun.spec.model.run import Choose, first, kernel
from sessrun.spec.model.values import FailedError, Value, WaitsError, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["StagedMap", "StagingArea"]

Element = list[np.ndarray]


@dataclass(slots=True)
class _Bounded:
    """What an area has room for.

    Attributes:
      capacity: how many elements; 0 for any number.
      memory_limit: how many bytes; 0 for any number.

    """

    capacity: int = 0
    memory_limit: int = 0

    def check_room(self, held: Sequence[Element], element: Element) -> None:
        """Let one more element in.

        Raises:
          FailedError: it has more bytes than the area may ever have (STAGING-006).
          WaitsError: there is no room now (STAGING-005, 007, 024).

        """
        size = _bytes(element)
        if 0 < self.memory_limit < size:
            raise FailedError("RESOURCE_EXHAUSTED", f"an element has {size} bytes")
        if 0 < self.capacity <= len(held):
            raise WaitsError
        if self.memory_limit and sum(map(_bytes, held)) + size > self.memory_limit:
            raise WaitsError


def _bytes(element: Sequence[np.ndarray]) -> int:
    return sum(part.nbytes for part in element)


@dataclass(slots=True)
class StagingArea(_Bounded):
    """A staging area, whose elements come out in the order in which they went in.

    Attributes:
      elements: those that it holds.

    """

    elements: list[Element] = field(default_factory=list)

    def put(self, element: Element) -> None:
        """Put an element in; fails or waits as `check_room` says."""
        self.check_room(self.elements, element)
        self.elements.append(element)

    def take(self) -> Element:
        """The first element (STAGING-001); waits for one (STAGING-008)."""
        self.peek(0)
        return self.elements.pop(0)

    def peek(self, position: int) -> Element:
        """The element at a position, which stays (STAGING-003)."""
        if position >= len(self.elements):
            raise WaitsError
        return self.elements[position]

    def size(self) -> list[np.ndarray]:
        """How many elements there are (STAGING-002)."""
        return [np.array(len(self.elements), np.int32)]

    def clear(self) -> None:
        """Take all elements out (STAGING-004)."""
        self.elements.clear()


@dataclass(slots=True)
class StagedMap(_Bounded):
    """A staged map: the components of an element may come and go one by one.

    Attributes:
      components: how many an element has.
      is_ordered: whether the smallest key comes first where none is named.
      complete: by key the components that are left of elements that had all.
      incomplete: by key the components of the others.

    """

    components: int = 1
    is_ordered: bool = False
    complete: dict[int, dict[int, np.ndarray]] = field(default_factory=dict)
    incomplete: dict[int, dict[int, np.ndarray]] = field(default_factory=dict)

    def put(self, key: int, positions: Sequence[int], values: Sequence[np.ndarray]) -> None:
        """Put components of a key's element in (STAGING-012, 018).

        Raises:
          FailedError: the key has one of them (STAGING-019); the positions are wrong (STAGING-022).
          WaitsError: there is no room.

        """
        self._check_positions(positions)
        self.check_room([list(parts.values()) for parts in self.complete.values()], list(values))
        parts = self.incomplete.get(key, {})
        if any(position in parts for position in positions):
            raise FailedError("INVALID_ARGUMENT", f"{key} has one of the components")
        parts = parts | dict(zip(positions, values, strict=False))
        if len(parts) < self.components:
            self.incomplete[key] = parts
        else:
            self.incomplete.pop(key, None)
            # TF 2.21: where the key has an element already, that stays and this one is lost.
            self.complete.setdefault(key, parts)

    def take(self, key: int, positions: Sequence[int]) -> Element:
        """Components of a key's element, which leave; the others stay (STAGING-012, 020)."""
        values = self.peek(key, positions)
        for position in positions:
            del self.complete[key][position]
        if not self.complete[key]:
            del self.complete[key]
        return values

    def peek(self, key: int, positions: Sequence[int]) -> Element:
        """Components of a key's element, which stay (STAGING-013).

        Raises:
          FailedError: one was taken before (STAGING-021); the positions are wrong (STAGING-022).
          WaitsError: the element is not complete (STAGING-025).

        """
        self._check_positions(positions)
        if key not in self.complete:
            raise WaitsError
        parts = self.complete[key]
        if any(position not in parts for position in positions):
            raise FailedError("INVALID_ARGUMENT", f"a component of {key} was taken")
        return [parts[position] for position in positions]

    def take_any(self, positions: Sequence[int], choose: Choose = first) -> Element:
        """A key, the smallest of an ordered map, and its components (STAGING-014, 015)."""
        self._check_positions(positions)
        if not self.complete:
            raise WaitsError
        keys = sorted(self.complete)
        number = 0 if self.is_ordered or len(keys) == 1 else choose(len(keys))
        return [np.array(keys[number], np.int64), *self.take(keys[number], positions)]

    def _check_positions(self, positions: Sequence[int]) -> None:
        is_rising = all(a < b for a, b in itertools.pairwise(positions))
        if (
            not positions
            or not is_rising
            or not 0 <= positions[0] <= positions[-1] < self.components
        ):
            raise FailedError("INVALID_ARGUMENT", f"{positions} are no positions of components")

    def sizes(self) -> list[np.ndarray]:
        """How many keys are complete, and how many not (STAGING-016, 017)."""
        return [np.array(len(self.complete), np.int32), np.array(len(self.incomplete), np.int32)]

    def clear(self) -> None:
        """Take all components of all keys out (STAGING-023)."""
        self.complete.clear()
        self.incomplete.clear()


# --- operations ----------------------------------------------------------------------------


def _area(activity: Activity) -> StagingArea:
    attrs = activity.node.attrs
    return activity.session.resource(
        handle_of(activity.node, "staging area"),
        lambda: StagingArea(attrs["capacity"], attrs["memory_limit"]),
    )


@kernel("Stage")
def _stage(activity: Activity, *values: np.ndarray) -> Sequence[Value]:
    _area(activity).put(list(values))
    return []


@kernel("Unstage")
def _unstage(activity: Activity) -> Sequence[Value]:
    return _area(activity).take()


@kernel("StagePeek")
def _peek(activity: Activity, position: np.ndarray) -> Sequence[Value]:
    return _area(activity).peek(int(position))


@kernel("StageSize")
def _size(activity: Activity) -> Sequence[Value]:
    return _area(activity).size()


@kernel("StageClear")
def _clear(activity: Activity) -> Sequence[Value]:
    _area(activity).clear()
    return []


def _map(activity: Activity) -> StagedMap:
    node, attrs = activity.node, activity.node.attrs
    is_ordered = node.type.startswith("Ordered")
    return activity.session.resource(
        handle_of(node, "ordered map" if is_ordered else "map"),
        lambda: StagedMap(
            attrs["capacity"], attrs["memory_limit"], len(attrs["dtypes"]), is_ordered=is_ordered
        ),
    )


def _both(operation: str) -> tuple[str, str]:
    """The types of an operation on maps and on ordered maps."""
    return f"Map{operation}", f"OrderedMap{operation}"


@kernel(*_both("Stage"))
def _map_stage(
    activity: Activity, key: np.ndarray, positions: np.ndarray, *values: np.ndarray
) -> Sequence[Value]:
    _map(activity).put(int(key), positions.tolist(), values)
    return []


@kernel(*_both("Unstage"))
def _map_unstage(activity: Activity, key: np.ndarray, positions: np.ndarray) -> Sequence[Value]:
    return _map(activity).take(int(key), positions.tolist())


@kernel(*_both("Peek"))
def _map_peek(activity: Activity, key: np.ndarray, positions: np.ndarray) -> Sequence[Value]:
    return _map(activity).peek(int(key), positions.tolist())


@kernel(*_both("UnstageNoKey"))
def _map_unstage_any(activity: Activity, positions: np.ndarray) -> Sequence[Value]:
    return _map(activity).take_any(positions.tolist(), activity.run.choose)


@kernel(*_both("Size"), *_both("IncompleteSize"))
def _map_size(activity: Activity) -> Sequence[Value]:
    complete, incomplete = _map(activity).sizes()
    return [incomplete if "Incomplete" in activity.node.type else complete]


@kernel(*_both("Clear"))
def _map_clear(activity: Activity) -> Sequence[Value]:
    _map(activity).clear()
    return []
