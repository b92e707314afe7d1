"""Queues as a session keeps them: elements, attempts to enqueue and to dequeue, closing.

An element is a tuple of arrays, one for each component. Attempts of either kind are served in the
order in which they were made. An `enqueue_many` puts its elements in as room appears, a
`dequeue_many` takes its elements as they come; a plain close waits its turn among the enqueues.
Clauses: QUEUES.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.kernel_errors import Cancelled, OutOfRange
from sessrun.reference.state.attempts import Attempt

__all__ = ["Element", "FifoStore", "PriorityStore", "Queue", "QueueTerms", "ShuffleStore", "Store"]

Element = tuple[Any, ...]


class FifoStore:
    """Elements in the order in which they came."""

    #: How many elements must stay behind while the queue is open.
    reserve = 0
    #: Whether several elements are taken only once all of them are there.
    at_once = False

    def __init__(self) -> None:
        self._elements: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        """Take in an element."""
        self._elements.append(element)

    def take(self) -> Element:
        """Hand out the next element."""
        return self._elements.popleft()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Take elements back, to be handed out first, in this order."""
        self._elements.extendleft(reversed(elements))


Store = FifoStore


class PriorityStore(FifoStore):
    """Elements by their first component, the smallest first; equal ones as they came."""

    at_once = True

    def __init__(self) -> None:
        super().__init__()
        self._heap: list[tuple[int, int, Element]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, element: Element) -> None:
        """Take in an element."""
        self._count += 1
        heapq.heappush(self._heap, (int(element[0]), self._count, element))

    def take(self) -> Element:
        """Hand out the element of the smallest priority."""
        return heapq.heappop(self._heap)[2]


