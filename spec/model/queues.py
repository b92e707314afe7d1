"""Queues of every kind: what is put in comes out, and who waits is served in turn.

An operation puts elements in, or takes them out, one by one as its queue's discipline lets it, and
goes on where it stopped when it is tried again: so an `enqueue_many` may fill a queue and wait for
more room (QUEUES-020), and a `dequeue_many` may take more than a queue has room for (QUEUES-021).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sessrun.spec.definitions.streams import philox_words
from sessrun.spec.model.discipline import KINDS, Discipline
from sessrun.spec.model.run import Choose, first, kernel
from sessrun.spec.model.stateless import fits, may_be_one
from sessrun.spec.model.turns import Turns
from sessrun.spec.model.values import FailedError, Handle, Value, WaitsError, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["Element", "Queue", "batch"]

Element = tuple[np.ndarray, ...]
Shape = tuple[int | None, ...] | None


@dataclass(slots=True)
class Queue:
    """A queue.

    Attributes:
      discipline: for how many elements it has room, and which comes out next.
      dtypes: the dtype of each component; of a queue by priority the first one's is int64.
      shapes: the shape of each component, None for an unknown one.
      seeds: of the order of a shuffling queue.
      elements: those that it holds, in order.
      is_closed: whether it is closed.
      putting: those that wait to put elements in, each with the elements that are left.
      taking: those that wait to take elements out, each with what it has.

    """

    discipline: Discipline
    dtypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    seeds: tuple[int, int] = (0, 0)
    elements: list[Element] = field(default_factory=list)
    is_closed: bool = False
    putting: Turns[list[Element]] = field(default_factory=Turns)
    taking: Turns[list[Element]] = field(default_factory=Turns)
    _words: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        """Begin the stream of a shuffling queue (QUEUES-044)."""
        seed, second = (number % 2**64 for number in self.seeds)
        self._words = philox_words(seed, second << 64)

    def put(self, left: list[Element]) -> None:
        """Move elements in, from the front of those that are left, as long as there is room.

        Raises:
          FailedError: it is closed (QUEUES-004, 008); an element does not fit (QUEUES-012).
          WaitsError: some are left (QUEUES-010).

        """
        if not left:
            return  # QUEUES-059: of a closed queue too
        self._check(left)
        if self.is_closed:
            raise FailedError("CANCELLED", "the queue is closed")
        before = len(left)
        while left and self.discipline.has_room(len(self.elements)):
            self._enter(left.pop(0))
        if left:
            raise WaitsError(has_moved=len(left) < before)

    def _check(self, elements: Sequence[Element]) -> None:
        for element in elements:
            for part, shape in zip(element, self.shapes, strict=True):
                if not fits(part.shape, shape):
                    raise FailedError("INVALID_ARGUMENT", f"{part.shape} does not fit {shape}")

    def _enter(self, element: Element) -> None:
        by_priority = self.discipline.kind == "priority"
        priorities = [int(held[0]) if by_priority else 0 for held in self.elements]
        priority = int(element[0]) if by_priority else 0
        self.elements.insert(self.discipline.position(priorities, priority), element)

    def take(
        self, taken: list[Element], count: int, *, least: int | None = None, choose: Choose = first
    ) -> list[Element]:
        """Move elements out, behind those that were taken before, until there are `count`.

        Args:
          taken: those that were taken before, to which more are added.
          count: how many are wanted.
          least: how many are enough once the queue is closed (QUEUES-023, 024); None for all.
          choose: which comes next where any may.

        Returns:
          The elements.

        Raises:
          FailedError: it is closed and has too few; it has all that were taken again (QUEUES-015,
            022).
          WaitsError: more are wanted (QUEUES-021, 025).

        """
        in_all = len(self.elements) + len(taken)
        if self.is_closed and in_all < count:
            if least is None or in_all < least:
                self.give_back(taken)
                raise FailedError("OUT_OF_RANGE", "the queue is closed and has too few elements")
            count = in_all
        before = len(taken)
        while len(taken) < count and self._may_leave(count - len(taken), is_begun=bool(taken)):
            taken.append(self._leave(choose))
        if len(taken) < count:
            raise WaitsError(has_moved=len(taken) > before)
        return taken

    def check_batch(self, count: int) -> None:
        """Refuse a batch of fewer elements than none, or of elements of unknown shapes.

        Raises:
          FailedError: so it is (QUEUES-027, 028).

        """
        if count < 0 or None in self.shapes:
            raise FailedError("INVALID_ARGUMENT", f"{count} elements cannot be taken")

    def _may_leave(self, wanted: int, *, is_begun: bool) -> bool:
        return self.discipline.may_leave(
            len(self.elements), wanted, is_begun=is_begun, is_closed=self.is_closed
        )

    def _leave(self, choose: Choose) -> Element:
        """The element that comes out next.

        One that is chosen among several is replaced by the last (QUEUES-044).
        """
        positions = self.discipline.next_positions(len(self.elements))
        if len(positions) == 1:
            return self.elements.pop(positions[0])
        count = len(positions)
        chosen = positions[next(self._words) % count if any(self.seeds) else choose(count)]
        self.elements[chosen], self.elements[-1] = self.elements[-1], self.elements[chosen]
        return self.elements.pop()

    def give_back(self, taken: Sequence[Element]) -> None:
        """Have again what was taken, before all others."""
        self.elements[:0] = taken

    def close(self, *, cancels: bool) -> None:
        """Close it.

        Args:
          cancels: whether those that wait for room fail now (QUEUES-008).

        Raises:
          FailedError: it is closed already (QUEUES-011, 034).
          WaitsError: those that came before are served first (QUEUES-009).

        """
        if not cancels:
            if self.is_closed:
                raise FailedError("CANCELLED", "the queue is closed already")
            if self.putting:
                raise WaitsError
        self.is_closed = True


def batch(
    parts: Sequence[np.ndarray], shape: Sequence[int | None] | None, dtype: str
) -> np.ndarray:
    """One component of several elements as rows, padded with zeros where their sizes differ.

    QUEUES-026 and 046: without elements there are no rows, and a size that may vary is 0.

    Args:
      parts: the component of each element.
      shape: what is declared of its shape.
      dtype: its dtype.

    """
    sizes = [size or 0 for size in shape or ()]
    for part in parts:
        sizes = [max(pair) for pair in zip(part.shape, sizes, strict=True)]
    is_text = dtype == "string"
    kind = object if is_text else (parts[0].dtype if parts else np.dtype(dtype))
    rows = np.full((len(parts), *sizes), b"" if is_text else 0, kind)
    for number, part in enumerate(parts):
        inside: tuple[int | slice, ...] = (number, *map(slice, part.shape))
        rows[inside] = part if part.ndim else part[()]
    return rows


# --- operations ----------------------------------------------------------------------------


@kernel(*KINDS, *(f"{name}V2" for name in KINDS))
def _queue(activity: Activity) -> Sequence[Value]:
    """A queue of its own, or the one of its shared name (QUEUES-050 to 053)."""
    attrs, node = activity.node.attrs, activity.node
    kind = KINDS[node.type.removesuffix("V2")]
    dtypes, shapes = tuple(attrs["component_types"]), tuple(attrs["shapes"] or ())
    _check_shapes(kind, dtypes, shapes)
    shapes = shapes or (None,) * len(dtypes)
    if kind == "priority":
        dtypes, shapes = ("int64", *dtypes), ((), *shapes)
    reserve, capacity = attrs.get("min_after_dequeue", 0), attrs["capacity"]
    if kind == "shuffle" and (reserve < 0 or 0 <= capacity <= reserve):
        raise FailedError("INVALID_ARGUMENT", f"{reserve} elements cannot be kept of {capacity}")
    seeds = (attrs.get("seed", 0), attrs.get("seed2", 0))
    declared = Queue(Discipline(kind, capacity, reserve), dtypes, shapes, seeds)
    handle = handle_of(node, "queue")
    queue = activity.session.resource(handle, lambda: declared)
    if not _are_alike(queue, declared):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is another kind of queue")
    return [handle]


def _check_shapes(kind: str, dtypes: Sequence[str], shapes: Sequence[Shape]) -> None:
    """Hold the declared shapes against what a kind of queue needs (QUEUES-048)."""
    is_padding = kind == "padding"
    if (shapes or is_padding) and len(shapes) != len(dtypes):
        raise FailedError("INVALID_ARGUMENT", f"{len(shapes)} shapes of {len(dtypes)} components")
    for shape in shapes:
        if shape is None or (None in shape and not is_padding):
            raise FailedError("INVALID_ARGUMENT", f"{shape} is not known enough")


def _are_alike(held: Queue, wanted: Queue) -> bool:
    """Whether a queue is what another node declares (QUEUES-053).

    Who declares no seeds takes any; sizes that a padding queue does not know agree with all.
    """
    if held.discipline != wanted.discipline or held.dtypes != wanted.dtypes:
        return False
    if any(wanted.seeds) and held.seeds != wanted.seeds:
        return False
    return held.shapes == wanted.shapes or (
        held.discipline.kind == "padding"
        and all(
            mine is not None and theirs is not None and may_be_one(mine, theirs)
            for mine, theirs in zip(held.shapes, wanted.shapes, strict=True)
        )
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
    for taken in queue.taking.drop_ended(activity):
        queue.give_back(taken)
    return queue


@kernel("QueueEnqueue", "QueueEnqueueV2")
def _enqueue(activity: Activity, handle: Handle, *components: np.ndarray) -> Sequence[Value]:
    queue = _named(activity, handle)
    queue.putting.serve(activity, [components], queue.put)
    return []


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2")
def _enqueue_many(activity: Activity, handle: Handle, *batches: np.ndarray) -> Sequence[Value]:
    if not all(batch.ndim for batch in batches) or len({len(batch) for batch in batches}) != 1:
        raise FailedError("INVALID_ARGUMENT", "the batches have no common first dimension")
    rows = list(zip(*(list(map(np.asarray, batch)) for batch in batches), strict=True))
    queue = _named(activity, handle)
    if rows:
        queue.putting.serve(activity, rows, queue.put)
    return []


@kernel("QueueDequeue", "QueueDequeueV2")
def _dequeue(activity: Activity, handle: Handle) -> Sequence[Value]:
    return _taken(activity, _named(activity, handle), 1)[0]


def _taken(activity: Activity, queue: Queue, count: int, least: int | None = None) -> list[Element]:
    choose = activity.run.choose
    return queue.taking.serve(
        activity, [], lambda taken: queue.take(taken, count, least=least, choose=choose)
    )


@kernel(*(f"QueueDequeue{word}" for word in ("Many", "ManyV2", "UpTo", "UpToV2")))
def _dequeue_many(activity: Activity, handle: Handle, count: np.ndarray) -> Sequence[Value]:
    queue = _named(activity, handle)
    queue.check_batch(int(count))
    least = 1 if "UpTo" in activity.node.type else None
    elements = _taken(activity, queue, int(count), least) if count else []
    return [
        batch([element[number] for element in elements], shape, dtype)
        for number, (shape, dtype) in enumerate(zip(queue.shapes, queue.dtypes, strict=True))
    ]


@kernel("QueueSize", "QueueSizeV2")
def _size(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.int32(len(_named(activity, handle).elements))]


@kernel("QueueIsClosed", "QueueIsClosedV2")
def _is_closed(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.bool_(_named(activity, handle).is_closed)]


@kernel("QueueClose", "QueueCloseV2")
def _close(activity: Activity, handle: Handle) -> Sequence[Value]:
    _named(activity, handle).close(cancels=activity.node.attrs["cancel_pending_enqueues"])
    return []
