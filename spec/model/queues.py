"""Queues, FIFO and padding: what is put in comes out, and who waits is served in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sessrun.spec.model.run import kernel
from sessrun.spec.model.stateless import fits, may_be_one
from sessrun.spec.model.values import FailedError, Handle, Value, WaitsError, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["Queue"]

Element = tuple[np.ndarray, ...]
Shape = tuple[int | None, ...] | None


@dataclass(slots=True)
class Queue:
    """A queue.

    Attributes:
      kind: the type of the operation that made it.
      dtypes: the dtype of each component.
      shapes: the shape of each component, None for an unknown one.
      capacity: how many elements there is room for; -1 for any number.
      elements: those that it holds, the next one to come out first.
      is_closed: whether it is closed.
      putting: the activities that wait to put elements in, in turn.
      taking: those that wait to take elements out.

    """

    kind: str
    dtypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    capacity: int
    elements: list[Element] = field(default_factory=list)
    is_closed: bool = False
    putting: list[Activity] = field(default_factory=list)
    taking: list[Activity] = field(default_factory=list)

    def put(self, activity: Activity, elements: Sequence[Element]) -> None:
        """Put elements in, or wait for room.

        Raises:
          FailedError: it is closed, or an element does not fit.
          WaitsError: there is no room, or another activity is first.

        """
        if not elements:
            return
        for element in elements:
            for part, shape in zip(element, self.shapes, strict=True):
                if not fits(part.shape, shape):
                    raise FailedError("INVALID_ARGUMENT", f"{part.shape} does not fit {shape}")
        if self.is_closed:
            _leave(self.putting, activity)
            raise FailedError("CANCELLED", "the queue is closed")
        has_room = self.capacity < 0 or len(self.elements) + len(elements) <= self.capacity
        _take_turn(self.putting, activity, is_served=has_room)
        self.elements += elements

    def take(self, activity: Activity, count: int, *, least: int | None = None) -> list[Element]:
        """Take elements out, or wait for them.

        Args:
          activity: who takes them.
          count: how many are wanted.
          least: how many are enough once the queue is closed; None for all.

        Raises:
          FailedError: it is closed, and has too few.
          WaitsError: it has too few, or another activity is first.

        """
        enough = len(self.elements) >= count
        if self.is_closed and not enough:
            _leave(self.taking, activity)
            if least is None or len(self.elements) < least:
                raise FailedError("OUT_OF_RANGE", "the queue is closed and has too few elements")
            count = len(self.elements)
        else:
            _take_turn(self.taking, activity, is_served=enough)
        taken, self.elements = self.elements[:count], self.elements[count:]
        return taken


def _take_turn(waiting: list[Activity], activity: Activity, *, is_served: bool) -> None:
    """Go on if it is this activity's turn and it can be served; wait otherwise."""
    waiting[:] = [other for other in waiting if other == activity or not other.run.is_over]
    if activity not in waiting:
        waiting.append(activity)
    if not is_served or waiting[0] != activity:
        raise WaitsError
    waiting.remove(activity)


def _leave(waiting: list[Activity], activity: Activity) -> None:
    if activity in waiting:
        waiting.remove(activity)


@kernel("FIFOQueueV2", "PaddingFIFOQueueV2")
def _queue(activity: Activity) -> Sequence[Value]:
    attrs = activity.node.attrs
    handle = handle_of(activity.node, "queue")
    dtypes = attrs["component_types"]
    shapes = attrs["shapes"] or (None,) * len(dtypes)
    capacity = attrs["capacity"]
    queue = activity.session.resource(
        handle, lambda: Queue(activity.node.type, dtypes, shapes, capacity)
    )
    held, wanted = (
        (queue.kind, queue.dtypes, queue.capacity),
        (activity.node.type, dtypes, capacity),
    )
    if held != wanted or not _are_alike(queue.shapes, shapes):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is another kind of queue")
    return [handle]


