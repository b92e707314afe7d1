"""Barriers: components are inserted by key; an element comes out once it has all of them.

Elements come out in the order in which their keys were first inserted (BARRIERS-004). A closed
barrier takes no new keys, but the components that keys lack (BARRIERS-007, 008); after a close that
cancels it takes nothing (BARRIERS-009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from sessrun.spec.definitions.base import numpy_dtype
from sessrun.spec.model.run import kernel
from sessrun.spec.model.stateless import fits
from sessrun.spec.model.turns import Turns
from sessrun.spec.model.values import FailedError, Handle, Value, WaitsError, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["Barrier", "Entry"]

Shape = tuple[int | None, ...] | None
#: The index of the first insertion, and those that follow count up from it.
_FIRST: Final = int(np.iinfo(np.int64).min)


@dataclass(slots=True)
class Entry:
    """What was inserted under a key.

    Attributes:
      key: the key.
      insertion: the number of the insertion that first had the key.
      parts: its components by number.
      completion: how many entries were complete before it.

    """

    key: bytes
    insertion: int
    parts: dict[int, np.ndarray] = field(default_factory=dict)
    completion: int = 0


@dataclass(slots=True)
class Barrier:
    """A barrier.

    Attributes:
      dtypes: the dtype of each component.
      shapes: the shape of each, None for an unknown one.
      incomplete: by key the entries that lack a component.
      ready: the complete entries, the next one first.
      is_closed: whether it is closed.
      is_cancelled: whether a close cancelled insertions.
      taking: those that wait for complete elements.

    """

    dtypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    incomplete: dict[bytes, Entry] = field(default_factory=dict)
    ready: list[Entry] = field(default_factory=list)
    is_closed: bool = False
    is_cancelled: bool = False
    taking: Turns[None] = field(default_factory=Turns)
    _insertions: int = 0
    _completions: int = 0

    def insert(self, component: int, keys: Sequence[bytes], values: np.ndarray) -> None:
        """Insert one component of several keys (BARRIERS-001, 017).

        Raises:
          FailedError: it is closed and a key is new (BARRIERS-007), or its close cancelled (009); a
            key has the component (005), those before it stay; the value does not fit (006).

        """
        if self.is_cancelled or (self.is_closed and any(k not in self.incomplete for k in keys)):
            raise FailedError("CANCELLED", "the barrier is closed")
        if not values.ndim or len(values) != len(keys):
            raise FailedError("INVALID_ARGUMENT", f"{len(keys)} keys, values of {values.shape}")
        has_new = any(key not in self.incomplete for key in keys)
        for key, row in zip(keys, values, strict=True):
            entry = self.incomplete.setdefault(key, Entry(key, self._insertions))
            if component in entry.parts:
                raise FailedError("INVALID_ARGUMENT", f"{key!r} has component {component}")
            entry.parts[component] = np.asarray(row, values.dtype)
            if len(entry.parts) == len(self.dtypes):
                self._complete(self.incomplete.pop(key))
        self._insertions += has_new

    def _complete(self, entry: Entry) -> None:
        for number, part in entry.parts.items():
            if not fits(part.shape, self.shapes[number]):
                raise FailedError("INVALID_ARGUMENT", f"{part.shape} of {self.shapes[number]}")
        self._completions += 1
        entry.completion = self._completions
        self.ready.append(entry)
        self.ready.sort(key=lambda other: (other.insertion, other.completion))

    def take(self, count: int, *, may_be_few: bool) -> list[np.ndarray]:
        """The next complete elements.

        Args:
          count: how many.
          may_be_few: whether a closed barrier may give fewer (BARRIERS-012).

        Returns:
          The numbers of their insertions, their keys, and each of their components.

        Raises:
          FailedError: it is closed and will never have as many (BARRIERS-011).
          WaitsError: fewer are complete (BARRIERS-014).

        """
        lacking = count - len(self.ready)
        if lacking > 0:
            if not self.is_closed:
                raise WaitsError
            if not may_be_few and lacking > len(self.incomplete):
                raise FailedError("OUT_OF_RANGE", "the barrier is closed and has too few elements")
            if self.incomplete:
                raise WaitsError
            if not self.ready:
                raise FailedError("OUT_OF_RANGE", "the barrier is closed and has no elements")
        taken, self.ready = self.ready[:count], self.ready[count:]
        keys = np.empty(len(taken), object)
        keys[:] = [entry.key for entry in taken]
        insertions = np.array([_FIRST + entry.insertion for entry in taken], np.int64)
        parts = [
            self._column(number, [entry.parts[number] for entry in taken])
            for number in range(len(self.dtypes))
        ]
        return [insertions, keys, *parts]

    def _column(self, number: int, parts: Sequence[np.ndarray]) -> np.ndarray:
        """One component of several elements as rows."""
        declared = tuple(size or 0 for size in self.shapes[number] or ())
        shape = parts[0].shape if parts else declared
        column = np.empty((len(parts), *shape), numpy_dtype(self.dtypes[number]))
        for row, part in enumerate(parts):
            column[row] = part if part.ndim else part[()]
        return column

    def sizes(self) -> list[np.ndarray]:
        """How many elements are complete, and how many not (BARRIERS-002, 003)."""
        return [np.array(len(self.ready), np.int32), np.array(len(self.incomplete), np.int32)]

    def close(self, *, cancels: bool) -> None:
        """Take no new keys; if it cancels, take nothing and drop what is incomplete.

        Raises:
          FailedError: it is closed already (BARRIERS-010).

        """
        if self.is_cancelled or (self.is_closed and not cancels):
            raise FailedError("CANCELLED", "the barrier is closed already")
        self.is_closed = True
        if cancels:
            self.is_cancelled = True
            self.incomplete.clear()


# --- operations ----------------------------------------------------------------------------


@kernel("Barrier")
def _barrier(activity: Activity) -> Sequence[Value]:
    """A barrier of its own, or the one of its shared name (BARRIERS-015)."""
    attrs = activity.node.attrs
    dtypes = tuple(attrs["component_types"])
    shapes = tuple(attrs["shapes"]) or (None,) * len(dtypes)
    handle = handle_of(activity.node, "barrier")
    barrier = activity.session.resource(handle, lambda: Barrier(dtypes, shapes))
    if (barrier.dtypes, barrier.shapes) != (dtypes, shapes):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is another barrier")
    return [handle]


def _named(activity: Activity, handle: Handle) -> Barrier:
    barrier: Barrier | None = activity.session.resources.get(handle)
    if barrier is None:
        raise FailedError("NOT_FOUND", f"there is no barrier {handle.name}")
    return barrier


@kernel("BarrierInsertMany")
def _insert(
    activity: Activity, handle: Handle, keys: np.ndarray, values: np.ndarray
) -> Sequence[Value]:
    component = activity.node.attrs["component_index"]
    _named(activity, handle).insert(component, keys.tolist(), values)
    return []


@kernel("BarrierTakeMany")
def _take(activity: Activity, handle: Handle, count: np.ndarray) -> Sequence[Value]:
    barrier, may_be_few = _named(activity, handle), activity.node.attrs["allow_small_batch"]
    return barrier.taking.serve(
        activity, None, lambda _: barrier.take(int(count), may_be_few=may_be_few)
    )


@kernel("BarrierReadySize", "BarrierIncompleteSize")
def _size(activity: Activity, handle: Handle) -> Sequence[Value]:
    ready, incomplete = _named(activity, handle).sizes()
    return [ready if activity.node.type == "BarrierReadySize" else incomplete]


@kernel("BarrierClose")
def _close(activity: Activity, handle: Handle) -> Sequence[Value]:
    _named(activity, handle).close(cancels=activity.node.attrs["cancel_pending_enqueues"])
    return []