class ShuffleStore(FifoStore):
    """Elements in random order, while `reserve` of them stay behind.

    Each is chosen by a call of Python's: many at once take three times TensorFlow's time.

    Args:
      reserve: how many.
      words: random numbers, far larger than the number of elements; each choice takes one.

    """

    def __init__(self, reserve: int, words: Iterator[int]) -> None:
        super().__init__()
        self.reserve = reserve
        self._items: list[Element] = []
        self._words = words

    def __len__(self) -> int:
        return len(self._items)

    def put(self, element: Element) -> None:
        """Take in an element."""
        self._items.append(element)

    def take(self) -> Element:
        """Hand out any element."""
        index = next(self._words) % len(self._items)
        self._items[index], self._items[-1] = self._items[-1], self._items[index]
        return self._items.pop()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Take elements back."""
        self._items.extend(elements)


class _Enqueue(Attempt):
    """Puts elements in, in order, as room appears."""

    __slots__ = ("left",)

    def __init__(self, queue: Queue, elements: Sequence[Element]) -> None:
        super().__init__(queue)
        self.left = deque(elements)

    def advance(self, queue: Queue) -> bool:
        """Do what can be done now; whether anything was."""
        if self.left and queue.closed:
            self.fail(Cancelled(f"{queue.title} is closed."))
            return True
        moved = False
        while self.left and len(queue.store) < queue.capacity:
            queue.store.put(self.left.popleft())
            moved = True
        if not self.left:
            self.succeed()
        return moved or self.is_over

    def undo(self, _: Queue) -> None:
        """Elements that are in the queue stay there."""


class _Close(Attempt):
    """Closes the queue once the enqueues before it are over."""

    __slots__ = ()

    def advance(self, queue: Queue) -> bool:
        """Close it; closing twice fails."""
        if queue.closed:
            self.fail(Cancelled(f"{queue.title} is already closed."))
        else:
            queue.closed = True
            self.succeed()
        return True

    def undo(self, _: Queue) -> None:
        """There is nothing to undo."""


class _Dequeue(Attempt):
    """Takes elements out as they come.

    Attributes:
      wanted: how many elements.
      few: whether a closed queue may give fewer, if it gives any.
      taken: those it has.

    """

    __slots__ = ("few", "taken", "wanted")

    def __init__(self, queue: Queue, wanted: int, *, few: bool) -> None:
        super().__init__(queue)
        self.wanted = wanted
        self.few = few
        self.taken: list[Element] = []

    def advance(self, queue: Queue) -> bool:
        """Do what can be done now; whether anything was."""
        left = self.wanted - len(self.taken)
        there = len(queue.store)
        if queue.closed and there < left:
            if not self.few or there + len(self.taken) == 0:
                self.undo(queue)
                self.fail(
                    OutOfRange(
                        f"{queue.title} is closed and has insufficient elements (requested "
                        f"{self.wanted}, current size {there})"
                    )
                )
                return True
            left = there
        reserve = 0 if queue.closed else queue.store.reserve
        count = max(0, min(left, there - reserve))
        if queue.store.at_once and count < left:
            return False
        self.taken += [queue.store.take() for _ in range(count)]
        if count == left:
            self.succeed(self.taken)
        return count > 0 or self.is_over

    def undo(self, queue: Queue) -> None:
        """Put back what was taken."""
        queue.store.put_back(self.taken)
        self.taken = []


class QueueTerms(NamedTuple):
    """What nodes of one queue must agree on.

    Attributes:
      op_type: the op type of the nodes.
      capacity: how many elements fit in.
      reserve: how many elements stay behind while the queue is open, None if it keeps none.
      seeds: both seeds of its choices; (0, 0) agrees with any.
      types: the spec names of the components' dtypes.
      shapes: of the components, empty if they are free.

    """

    op_type: str
    capacity: int
    reserve: int | None
    seeds: tuple[int, int]
    types: tuple[str, ...]
    shapes: tuple[tuple[int | None, ...] | None, ...]


class Queue:
    """A queue; safe for threads.

    Args:
      kind: the word for messages: FIFOQueue, PaddingFIFOQueue, ...
      name: its name, for messages.
      store: holds the elements.
      capacity: how many elements fit in.
      terms: what nodes of this queue must agree on.

    Attributes:
      closed: whether it takes no more elements.

    """

    #: A handle is a scalar, to operations that stack or choose among handles.
    shape: Final = ()
    ndim: Final = 0

    def __init__(
        self, kind: str, name: str, store: Store, capacity: int, terms: QueueTerms
    ) -> None:
        self.kind = kind
        self.title = f"{kind} '{name}'"
        self.store = store
        self.capacity = capacity
        self.terms = terms
        self.closed = False
        self._enqueues: deque[_Enqueue | _Close] = deque()
        self._dequeues: deque[_Dequeue] = deque()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        with self._lock:
            return len(self.store)

    def enqueue(self, elements: Sequence[Element]) -> Attempt:
        """Put elements in, in this order."""
        return self._made(_Enqueue(self, elements), self._enqueues)

    def dequeue(self, count: int, *, few: bool = False) -> Attempt:
        """Take `count` elements; of a closed queue as few as there are, if `few` allows it."""
        return self._made(_Dequeue(self, count, few=few), self._dequeues)

    def close(self, *, cancel: bool) -> Attempt:
        """Close it: after the waiting enqueues, or at once, ending them with Cancelled."""
        if not cancel:
            return self._made(_Close(self), self._enqueues)
        attempt = Attempt(self)
        with self._lock:
            self.closed = True
            for waiting in self._enqueues:
                waiting.fail(Cancelled(f"{self.title}: the enqueue was cancelled by a close."))
            self._enqueues.clear()
            attempt.succeed()
            self._serve()
        return attempt

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over; what it took is put back, what it gave stays."""
        with self._lock:
            for waiting in (self._enqueues, self._dequeues):
                if attempt in waiting:
                    waiting.remove(attempt)  # type: ignore[arg-type]
                    attempt.undo(self)  # type: ignore[attr-defined]
            self._serve()

    def _made(self, attempt: Any, waiting: deque[Any]) -> Attempt:
        with self._lock:
            waiting.append(attempt)
            self._serve()
        made: Attempt = attempt
        return made

    def _serve(self) -> None:
        """Serve attempts in order until nothing moves."""
        moved = True
        while moved and (self._enqueues or self._dequeues):
            moved = self._advance(self._enqueues) | self._advance(self._dequeues)

    def _advance(self, waiting: deque[Any]) -> bool:
        moved = False
        while waiting:
            advance: Callable[[Queue], bool] = waiting[0].advance
            moved |= advance(self)
            if not waiting[0].is_over:
                break
            waiting.popleft()
        return moved