def _are_alike(held: Sequence[Shape], wanted: Sequence[Shape]) -> bool:
    """Whether two declarations of shapes may be of one queue."""
    return all(
        mine is None or theirs is None or may_be_one(mine, theirs)
        for mine, theirs in zip(held, wanted, strict=True)
    )


def _named(activity: Activity, handle: Handle) -> Queue:
    """The queue of a handle, whose components are those that the operation declares.

    Raises:
      FailedError: there is none, or its components have other dtypes.

    """
    queue: Queue | None = activity.session.resources.get(handle)
    if queue is None:
        raise FailedError("NOT_FOUND", f"there is no queue {handle.name}")
    attrs = activity.node.attrs
    dtypes = attrs.get("component_types", attrs.get("Tcomponents", queue.dtypes))
    if tuple(dtypes) != tuple(queue.dtypes):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} has components of {queue.dtypes}")
    return queue


@kernel("QueueEnqueueV2")
def _enqueue(activity: Activity, handle: Handle, *components: np.ndarray) -> Sequence[Value]:
    _named(activity, handle).put(activity, [components])
    return []


@kernel("QueueEnqueueManyV2")
def _enqueue_many(activity: Activity, handle: Handle, *batches: np.ndarray) -> Sequence[Value]:
    if not all(batch.ndim for batch in batches) or len({len(batch) for batch in batches}) != 1:
        raise FailedError("INVALID_ARGUMENT", "the batches have no common first dimension")
    rows = list(zip(*(list(map(np.asarray, batch)) for batch in batches), strict=True))
    _named(activity, handle).put(activity, rows)
    return []


@kernel("QueueDequeueV2")
def _dequeue(activity: Activity, handle: Handle) -> Sequence[Value]:
    return _named(activity, handle).take(activity, 1)[0]


@kernel("QueueDequeueManyV2", "QueueDequeueUpToV2")
def _dequeue_many(activity: Activity, handle: Handle, count: np.ndarray) -> Sequence[Value]:
    queue = _named(activity, handle)
    is_known = all(shape is not None for shape in queue.shapes)
    if int(count) < 0 or not is_known:
        raise FailedError("INVALID_ARGUMENT", f"{count} elements cannot be taken")
    least = 1 if activity.node.type == "QueueDequeueUpToV2" else None
    elements = queue.take(activity, int(count), least=least)
    dtypes = activity.node.attrs["component_types"]
    return [
        _batch([element[number] for element in elements], shape, dtype)
        for number, (shape, dtype) in enumerate(zip(queue.shapes, dtypes, strict=True))
    ]


def _batch(
    parts: Sequence[np.ndarray], shape: Sequence[int | None] | None, dtype: str
) -> np.ndarray:
    """Parts as rows, padded with zeros where their sizes differ."""
    sizes = [size or 0 for size in shape or ()]
    for part in parts:
        sizes = [max(pair) for pair in zip(part.shape, sizes, strict=True)]
    is_text = dtype == "string"
    kind = object if is_text else (parts[0].dtype if parts else np.dtype(dtype))
    batch = np.full((len(parts), *sizes), b"" if is_text else 0, kind)
    for row, part in enumerate(parts):
        inside: tuple[int | slice, ...] = (row, *map(slice, part.shape))
        batch[inside] = part if part.ndim else part[()]
    return batch


@kernel("QueueSizeV2")
def _size(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.int32(len(_named(activity, handle).elements))]


@kernel("QueueIsClosedV2")
def _is_closed(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.bool_(_named(activity, handle).is_closed)]


@kernel("QueueCloseV2")
def _close(activity: Activity, handle: Handle) -> Sequence[Value]:
    queue = _named(activity, handle)
    if not activity.node.attrs["cancel_pending_enqueues"]:
        if queue.is_closed:
            raise FailedError("CANCELLED", "the queue is closed already")
        if any(not other.run.is_over for other in queue.putting):
            raise WaitsError  # those that were here before are served first
    queue.is_closed = True
    return []
